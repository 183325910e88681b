/**
 * Tests forecasts: another thread computes the same ones as this thread, every job has one, and each is
 * compared with the actual start.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { choosePolicy } from "../../policies/parse-policy.ts";
import { type ForecastTask, forecastStarts } from "../forecast/model.ts";
import { forecastThread } from "../forecast/thread.ts";
import { startFrontEnd } from "../main.ts";
import { ANNA, answerOf, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-forecast-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));

/** Jobs of one CPU and a minute on one CPU, one of which has run for 20 s. */
function queueOf(count: number, fields: Partial<ForecastTask> = {}, policy = "fcfs"): ForecastTask {
  return {
    policy,
    parameters: choosePolicy(policy).parameters,
    queues: [{ queueClass: { name: "default", processors: 8, processes: 8, threads: 8 } }],
    slotS: 0.1,
    processors: 1,
    running: 1,
    job: Int32Array.from({ length: count }, (_, i) => i + 1),
    size: new Int32Array(count).fill(1),
    estimateMs: new Float64Array(count).fill(60_000),
    ranMs: new Float64Array(count).fill(20_000, 0, 1),
    ratios: new Float64Array(0),
    ...fields,
  };
}

describe("the model", () => {
  test("without history, jobs follow one another and each takes its estimate", () => {
    expect([...forecastStarts(queueOf(3))]).toEqual([40, 40, 40, 100, 100, 100]);
  });

  test("if earlier jobs needed half of their estimates, waits are half as long, within the random spread", () => {
    expect([...forecastStarts(queueOf(3, { ratios: Float64Array.of(0.5) }))]).toEqual([
      10, 10, 10, 40, 40, 40,
    ]);
    const [p10 = 0, p50 = 0, p90 = 0] = forecastStarts(queueOf(9, { ratios: Float64Array.of(0.4, 1) })).slice(
      -3,
    );
    expect(p10).toBeLessThan(p50);
    expect(p50).toBeLessThan(p90);
  });
});

describe("the thread", () => {
  test("gives the same bits as this one, reports failures and goes on, and does not block this thread", async () => {
    const engine = forecastThread();
    const small = queueOf(20, { ratios: Float64Array.of(0.2, 0.7, 1) });
    expect(await engine(small)).toEqual(forecastStarts(small));
    await expect(engine(queueOf(2, { policy: "nonsense" }))).rejects.toThrow(/nonsense/);
    let turns = 0;
    let isDone = false;
    const large = engine(queueOf(2000, { ratios: small.ratios }, "conservative")).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    expect(await large).toHaveLength(3 * 1999);
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
    expect(frontEnd.status()).not.toHaveProperty("forecasts");
    clock.advanceTo(600);
    await new Promise((resolve) => setImmediate(resolve));
    clock.advanceTo(20_000);
    // Without history, expected at 10 and 20 s; started at 9 and 18 s.
    expect(store.judgedForecasts(9).map(({ errorMs }) => Math.round(errorMs / 10) * 10)).toEqual([
      -2000, -1000,
    ]);
    expect(frontEnd.status().forecasts).toMatchObject({ jobs: 2, withinShare: 0 });
    expect(Math.round(frontEnd.status().forecasts!.errorP90Ms / 10)).toBe(200);
    // The first job started immediately and needed no forecast.
    expect(store.judgedForecasts(9)).toHaveLength(2);
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
    expect(behind).not.toHaveProperty("forecast");
    await service.shutdown(owner, true);
    await stop();
  });
});
