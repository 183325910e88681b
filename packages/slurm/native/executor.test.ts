import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { Report } from "@tutti/live/daemon/executor/executor.ts";
import { KeptFile } from "@tutti/live/daemon/executor/kept-file.ts";
import { QueueExecutor } from "@tutti/live/daemon/executor/queue/queue-executor.ts";
import { queueContent } from "@tutti/live/daemon/executor/queue/queue-file.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { IN_SLURM } from "../slurm.ts";
import { attemptScript } from "./attempt.ts";
import { SlurmBatch } from "./slurm-batch.ts";
import { FakeNativeSlurm } from "./slurm-for-tests.ts";

const START_UNIX_S = 1_800_000_000;
const NODES = ["n1", "n2"].map((node) => ({ node, state: "idle", isDown: false, memoryMib: 1000, cpus: 4 }));

let folder: string;
let clock: FakeClock;
let slurm: FakeNativeSlurm;
let executor: QueueExecutor;
let reports: Report[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-native-"));
  clock = new FakeClock(0);
  clock.unixOffsetMs = START_UNIX_S * 1000;
  slurm = new FakeNativeSlurm(clock);
  start();
});

afterEach(() => {
  executor.close();
  rmSync(folder, { recursive: true });
});

/** A front end's new executor, with the file of the one before. */
function start(): void {
  reports = [];
  const store = new KeptFile(join(folder, "slurm/native.json"), queueContent, IN_SLURM);
  executor = new QueueExecutor({
    ...{ system: new SlurmBatch(slurm, ["--partition=long"]), nodes: NODES, store, clock },
  });
  executor.listen(
    (report) => reports.push(report),
    (because) => reports.push({ type: "notice", kind: "disconnected", text: because }),
  );
}

/** Lets virtual time pass; orders to Slurm take none of it. */
async function pass(seconds: number): Promise<void> {
  const untilMs = clock.nowMs() + seconds * 1000;
  for (;;) {
    for (let i = 0; i < 100; i++) {
      clock.settle();
      await Promise.resolve();
    }
    const nextMs = Math.min(clock.nextMs(), untilMs);
    if (nextMs <= clock.nowMs()) return;
    clock.advanceTo(nextMs);
    if (nextMs === untilMs) {
      for (let i = 0; i < 100; i++) {
        clock.settle();
        await Promise.resolve();
      }
      return;
    }
  }
}

function spec(job: number, fields: Partial<LaunchSpec> = {}): LaunchSpec {
  const attempt = join(folder, `${job}.1`);
  mkdirSync(attempt, { recursive: true });
  return {
    ...{ job, attempt: 1, identity: `${job}`.repeat(32).slice(0, 32), folder: attempt, command: ["true"] },
    ...{ cwd: folder, env: { TUTTI_JOB_NAME: "a b", TUTTI_HOSTFILE: join(attempt, "hosts") } },
    ...{ stdout: join(attempt, "out"), stderr: join(attempt, "err"), graceMs: 5000, tasks: 3 },
    ...fields,
  };
}

const launch = (...specs: readonly LaunchSpec[]) =>
  executor.apply(specs.map((one) => ({ type: "launch", spec: one })));
const of = <Type extends Report["type"]>(type: Type) =>
  reports.filter((report): report is Extract<Report, { type: Type }> => report.type === type);
const ends = () => of("ended").map(({ end }) => end);

describe("jobs of Slurm", () => {
  test("are submitted held, released in the order of the decisions, and start when Slurm says", async () => {
    await pass(0.5);
    expect(of("connected")).toMatchObject([{ attempts: [] }]);
    launch(spec(1, { limitMs: 90_000, memoryBytes: 3 * 2 ** 20 }), spec(2));
    await pass(0);
    expect(slurm.orders).toEqual(["submit 1", "release 1", "submit 2", "release 2"]);
    expect(slurm.jobs[0].options).toEqual([
      "--hold",
      "--ntasks=3",
      "--time=2",
      "--mem-per-cpu=1024K",
      expect.stringMatching(/^--comment=tutti:[0-9a-f]{16}:native:1\.1\.1{32}$/),
      "--job-name=a b",
      "--requeue",
      "--output=/dev/null",
      "--chdir=/",
      "--partition=long",
    ]);
    expect(slurm.jobs[0].script).toBe(`#!/bin/sh\nexec /bin/sh '${folder}/1.1/slurm-job'\n`);
    expect(executor.hindrance({ job: 1, attempt: 1 })).toMatchObject({
      kind: "launch",
      message: expect.stringMatching(/asked to start it as job 1, and takes about 3 s/),
    });
    expect(of("launched")).toEqual([]);
    await pass(4);
    // Released at 0.5 s, started by Slurm 2.5 s later.
    expect(of("launched").map(({ attempt, startedAtMs }) => [attempt.job, startedAtMs])).toEqual([
      [1, (START_UNIX_S + 3) * 1000],
      [2, (START_UNIX_S + 3) * 1000],
    ]);
    expect(executor.hindrance({ job: 2, attempt: 1 })).toBeUndefined();
    expect(executor.runsAs({ job: 2, attempt: 1 })).toBe("It runs as Slurm's job 2 on n[1-2]");
    slurm.end("1", {});
    slurm.end("2", { state: "FAILED", exitCode: 7 });
    await pass(1);
    expect(ends()).toMatchObject([
      { job: 1, code: 0, reason: "none", ranMs: 1000 },
      { job: 2, code: 7, reason: "none" },
    ]);
    expect(executor.runsAs({ job: 2, attempt: 1 })).toBeUndefined();
  });

  test("are found by their comment if the answer of sbatch is lost, and not submitted again", async () => {
    await pass(0.5);
    slurm.fault = "unanswered";
    launch(spec(1));
    await pass(0);
    expect(of("notice")).toMatchObject([{ kind: "disconnected", text: "Slurm does not answer" }]);
    expect(slurm.orders).toEqual(["submit 1"]);
    await pass(1);
    // The front end hears of no attempt, so it launches it again.
    expect(of("connected").at(-1)?.attempts).toEqual([]);
    launch(spec(1));
    await pass(4);
    expect(slurm.orders).toEqual(["submit 1", "release 1"]);
    expect(of("launched")).toHaveLength(1);
  });

  test("a lost release is repeated, and a submit that did nothing, too", async () => {
    await pass(0.5);
    slurm.fault = "lost";
    launch(spec(1));
    await pass(1.5);
    slurm.isAway = true;
    launch(spec(1));
    await pass(3);
    expect(slurm.orders).toEqual([]);
    expect(executor.trouble).toBe("Slurm does not answer");
    slurm.isAway = false;
    await pass(1);
    launch(spec(1));
    await pass(4);
    expect(slurm.orders).toEqual(["submit 1", "release 1"]);
    expect(executor.trouble).toBeUndefined();
  });

  test("that Slurm refuses are lost before they began", async () => {
    await pass(0.5);
    slurm.refusal = "Batch job submission failed: Invalid partition name specified";
    launch(spec(1));
    await pass(0);
    expect(ends()).toMatchObject([{ job: 1, neverBegan: true, lost: slurm.refusal }]);
  });
});

describe("what Slurm does on its own wins", () => {
  beforeEach(async () => {
    await pass(0.5);
    launch(spec(1));
    await pass(4);
    mkdirSync(join(folder, "1.1/began"));
  });

  test("a cancel from outside", async () => {
    slurm.end("1", { state: "CANCELLED" });
    await pass(1);
    expect(ends()).toMatchObject([{ job: 1, reason: "cancelled" }]);
    expect(of("notice")).toMatchObject([
      { kind: "slurm", text: expect.stringContaining("outside of Tutti") },
    ]);
  });

  test("a requeue from outside: the attempt ends, and this job of Slurm with it", async () => {
    Object.assign(slurm.job("1"), { state: "PENDING", reason: "BeginTime", restarts: 1, startS: undefined });
    await pass(1);
    expect(ends()).toMatchObject([{ job: 1, reason: "requeued" }]);
    expect(slurm.orders.at(-1)).toBe("cancel 1");
    launch({ ...spec(1), attempt: 2, identity: "f".repeat(32) });
    await pass(4);
    expect(of("launched").map(({ attempt }) => attempt)).toEqual([
      { job: 1, attempt: 1 },
      { job: 1, attempt: 2 },
    ]);
  });

  test.each([
    ["TIMEOUT", { reason: "time-limit" }],
    ["OUT_OF_MEMORY", { reason: "memory-limit" }],
    ["NODE_FAIL", { reason: "none", lost: "Slurm has ended its job 1: NODE_FAIL" }],
  ])("%s", async (state, end) => {
    slurm.end("1", { state });
    await pass(1);
    expect(ends()).toMatchObject([{ job: 1, ...end }]);
    expect(ends()[0]).not.toHaveProperty("neverBegan");
  });

  test("a job that Slurm has forgotten, and a hold before its start", async () => {
    launch(spec(2));
    await pass(0);
    slurm.job("2").reason = "JobHeldAdmin";
    await pass(5);
    expect(executor.hindrance({ job: 2, attempt: 1 })).toEqual({
      kind: "launch",
      message: "Slurm holds its job 2 (JobHeldAdmin)",
    });
    slurm.forgotten.add(1).add(2);
    await pass(3);
    expect(ends()).toMatchObject([
      { job: 1, lost: expect.stringContaining("no longer knows its job 1") },
      { job: 2, neverBegan: true },
    ]);
    // Its command can no longer begin.
    expect(existsSync(join(folder, "2.1/began"))).toBe(true);
  });
});

describe("stops", () => {
  test("TERM, then KILL after the grace time; a limit in running time", async () => {
    await pass(0.5);
    launch(spec(1), spec(2, { limitMs: 3000 }), spec(3));
    await pass(0);
    executor.apply([{ type: "stop", attempt: { job: 3, attempt: 1 }, kill: false, reason: "cancelled" }]);
    await pass(1);
    expect(ends()).toMatchObject([{ job: 3, reason: "cancelled", neverBegan: true }]);
    await pass(3);
    executor.apply([{ type: "stop", attempt: { job: 1, attempt: 1 }, kill: false, reason: "cancelled" }]);
    await pass(2);
    expect(slurm.orders.slice(6)).toEqual(["cancel 3", "TERM 1", "TERM 2"]);
    await pass(6);
    expect(slurm.orders.slice(9).sort()).toEqual(["KILL 1", "KILL 2"]);
    expect(
      ends()
        .slice(1)
        .map(({ job, reason, signal }) => [job, reason, signal])
        .sort(),
    ).toEqual([
      [1, "cancelled", "SIGKILL"],
      [2, "time-limit", "SIGKILL"],
    ]);
  });
});

describe("when the wall clock is set", () => {
  test.each([7_200_000, -7_200_000])("by %d ms, a limit is still the running time", async (stepMs) => {
    await pass(0.5);
    launch(spec(1, { limitMs: 60_000 }));
    await pass(5);
    clock.step(stepMs);
    await pass(50);
    expect(slurm.orders).not.toContain("TERM 1");
    await pass(15);
    expect(slurm.orders).toContain("TERM 1");
  });

  test("back, before a job has started: its start is still noticed", async () => {
    await pass(0.5);
    launch(spec(1));
    await pass(1);
    clock.step(-7_200_000);
    await pass(6);
    expect(of("launched")).toHaveLength(1);
  });
});

describe("the next front end", () => {
  test("finds running jobs, ends since then, and releases what was only submitted", async () => {
    await pass(0.5);
    launch(spec(1), spec(2));
    await pass(4);
    executor.close();
    slurm.end("2", { state: "FAILED", signal: 11 });
    await pass(1);
    start();
    await pass(1);
    const [{ attempts }] = of("connected");
    expect(attempts).toMatchObject([
      { job: 1, phase: "running", about: { command: ["true"] } },
      { job: 2, phase: "ended", end: { signal: "SIGSEGV" } },
    ]);
    executor.apply([{ type: "forget", attempt: { job: 2, attempt: 1 }, identity: spec(2).identity! }]);
    executor.close();
    start();
    await pass(1);
    expect(of("connected")[0].attempts.map(({ job }) => job)).toEqual([1]);
  });

  test("knows that the one before has ended a job at its limit, and when it began", async () => {
    await pass(0.5);
    launch(spec(1, { limitMs: 3000 }));
    while (!slurm.orders.includes("TERM 1")) await pass(1);
    const { startedAtMs } = of("launched")[0];
    executor.close();
    slurm.end("1", { state: "FAILED", signal: 15 });
    start();
    await pass(1);
    const [{ end }] = of("connected")[0].attempts;
    expect(end).toMatchObject({ reason: "time-limit", signal: "SIGTERM", startedAtMs });
  });

  test("a held job with our mark that nobody asks for is cancelled after a minute", async () => {
    await pass(0.5);
    slurm.fault = "unanswered";
    launch(spec(1));
    await pass(1);
    executor.close();
    rmSync(join(folder, "slurm/native.json"));
    const [{ comment }] = slurm.jobs;
    writeFileSync(
      join(folder, "slurm/native.json"),
      JSON.stringify({ schema: "tutti.native/1", owner: comment.split(":")[1], attempts: [] }),
    );
    start();
    await pass(59);
    expect(slurm.orders).toEqual(["submit 1"]);
    await pass(3);
    expect(slurm.orders).toEqual(["submit 1", "cancel 1"]);
  });

  test("a file of another kind is refused", () => {
    writeFileSync(join(folder, "slurm/native.json"), "{}");
    expect(start).toThrow(/Cannot read ".*native.json": it is not a file of this version of Tutti/);
  });
});

describe("attemptScript()", () => {
  test("runs the command once, with its environment, output and the hosts that Slurm gave", () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "scontrol"), "#!/bin/sh\nprintf 'n1\\nn2\\nn3\\n'\n", { mode: 0o755 });
    const one = spec(1, {
      command: ["sh", "-c", 'echo "$GREETING:$SECRET:$TUTTI_NODELIST:$TUTTI_CPUS"; pwd; exit 7'],
      env: { ...spec(1).env, PATH: process.env.PATH!, GREETING: "it's\n$HOME", TUTTI_CPUS: "0,1" },
    });
    // Names that no shell could write, such as functions that bash has exported.
    const odd = { "BASH_FUNC_module%%": "() {  echo   it's;\n}", "A.B": "", "-i": "=" };
    const dumped = spec(2, { command: ["cat", "/proc/self/environ"], env: { ...one.env, ...odd } });
    writeFileSync(join(folder, "odd"), attemptScript(dumped));
    const file = join(folder, "script");
    writeFileSync(file, attemptScript(one));
    const env = {
      PATH: `${bin}:${process.env.PATH}`,
      SECRET: "of the scheduler",
      ...{ SLURM_JOB_NODELIST: "n[1-3]", SLURM_TASKS_PER_NODE: "2(x2),1" },
    };
    expect(spawnSync("/bin/sh", [join(folder, "odd")], { env }).status).toBe(0);
    expect(readFileSync(dumped.stdout, "utf8").split("\0")).toEqual(
      expect.arrayContaining(Object.entries(odd).map((pair) => pair.join("="))),
    );
    expect(spawnSync("/bin/sh", [file], { env }).status).toBe(7);
    expect(readFileSync(one.stdout, "utf8")).toBe(`it's\n$HOME::n[1-3]:\n${folder}\n`);
    expect(readFileSync(one.env.TUTTI_HOSTFILE, "utf8")).toBe("n1 slots=2\nn2 slots=2\nn3 slots=1\n");
    expect(spawnSync("/bin/sh", [file], { env }).status).toBe(1);
    expect(readFileSync(one.stdout, "utf8").match(/it's/g)).toHaveLength(1);
  });

  test("tasks that run each are started by srun", () => {
    const script = attemptScript(spec(1, { tasksRun: "each", mpi: "pmix", command: ["./a b"] }));
    expect(script).toContain("\nexec 'srun' '--mpi=pmix' './a b'\n");
  });
});
