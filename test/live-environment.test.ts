/**
 * A job's environment is the one that was typed, byte for byte, through every way by which a job can come to
 * its command: exported functions, names that no shell could write, and awkward values. Each way is listed
 * once; so is each file that starts a shell, with the way that goes through it.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { keepingShell } from "@tutti/host/shell.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpacking } from "../scripts/packages/executable.ts";
import type { CommandResult } from "./command.ts";
import { until } from "./live-command.ts";
import { LiveScheduler } from "./live-scheduler.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const tutti = join(root, "bin/tutti.js");

/** The first on the PATH may be a script that chooses among several. */
const PYTHON = "/usr/bin/python3";

/** Names and values as people and programs have them. */
const ODD: Readonly<Record<string, string>> = {
  "BASH_FUNC_module%%": '() {  echo   "MODULE $*" # with a remark\n}',
  "A.B": "1",
  "with blank": "x",
  "-i": "no option",
  "1st": "digit",
  "a-b": "",
  EMPTY: "",
  LINES_: "one\ntwo\n\n",
  EQUALS: "a=b==c=",
  QUOTES: `'"\\$(echo x)\`echo x\`$HOME\t`,
  LETTERS: "grün 日本 \u{1f3b5}",
  LONG: "x".repeat(100_000),
  "LONG.ODD": "y".repeat(100_000),
};
/** Variables that shells set or read themselves. They arrive where no shell of the user's is in between. */
const OF_SHELLS: Readonly<Record<string, string>> = {
  BASHOPTS: "extglob",
  IFS: ":",
  OPTIND: "5",
  PPID: "7",
  RANDOM: "text",
  UID: "12345",
};

let scheduler: LiveScheduler;
let dump: string;
const path = (...parts: readonly string[]) => join(scheduler.folder, ...parts);
const executable = () => path("bin/tutti-executable");
const debian = () => path("bin/tutti");

/** The environment of who types. @param name of the file to which the job writes its own */
const typed = (name: string): Record<string, string> => ({
  PATH: `${path("names")}:${path("bin")}:${process.env.PATH}`,
  HOME: path("home"),
  TUTTI_SOCKET: scheduler.socket,
  NO_COLOR: "1",
  DUMP: path(name),
  ...ODD,
  ...OF_SHELLS,
});

beforeAll(async () => {
  scheduler = new LiveScheduler();
  await scheduler.start();
  chmodSync(scheduler.folder, 0o755);
  for (const name of ["home", "bin", "program", "program/bin"]) mkdirSync(path(name));
  // Fails in its first attempt if the test says so.
  const text = `#!${process.execPath}
const fs = require("node:fs");
const { DUMP, TUTTI_ATTEMPT: attempt, AGAIN } = process.env;
fs.writeFileSync(DUMP + attempt + ".new", fs.readFileSync("/proc/self/environ"));
fs.renameSync(DUMP + attempt + ".new", DUMP + attempt);
process.exit(attempt === AGAIN ? 1 : 0);
`;
  dump = program("bin/dump", text);
  expect(await start([tutti, "slurm-names", path("names")], "")).toMatchObject({ status: 0, stderr: "" });
  // The real script of the executable, and the real /usr/bin/tutti of Debian's package, with this Node and
  // these sources.
  symlinkSync(process.execPath, path("program/node"));
  program("program/bin/tutti.js", `await import(${JSON.stringify(pathToFileURL(tutti))});`);
  program("program/bin/executable.js", readFileSync(join(root, "packaging/executable/executable.js")));
  program("program/package.json", '{"type":"module"}');
  program("bin/tutti-executable", unpacking(path("program"), 1_000_000_000));
  const launcher = readFileSync(join(root, "packaging/debian/tutti"), "utf8")
    .replace("#!/usr/lib/tutti/node", `#!${process.execPath}`)
    .replace("/usr/lib/tutti/bin/tutti.js", tutti);
  expect(launcher).not.toContain("/usr/lib");
  program("bin/tutti", launcher);
  // In place of Open MPI, so that the test needs none: starts a program as often as -n says.
  program(
    "bin/mpirun",
    `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const words = process.argv.slice(2);
if (words[0] === "--version") console.log("mpirun (Open MPI) 4.1.4");
else {
  const command = words.slice(words.findIndex((word) => word.startsWith("/")));
  const { OMPI_MCA_orte_fork_agent: agent = "" } = process.env;
  const [first, ...rest] = [...agent.split(" ").filter((word) => word !== ""), ...command];
  const env = { ...process.env, OMPI_COMM_WORLD_RANK: "0" };
  process.exitCode = spawnSync(first, rest, { stdio: "inherit", env }).status;
}
`,
  );
});
afterAll(() => scheduler.clear());

function program(name: string, text: string | Buffer): string {
  writeFileSync(path(name), text, { mode: 0o755 });
  return path(name);
}

/** Starts a program with the typed environment, as a shell does. */
function start(
  [file, ...words]: readonly string[],
  name: string,
  more: Readonly<Record<string, string>> = typed(name),
): Promise<CommandResult> {
  const input = name.includes("input") ? "pipe" : "ignore";
  const options = { cwd: path("home"), env: more };
  const child = spawn(file, words, { ...options, stdio: [input, "pipe", "pipe"] });
  child.stdin?.end("input");
  let stdout = "";
  let stderr = "";
  child.stdout!.setEncoding("utf8").on("data", (piece) => {
    stdout += piece;
  });
  child.stderr!.setEncoding("utf8").on("data", (piece) => {
    stderr += piece;
  });
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, stdout, stderr })));
}

/** Compares what an attempt has written with what was typed. */
async function expectTyped(
  name: string,
  attempt = 1,
  what: Readonly<Record<string, string>> = { ...ODD, ...OF_SHELLS },
): Promise<void> {
  const file = path(`${name}${attempt}`);
  await until(() => existsSync(file));
  const pairs = readFileSync(file, "utf8").split("\0").slice(0, -1);
  const own = new Map(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
  const shown = (value = "(missing)") => (value.length < 1000 ? value : `${value.length} × ${value[0]}`);
  const found = Object.keys(what).map((key) => [key, shown(own.get(key))]);
  expect(found).toEqual(Object.entries(what).map(([key, value]) => [key, shown(value)]));
}

function script(): string {
  return program("job.sh", `#!${dump}\n`);
}

function workflow(): string {
  return program("flow.toml", `[tasks.a]\ncommand = ${JSON.stringify([dump])}\n`);
}

function python(): string {
  return `import sys; sys.path.insert(0, ${JSON.stringify(join(root, "python"))}); import tutti; tutti.submit(${JSON.stringify([dump])})`;
}

const ON_TERMINAL = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";

/** What a user types for a job that writes its environment, by the name of the way. */
const WAYS: Readonly<Record<string, () => readonly string[]>> = {
  "the program in a clone": () => [tutti, "run", "--", dump],
  "the executable": () => [executable(), "run", "--", dump],
  "the command of Debian's package": () => [debian(), "run", "--", dump],
  "a job that is submitted": () => [tutti, "submit", "--", dump],
  "a script": () => [tutti, "submit", script()],
  "a job in a terminal": () => [PYTHON, "-c", ON_TERMINAL, tutti, "run", "--pty", "--", dump],
  "a job with an input": () => [tutti, "run", "--", dump],
  "an array": () => [tutti, "submit", "--array", "7", "--", dump],
  "a workflow": () => [tutti, "submit", workflow()],
  "the Python client": () => [PYTHON, "-c", python()],
  sbatch: () => ["sbatch", "--wait", script()],
  "srun outside of a job": () => ["srun", dump],
  "a step of srun": () => ["salloc", "srun", "-n", "1", dump],
  salloc: () => ["salloc", dump],
};

describe.each(Object.entries(WAYS))("%s", (title, words) => {
  test.skipIf(/Python|terminal/.test(title) && !existsSync(PYTHON))(
    "brings the environment as it was typed",
    async () => {
      const name = title.replaceAll(/\W/g, "-");
      await start(words(), name);
      await expectTyped(name);
    },
  );
});

describe.each([
  ["a rank of srun --mpi", ["salloc", "srun", "--mpi=openmpi", "-n", "1"]],
  ["a rank of mpirun, for which a shell counts its threads", [tutti, "run", "-n", "2", "--", "mpirun"]],
] as const)("%s", (title, words) => {
  test.skipIf(keepingShell()[0] === "/bin/sh")("has all that bash passes on", async () => {
    const name = title.replaceAll(/\W/g, "-");
    await start([...words, dump], name);
    await expectTyped(name, 1, ODD);
  });
});

test("a second attempt and another run have the same environment", async () => {
  const retried = ["--retries", "1", "--retry-on", "fail", "--retry-delay", "1s"];
  const again = { ...typed("again"), AGAIN: "1" };
  const { stdout } = await start([tutti, "submit", ...retried, "--", dump], "again", again);
  const [number] = /\d+/.exec(stdout)!;
  await start([tutti, "wait", number], "");
  await expectTyped("again", 1);
  await expectTyped("again", 2);
  rmSync(path("again1"));
  // The environment of who runs it again is not the job's.
  const other = { PATH: process.env.PATH!, TUTTI_SOCKET: scheduler.socket };
  await start([tutti, "rerun", number], "", other);
  await expectTyped("again", 1);
});

test("a hook has an environment of its own: of the job, what Tutti says about it, as it was typed", async () => {
  const name = "two\nlines ; $(id) '";
  const hook = `cat /proc/self/environ > ${path("hook.new")}; mv ${path("hook.new")} ${path("hook1")}`;
  await start([tutti, "run", "--name", name, "--on-end", hook, "--", "true"], "");
  await expectTyped("hook", 1, { TUTTI_JOB_NAME: name });
  expect(readFileSync(path("hook1"), "utf8")).not.toMatch(/A\.B=|BASH_FUNC/);
});

/** Every file with a shell between the typed environment and a job, and the way that goes through it. */
const BETWEEN: Readonly<Record<string, string>> = {
  "packaging/executable/unpack.sh": "the executable",
  "packages/live/conductor/attempts/job-input.ts": "a job in a terminal, a job with an input",
  "packages/live/conductor/attempts/shim.ts": "all; tasks on clusters have the same script",
  "packages/live/conductor/hooks/hook.ts": "a hook",
  "packages/live/daemon/news/news-desk.ts": "a hook",
  "packages/slurm/native/attempt.ts": "executor.test.ts next to it",
  "packages/slurm/step.ts": "as shim.ts, whose script it starts: the environment stands there",
  "packages/cli/options/submit-options.ts": "a script: the shell is the default interpreter",
  "packages/host/shell.ts": "a rank of srun --mpi, a rank of mpirun",
};
/** No variable that a job needs goes through these. */
const OTHERS = [
  ...["packaging/debian/postinst", "packaging/debian/postrm", "packaging/debian/prerm"],
  // They install, and start nothing.
  ...["packaging/source/install.sh", "packaging/spack/package.py"],
  // The user's own shell, and what Slurm's sbatch makes of --wrap.
  ...["packages/slurm-names/commands/salloc.ts", "packages/slurm-names/commands/sbatch.ts"],
  ...["packages/cli/verbs/demo.ts", "packages/cli/verbs/web.ts", "packages/live/conductor/background.ts"],
  // Texts in messages, or helpers of the conductor, which has an environment of its own.
  ...[
    "packages/live/conductor/attempts/claim.ts",
    "packages/live/conductor/attempts/gang-limits.ts",
    "packages/live/conductor/doctor.ts",
  ],
  ...["packages/live/conductor/guardian.ts", "packages/host/cgroups.ts"],
  ...["packages/slurm/batch-script.ts", "packages/slurm/site-doctor.ts"],
  // Conductors on hosts have an environment of their own; mpirun has its launcher give a gang its mark.
  ...["packages/ssh/carried.ts", "packages/ssh/host-script.ts", "packages/ssh/output-files.ts"],
  // Shells of a simulated machine, where no program of this one is started.
  ...[
    "packages/torture/shell/awk.ts",
    "packages/torture/shell/install.ts",
    "packages/torture/slurm/slurm.ts",
  ],
  "packages/torture/world/kernel/machine.ts",
  // Advice to users.
  ...["python/tutti.py", "packages/protocol/job-fields.ts", "packages/web/live/jobs/submit.tsx"],
];

test("every file that starts a shell is known", () => {
  const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*/gm, "");
  const found = ["packages", "packaging", "bin", "python"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
        join(folder, name),
      ),
    )
    .filter(
      (name) => /\.(ts|tsx|js|sh|py)$|^packaging\//.test(name) && !/\.test\.|-for-tests|fake-/.test(name),
    )
    .filter((name) => statSync(join(root, name)).isFile())
    .filter((name) => /\/bin\/(?:ba|da)?sh\b|["']sh["']/.test(code(readFileSync(join(root, name), "utf8"))));
  expect(found.sort()).toEqual([...Object.keys(BETWEEN), ...OTHERS].sort());
});
