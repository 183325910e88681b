/**
 * Runs real jobs in environment modules, virtual environments of Python, an activated conda and containers.
 * Modules, venv and bubblewrap are the real ones, where they are installed. conda is a stand-in that prints
 * what the activator of the real one has printed (recordings/conda-activate.txt): Debian has no conda.
 * apptainer and podman are stand-ins that write down how they were called: the first is not in Debian 12, and
 * the second needs rights over control groups that test machines do not give.
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { environmentWords } from "@tutti/host/job-environment.ts";
import { keepingShell } from "@tutti/host/shell.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isInPath } from "../scripts/install-test-tools.ts";
import type { CommandResult } from "./command.ts";
import { startTutti, until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const TUTTI = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
const live = new LiveScheduler();
const path = (name: string) => join(live.folder, name);
const PATH = process.env.PATH ?? "";
const PROFILE = "/etc/profile.d/modules.sh";
const hasBash = keepingShell()[0] === "/bin/bash";
const hasModules = hasBash && existsSync(PROFILE);
const hasPython = hasBash && isInPath("python3");

beforeAll(async () => {
  await live.start();
  mkdirSync(path("modules/gcc"), { recursive: true });
  write("modules/gcc/12", '#%Module\nsetenv TOOL "gcc 12"\n');
  write("modules/openmpi", "#%Module\nsetenv RANKS $::env(TOOL)\n");
  if (hasPython) execFileSync("python3", ["-m", "venv", "--without-pip", path("venv")]);
  mkdirSync(path("stand-ins"));
});
afterAll(() => live.clear());

function write(name: string, content: string, mode = 0o644): string {
  writeFileSync(path(name), content);
  chmodSync(path(name), mode);
  return path(name);
}

async function ended(job: number): Promise<Job> {
  for (;;) {
    const one = await live.job(job);
    if (one.endedAtMs !== undefined) return one;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A job's end and what it has printed. */
async function run(script: string, more: Partial<SubmitJob>) {
  const job = await ended(await live.submit(script, more));
  const { state, code } = job;
  const reason = job.reason?.replace(/^lost: /, "");
  const stderr = readFileSync(job.stderr, "utf8");
  return { state, code, reason, stdout: readFileSync(job.stdout, "utf8").trim(), stderr };
}

function tutti(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
  return startTutti(live.socket, words, { cwd: live.folder, env }).result;
}

/** How a user's shell may know modules: the later ways count where the earlier ones are not there. */
const WAYS: Readonly<Record<string, () => Record<string, string>>> = {
  "the exported function": () => {
    const names = "module _module_raw ml".split(" ");
    const shown = spawnSync("bash", ["-c", `. ${PROFILE}; export -f ${names.join(" ")}; env -0`]).stdout;
    const pairs = shown.toString().split("\0");
    const functions = pairs.filter((pair) => names.some((name) => pair.startsWith(`BASH_FUNC_${name}%%=`)));
    expect(functions.length).toBeGreaterThan(0);
    return Object.fromEntries(functions.map((pair) => pair.split(/=(.*)/s).slice(0, 2)));
  },
  MODULESHOME: () => ({ MODULESHOME: "/usr/share/modules" }),
  "/etc/profile.d": () => ({}),
};

describe.skipIf(!hasModules)("environment-modules", () => {
  test.each(Object.entries(WAYS))("modules are loaded in their order, found by %s", async (_, variables) => {
    const env = { PATH, MODULEPATH: path("modules"), ...variables() };
    const found = await run('echo "$TOOL, $RANKS, $LOADEDMODULES"', { env, modules: ["gcc/12", "openmpi"] });
    expect(found).toMatchObject({ state: "done", stdout: "gcc 12, gcc 12, gcc/12:openmpi" });
  });

  test("a module that is not there fails the job, which says so on standard error and as its reason", async () => {
    const env = { PATH, MODULEPATH: path("modules") };
    const found = await run("echo began", { env, modules: ["gcc/12", "gcc/99"] });
    expect(found).toMatchObject({ state: "failed", stdout: "" });
    expect(found.reason).toMatch(
      /^Cannot load the module "gcc\/99" on \S+: module load has failed, expected /,
    );
    expect(found.stderr).toContain(`tutti: ${found.reason}\n`);
  });

  test("tutti submit refuses it, and a workflow with it", async () => {
    const env = { MODULEPATH: path("modules") };
    const refusal = /^tutti: Cannot load the module "gcc\/99" on \S+: module load has failed/;
    write("flow.toml", '[tasks.a]\ncommand = ["true"]\nmodule = ["gcc/12", "gcc/99"]\n');
    for (const words of [["--module", "gcc/12", "--module", "gcc/99", "--", "true"], ["flow.toml"]]) {
      const { status, stderr } = await tutti(["submit", ...words], env);
      expect([status, stderr]).toEqual([2, expect.stringMatching(refusal)]);
    }
    const good = await tutti(["run", "--module", "gcc/12,openmpi", "--", "sh", "-c", "echo $RANKS"], env);
    expect(good).toMatchObject({ status: 0, stdout: "gcc 12\n" });
  });
});

test.skipIf(!hasBash)("without the command module, the reason says how it is looked for", () => {
  const [program, ...words] = environmentWords({ modules: ["gcc"] }, "check");
  const elsewhere = words.map((word) => word.replace("/etc/profile.d/{", `${path("nothing")}/{`));
  const { status, stderr } = spawnSync(program, elsewhere, { env: { PATH }, encoding: "utf8" });
  expect([status, stderr]).toEqual([
    74,
    expect.stringMatching(/^tutti: Cannot load modules on \S+: there is no /),
  ]);
});

describe.skipIf(!hasPython)("venv", () => {
  test("its Python is the first in the PATH, in the job's folder, with its code and its input", async () => {
    const script = 'python -c "import sys; print(sys.prefix)"; pwd; exit 5';
    const found = await run(script, { venv: "venv" });
    expect(found).toMatchObject({ state: "failed", code: 5, stdout: `${path("venv")}\n${live.folder}` });
    write("job.sh", "#!/bin/sh\n#TUTTI --venv venv\necho $VIRTUAL_ENV $1\n");
    expect(await tutti(["run", "job.sh", "x"])).toMatchObject({ stdout: `${path("venv")} x\n` });
  });

  test("nothing else of the environment changes, whatever its names are", async () => {
    const odd = {
      "BASH_FUNC_f%%": "() { echo  'x'\n}",
      "a.b": "1",
      image: "i",
      verb: "v",
      IMAGE: "",
      name: " n\n",
    };
    const env = { PATH, HOME: live.folder, ...odd };
    const dump = async (more: Partial<SubmitJob>) => {
      const job = await ended(
        await live.submit("", { env, command: ["cat", "/proc/self/environ"], ...more }),
      );
      const pairs = readFileSync(job.stdout, "utf8")
        .split("\0")
        .filter((pair) => !/^(_=|TUTTI_|SLURM_)/.test(pair));
      return new Set(pairs);
    };
    const [plain, changed] = [await dump({}), await dump({ venv: path("venv") })];
    expect(plain).toContain(`BASH_FUNC_f%%=${odd["BASH_FUNC_f%%"]}`);
    expect([...plain].filter((pair) => !changed.has(pair))).toEqual([`PATH=${PATH}`]);
    const added = [`PATH=${path("venv/bin")}:${PATH}`, `VIRTUAL_ENV=${path("venv")}`];
    expect([...changed].filter((pair) => !plain.has(pair)).sort()).toEqual(added);
  });

  test("without bin/python, a submit is refused, and a job that nobody has checked fails", async () => {
    const why = /Cannot use the virtual environment ".*\/modules" on \S+: it has no bin\/python that runs/;
    const refused = await tutti(["submit", "--venv", "modules", "--", "true"]);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(why)]);
    expect(await run("echo began", { venv: "modules" })).toMatchObject({
      ...{ state: "failed", stdout: "", reason: expect.stringMatching(why) },
      stderr: expect.stringMatching(why),
    });
    // An earlier job may make it.
    expect(await tutti(["submit", "--after", "1", "--venv", "modules", "--", "true"])).toMatchObject({
      status: 0,
    });
  });

  test("a command that is not there is named as without an environment", async () => {
    const job = await ended(await live.submit("", { command: ["no-such-program"], venv: "venv" }));
    expect(job.reason).toMatch(/^lost: Cannot run "no-such-program": no such command/);
  });
});

test.skipIf(!hasBash)(
  "conda is activated as the recorded one, and what it refuses fails the job",
  async () => {
    const recorded = fileURLToPath(new URL("recordings/conda-activate.txt", import.meta.url));
    const conda = `#!/bin/sh\n[ "$*" = "shell.posix activate analysis" ] && exec cat ${recorded}\necho EnvironmentNameNotFound >&2; exit 1\n`;
    mkdirSync(path("conda"), { recursive: true });
    const env = { PATH, CONDA_EXE: write("conda/conda", conda, 0o755) };
    const found = await run('echo "$CONDA_DEFAULT_ENV $CONDA_PREFIX $' + '{PATH%%:*}"', {
      env,
      conda: "analysis",
    });
    const prefix = /CONDA_PREFIX='(.*)'/.exec(readFileSync(recorded, "utf8"))![1];
    expect(found).toMatchObject({ state: "done", stdout: `analysis ${prefix} ${prefix}/bin` });
    const failed = await run("echo began", { env, conda: "other" });
    expect(failed).toMatchObject({ state: "failed", stdout: "" });
    expect(failed.reason).toMatch(
      /^Cannot activate the conda environment "other" on \S+: \S+ has refused it/,
    );
    expect(failed.stderr).toContain("EnvironmentNameNotFound");
  },
);

test("an image goes with nothing else, and a submit says what is not there", async () => {
  const both = live.submit("true", { image: "tools.sif", venv: "venv" });
  await expect(both).rejects.toThrow('Cannot use venv together with the image "tools.sif"');
  const { status, stderr } = await tutti(["submit", "--image", "tools.sif", "--", "true"]);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/Cannot run the image "tools.sif" on \S+: there is no such file/),
  ]);
});

/** Stands for a program of containers: writes down its words, and runs the last ones from the shell on. */
function standIn(name: string): string {
  const untilShell = 'until [ "$1" = sh ] || [ "$1" = /bin/sh ]; do shift || exit; done';
  const text = `#!/bin/bash\nprintf '%s\\n' "$@" > ${path(`${name}.words`)}\n${untilShell}\nexec "$@"\n`;
  return dirname(write(`stand-ins/${name}`, text, 0o755));
}

test.skipIf(!hasBash)("apptainer gets the folders of the job, its GPUs and its command", async () => {
  const env = { PATH: `${standIn("apptainer")}:${PATH}`, TMPDIR: path("modules"), CUDA_VISIBLE_DEVICES: "0" };
  const image = write("tools.sif", "");
  expect(await run("echo ran; exit 3", { env, image })).toMatchObject({ code: 3, stdout: "ran" });
  const words = readFileSync(path("apptainer.words"), "utf8");
  const bound = [live.folder, path("modules")].map((folder) => `--bind\n${folder}\n`).join("");
  expect(words).toContain(`exec\n--pwd\n${live.folder}\n--nv\n${bound}`);
  expect(words).toContain(`${image}\nsh\n-c\necho ran; exit 3\n`);
  // As Slurm's option calls it.
  write("slurm.sh", `#!/bin/sh\n#SBATCH --container=${image}\necho script\n`);
  expect(await tutti(["run", "slurm.sh"], { PATH: env.PATH })).toMatchObject({ stdout: "script\n" });
});

test.skipIf(!hasBash)(
  "podman gets the job's variables, but neither its PATH nor control groups",
  async () => {
    const env = { PATH: `${standIn("podman")}:${PATH}`, LR: "0.1" };
    expect(await run("echo ran", { env, image: "docker.io/library/debian" })).toMatchObject({
      stdout: "ran",
    });
    const words = readFileSync(path("podman.words"), "utf8");
    expect(words).toMatch(/^run\n--rm\n[\s\S]*--cgroups=disabled\n[\s\S]*--env\nLR\n/);
    expect(words).toContain(`--volume\n${live.folder}:${live.folder}\n`);
    expect(words).toMatch(/docker\.io\/library\/debian\nsh\n/);
    expect(words).not.toMatch(/^PATH$/m);
  },
);

/** A root with a few programs of this machine and their libraries. */
function makeRoot(root: string): void {
  for (const name of ["bin", "lib", "home"]) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, "only-here"), "");
  symlinkSync("bin", join(root, "sbin"));
  for (const program of ["bash", "cat", "sleep", "ls", "taskset", "touch"]) {
    const file = execFileSync("which", [program], { encoding: "utf8" }).trim();
    copyFileSync(file, join(root, "bin", program));
    for (const [library] of execFileSync("ldd", [file], { encoding: "utf8" }).matchAll(/\/\S+/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
  }
  symlinkSync("bash", join(root, "bin/sh"));
}

const canContain =
  hasBash && isInPath("bwrap") && spawnSync("bwrap", ["--ro-bind", "/", "/", "true"]).status === 0;

describe.skipIf(!canContain)("bubblewrap", () => {
  const image = path("root");
  beforeAll(() => makeRoot(image));

  test("the command sees the root, and the folders of the job", async () => {
    const script = "ls -d /only-here; ls -d /boot; pwd; echo new > made; touch /bin/x; exit 6";
    const found = await run(script, { image });
    expect(found).toMatchObject({ state: "failed", code: 6, stdout: `/only-here\n${live.folder}` });
    expect(found.stderr).toMatch(/boot[\s\S]*Read-only/);
    expect(readFileSync(path("made"), "utf8")).toBe("new\n");
  });

  test("it keeps its CPUs, its variables, its input and its script", async () => {
    write(
      "inside.sh",
      "#!/bin/sh\n#TUTTI --image root\ntaskset -pc $$; echo $TUTTI_CPUS $X; cat; ls $TUTTI_HOSTFILE\n",
    );
    const child = spawn(process.execPath, [TUTTI, "run", "inside.sh"], {
      ...{ cwd: live.folder, env: { ...process.env, TUTTI_SOCKET: live.socket, X: "x y" } },
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end("typed\n");
    const stdout = await text(child.stdout);
    const [, cpus] = /affinity list: (\S+)\n/.exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`\n${cpus} x y\ntyped\n\\S*/hosts\n$`));
  });

  test.each(["SIGTERM", "SIGUSR1"] as const)(
    "the program gets %s once, and has its grace time",
    async (name) => {
      const file = basename(`got-${name}`);
      const script = `trap 'echo got >> ${file}; sleep 0.3; echo saved >> ${file}; exit 7' ${name.slice(3)}; echo on > on-${name}; while :; do sleep 0.05; done`;
      const limits = { limitMs: 3_600_000, limitSignal: { name: "SIGUSR1", beforeMs: 3_599_000 } } as const;
      const job = await live.submit(script, { image, ...(name === "SIGUSR1" && limits) });
      await until(() => existsSync(path(`on-${name}`)));
      if (name === "SIGTERM") await live.cancel(job);
      const { code, state } = await ended(job);
      expect(readFileSync(path(file), "utf8")).toBe("got\nsaved\n");
      expect([state, code]).toEqual(name === "SIGTERM" ? ["cancelled", 7] : ["failed", 7]);
    },
  );
});

test.skipIf(!hasPython).each(["SIGTERM", "SIGUSR1"] as const)(
  "in a venv, the program itself gets %s",
  async (name) => {
    const script = `trap 'exit 7' ${name.slice(3)}; echo on > venv-${name}; while :; do sleep 0.05; done`;
    const job = await live.submit(script, { venv: "venv" });
    await until(() => existsSync(path(`venv-${name}`)));
    process.kill(live.pidOf(job, "job"), name);
    expect((await ended(job)).code).toBe(7);
  },
);
