/**
 * What `npm run packages` makes, in new roots of Debian's releases without Node: installed, used, upgraded
 * and removed, as its users do. One test types the first minute at a terminal. `npm run soak` runs these;
 * they need root, mmdebstrap and Debian's archive.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../scripts/chromium.ts";
import { installTestTools, SOAK_TOOLS } from "../scripts/install-test-tools.ts";
import { version } from "../scripts/packages/program.ts";
import { until } from "./live-command.ts";

/** With the Pythons 3.9, 3.11 and 3.13. */
const RELEASES = ["bullseye", "bookworm", "trixie"];
/** For the wheel, and nothing else. */
const PYTHON = "python3-venv,python3-pip";
const MOUNTED = ["proc", "sys", "dev"];
const USER = 1000;
const NASA = traceFile("NASA-iPSC");
const root = fileURLToPath(new URL("..", import.meta.url));

if (SOAK) installTestTools(SOAK_TOOLS);
const canMakeRoots = spawnSync("mmdebstrap", ["--version"]).status === 0 && process.getuid?.() === 0;

describe.skipIf(!SOAK || !canMakeRoots)("packages in new roots (soak; needs root and mmdebstrap)", () => {
  let folder: string;
  const path = (...names: readonly string[]) => join(folder, ...names);
  const makePackages = (name: string) => {
    const made = spawnSync("npm", ["run", "-s", "packages", "--", "--out", path(name)], { cwd: root });
    expect(made.status, String(made.stderr)).toBe(0);
    return readFileSync(path(name, "SHA256SUMS"), "utf8");
  };
  let sums: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "tutti-packages-"));
    sums = makePackages("out");
    // The next version, for an upgrade.
    const [package_] = readdirSync(path("out")).filter((name) => name.endsWith(".deb"));
    const lines = [
      `dpkg-deb --raw-extract out/${package_} next && sed -i 's/^Version: .*/&+1/' next/DEBIAN/control`,
      `dpkg-deb --root-owner-group -Zgzip -z1 --build next out/next.deb && rm -r next`,
    ];
    expect(spawnSync("sh", ["-c", lines.join(" && ")], { cwd: folder }).status).toBe(0);
  });
  afterAll(() => {
    if (!readFileSync("/proc/mounts", "utf8").includes(folder)) rmSync(folder, { recursive: true });
  });

  test("packages are the same if they are made again", () => {
    expect(makePackages("again")).toBe(sums);
  });

  describe.each(RELEASES)("%s", (release) => {
    const inRoot = (...names: readonly string[]) => path(release, ...names);
    beforeAll(() => {
      const words = ["--variant=minbase", `--include=${PYTHON}`, release, inRoot()];
      const made = spawnSync("mmdebstrap", words, { encoding: "utf8" });
      expect(made.status, made.stderr).toBe(0);
      for (const name of MOUNTED) spawnSync("mount", ["--rbind", "--make-rslave", `/${name}`, inRoot(name)]);
      expect(within(`useradd --create-home --uid ${USER} --shell /bin/bash ada`).status).toBe(0);
      for (const name of readdirSync(path("out")))
        cpSync(path("out", name), inRoot("tmp", name), { recursive: true });
      if (NASA !== undefined) copyFileSync(NASA, inRoot("home/ada", basename(NASA)));
    });
    afterAll(() => {
      for (const pid of pidsIn(inRoot())) process.kill(pid, "SIGKILL");
      for (const name of MOUNTED) spawnSync("umount", ["--recursive", "--lazy", inRoot(name)]);
    });

    /** Words that begin a program in the new root. */
    const enter = (uid = 0) => [`--userspec=${uid}:${uid}`, "--groups=", inRoot()];
    const env = (uid = 0) => ({
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: uid === 0 ? "/root" : "/home/ada",
      SHELL: "/bin/bash",
      DEBIAN_FRONTEND: "noninteractive",
    });
    /** Runs a shell line in the new root. */
    const within = (line: string, uid = 0) =>
      spawnSync("chroot", [...enter(uid), "/bin/sh", "-c", `cd; ${line}`], {
        encoding: "utf8",
        env: env(uid),
      });
    const deb = `/tmp/tutti_${version}_*.deb`;
    /** Starts a scheduler of the command `tutti`, and waits until it answers. */
    const serving = (more = "", tutti = "tutti") =>
      `${tutti} serve --no-http ${more} >serve.log 2>&1 & until ${tutti} status; do sleep 0.1; done >/dev/null 2>&1;`;
    /** What is in a folder and has Tutti's name, without the jobs and their history. */
    const left = (place: string) =>
      within(`find ${place} -name '*tutti*' -not -path '*/.local/state/*'`).stdout;

    /** Uses all that the wheel has, and removes it. */
    async function useWheel(bin: string): Promise<void> {
      writeFileSync(inRoot("home/ada/use.py"), USE);
      const used = within(
        `PATH=${bin}:$PATH; command -v node; ${serving()} python3 use.py; tutti down`,
        USER,
      );
      expect([used.stdout, used.stderr]).toEqual([
        expect.stringMatching(
          /^done played\n\[0, 2, 4\]\n50 50\n\['easy', 'fcfs'\]\nThe scheduler has stopped/,
        ),
        "",
      ]);
      const compared = within(
        `${bin}/tutti compare downey:jobs=50 --policy fcfs,easy --html report.html`,
        USER,
      );
      expect([compared.stderr, compared.stdout]).toEqual([
        expect.stringContaining("report.html"),
        expect.stringContaining("easy"),
      ]);
      expect(await distributions(inRoot("home/ada/report.html"))).toContain("50 jobs");
      expect(pidsIn(inRoot())).toEqual([]);
      expect(within(`PATH=${bin}:$PATH; python3 -m pip uninstall --yes tutti`, USER).status).toBe(0);
      expect(left("/home/ada")).toBe("");
    }

    test("the wheel in a virtual environment", async () => {
      const installed = within(
        "python3 -m venv venv && venv/bin/pip install --no-index /tmp/tutti-*.whl",
        USER,
      );
      expect(installed.status, installed.stderr).toBe(0);
      await useWheel("/home/ada/venv/bin");
    });

    test("the wheel for one user, where the release's Python allows it", async () => {
      const installed = within("python3 -m pip install --user --no-index /tmp/tutti-*.whl", USER);
      const isAllowed = within("ls /usr/lib/python3*/EXTERNALLY-MANAGED").status !== 0;
      if (isAllowed) {
        expect(installed.status, installed.stderr).toBe(0);
        await useWheel("/home/ada/.local/bin");
      } else expect(installed.stderr).toContain("externally-managed-environment");
    });

    test.skipIf(NASA === undefined)(
      "the first minute, typed: the wheel, a job, a compared trace",
      async () => {
        // Of a user who has just logged in at a terminal.
        const shell = spawn("script", ["-qefc", `chroot ${enter(USER).join(" ")} /bin/bash`, "/dev/null"], {
          env: { ...env(USER), TERM: "xterm" },
          stdio: ["pipe", "pipe", "inherit"],
        });
        let shown = "";
        shell.stdout.on("data", (piece) => {
          shown += piece;
        });
        const ended = new Promise((resolve) => {
          shell.on("close", resolve);
        });
        const begin = performance.now();
        /** Types a line, waits until this is shown, and prints how long that took. */
        const type = async (line: string, shows: RegExp) => {
          const before = performance.now();
          shown = "";
          shell.stdin.write(`${line}\n`);
          await until(() => shows.test(shown) || shell.exitCode !== null);
          expect(shown).toMatch(shows);
          const [stepS, allS] = [before, begin].map((from) => ((performance.now() - from) / 1000).toFixed(1));
          console.log(`${release}: ${stepS} s, ${allS} s in all: ${line}`);
        };
        await type("cd; python3 -m venv first && . first/bin/activate && echo made", /^made\r$/m);
        await type("pip install /tmp/tutti-*.whl", /^Successfully installed tutti-/m);
        await type("tutti serve &", /^help: tutti --help/m);
        await type("tutti run -- echo played", /^played\r$/m);
        const compare = `tutti compare ${basename(NASA!)} --policy fcfs,easy --html first.html`;
        await type(compare, /^easy has the shortest mean wait/m);
        await type("tutti down; exit", /has stopped/);
        await ended;
        expect(await distributions(inRoot("home/ada/first.html"))).toContain("18,239 jobs on 128 processors");
      },
    );

    test("the executable runs jobs", () => {
      expect(within("apt-get update && apt-get install --yes libatomic1").status).toBe(0);
      const tutti = `/tmp/tutti-${version}-linux-${process.arch}`;
      expect(within(`${tutti} --version`).stdout).toContain(version);
      expect(within(`${serving("", tutti)} ${tutti} run -- echo played; ${tutti} down`).stdout).toContain(
        "played",
      );
      expect(within(`${tutti} simulate downey:jobs=100:load=0.8 --policy easy`).stdout).toContain("easy");
      const imported =
        "PYTHONPATH=$(echo /var/cache/tutti/*/python) python3 -c 'import tutti; print(tutti.__file__)'";
      expect(within(imported).stdout).toMatch(/^\/var\/cache\/tutti\/.*\/python\/tutti\.py\n$/);
    });

    test("the Debian package: installed, used, upgraded with jobs running, removed, purged", () => {
      expect(within(`dpkg -i ${deb}`).status).toBe(0);
      const served = within(`${serving("--config /etc/tutti.toml")} tutti run -- echo played`);
      expect(served.stdout).toContain("played");
      const python = "import tutti; j = tutti.submit(['echo', 'from python']); print(j.wait(), j.output())";
      expect(within(`python3 -c "${python}"`).stdout).toBe("done from python\n\n");
      within(
        "tutti submit -- sh -c 'sleep 1000'; until tutti jobs state:running --json | grep -q job; do sleep 0.1; done",
      );
      const upgraded = within("dpkg -i /tmp/next.deb");
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
        `dpkg -i ${deb}; echo tutti tutti/remove-state boolean true | debconf-set-selections; dpkg -P tutti`,
      );
      expect(within("ls /var/lib/tutti").status).not.toBe(0);
      expect(left("/etc /opt /usr /var/lib")).toBe("");
    });
  });
});

/** A script of a user. */
const USE = `import tutti

def double(number):
    return 2 * number

if __name__ == "__main__":
    job = tutti.submit(["echo", "played"])
    print(job.wait(), job.output(), end="")
    print(tutti.map(double, range(3)))
    result = tutti.simulate("downey:jobs=50", policy="easy")
    print(len(result["wait_s"]), len(result["job"]))
    comparison = tutti.compare("downey:jobs=50", ["fcfs", "easy"])
    print(sorted({row["policy"] for row in comparison.rows(metric="wait")}))
`;

/** Opens a report, and returns its text when one of its charts is drawn. */
async function distributions(report: string): Promise<string> {
  if (!hasChromium) return readFileSync(report, "utf8");
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`file://${report}`);
    await page.click('.tabs a:text-is("Distributions")');
    await page.locator("figure.chart canvas").first().waitFor();
    return (await page.textContent("body")) ?? "";
  } finally {
    await browser.close();
  }
}

/** Processes that see this folder as the root of all files. */
function pidsIn(folder: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/root`) === folder;
      } catch {
        return false;
      }
    });
}
