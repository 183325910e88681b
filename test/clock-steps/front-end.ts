/** Promises that the front end keeps, on a machine on which nothing else happens. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOOK_MS } from "@tutti/host/clock.ts";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { readConfig } from "@tutti/live/daemon/config/config.ts";
import { Bench as ClusterBench, specOf } from "@tutti/live/daemon/executor/cluster/bench-for-tests.ts";
import { QueueExecutor } from "@tutti/live/daemon/executor/queue/queue-executor.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
} from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { Store } from "@tutti/live/daemon/store/store.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { SlurmBatch } from "@tutti/slurm/native/slurm-batch.ts";
import { FakeNativeSlurm } from "@tutti/slurm/native/slurm-for-tests.ts";
import { CHANGE_MS, DAY, HOUR, MINUTE, S, type Scene } from "./scenes.ts";

export async function submit({ clock, frontEnd }: Bench, fields: Partial<SubmitJob> = {}): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

/** A scheduler on which one job waits for a time and nothing else happens. */
interface Waiting {
  readonly bench: Bench;
  readonly job: number;
  /** The attempt that waits. */
  readonly attempt: number;
}

export const fcfs: BenchOptions = { config: { policy: "fcfs" }, runMs: () => S };
/** Fails once after a second, and waits 4 s. */
export const failing: BenchOptions = { ...fcfs, ends: (_, attempt) => ({ code: attempt === 1 ? 1 : 0 }) };

export const WAITING = {
  async begin(more?: BenchOptions): Promise<Waiting> {
    const bench = makeBench({ ...fcfs, ...more });
    return { bench, job: await submit(bench, { beginAtMs: HOUR }), attempt: 1 };
  },
  async window(more?: BenchOptions): Promise<Waiting> {
    const bench = makeBench({ ...fcfs, ...more });
    await answerOf(bench.clock, bench.frontEnd.reserve(ROOT, { name: "disk", untilMs: HOUR }));
    return { bench, job: await submit(bench), attempt: 1 };
  },
  async "retry delay"(more?: BenchOptions): Promise<Waiting> {
    const bench = makeBench({ ...failing, ...more });
    const job = await submit(bench, { retries: 1, retryOn: ["fail"], retryDelayMs: 4 * S });
    bench.clock.advanceTo(1500);
    return { bench, job, attempt: 2 };
  },
  async quota(more?: BenchOptions): Promise<Waiting> {
    const text = `policy = "fcfs"\n[limits]\ncpuHours = 1\n[shares]\nhalfLifeDays = ${1 / 24}\n`;
    const store = more?.store ?? new Store(":memory:", 0);
    store.setShareUsage({ uid: ANNA.uid, user: "anna", cpuMs: 2 * HOUR, atMs: 0 });
    const bench = makeBench({ ...fcfs, config: readConfig(text, "test.toml").config, ...more, store });
    return { bench, job: await submit(bench), attempt: 1 };
  },
  /** Slots of a minute: what arrives in one is decided at the beginning of the next. */
  async decision(more?: BenchOptions): Promise<Waiting> {
    const config = { policy: "gang", slotMs: MINUTE };
    const bench = makeBench({ config, slotted: true, runMs: () => HOUR, ...more });
    await submit(bench);
    bench.clock.advanceTo(S);
    return { bench, job: await submit(bench), attempt: 1 };
  },
} as const;

export type WaitsFor = keyof typeof WAITING;

/** Monotonic time of the launch of the attempt that waits. */
export function launchedAtMs({ bench, job, attempt }: Waiting, untilMs: number): number {
  const isLaunched = () => bench.machine.launched.includes(`${job}/${attempt}`);
  while (!isLaunched()) {
    const nextMs = bench.clock.nextMs();
    if (nextMs > untilMs) return Number.POSITIVE_INFINITY;
    bench.clock.advanceTo(nextMs);
  }
  return bench.clock.nowMs();
}

/** Looks this often whether it has happened. */
function becomesTrueAtMs(clock: FakeClock, lookMs: number, untilMs: number, isTrue: () => boolean): number {
  while (!isTrue()) {
    if (clock.nowMs() > untilMs) return Number.POSITIVE_INFINITY;
    clock.advanceTo(clock.nowMs() + lookMs);
  }
  return clock.nowMs();
}

const waits = (what: WaitsFor, expectedMs: Scene["expectedMs"], lateMs = LOOK_MS + 10): Scene => ({
  async happensAtMs(change) {
    const waiting = await WAITING[what]();
    waiting.bench.clock.advanceTo(CHANGE_MS);
    change(waiting.bench.clock);
    return launchedAtMs(waiting, 4 * HOUR);
  },
  expectedMs,
  lateMs,
});

const always = (atMs: number): Scene["expectedMs"] => ({ forward: atMs, back: atMs, suspend: atMs });
/** An hour by the wall clock, which is then set forward by two, or back by half an hour. */
const hourByTheWall: Scene["expectedMs"] = { forward: CHANGE_MS, back: 1.5 * HOUR, suspend: CHANGE_MS };

export const begin = waits("begin", hourByTheWall);
export const window = waits("window", hourByTheWall);
/** 2 CPU hours decay to the limit of 1 in a half-life, which is an hour. */
export const quota = waits("quota", hourByTheWall);
/** 4 s after the end at 1 s; the suspend counts. */
export const retryDelay = waits("retry delay", { forward: 5 * S, back: 5 * S, suspend: CHANGE_MS });
export const decision = waits("decision", always(MINUTE), 10);

export const fairShare: Scene = {
  async happensAtMs(change) {
    const text = `policy = "fcfs"\n[shares]\nhalfLifeDays = ${1 / 24}\n`;
    const store = new Store(":memory:", 0);
    store.setShareUsage({ uid: ANNA.uid, user: "anna", cpuMs: 8 * HOUR, atMs: 0 });
    const { clock, frontEnd } = makeBench({ config: readConfig(text, "test.toml").config, store });
    clock.advanceTo(CHANGE_MS);
    change(clock);
    const isHalf = () => frontEnd.shares(ANNA).users[0].usedCpuMs <= 4 * HOUR + 1;
    return becomesTrueAtMs(clock, 10 * S, 4 * HOUR, isHalf);
  },
  expectedMs: hourByTheWall,
  lateMs: 10 * S,
};

export const retention: Scene = {
  async happensAtMs(change) {
    const { clock, frontEnd } = await ended();
    clock.advanceTo(CHANGE_MS);
    change(clock);
    return becomesTrueAtMs(clock, MINUTE, 4 * DAY, () => {
      frontEnd.retention.step();
      return frontEnd.jobs(ROOT, {}).length === 0;
    });
  },
  // Kept for two days from the end at 1 s. Three days forward count after another day.
  expectedMs: { forward: DAY + CHANGE_MS, back: 2 * DAY + S + HOUR / 2, suspend: CHANGE_MS },
  lateMs: 2 * MINUTE,
  leapMs: 3 * DAY,
};

/** A job has ended at 1 s, and is kept for two days. */
export async function ended(): Promise<Bench> {
  const bench = makeBench({ ...fcfs, config: { policy: "fcfs", keepDays: 2 } });
  await submit(bench);
  bench.clock.advanceTo(1500);
  // The scheduler looks for old jobs from its start on.
  bench.frontEnd.retention.step();
  return bench;
}

/** @returns when the second of two jobs is expected to start, as the forecast says 5 s after the change */
export const forecast: Scene = {
  async happensAtMs(change) {
    const bench = makeBench({ config: { policy: "fcfs" }, cpus: 1, runMs: () => 9 * HOUR });
    const { clock, frontEnd } = bench;
    await submit(bench, { limitMs: HOUR });
    const job = await submit(bench);
    const expectedMs = async () => {
      const why = await frontEnd.why(ANNA, job);
      return "forecast" in why && why.forecast ? why.forecast.p50Ms : Number.POSITIVE_INFINITY;
    };
    clock.advanceTo(CHANGE_MS);
    await expectedMs();
    change(clock);
    clock.advanceTo(CHANGE_MS + 5 * S);
    return (await expectedMs()) - clock.unixOffsetMs;
  },
  // The first job may run for an hour, whatever the wall clock says.
  expectedMs: always(HOUR),
  lateMs: 10,
};

/** Instead of a runner of hooks: each hook fails at once. @returns times of tries, as they happen */
export function failHooks({ frontEnd, clock }: Bench): number[] {
  const tries: number[] = [];
  frontEnd.news.start((onResult) => ({
    run({ id }) {
      tries.push(clock.nowMs());
      clock.soon(() => onResult({ id, state: "failed", text: "refused" }));
    },
    close: () => {},
  }));
  return tries;
}

export const hookRetry: Scene = {
  async happensAtMs(change) {
    const bench = makeBench(fcfs);
    const tries = failHooks(bench);
    await submit(bench, { webhook: "http://h/" });
    bench.clock.advanceTo(CHANGE_MS);
    change(bench.clock);
    return becomesTrueAtMs(bench.clock, 10, 4 * HOUR, () => tries.length > 1);
  },
  // The first pause is 5 s, after the end of the job at 1 s.
  expectedMs: always(6 * S),
  lateMs: 20,
};

/** @returns when the node counts as lost: it answers until a second before the change */
export const nodeSilence: Scene = {
  async happensAtMs(change) {
    const bench = new ClusterBench();
    const startMs = bench.clock.nowMs();
    bench.nodes.cut("n2");
    bench.pass(CHANGE_MS);
    change(bench.clock);
    const lostAtMs = becomesTrueAtMs(bench.clock, 10, 4 * HOUR, () =>
      bench.notices().includes("node-lost n2"),
    );
    bench.executor.close();
    return lostAtMs - startMs;
  },
  // 3 s until it is silent and 20 more, from its last answer, which is up to half a second old.
  expectedMs: always(22.5 * S),
  lateMs: S,
};

/** @returns when a job of Slurm with a limit of a minute gets TERM, from its start on */
export const slurmLimit: Scene = {
  async happensAtMs(change) {
    const folder = mkdtempSync(join(tmpdir(), "tutti-steps-"));
    const clock = new FakeClock();
    clock.unixOffsetMs = 1_800_000_000 * S;
    const slurm = new FakeNativeSlurm(clock);
    const content = { schema: "tutti.native/1", owner: "0123456789abcdef", attempts: [] } as const;
    const store = { read: () => ({ ...content, attempts: [] }), write: () => {} };
    const node = { node: "n1", state: "idle", isDown: false, memoryMib: 1000, cpus: 4 };
    const executor = new QueueExecutor({ system: new SlurmBatch(slurm, []), nodes: [node], store, clock });
    executor.listen(
      () => {},
      () => {},
    );
    const pass = async () => {
      clock.advanceTo(clock.nowMs() + 100);
      // Answers of Slurm take turns of the event loop, and no virtual time.
      for (let i = 0; i < 30; i++) {
        await Promise.resolve();
        clock.settle();
      }
    };
    /** @returns when it has become so; it never takes two minutes */
    const until = async (isSo: () => boolean) => {
      const untilMs = clock.nowMs() + 2 * MINUTE;
      while (!isSo() && clock.nowMs() < untilMs) await pass();
      return isSo() ? clock.nowMs() : Number.POSITIVE_INFINITY;
    };
    try {
      await until(() => clock.nowMs() >= S);
      executor.apply([{ type: "launch", spec: { ...specOf(1, ["n1"], { limitMs: MINUTE }), folder } }]);
      const startMs = await until(() => slurm.jobs[0]?.startS !== undefined);
      await until(() => clock.nowMs() >= startMs + CHANGE_MS);
      change(clock);
      return (await until(() => slurm.orders.includes("TERM 1"))) - startMs;
    } finally {
      executor.close();
      rmSync(folder, { recursive: true });
    }
  },
  // Slurm tells its start in whole seconds, and is asked every few seconds.
  expectedMs: always(59 * S),
  lateMs: 3 * S,
};
