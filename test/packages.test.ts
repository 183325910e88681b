/**
 * What `npm run packages` makes. The script that unpacks the executable is tested with a small program in
 * place of Node. `npm run soak` makes the packages; it installs, uses, upgrades, removes and purges them in
 * a new Debian without Node.
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
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeDeb } from "../scripts/packages/deb.ts";
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

const hasDebian = spawnSync("mmdebstrap", ["--version"]).status === 0 && process.getuid?.() === 0;
describe.skipIf(!SOAK || !hasDebian)("packages in a new Debian without Node (soak)", () => {
  const MINUTES_20 = 1_200_000;
  let files: readonly string[];
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-packages-"));
    const made = spawnSync("npm", ["run", "-s", "packages", "--", "--out", path("out")], { cwd: root });
    expect(made.status).toBe(0);
    files = readdirSync(path("out")).sort();
    makeDeb(path("out"), `${version}+1`);
    const debian = ["--variant=minbase", "--include=libatomic1,python3", "bookworm", path("root")];
    const sources = readdirSync("/etc/apt/sources.list.d")
      .filter((name) => /\.(sources|list)$/.test(name))
      .map((name) => join("/etc/apt/sources.list.d", name));
    expect(spawnSync("mmdebstrap", [...debian, ...sources], { stdio: "inherit" }).status).toBe(0);
    for (const name of readdirSync(path("out")))
      spawnSync("cp", [path("out", name), path("root/tmp")], { stdio: "inherit" });
    for (const name of ["proc", "sys", "dev"])
      spawnSync("mount", ["--rbind", "--make-rslave", `/${name}`, path("root", name)]);
  }, MINUTES_20);
  afterAll(() => {
    within("tutti down --kill");
    for (const name of ["proc", "sys", "dev"])
      spawnSync("umount", ["--recursive", "--lazy", path("root", name)]);
    if (!readFileSync("/proc/mounts", "utf8").includes(folder))
      rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a shell line in the new Debian. */
  const within = (line: string, env: NodeJS.ProcessEnv = {}) =>
    spawnSync("chroot", [path("root"), "/bin/sh", "-c", line], {
      encoding: "utf8",
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        HOME: "/root",
        DEBIAN_FRONTEND: "noninteractive",
        ...env,
      },
    });
  const deb = (as: string) => `/tmp/tutti_${as}_${process.arch === "arm64" ? "arm64" : "amd64"}.deb`;
  const serve =
    "tutti serve --no-http --config /etc/tutti.toml >/tmp/serve.log 2>&1 & until tutti status; do sleep 0.1; done >/dev/null 2>&1;";

  test(
    "packages are the same if they are made again",
    () => {
      const again = spawnSync("npm", ["run", "-s", "packages", "--", "--out", path("again")], { cwd: root });
      expect(again.status).toBe(0);
      expect(readFileSync(path("again/SHA256SUMS"), "utf8")).toBe(
        readFileSync(path("out/SHA256SUMS"), "utf8"),
      );
      expect(files).toHaveLength(4);
    },
    MINUTES_20,
  );

  test("the executable runs jobs on a machine without Node", () => {
    expect(within("command -v node").stdout).toBe("");
    const tutti = `/tmp/tutti-${version}-linux-${process.arch}`;
    expect(within(`${tutti} --version`).stdout).toContain(version);
    const line = `cd /root; ${serve.replaceAll("tutti ", `${tutti} `)} ${tutti} run -- echo played; ${tutti} down`;
    expect(within(line.replaceAll("--config /etc/tutti.toml", "")).stdout).toContain("played");
    expect(within(`${tutti} simulate downey:jobs=100:load=0.8 --policy easy`).stdout).toContain("easy");
    const imported =
      "PYTHONPATH=$(echo /var/cache/tutti/*/python) python3 -c 'import tutti; print(tutti.__file__)'";
    expect(within(imported).stdout).toMatch(/^\/var\/cache\/tutti\/.*\/python\/tutti\.py\n$/);
  });

  test("the Debian package: installed, used, upgraded with jobs running, removed, purged", () => {
    expect(within(`dpkg -i ${deb(version)}`).status).toBe(0);
    expect(within(`cd /root; ${serve} tutti run -- echo played`).stdout).toContain("played");
    const python = "import tutti; j = tutti.submit(['echo', 'from python']); print(j.wait(), j.output())";
    expect(within(`cd /root; python3 -c "${python}"`).stdout).toBe("done from python\n\n");
    within(
      "cd /root; tutti submit -- sh -c 'sleep 1000'; until tutti jobs state:running --json | grep -q job; do sleep 0.1; done",
    );
    const upgraded = within(`dpkg -i ${deb(`${version}+1`)}`);
    expect([upgraded.status, within("tutti jobs").stdout]).toEqual([0, expect.stringContaining("running")]);
    const refused = within("dpkg -r tutti");
    expect([refused.status === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining("while jobs run (1)"),
    ]);
    expect(within("tutti cancel all; tutti wait all; dpkg -r tutti").stderr).not.toContain("rror");
    expect(within("command -v tutti; ls /usr/lib/tutti").stdout).toBe("");
    expect(within("ls /etc/tutti.toml /var/lib/tutti").status).toBe(0);
    expect(within("dpkg -P tutti").stderr).toContain("/var/lib/tutti is kept");
    expect(within("ls /etc/tutti.toml").status).not.toBe(0);
    expect(within("ls /var/lib/tutti").status).toBe(0);
    within(
      `dpkg -i ${deb(version)}; echo tutti tutti/remove-state boolean true | debconf-set-selections; dpkg -P tutti`,
    );
    expect(within("ls /var/lib/tutti").status).not.toBe(0);
    expect(
      within(
        "find / -xdev -name '*tutti*' -not -path '/proc/*' -not -path '/tmp/*' -not -path '/root/*' -not -path '/var/cache/tutti*'",
      ).stdout,
    ).toBe("");
  });
});
