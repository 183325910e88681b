/**
 * Tests forecasts: another thread computes the same ones as this thread, every job has one, and each is
 * compared with the actual start.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { forecast, NUMBERS_OF_JOB } from "../forecast/model.ts";
import type { ForecastTask, Scenario } from "../forecast/task.ts";
import { forecastThread } from "../forecast/thread.ts";
import { worldOf } from "../forecast/world-for-tests.ts";
import { startFrontEnd } from "../main.ts";
import { ANNA, answerOf, asSent, BEN, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-forecast-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

/** Earlier jobs that took these shares of their estimates, and no time to launch. */
function historyOf(...ratios: readonly number[]) {
  return { ratios: Float64Array.from(ratios), launchMs: new Float64Array(0) };
}

/** Jobs of one CPU and a minute on one CPU, one of which has run for 20 s. */
function queueOf(count: number, fields: Partial<ForecastTask> = {}, policy = "fcfs"): ForecastTask {
  return {
    queues: [{ queueClass: { name: "default", processors: 8, processes: 8, threads: 8 } }],
    slotS: 0.1,
    running: 1,
    world: worldOf(fields.running ?? 1, new Int32Array(count).fill(1)),
    estimateMs: new Float64Array(count).fill(60_000),
    ranMs: new Float64Array(count).fill(20_000, 0, 1),
    isLimited: new Uint8Array(count),
    kind: new Int32Array(count),
    kin: [{ ratios: new Float64Array(0), areSiblings: false }],
    history: historyOf(),
    scenarios: [scenarioOf(count, { policy, parameters: choosePolicy(policy).parameters })],
    ...fields,
  };
}

/** All but the first of `count` jobs wait for one CPU. */
function scenarioOf(count: number, fields: Partial<Scenario> = {}): Scenario {
  return {
    policy: "fcfs",
    parameters: choosePolicy("fcfs").parameters,
    processors: 1,
    size: new Int32Array(count).fill(1),
    waiting: Int32Array.from({ length: count - 1 }, (_, i) => i + 1),
    ...fields,
  };
}

/** Starts of the waiting jobs in the first scenario. */
function startsOf(task: ForecastTask): number[] {
  const [times] = forecast(task);
  return [...times].slice(NUMBERS_OF_JOB).filter((_, i) => i % NUMBERS_OF_JOB < 3);
}

/** Nine jobs that have nothing in common. */
const KINDS_OF_9 = {
  kind: Int32Array.from({ length: 9 }, (_, i) => i),
  kin: Array.from({ length: 9 }, () => ({ ratios: new Float64Array(0), areSiblings: false })),
};

describe("the model", () => {
  test("without history, each job takes its estimate, or all take less", () => {
    const [times] = forecast(queueOf(3));
    const numbers = (row: number) => [...times.slice(6 * row, 6 * row + 6)];
    expect(numbers(0)).toEqual([0, 0, 0, expect.any(Number), 40, 40]);
    expect(numbers(1)).toEqual([expect.any(Number), 40, 40, expect.any(Number), 100, 100]);
    expect(numbers(2)).toEqual([expect.any(Number), 100, 100, expect.any(Number), 160, 160]);
    // A third of the futures: log-uniform from 20 s or 10 ms to a minute. A tenth of all is 30 % of them.
    const early = (shortestS: number, place: number) => shortestS * (60 / shortestS) ** place;
    const restS = numbers(0)[3];
    expect(restS).toBeGreaterThan(early(20, 0.2) - 20);
    expect(restS).toBeLessThan(early(20, 0.4) - 20);
    expect(numbers(1)[3] - numbers(1)[0]).toBeGreaterThan(early(0.01, 0.2));
    expect(numbers(1)[3] - numbers(1)[0]).toBeLessThan(early(0.01, 0.4));
  });

  test("without history, one future alone is that of the estimates", () => {
    expect(forecast(queueOf(3), () => false).map((times) => [...times])).toEqual([
      [0, 0, 0, 40, 40, 40, 40, 40, 40, 100, 100, 100, 100, 100, 100, 160, 160, 160],
    ]);
  });

  test("if earlier jobs needed half of their estimates, waits are half as long, within the random spread", () => {
    const halves = Array<number>(99).fill(0.5);
    expect(startsOf(queueOf(3, { history: historyOf(...halves) }))).toEqual([10, 10, 10, 40, 40, 40]);
    const mixed = historyOf(...Array(99).fill(0.4), ...Array(99).fill(1));
    const [p10, p50, p90] = startsOf(queueOf(9, { history: mixed, ...KINDS_OF_9 })).slice(-3);
    expect(p10).toBeLessThan(p50);
    expect(p50).toBeLessThan(p90);
  });

  test("siblings of an array count before all other jobs, and more the more have ended", () => {
    const history = historyOf(...Array(99).fill(1));
    const startsWith = (ended: number) =>
      startsOf(
        queueOf(3, { history, kin: [{ ratios: new Float64Array(ended).fill(0.4), areSiblings: true }] }),
      );
    // Each takes 24 s, of which the first has run 20 s.
    expect(startsWith(99)).toEqual([4, 4, 4, 28, 28, 28]);
    // With two, one future in three knows nothing, and two in three of those take the limit: two in nine.
    expect(startsWith(2).slice(1, 3)).toEqual([4, 40]);
  });

  test("jobs of one name are alike, so nothing averages out as it does among siblings", () => {
    const ratios = Float64Array.from([...Array(50).fill(0.5), ...Array(50).fill(0.75)]);
    const rangeOf = (areSiblings: boolean) => {
      const [p10, , p90] = startsOf(queueOf(30, { kin: [{ ratios, areSiblings }] })).slice(-3);
      return p90 - p10;
    };
    // 28 jobs of 30 s or 45 s each before the last, and the rest of the first.
    expect(rangeOf(false)).toBe(29 * 15);
    expect(rangeOf(true)).toBeLessThan(29 * 15 * 0.6);
  });

  test("each job occupies its CPU while it is launched, and starts after that", () => {
    const history = { ratios: new Float64Array(99).fill(1), launchMs: Float64Array.of(500) };
    expect(forecast(queueOf(3, { history })).map((times) => [...times])).toEqual([
      [0, 0, 0, 40, 40, 40, 40.5, 40.5, 40.5, 100.5, 100.5, 100.5, 101, 101, 101, 161, 161, 161],
    ]);
  });

  test("a running job has one of the earlier running times that are longer than its own so far", () => {
    // It has run for a third of its estimate: left are 30 s − 20 s or 60 s − 20 s.
    const history = historyOf(...Array(500).fill(0.1), 0.5, 1);
    const [times] = forecast(queueOf(1, { history, scenarios: [scenarioOf(1)] }));
    expect([...times].slice(3)).toEqual([10, expect.toSatisfy((s) => s === 10 || s === 40), 40]);
  });

  test("a job beyond its limit is about to end; one without a limit runs on for a quarter of its time", () => {
    const restOf = (limited: number) =>
      forecast(queueOf(1, { ranMs: Float64Array.of(80_000), isLimited: Uint8Array.of(limited) }))[0][4];
    expect([restOf(1), restOf(0)]).toEqual([1, 21]);
  });

  test("scenarios have the same running times, so a job in front shifts the others by what it takes", () => {
    const history = historyOf(0.4, 0.7, 1);
    const waiting = Int32Array.of(1, 2, 3);
    // The last of five jobs takes part in the second scenario only, before job 3 of the queue.
    const scenarios = [
      scenarioOf(5, { waiting }),
      scenarioOf(5, { waiting: Int32Array.of(1, 2, 4, 3) }),
      scenarioOf(5, { waiting: Int32Array.of(1, 2, 3, 4), processors: 5 }),
    ];
    const [without, withIt, wide] = forecast(queueOf(5, { history, scenarios })).map((times) => [...times]);
    const numbersOf = (times: readonly number[], row: number) => times.slice(6 * row, 6 * row + 6);
    for (const row of [0, 1, 2]) expect(numbersOf(withIt, row)).toEqual(numbersOf(without, row));
    expect(numbersOf(without, 4)).toEqual(Array(6).fill(Number.POSITIVE_INFINITY));
    expect(numbersOf(withIt, 4).slice(0, 3)).toEqual(numbersOf(without, 3).slice(0, 3));
    expect(numbersOf(withIt, 3)[0]).toBeGreaterThan(numbersOf(without, 3)[0]);
    expect(numbersOf(wide, 4).slice(0, 3)).toEqual([0, 0, 0]);
  });

  test("a running job that no longer fits waits for room; a job larger than the machine never starts", () => {
    const size = Int32Array.of(2, 2, 4);
    const task = queueOf(3, {
      running: 2,
      history: historyOf(...Array(99).fill(1)),
      ranMs: Float64Array.of(20_000, 10_000, 0),
      scenarios: [scenarioOf(3, { size, processors: 3, waiting: Int32Array.of(2) })],
    });
    const never = Array(6).fill(Number.POSITIVE_INFINITY);
    // 40 s are left of the first job, 50 s of the second.
    // A stopped job's rest includes the millisecond that passes before waiting jobs arrive.
    const times = [...forecast(task)[0]].map((s) => Math.round(s * 100) / 100);
    expect(times).toEqual([0, 0, 0, 40, 40, 40, 40, 40, 40, 90, 90, 90, ...never]);
  });
});

describe("the thread", () => {
  test("gives the same bits as this one, reports failures and goes on, and does not block this thread", async () => {
    const engine = forecastThread();
    const small = queueOf(20, { history: historyOf(0.2, 0.7, 1) });
    expect(await engine(small)).toEqual(forecast(small));
    await expect(engine(queueOf(2, { scenarios: [scenarioOf(2, { policy: "nonsense" })] }))).rejects.toThrow(
      /nonsense/,
    );
    let turns = 0;
    let isDone = false;
    const large = engine(queueOf(2000, { history: small.history }, "conservative")).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    expect((await large)[0]).toHaveLength(NUMBERS_OF_JOB * 2000);
    // In this thread, no answer would come.
    expect(turns).toBeGreaterThan(20);
  });
});

describe("every job", () => {
  test("is forecast soon after it enters the queue, without a request, and compared with its start", async () => {
    const bench = makeBench({ cpus: 1, config: { policy: "fcfs" }, runMs: () => 9000 });
    const { clock, frontEnd, store } = bench;
    frontEnd.forecaster.start();
    const limited = request({ limitMs: 10_000 });
    await answerOf(clock, frontEnd.submit(ANNA, [limited, limited, limited]));
    clock.advanceTo(600);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advanceTo(20_000);
    // Without history, expected at 10 and 20 s; started at 9 and 18 s.
    expect(store.judgedForecasts(9).map(({ errorMs }) => Math.round(errorMs / 10) * 10)).toEqual([
      -2000, -1000,
    ]);
    // Without history, jobs may end early.
    expect(store.judgedForecasts(9)).toMatchObject([{ isWithin: true }, { isWithin: true }]);
    // Two starts are no record.
    expect(asSent(frontEnd.status())).not.toHaveProperty("forecasts");
    // The first job started immediately and needed no forecast.
    expect(store.judgedForecasts(9)).toHaveLength(2);
    bench.kill();
  });

  test.each([
    ["200 jobs of 0.3 s with a limit of a minute", 200, 300, 60_000],
    ["60 jobs of 0.2 s with a limit of an hour", 60, 200, 3_600_000],
  ])("%s: most start in their range, as loose jobs and as an array", async (_, count, ranMs, limitMs) => {
    for (const isArray of [false, true]) {
      const bench = makeBench({ cpus: 2, config: { policy: "fcfs" }, runMs: (job) => ranMs + (job % 7) });
      const { clock, frontEnd, store } = bench;
      frontEnd.forecaster.start();
      const job = request({ limitMs });
      const jobs = isArray ? [{ ...job, array: `1-${count}` }] : Array(count).fill(job);
      await answerOf(clock, frontEnd.submit(ANNA, jobs));
      for (let atMs = 100; atMs <= count * ranMs; atMs += 100) {
        clock.advanceTo(atMs);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const judged = store.judgedForecasts(999);
      expect(judged.length).toBeGreaterThanOrEqual(count - 10);
      expect(judged.filter(({ isWithin }) => isWithin).length / judged.length).toBeGreaterThan(0.8);
      expect(frontEnd.status()).toMatchObject({ forecasts: { jobs: judged.length } });
      bench.kill();
    }
  });

  test("are only ranges until three jobs have ended well, and a sweep that fails displaces none", async () => {
    const bench = makeBench({
      ...{ cpus: 1, config: { policy: "fcfs" }, runMs: (job) => (job <= 3 ? 5000 : 40) },
      ends: (job) => ({ code: job <= 3 ? 0 : 3 }),
    });
    const { clock, frontEnd, store } = bench;
    const limited = request({ limitMs: 10_000 });
    await answerOf(clock, frontEnd.submit(ANNA, Array(4).fill(limited)));
    const forecastOf = async (job: number) => {
      const why = await frontEnd.why(ANNA, job);
      return isRefusal(why) ? undefined : why.forecast;
    };
    clock.advanceTo(12_000);
    expect(await forecastOf(4)).toMatchObject({ onlyRange: true });
    const answer = await frontEnd.whatIf(ANNA, { jobs: [request()] });
    expect(answer).toMatchObject({ running: [{ onlyRange: true }], hypothetical: [{ onlyRange: true }] });
    clock.advanceTo(20_000);
    await answerOf(clock, frontEnd.submit(ANNA, Array(1500).fill(limited)));
    clock.advanceTo(200_000);
    expect(store.jobsThatRan(60_000, 9999, 9999)).toHaveLength(3);
    await answerOf(clock, frontEnd.submit(ANNA, [request({ limitMs: 10_000 }), limited]));
    const forecast = await forecastOf(1506);
    expect(forecast).toMatchObject({ p50Ms: expect.any(Number) });
    expect(forecast).not.toHaveProperty("onlyRange");
    bench.kill();
  });

  test("a user's forecasts are judged by the user's own starts, from 50 on", async () => {
    const bench = makeBench({ cpus: 1, config: { policy: "fcfs" }, runMs: () => 1000 });
    const { clock, frontEnd } = bench;
    frontEnd.forecaster.start();
    const settle = async (atMs: number) => {
      for (let ms = clock.nowMs(); ms <= atMs; ms += 500) {
        clock.advanceTo(ms);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await answerOf(clock, frontEnd.submit(ANNA, Array(60).fill(request({ limitMs: 2000 }))));
    await settle(70_000);
    await answerOf(clock, frontEnd.submit(ANNA, Array(2).fill(request({ limitMs: 2000 }))));
    await answerOf(clock, frontEnd.submit(ANNA, [request()]));
    await answerOf(clock, frontEnd.submit(BEN, [request()]));
    const record = { pastForecasts: 59, pastWithinShare: expect.any(Number) };
    expect(await frontEnd.why(ANNA, 63)).toMatchObject({ forecast: record });
    const foreign = await frontEnd.why(BEN, 64);
    expect(foreign).toMatchObject({ forecast: { p50Ms: expect.any(Number) } });
    expect(foreign).not.toHaveProperty("forecast.pastForecasts");
    bench.kill();
  });

  test("a burst costs one forecast and a few transactions, and all forecasts are stored in the end", async () => {
    const bench = makeBench({ cpus: 1, config: { policy: "fcfs" }, runMs: () => 1e9 });
    const { clock, frontEnd, store } = bench;
    const kept = vi.spyOn(store, "noteForecast");
    frontEnd.forecaster.start();
    for (let i = 0; i < 12; i++) {
      await answerOf(clock, frontEnd.submit(ROOT, Array(100).fill(request({ limitMs: 1000 }))));
    }
    const counts = new Set<number>();
    for (let i = 1; i <= 20; i++) {
      clock.advanceTo(i * 500);
      // Requests that were postponed until the forecast is made.
      await new Promise((resolve) => setImmediate(resolve));
      counts.add(kept.mock.calls.length);
    }
    expect([...counts]).toEqual([500, 1000, 1199]);
    expect(new Set(kept.mock.calls.map(([job]) => job)).size).toBe(1199);
    bench.kill();
  });

  test("of a real front end, in its thread, while 10,000 jobs are accepted and answered", async () => {
    const { service, stop } = await startFrontEnd({
      stateFolder: join(folder, "state"),
      isShared: false,
      settings: { policy: "fcfs", slotMs: 1000 },
    });
    const owner = { uid: process.getuid!(), user: "ada", isAdministrator: true };
    const batch = Array(10_000).fill(request({ command: ["sleep", "1000"], tasks: service.status().cpus }));
    const answer = await service.submit(owner, batch);
    expect(answer).toHaveProperty("jobs");
    const waiting = await service.why(owner, 1500);
    expect(waiting).toMatchObject({ state: "queued", forecast: { p50Ms: expect.any(Number) } });
    const behind = await service.why(owner, 9999);
    expect(asSent(behind)).not.toHaveProperty("forecast");
    await service.shutdown(owner, true);
    await stop();
  });
});
