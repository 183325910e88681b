/** The product's own scripts, run by real shells and by the shell of the simulated world. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeLaunch } from "../packages/live/conductor/attempts/shim.ts";
import type { Process } from "../packages/torture/world/contract.ts";
import type { SimulatedMachine } from "../packages/torture/world/kernel/machine.ts";
import type { WorldTimeline } from "../packages/torture/world/timeline.ts";
import {
  finish,
  makeMachine,
  openPipe,
  readText,
  realFiles,
  simulatedFiles,
  start,
} from "./simulated-machine.ts";
import { root } from "./sources.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-scripts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { O_WRONLY, O_NONBLOCK } = constants;
const IDENTITY = "0123456789abcdef0123456789abcdef";

interface Case {
  readonly name: string;
  readonly command: readonly string[];
  /** Below the case's folder. */
  readonly cwd?: string;
  readonly stdout?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly starter?: "machine" | "node";
  /** What the conductor writes into the gate. */
  readonly gate?: string;
  /** In the attempt's folder, before. */
  readonly isClaimed?: boolean;
}

const CASES: readonly Case[] = [
  { name: "output and success", command: ["/bin/sh", "-c", "echo out; echo err >&2; pwd >/dev/null"] },
  { name: "exit code", command: ["sh", "-c", "exit 3"] },
  { name: "signal", command: ["sh", "-c", "kill -9 $$"] },
  { name: "signal on a node", command: ["sh", "-c", "kill -9 $$"], starter: "node" },
  { name: "arguments", command: ["printf", "<%s>", "a b", "it's", "", "$x", "new\nline", "ünï"] },
  { name: "no such command", command: ["no-such-command"] },
  { name: "no such path", command: ["/no/such command"], starter: "node" },
  { name: "no working directory", command: ["true"], cwd: "none" },
  { name: "output in a new folder", command: ["echo", "x"], stdout: "a/b/out" },
  { name: "output is a folder", command: ["echo", "x"], stdout: "." },
  { name: "output cannot be made", command: ["echo", "x"], stdout: "/proc/none/out" },
  {
    name: "environment",
    command: ["sh", "-c", 'echo "$A|$B|$TUTTI_GANG"'],
    env: { A: "a 'b' \"c\"", B: "\n$x" },
  },
  {
    name: "odd names in the environment",
    command: ["env"],
    env: { "BASH_FUNC_f%%": "() { echo f; }", _: "x" },
  },
  { name: "its own environment only", command: ["sh", "-c", "echo $finish $OLDPWD"] },
  { name: "the gate is gone", command: ["echo", "x"], gate: "gone\n" },
  { name: "pinned", command: ["echo", "x"], gate: "go 0\n" },
  { name: "claimed already", command: ["echo", "x"], isClaimed: true },
  { name: "kill 0", command: ["sh", "-c", "kill 0; sleep 1"] },
  { name: "umask and descriptors", command: ["sh", "-c", "umask; ulimit -S -n; echo >&9"] },
  { name: "input", command: ["cat"], input: "two\nlines\n" },
];

/** The places of a case, below `top`. */
function specOf(top: string, { command, cwd = "work", stdout = "out", env = {}, input }: Case) {
  const at = (path: string) => (path.startsWith("/") ? path : join(top, path));
  return {
    job: 7,
    attempt: 1,
    identity: IDENTITY,
    folder: join(top, "attempt"),
    command,
    cwd: at(cwd),
    env: { PATH: "/usr/bin:/bin", ...env },
    stdout: at(stdout),
    stderr: at("err"),
    uid: process.getuid!(),
    gid: process.getgid!(),
    graceMs: 1000,
    ...(input !== undefined && { input: "pipe" as const }),
  };
}

/** Everything that depends on pids and times is replaced. */
const plain = (files: readonly string[]) =>
  files
    .map((file) => file.replace(/[0-9a-f-]{36}:[0-9]+:[0-9]+:/, "BOOT:PID:TICKS:"))
    .map((file) => file.replace(`On ${hostname()}:`, "On node1:"))
    // The order of the environment is the shell's own.
    .map((file) => (file.startsWith("out: PATH=") ? file.split("\n").sort().join("\n") : file))
    .filter((file) => !file.startsWith("attempt/launch"));

interface Outcome {
  readonly status: number | undefined;
  readonly files: readonly string[];
}

/** Writes into pipes that are read by then. A client has the input open before "go" (job-input.ts). */
function writesOf({ gate = "go \n", input }: Case): (readonly [file: string, text: string])[] {
  const client = [["input", input ?? ""] as const, ["ready", "go\n"] as const];
  return [["gate", gate], ...(input === undefined ? [] : client)];
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function runReal(top: string, one: Case): Promise<Outcome> {
  const shim = spawn("/bin/sh", [join(top, "attempt/launch")], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: "ignore",
  });
  const ended = once(shim, "exit");
  for (const [file, text] of writesOf(one)) {
    while (shim.exitCode === null) {
      try {
        const descriptor = openSync(join(top, "attempt", file), O_WRONLY | O_NONBLOCK);
        writeSync(descriptor, text);
        closeSync(descriptor);
        break;
      } catch {
        await sleep(5);
      }
    }
  }
  const [status] = await ended;
  return { status, files: plain(realFiles(top)) };
}

function runSimulated(machine: SimulatedMachine, top: string, script: string, one: Case): Outcome {
  const attempt = join(top, "attempt");
  machine.writeFile(join(top, "work/file"), "");
  machine.writeFile(join(attempt, "launch"), script, 0o400);
  if (one.isClaimed) machine.files.makeLink(machine.root, "somebody", join(attempt, "claim"));
  const shim = start(machine, ["/bin/sh", join(attempt, "launch")], "/", "/dev/null");
  const timeline = machine.timeline as WorldTimeline;
  for (const [file, text] of writesOf(one)) {
    while (shim.end === undefined && !openPipe(machine, join(attempt, file), text)) {
      timeline.step(Number.MAX_SAFE_INTEGER);
    }
  }
  finish(machine, shim);
  return { status: shim.end?.code, files: plain(simulatedFiles(machine, top)) };
}

describe("launch script", async () => {
  const machine = makeMachine();
  const outcomes = await Promise.all(
    CASES.map(async (one, i) => {
      const top = join(folder, `${i}`);
      mkdirSync(join(top, "attempt"), { recursive: true });
      mkdirSync(join(top, "work"));
      writeFileSync(join(top, "work/file"), "");
      const path = writeLaunch(specOf(top, one), "mark/7.1", one.starter ?? "machine");
      const script = readFileSync(path, "utf8");
      if (one.isClaimed) symlinkSync("somebody", join(top, "attempt/claim"));
      return { top, script, real: await runReal(top, one) };
    }),
  );
  test.each(CASES.map((one, i) => [one.name, i] as const))("%s", (_, i) => {
    const { top, script, real } = outcomes[i];
    expect(runSimulated(machine, top, script, CASES[i])).toEqual(real);
  });
});

/** The guardian's script, as guardian.ts has it between backquotes. */
const GUARDIAN = /const GUARDIAN = `([^`]*)`;/
  .exec(readFileSync(join(root, "packages/live/conductor/guardian.ts"), "utf8"))![1]
  .replaceAll("\\$", "$")
  .replaceAll("\\\\", "\\");

describe("guardian", () => {
  const machine = makeMachine();
  const timeline = machine.timeline as WorldTimeline;
  const pass = (ms: number) => {
    const untilUs = timeline.nowUs + ms * 1000;
    while (timeline.step(untilUs));
    timeline.nowUs = untilUs;
  };

  function begin(members: string): { guardian: Process; write: (text: string) => void; close: () => void } {
    const { files, root: who } = machine;
    machine.writeFile("/g/members", members);
    machine.makeFolder("/g/paused");
    for (const output of ["/g/out", "/g/out.err"]) if (exists(output)) files.unlink(who, output);
    const [from, to] = files.pipe(who);
    const words = ["tutti-guardian", "", "", "", "/g/members", "5", "/g/paused"];
    const guardian = start(machine, ["/bin/bash", "--norc", "-c", GUARDIAN, ...words], "/", "/g/out", from);
    files.close(who, from);
    return {
      guardian,
      write: (text) => files.write(who, to, Buffer.from(text)),
      close: () => files.close(who, to),
    };
  }
  const exists = (path: string) => {
    try {
      machine.files.stat(machine.root, path);
      return true;
    } catch {
      return false;
    }
  };
  const stopped = () => {
    const job = start(machine, ["/bin/sh", "-c", "kill -STOP $$; sleep 1000"], "/", "/g/job");
    pass(1);
    expect(job.state).toBe("T");
    return job;
  };
  const memberOf = ({ pid, startTicks }: Process) => `${machine.bootId} ${pid} ${startTicks} 7.1\n`;
  machine.makeFolder("/g");

  test("beats keep it waiting, and a release ends it", () => {
    const job = stopped();
    const { guardian, write } = begin(memberOf(job));
    for (let i = 0; i < 20; i++) {
      pass(1000);
      write("beat\n");
    }
    pass(1000);
    expect(guardian.end).toBe(undefined);
    write("release\n");
    pass(100);
    expect([guardian.end, job.state, readText(machine, "/g/out")]).toEqual([{ code: 0 }, "T", ""]);
  });

  test("without a beat, it continues the gangs that are not paused, and says so once", () => {
    const [job, paused] = [stopped(), stopped()];
    machine.writeFile("/g/paused/8.1", "");
    const { guardian, write, close } = begin(memberOf(job) + memberOf(paused).replace("7.1", "8.1"));
    write("beat\n");
    pass(4900);
    expect(job.state).toBe("T");
    pass(200);
    expect([job.state, paused.state, guardian.state]).toEqual(["S", "T", "S"]);
    pass(15_000);
    expect(readText(machine, "/g/out")).toBe("continued\n".repeat(4));
    expect(readText(machine, "/g/out.err")).toMatch(
      /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ No sign of life from the conductor for 5 s: letting all gangs run\n$/,
    );
    close();
    pass(100);
    expect(guardian.end).toEqual({ code: 0 });
  });

  test("when the pipe closes, it continues all and ends", () => {
    const job = stopped();
    const { guardian, close } = begin(`${memberOf(job)}${machine.bootId} 4000 1 7.1\nother 1 1 7.1\n`);
    pass(10);
    close();
    pass(100);
    expect([guardian.end, job.state]).toEqual([{ code: 0 }, "S"]);
  });

  test("a sleeping machine is no lack of beats", () => {
    const job = stopped();
    const { guardian, write } = begin(memberOf(job));
    write("beat\n");
    pass(1000);
    machine.suspend(60_000);
    pass(61_000);
    expect(job.state).toBe("T");
    write("release\n");
    pass(100);
    expect(guardian.end).toEqual({ code: 0 });
  });
});

test("a shell joins a control group", () => {
  const machine = makeMachine("v2");
  machine.files.makeFolder(machine.root, "/sys/fs/cgroup/a");
  const file = "/sys/fs/cgroup/a/cgroup.procs";
  const join = ["/bin/sh", "-c", 'echo $$ > "$1"', "sh"];
  const shell = start(machine, [...join, file], "/", "/dev/null");
  finish(machine, shell);
  expect([shell.end, shell.group]).toEqual([{ code: 0 }, "a"]);
  const refused = start(machine, [...join, "/sys/fs/cgroup/none/cgroup.procs"], "/", "/dev/null");
  finish(machine, refused);
  expect(refused.end).toEqual({ code: 2 });
  expect(existsSync("/sys/fs/cgroup/a")).toBe(false);
});
