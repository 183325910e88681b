/**
 * What `npm run packages` makes. The script that unpacks the executable is tested with a small program in
 * place of Node. test/packages-in-roots.test.ts makes the packages and uses them in new roots.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unpacking } from "../scripts/packages/executable.ts";
import { copyProgram, version } from "../scripts/packages/program.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
let folder: string;
const path = (...names: readonly string[]) => join(folder, ...names);

test("a package has all files that the command line needs", () => {
  folder = mkdtempSync(join(tmpdir(), "tutti-packages-"));
  try {
    copyProgram(path("program"));
    const { stdout, stderr } = spawnSync(path("program/node"), [path("program/bin/tutti.js"), "--version"], {
      cwd: "/",
      encoding: "utf8",
      env: {},
    });
    expect([stdout, stderr]).toEqual([expect.stringMatching(`^tutti ${version}( \\(.+\\))?\n$`), ""]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe("the executable", () => {
  let executable: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-packages-"));
    mkdirSync(path("program/bin"), { recursive: true });
    // Says what it was called with. Tutti itself begins the same way.
    writeFileSync(path("program/node"), '#!/bin/sh\n[ "$1" = --version ] || echo "$0 $*"\n', { mode: 0o755 });
    writeFileSync(path("program/bin/executable.js"), "");
    mkdirSync(path("home"));
    executable = path("tutti");
    writeFileSync(executable, unpacking(path("program"), 1_000_000_000), { mode: 0o755 });
    chmodSync(folder, 0o755);
    if (process.getuid!() === 0) chownSync(path("home"), 65534, 65534);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** As a user without rights, whose programs are in the home folder. */
  const asUser = process.getuid!() === 0 ? { uid: 65534, gid: 65534 } : {};
  const run = (more: NodeJS.ProcessEnv = {}) => {
    const env = { PATH: "/usr/bin:/bin", HOME: path("home"), ...more };
    return spawnSync(executable, ["jobs", "a b"], { ...asUser, encoding: "utf8", env });
  };
  const unpacked = () => readdirSync(path("home/.cache/tutti"));

  test("unpacks once, and passes on what it was called with", () => {
    for (let start = 0; start < 2; start++) {
      const { status, stdout, stderr } = run();
      const program = path("home/.cache/tutti", unpacked()[0]);
      expect([status, stdout, stderr]).toEqual([
        0,
        `${program}/node ${program}/bin/executable.js jobs a b\n`,
        "",
      ]);
      expect(unpacked()).toEqual([expect.stringMatching(new RegExp(`^${version}-[0-9a-f]{12}$`))]);
    }
  });

  test("says how to call it again: by its path, or as tutti where PATH leads to it", () => {
    writeFileSync(path("program/node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
    cpSync(join(root, "packaging/executable/executable.js"), path("program/bin/executable.js"));
    const stub = "console.log(process.env.TUTTI_LAUNCHER)";
    writeFileSync(path("program/bin/tutti.js"), stub);
    writeFileSync(path("program/package.json"), '{ "type": "module" }');
    writeFileSync(executable, unpacking(path("program"), 1_000_000_000), { mode: 0o755 });
    const { stdout, stderr } = run();
    expect([stdout, stderr]).toEqual([`${executable}\n`, ""]);
    const within = spawnSync("/bin/sh", ["-c", "tutti"], {
      ...asUser,
      encoding: "utf8",
      env: { PATH: `${folder}:/usr/bin:/bin`, HOME: path("home") },
    });
    expect([within.stdout, within.stderr]).toEqual(["undefined\n", ""]);
  });

  test("twenty first starts at the same time all run, and leave one folder", async () => {
    const env = { PATH: "/usr/bin:/bin", HOME: path("home") };
    const starts = Array.from({ length: 20 }, () =>
      spawn(executable, [], { ...asUser, env, stdio: "ignore" }),
    );
    const codes = await Promise.all(starts.map(async (start) => (await once(start, "exit"))[0]));
    expect(codes).toEqual(Array(20).fill(0));
    expect(unpacked()).toHaveLength(1);
  });

  test("a file that is cut off is one line, and leaves nothing", () => {
    const whole = readFileSync(executable);
    writeFileSync(executable, whole.subarray(0, whole.length - 40));
    const { status, stderr } = run();
    expect(status).toBe(74);
    expect(stderr).toContain("is the disk full, or this file cut off?");
    expect(unpacked()).toEqual([]);
  });

  test("a folder of somebody else, a link, and no home are refused", () => {
    expect(run({ HOME: "" }).stderr).toContain("expected the variable HOME");
    const { status, stderr } = run({ XDG_CACHE_HOME: "/proc" });
    expect([status, stderr]).toEqual([74, expect.stringContaining("expected a folder that can be written")]);
    mkdirSync(path("elsewhere"), { mode: 0o777 });
    mkdirSync(path("home/.cache"));
    symlinkSync(path("elsewhere"), path("home/.cache/tutti"));
    expect(run().stderr).toContain("expected a folder of your own");
    expect(readdirSync(path("elsewhere"))).toEqual([]);
  });

  test.each([
    [
      "a folder above that others can write to",
      (cache: string) => chmodSync(cache, 0o777),
      "cache can be written by others",
    ],
    [
      "a folder above of a foreign group",
      (cache: string) => chmodSync(cache, 0o775),
      "cache can be written by its group",
    ],
    [
      "a folder above of somebody else",
      (cache: string) => chownSync(cache, 65533, 65533),
      "cache belongs to user 65533",
    ],
    [
      "its folder, if others can write to it",
      (cache: string) => chmodSync(join(cache, "tutti"), 0o1777),
      "cache/tutti can be written by others",
    ],
  ])("what is unpacked does not run from %s", (_, open, why) => {
    mkdirSync(path("cache/tutti"), { recursive: true });
    for (const name of ["cache", "cache/tutti"]) {
      if (process.getuid!() === 0) chownSync(path(name), 65534, 0);
    }
    expect(run({ XDG_CACHE_HOME: path("cache") }).status).toBe(0);
    // Only root can give folders away.
    if (why.includes("user") && process.getuid!() !== 0) return;
    open(path("cache"));
    const { status, stdout, stderr } = run({ XDG_CACHE_HOME: path("cache") });
    expect([status, stdout]).toEqual([74, ""]);
    expect(stderr).toContain(why);
  });

  test.skipIf(process.getuid!() !== 0)(
    "a link of another user that comes and goes leads to no start",
    async () => {
      mkdirSync(path("shared"));
      chmodSync(path("shared"), 0o777);
      expect(run({ XDG_CACHE_HOME: path("home") }).status).toBe(0);
      const [name] = readdirSync(path("home/tutti"));
      mkdirSync(path("theirs", name), { recursive: true });
      writeFileSync(path("theirs", name, "node"), "#!/bin/sh\necho theirs\n", { mode: 0o755 });
      const flip = `cd ${path("shared")}; while :; do ln -sfnT ${path("home/tutti")} tutti; ln -sfnT ${path("theirs")} tutti; done`;
      const other = spawn("/bin/sh", ["-c", flip], { uid: 65533, gid: 65533, stdio: "ignore" });
      try {
        for (let start = 0; start < 60; start++) {
          const { status, stdout, stderr } = run({ XDG_CACHE_HOME: path("shared") });
          expect([status, stdout, stderr]).toEqual([74, "", expect.stringContaining("Cannot ")]);
        }
      } finally {
        other.kill("SIGKILL");
      }
    },
  );
});

test.skipIf(process.getuid!() !== 0)(
  "Debian's package: only a conductor of root keeps it from being removed",
  async () => {
    folder = mkdtempSync(join(tmpdir(), "tutti-packages-"));
    const prerm = readFileSync(join(root, "packaging/debian/prerm"), "utf8")
      .replaceAll("/var/lib/tutti/", `${folder}/`)
      .replaceAll("/usr/bin/tutti ", "/bin/false ")
      .replaceAll("/usr/lib/python3", folder)
      .replaceAll("/run/systemd/system", path("no"));
    const remove = () => spawnSync("/bin/sh", ["-s", "remove"], { input: prerm, encoding: "utf8" });
    const named = async (uid: number) => {
      const script = 'exec -a "tutti-conductor $1/" sleep 1000';
      const child = spawn("bash", ["-c", script, "bash", folder], { uid, gid: uid, stdio: "ignore" });
      await expect
        // Before that, it is the shell, with the name in its script.
        .poll(() => readFileSync(`/proc/${child.pid}/cmdline`, "utf8"))
        .toMatch(/^tutti-conductor/);
      return child;
    };
    try {
      const foreign = await named(65534);
      try {
        expect(remove().status).toBe(0);
        const own = await named(0);
        try {
          expect([remove().status, remove().stderr]).toEqual([
            1,
            expect.stringContaining("while jobs may run"),
          ]);
        } finally {
          own.kill("SIGKILL");
        }
      } finally {
        foreign.kill("SIGKILL");
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
