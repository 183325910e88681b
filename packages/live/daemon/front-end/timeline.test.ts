/**
 * Tests the timeline: past, present and expected times of the caller's jobs, CPUs of the others, and that an
 * answer is bounded and says from when it is complete.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import { expect, test, vi } from "vitest";
import type { Caller, Timeline } from "../contract/service.ts";
import { forecast } from "../forecast/model.ts";
import { fillStore } from "../store/fill-for-tests.ts";
import { ANNA, answerOf, BEN, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const MINUTE = 60_000;

/** Two CPUs under fcfs. Each job takes as long as its limit. */
async function benchOf(
  jobs: readonly (readonly [Caller, tasks: number, minutes: number])[],
  policy = "fcfs",
) {
  const bench = makeBench({
    cpus: 2,
    config: { policy },
    slotted: policy === "gang",
    runMs: (job) => jobs[job - 1][2] * MINUTE,
  });
  const { clock, frontEnd } = bench;
  for (const [caller, tasks, minutes] of jobs) {
    const answer = await answerOf(
      clock,
      frontEnd.submit(caller, [request({ name: caller.user, tasks, limitMs: minutes * MINUTE })]),
    );
    if (isRefusal(answer)) throw new Error(answer.message);
  }
  return bench;
}

async function timelineOf(
  { frontEnd, clock }: Bench,
  caller: Caller,
  [fromMin, toMin]: readonly [number, number] = [-60, 60],
): Promise<Timeline> {
  const atMs = clock.unixMs();
  const steps = await frontEnd.timeline(caller, {
    fromMs: atMs + fromMin * MINUTE,
    toMs: atMs + toMin * MINUTE,
  });
  if (isRefusal(steps)) throw new Error(steps.message);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Minutes from a time. */
const minutes = (ms: number | undefined, fromMs: number) =>
  ms === undefined ? undefined : Math.round((ms - fromMs) / 600) / 100;

test("past, present and future of your jobs; of other users' jobs, CPUs with a number", async () => {
  const bench = await benchOf([
    [ANNA, 2, 10],
    [BEN, 1, 10],
    [ANNA, 1, 20],
    [BEN, 2, 5],
    [ANNA, 2, 30],
  ]);
  const startMs = bench.clock.unixMs();
  bench.clock.advanceTo(bench.clock.nowMs() + 15 * MINUTE);
  const { jobs, others, ...rest } = await timelineOf(bench, ANNA);
  expect(rest).toMatchObject({
    atMs: startMs + 15 * MINUTE,
    ...{ policy: "fcfs", sharing: "space", cpus: [0, 1], rows: 1, forecastAtMs: startMs + 15 * MINUTE },
  });
  expect(rest).not.toHaveProperty("truncated");
  const times = jobs.map(({ job, state, cpus, startedAtMs, endedAtMs, start, end }) => ({
    ...{ job, state, cpus: cpus.length },
    started: minutes(startedAtMs, startMs),
    ended: minutes(endedAtMs, startMs),
    start: minutes(start?.p50Ms, startMs),
    end: minutes(end?.p90Ms, startMs),
  }));
  const none = { started: undefined, ended: undefined, start: undefined, end: undefined };
  // Ben's job 4 needs both CPUs: it starts when job 3 ends, at 30 min, and Anna's job 5 at 35 min.
  expect(times).toEqual([
    { ...none, job: 3, state: "running", cpus: 1, started: 10, end: 30 },
    { ...none, job: 5, state: "queued", cpus: 0, start: 35, end: 65 },
    { ...none, job: 1, state: "done", cpus: 2, started: 0, ended: 10 },
  ]);
  expect(others).toEqual([{ job: 2, cpus: [expect.any(Number)], fromMs: startMs + 10 * MINUTE }]);
  expect(JSON.stringify(await timelineOf(bench, BEN))).not.toMatch(/anna/);
  expect((await timelineOf(bench, ROOT)).jobs.map(({ job }) => job)).toEqual([2, 3, 4, 5, 1]);
  expect((await timelineOf(bench, ROOT)).others).toEqual([]);
  bench.clock.advanceTo(bench.clock.nowMs() + 10 * MINUTE);
  expect((await timelineOf(bench, ANNA)).others).toEqual([
    { job: 2, cpus: [expect.any(Number)], fromMs: startMs + 10 * MINUTE, toMs: startMs + 20 * MINUTE },
  ]);
});

test("only what is in the stretch of time is in the answer", async () => {
  const bench = await benchOf([
    [ANNA, 2, 10],
    [ANNA, 2, 10],
    [ANNA, 2, 10],
    [ANNA, 2, 10],
  ]);
  bench.clock.advanceTo(bench.clock.nowMs() + 25 * MINUTE);
  const inside = async (from: number, to: number) =>
    (await timelineOf(bench, ANNA, [from, to])).jobs.map(({ job }) => job);
  // Job 1 ran from −25 to −15, job 2 to −5, job 3 runs until 5, then job 4.
  expect(await inside(-60, 60)).toEqual([3, 4, 2, 1]);
  expect(await inside(-60, -16)).toEqual([1]);
  expect(await inside(-14, -6)).toEqual([2]);
  // After two jobs that took their limits, one future in three knows nothing, and a third of these has jobs
  // end early: job 4 may start sooner than in 5 minutes.
  expect(await inside(-4, 4)).toEqual([3, 4]);
  expect(await inside(6, 60)).toEqual([4]);
});

test("under time sharing, running jobs have their rows", async () => {
  const bench = await benchOf(
    [
      [ANNA, 2, 1],
      [BEN, 2, 1],
      [ANNA, 2, 1],
    ],
    "gang",
  );
  bench.clock.advanceTo(bench.clock.nowMs() + 2000);
  const { jobs, others, rows, sharing } = await timelineOf(bench, ANNA);
  expect({ rows, sharing }).toEqual({ rows: 3, sharing: "time" });
  const all = [...jobs, ...others].map(({ rows }) => rows);
  expect(all.flat().sort()).toEqual([0, 1, 2]);
  // Three gangs of a minute share the CPUs: the first cannot end before 3 min − 3 slots.
  const { endP50Ms } = (await bench.frontEnd.forecaster.present()).endOf(1)!;
  expect(minutes(endP50Ms, bench.clock.unixMs())).toBeGreaterThan(2.9);
});

test("with too many jobs, the newest are there, and the answer says from when it is complete", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-timeline-"));
  const path = join(folder, "state.db");
  const count = 5200;
  fillStore(path, { ended: count, uid: ANNA.uid, user: ANNA.user });
  const clock = new FakeClock();
  clock.unixOffsetMs = Date.now();
  const bench = makeBench({ path, clock });
  for (const caller of [ANNA, BEN]) {
    const first = await timelineOf(bench, caller, [-1e6, 1]);
    expect(first.truncated).toBe(true);
    const seen = numbersIn(first);
    // The last 5,000 of the jobs, whose ends are in the order of their numbers.
    expect(seen).toEqual(Array.from({ length: 5000 }, (_, i) => count - 4999 + i));
    const ends =
      caller === ANNA ? first.jobs.map(({ endedAtMs }) => endedAtMs!) : first.others.map(({ toMs }) => toMs!);
    expect(first.fromMs).toBeLessThan(Math.min(...ends));
    const rest = await timelineOf(bench, caller, [-1e6, (first.fromMs - clock.unixMs()) / MINUTE]);
    expect(rest).not.toHaveProperty("truncated");
    expect(new Set([...seen, ...numbersIn(rest)]).size).toBe(count);
  }
  bench.kill();
  rmSync(folder, { recursive: true });
});

/** Numbers of all jobs in the answer, ascending. */
function numbersIn({ jobs, others }: Timeline): number[] {
  return [...jobs, ...others].map(({ job }) => job).sort((a, b) => a - b);
}

test("thousands of waiting jobs leave room for those that ran, and the answer counts the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tutti-timeline-"));
  const path = join(folder, "state.db");
  fillStore(path, { ended: 100, held: 6000, uid: ANNA.uid, user: ANNA.user });
  const clock = new FakeClock();
  clock.unixOffsetMs = Date.now();
  const bench = makeBench({ path, clock });
  const whole = await timelineOf(bench, ANNA, [-1e6, 1]);
  expect(whole.jobs.filter(({ state }) => state === "held")).toHaveLength(2500);
  expect(whole.jobs.filter(({ state }) => state === "done")).toHaveLength(100);
  expect(whole.waitingLeftOut).toBe(3500);
  expect(whole).not.toHaveProperty("truncated");
  expect(await timelineOf(bench, BEN, [-1e6, 1])).not.toHaveProperty("waitingLeftOut");
  expect(await timelineOf(bench, ANNA, [-1e6, -1])).not.toHaveProperty("waitingLeftOut");
  bench.kill();
  rmSync(folder, { recursive: true });
});

test("ten open timelines cost one simulation in five seconds", async () => {
  const engine = vi.fn(async (task: Parameters<typeof forecast>[0]) => forecast(task));
  const bench = makeBench({ cpus: 1, config: { policy: "fcfs" }, runMs: () => 1e6, forecastEngine: engine });
  await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(), request()]));
  const tabs = () => Promise.all(Array.from({ length: 10 }, () => timelineOf(bench, ANNA)));
  await tabs();
  bench.clock.advanceTo(bench.clock.nowMs() + 4000);
  await tabs();
  expect(engine).toHaveBeenCalledTimes(1);
  bench.clock.advanceTo(bench.clock.nowMs() + 2000);
  expect((await tabs()).every(({ jobs }) => jobs.length === 2)).toBe(true);
  expect(engine).toHaveBeenCalledTimes(2);
});
