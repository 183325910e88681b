/**
 * The conformance suite of executors: what every executor must do, seen from the front end's service. It
 * runs on the local executor, on real clusters, and on a simulated cluster in virtual time. A stage
 * provides the scheduler; all judgements rest on the records of the jobs' own processes (executor-work.ts).
 */

import type { Change } from "@tutti/live/daemon/contract/service.ts";
import { type Answer, isRefusal } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Work, WorkRecord } from "./executor-work.ts";

/** What an executor may lack. Each has its own test: it is refused. There may be at most three. */
export type Capability = "mode concurrent" | "tasks-run each";

/** A scheduler with an executor, in real or in virtual time. Times are Unix times in ms. */
export interface ExecutorStage {
  /** Processors of all nodes together, at least 2. */
  readonly processors: number;
  readonly slotMs: number;
  /** Most rows of the matrix. */
  readonly rows: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Memory for all jobs together. */
  memoryBytes(): Promise<number>;
  /**
   * By how much processes may be late, and gangs of two rows may overlap at one switch: 0 in virtual time.
   */
  readonly toleranceMs: number;
  readonly lacks: ReadonlySet<Capability>;
  nowMs(): number;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Submits jobs that do this work; returns their numbers. */
  submit(work: Work, fields?: Partial<SubmitJob>): Promise<Answer<readonly number[]>>;
  job(job: number): Promise<Job>;
  change(job: number, change: Change): Promise<Answer<Job>>;
  /** Kills the front end with SIGKILL. Until `startFrontEnd`, only `pass` and the records work. */
  killFrontEnd(): Promise<void>;
  startFrontEnd(): Promise<void>;
  /** What the processes of a job have recorded. */
  records(job: number): readonly WorkRecord[];
  /** Number of living processes of a job on all nodes. */
  processes(job: number): number;
  /** Content of the job's files. */
  output(job: number): { readonly stdout: string; readonly stderr: string };
  /**
   * The message with which a scheduler refuses to start, or a job is refused, that needs a lacking
   * capability.
   */
  refusalOf(capability: Capability): Promise<string>;
  /** Ends everything. @returns what was left behind, in words */
  close(): Promise<readonly string[]>;
}

export interface StageOptions {
  readonly slotMs: number;
  readonly graceMs: number;
}

const OPTIONS: StageOptions = { slotMs: 200, graceMs: 1000 };
/** For hangs. */
const PATIENCE_MS = 300_000;
/** A work that does not end by itself within a test. */
const ENDLESS: Work = { computeMs: 3_600_000 };

/** Defines the tests. @param open starts a scheduler with policy `gang`, at least four rows, and no jobs */
export function executorConformance(
  name: string,
  open: (options: StageOptions) => Promise<ExecutorStage>,
): void {
  describe(`executor conformance: ${name}`, () => {
    let stage: ExecutorStage;
    beforeAll(async () => {
      stage = await open(OPTIONS);
    });
    afterAll(async () => {
      expect(await stage?.close()).toEqual([]);
    });
    defineTests(() => stage);
  });
}

function defineTests(theStage: () => ExecutorStage): void {
  test("a job is launched once, ends with its exit status, and leaves its output", async () => {
    const stage = theStage();
    const [good, bad, shot] = await Promise.all([
      submitted(stage, { computeMs: 50, say: "good day" }),
      submitted(stage, { computeMs: 50, exitCode: 7 }),
      submitted(stage, { computeMs: 50, signal: "SIGSEGV" }),
    ]);
    expect(await ended(stage, good)).toMatchObject({ state: "done", code: 0, attempt: 1 });
    expect(await ended(stage, bad)).toMatchObject({ state: "failed", code: 7, reason: "exit code 7" });
    expect(await ended(stage, shot)).toMatchObject({ state: "failed", signal: "SIGSEGV" });
    expect(stage.output(good)).toEqual({ stdout: "good day\n", stderr: "GOOD DAY\n" });
    for (const job of [good, bad, shot]) expect(attemptsBegun(stage, job)).toEqual([1]);
  });

  test("a gang begins at its gate only in a slot of its own row, and rows never run at once", async () => {
    const stage = theStage();
    const first = await submitted(stage, ENDLESS, { tasks: stage.processors });
    await begun(stage, first);
    const second = await submitted(stage, { computeMs: 3 * stage.slotMs }, { tasks: stage.processors });
    expect(await ended(stage, second)).toMatchObject({ state: "done" });
    await cancelAll(stage, [first]);
    expect(spansOf(stage, first).length).toBeGreaterThanOrEqual(2);
    expect(worstOverlapMs(stage, first, second)).toBeLessThanOrEqual(stage.toleranceMs);
    const [start] = begunRecords(stage, second);
    const inside = spansOf(stage, first).filter(
      ({ fromMs, toMs, node }) =>
        node === start.node &&
        start.atMs > fromMs + stage.toleranceMs &&
        start.atMs < toMs - stage.toleranceMs,
    );
    expect(inside).toEqual([]);
  });

  test("tasks that run each pass their gates together on all nodes, and end together", async () => {
    const stage = theStage();
    if (stage.lacks.has("tasks-run each")) return;
    const fields = { tasks: stage.processors, tasksRun: "each" } as const;
    const job = await submitted(stage, { computeMs: 100, exitCode: 4 }, fields);
    expect(await ended(stage, job)).toMatchObject({ state: "failed", code: 4, attempt: 1 });
    const times = begunRecords(stage, job).map(({ atMs }) => atMs);
    expect(times).toHaveLength(stage.processors);
    // The shells that look at the clock share the processors of the machine.
    const slackMs = stage.toleranceMs === 0 ? 1 : 2 * stage.slotMs;
    expect(Math.max(...times) - Math.min(...times)).toBeLessThan(stage.slotMs + slackMs);
    expect(stage.processes(job)).toBe(0);
  });

  test("a cancelled job gets SIGTERM, and SIGKILL after its grace time", async () => {
    const stage = theStage();
    const polite = await submitted(stage, ENDLESS);
    const stubborn = await submitted(stage, { ...ENDLESS, ignoresTerm: true });
    await Promise.all([begun(stage, polite), begun(stage, stubborn)]);
    const atMs = stage.nowMs();
    await cancelAll(stage, [polite, stubborn]);
    const graceful = await ended(stage, polite);
    expect(graceful).toMatchObject({ state: "cancelled", signal: "SIGTERM" });
    expect(graceful.endedAtMs! - atMs).toBeLessThan(stage.graceMs);
    const killed = await ended(stage, stubborn);
    expect(killed).toMatchObject({ state: "cancelled", signal: "SIGKILL" });
    expect(killed.endedAtMs! - atMs).toBeGreaterThanOrEqual(stage.graceMs - 1);
    expect([stage.processes(polite), stage.processes(stubborn)]).toEqual([0, 0]);
  });

  test("a fork bomb is killed with everything that it has started", async () => {
    const stage = theStage();
    const bomb = await submitted(stage, { ...ENDLESS, bombs: 8 });
    await begun(stage, bomb);
    await until(stage, "the bomb has started its processes", () => stage.processes(bomb) > 8);
    await cancelAll(stage, [bomb]);
    expect(await ended(stage, bomb)).toMatchObject({ state: "cancelled" });
    // A process of a chain lives so shortly that one look may miss it.
    for (let look = 0; look < 10; look++) expect(stage.processes(bomb)).toBe(0);
  });

  test("a time limit counts running time: half of the time while another row has its turns", async () => {
    const stage = theStage();
    const other = await submitted(stage, ENDLESS, { tasks: stage.processors });
    const limitMs = 5 * stage.slotMs;
    const job = await submitted(stage, ENDLESS, { tasks: stage.processors, limitMs });
    const end = await ended(stage, job);
    await cancelAll(stage, [other]);
    expect(end).toMatchObject({ state: "failed", reason: "time limit" });
    expect(end.ranMs).toBeGreaterThanOrEqual(limitMs - 1);
    expect(end.ranMs).toBeLessThanOrEqual(limitMs + stage.slotMs + stage.toleranceMs);
    // Five slots of its own have at least four slots of the other row between them.
    expect(end.endedAtMs! - end.startedAtMs!).toBeGreaterThanOrEqual(1.7 * limitMs - stage.toleranceMs);
  });

  test("a job that is requeued starts again as its next attempt", async () => {
    const stage = theStage();
    const job = await submitted(stage, { computeMs: 800 }, { retries: 1 });
    await begun(stage, job);
    expect(await stage.change(job, { action: "requeue" })).toMatchObject({ state: "ending" });
    expect(await ended(stage, job)).toMatchObject({ state: "done", attempt: 2 });
    expect(attemptsBegun(stage, job)).toEqual([1, 2]);
  });

  test("a held job begins only after its release", async () => {
    const stage = theStage();
    const job = await submitted(stage, { computeMs: 20 }, { held: true });
    await stage.pass(3 * stage.slotMs);
    expect(attemptsBegun(stage, job)).toEqual([]);
    await stage.change(job, { action: "release" });
    expect(await ended(stage, job)).toMatchObject({ state: "done" });
  });

  test("an array runs each of its jobs once, and never more at once than it allows", async () => {
    const stage = theStage();
    const jobs = await allSubmitted(stage, { computeMs: 60 }, { array: "1-6%2" });
    expect(jobs).toHaveLength(6);
    for (const job of jobs) expect(await ended(stage, job)).toMatchObject({ state: "done" });
    for (const job of jobs) expect(attemptsBegun(stage, job)).toEqual([1]);
    const lives = jobs.map((job) => {
      const spans = spansOf(stage, job);
      return { fromMs: spans[0].fromMs, toMs: spans.at(-1)!.toMs };
    });
    for (const { fromMs } of lives) {
      const atOnce = lives.filter((life) => life.fromMs <= fromMs && fromMs < life.toMs);
      expect(atOnce.length).toBeLessThanOrEqual(2);
    }
  });

  test("a job begins after the one that it depends on, and never if that one should have succeeded", async () => {
    const stage = theStage();
    const first = await submitted(stage, { computeMs: 200, exitCode: 1 });
    const then = await submitted(stage, { computeMs: 20 }, { after: [{ job: first, ok: false }] });
    const never = await submitted(stage, { computeMs: 20 }, { after: [{ job: first, ok: true }] });
    expect(await ended(stage, then)).toMatchObject({ state: "done" });
    expect(await ended(stage, never)).toMatchObject({ state: "cancelled" });
    expect(attemptsBegun(stage, never)).toEqual([]);
    const lastMs = Math.max(...spansOf(stage, first).map(({ toMs }) => toMs));
    expect(begunRecords(stage, then)[0].atMs).toBeGreaterThanOrEqual(lastMs);
  });

  test("of two jobs that wait for a row, the one of higher priority begins first", async () => {
    const stage = theStage();
    const wide = { tasks: stage.processors };
    const rows: number[] = [];
    for (let row = 0; row < stage.rows; row++) rows.push(await submitted(stage, ENDLESS, wide));
    // Rows are added over some rounds. A job of higher priority that comes meanwhile gets the next one.
    for (const job of rows) await begun(stage, job);
    const low = await submitted(stage, { computeMs: 20 }, { ...wide, priority: 0 });
    const high = await submitted(stage, { computeMs: 20 }, { ...wide, priority: 1 });
    await stage.pass(2 * stage.slotMs);
    expect([low, high].map((job) => attemptsBegun(stage, job))).toEqual([[], []]);
    await cancelAll(stage, rows.slice(0, 1));
    expect(await ended(stage, high)).toMatchObject({ state: "done" });
    expect(await ended(stage, low)).toMatchObject({ state: "done" });
    await cancelAll(stage, rows);
    const [lowMs, highMs] = [low, high].map((job) => begunRecords(stage, job)[0].atMs);
    expect(highMs).toBeLessThan(lowMs);
  });

  test("jobs that need more memory together than there is run one after the other", async () => {
    const stage = theStage();
    const memoryBytes = Math.ceil(0.6 * (await stage.memoryBytes()));
    const first = await submitted(stage, ENDLESS, { memoryBytes });
    await begun(stage, first);
    const second = await submitted(stage, { computeMs: 20 }, { memoryBytes });
    await stage.pass(3 * stage.slotMs);
    expect(attemptsBegun(stage, second)).toEqual([]);
    await cancelAll(stage, [first]);
    expect(await ended(stage, second)).toMatchObject({ state: "done" });
  });

  test("the front end is killed in the middle of a slot and started again: gangs take their turns meanwhile", async () => {
    const stage = theStage();
    const work = { computeMs: 8 * stage.slotMs };
    const jobs = [
      await submitted(stage, work, { tasks: stage.processors }),
      await submitted(stage, { ...work, exitCode: 3 }, { tasks: stage.processors }),
    ];
    await begun(stage, jobs[1]);
    await stage.pass(stage.slotMs / 3);
    const fromMs = stage.nowMs();
    await stage.killFrontEnd();
    await stage.pass(4 * stage.slotMs);
    const toMs = stage.nowMs();
    await stage.startFrontEnd();
    expect(await ended(stage, jobs[0])).toMatchObject({ state: "done", attempt: 1 });
    expect(await ended(stage, jobs[1])).toMatchObject({ state: "failed", code: 3, attempt: 1 });
    for (const job of jobs) {
      expect(attemptsBegun(stage, job)).toEqual([1]);
      const meanwhile = spansOf(stage, job).filter((span) => span.toMs > fromMs && span.fromMs < toMs);
      expect(meanwhile.length).toBeGreaterThanOrEqual(1);
    }
    expect(worstOverlapMs(stage, jobs[0], jobs[1])).toBeLessThanOrEqual(stage.toleranceMs);
  });

  test("gangs keep their turns while the matrix changes all the time", async () => {
    const stage = theStage();
    const work = { computeMs: 6 * stage.slotMs };
    const gangs = [
      await submitted(stage, work, { tasks: stage.processors }),
      await submitted(stage, work, { tasks: stage.processors }),
    ];
    const small: number[] = [];
    for (let i = 0; i < 8; i++) {
      small.push(await submitted(stage, { computeMs: 30 + 10 * i }));
      await stage.pass(stage.slotMs / 2);
    }
    for (const job of [...gangs, ...small])
      expect(await ended(stage, job)).toMatchObject({ state: "done", attempt: 1 });
    for (const job of [...gangs, ...small]) expect(attemptsBegun(stage, job)).toEqual([1]);
    expect(worstOverlapMs(stage, gangs[0], gangs[1])).toBeLessThanOrEqual(stage.toleranceMs);
  });

  test("what cannot be run is refused with a reason, at once", async () => {
    const stage = theStage();
    const tooWide = await stage.submit({ computeMs: 1 }, { tasks: stage.processors + 1 });
    expect(tooWide).toMatchObject({ refused: "too-large" });
    expect(isRefusal(tooWide) && tooWide.message).toContain(String(stage.processors));
    expect(await stage.submit({ computeMs: 1 }, { queue: "no-such-queue" })).toMatchObject({
      refused: "invalid",
    });
    expect(await stage.change(1_000_000, { action: "cancel" })).toMatchObject({ refused: "not-found" });
  });

  test("what the executor lacks is declared and refused, at most three things", async () => {
    const stage = theStage();
    expect(stage.lacks.size).toBeLessThanOrEqual(3);
    for (const capability of stage.lacks) {
      const message = await stage.refusalOf(capability);
      expect(message).toContain(capability.split(" ")[1]);
      expect(message).toContain("Cannot");
    }
  });
}

/** Submits one job. */
async function submitted(stage: ExecutorStage, work: Work, fields?: Partial<SubmitJob>): Promise<number> {
  return (await allSubmitted(stage, work, fields))[0];
}

async function allSubmitted(stage: ExecutorStage, work: Work, fields?: Partial<SubmitJob>) {
  const answer = await stage.submit(work, fields);
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
}

/** Waits until the job's command has begun. */
async function begun(stage: ExecutorStage, job: number): Promise<void> {
  await until(stage, `job ${job} has begun`, () => attemptsBegun(stage, job).length > 0);
}

async function ended(stage: ExecutorStage, job: number): Promise<Job> {
  let last = await stage.job(job);
  const untilMs = stage.nowMs() + PATIENCE_MS;
  while (!isEnded(last.state) && stage.nowMs() < untilMs) {
    await stage.pass(20);
    last = await stage.job(job);
  }
  return last;
}

async function cancelAll(stage: ExecutorStage, jobs: readonly number[]): Promise<void> {
  for (const job of jobs) await stage.change(job, { action: "cancel" });
}

async function until(stage: ExecutorStage, what: string, holds: () => boolean): Promise<void> {
  const untilMs = stage.nowMs() + PATIENCE_MS;
  while (!holds()) {
    if (stage.nowMs() > untilMs) throw new Error(`Waited ${PATIENCE_MS} ms in vain until ${what}`);
    await stage.pass(10);
  }
}

function begunRecords(stage: ExecutorStage, job: number) {
  return stage.records(job).filter((record) => record.kind === "begun");
}

/** Numbers of the attempts whose command began, once for each beginning. */
function attemptsBegun(stage: ExecutorStage, job: number): number[] {
  return begunRecords(stage, job).map(({ attempt }) => attempt);
}

function spansOf(stage: ExecutorStage, job: number) {
  return stage.records(job).filter((record) => record.kind === "ran");
}

/** Longest time in which processes of both jobs ran on the same node at once. */
function worstOverlapMs(stage: ExecutorStage, one: number, other: number): number {
  let worstMs = 0;
  for (const a of spansOf(stage, one)) {
    for (const b of spansOf(stage, other)) {
      if (a.node === b.node)
        worstMs = Math.max(worstMs, Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs));
    }
  }
  return worstMs;
}
