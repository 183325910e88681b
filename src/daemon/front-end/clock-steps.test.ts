/**
 * Sets the wall clock forward and back and suspends the machine while somebody waits for a time, for each
 * promise of host/clock.ts on an otherwise idle scheduler. Instants are monotonic times, worked by hand.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { LOOK_MS } from "../../host/clock.ts";
import type { FakeClock } from "../../host/clock-for-tests.ts";
import type { SubmitJob } from "../../protocol/schema.ts";
import { readConfig } from "../config/config.ts";
import { Store } from "../store/store.ts";
import {
  ANNA,
  answerOf,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
} from "./front-end-for-tests.ts";

const S = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const folder = mkdtempSync(join(tmpdir(), "tutti-steps-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function submit({ clock, frontEnd }: Bench, fields: Partial<SubmitJob> = {}): Promise<number> {
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

const fcfs: BenchOptions = { config: { policy: "fcfs" }, runMs: () => S };
/** Fails once after a second, and waits 4 s. */
const failing: BenchOptions = { ...fcfs, ends: (_, attempt) => ({ code: attempt === 1 ? 1 : 0 }) };

const SCENES: Readonly<Record<string, (more?: BenchOptions) => Promise<Waiting>>> = {
  async begin(more) {
    const bench = makeBench({ ...fcfs, ...more });
    return { bench, job: await submit(bench, { beginAtMs: HOUR }), attempt: 1 };
  },
  async window(more) {
    const bench = makeBench({ ...fcfs, ...more });
    await answerOf(bench.clock, bench.frontEnd.reserve(ROOT, { name: "disk", untilMs: HOUR }));
    return { bench, job: await submit(bench), attempt: 1 };
  },
  async "retry delay"(more) {
    const bench = makeBench({ ...failing, ...more });
    const job = await submit(bench, { retries: 1, retryOn: ["fail"], retryDelayMs: 4 * S });
    bench.clock.advanceTo(1500);
    return { bench, job, attempt: 2 };
  },
  async quota(more) {
    const text = `policy = "fcfs"\n[limits]\ncpuHours = 1\n[shares]\nhalfLifeDays = ${1 / 24}\n`;
    const store = more?.store ?? new Store(":memory:", 0);
    store.setShareUsage({ uid: ANNA.uid, user: "anna", cpuMs: 2 * HOUR, atMs: 0 });
    const bench = makeBench({ ...fcfs, config: readConfig(text, "test.toml").config, ...more, store });
    return { bench, job: await submit(bench), attempt: 1 };
  },
};

/** Monotonic time of the launch of the attempt that waits. */
function launchedAtMs({ bench, job, attempt }: Waiting, untilMs: number): number {
  const isLaunched = () => bench.machine.launched.includes(`${job}/${attempt}`);
  while (!isLaunched()) {
    const nextMs = bench.clock.nextMs();
    if (nextMs > untilMs) return Number.POSITIVE_INFINITY;
    bench.clock.advanceTo(nextMs);
  }
  return bench.clock.nowMs();
}

const forward = (clock: FakeClock) => clock.step(2 * HOUR);
const back = (clock: FakeClock) => clock.step(-HOUR / 2);
const suspend = (clock: FakeClock) => clock.suspend(2 * HOUR);

// Each line: the promise, what happens at 2 s, and when the job may start at the earliest.
test.each([
  ["begin", "forward", forward, 2 * S],
  ["begin", "back", back, 1.5 * HOUR],
  ["begin", "suspend", suspend, 2 * S],
  ["window", "forward", forward, 2 * S],
  ["window", "back", back, 1.5 * HOUR],
  ["window", "suspend", suspend, 2 * S],
  ["quota", "forward", forward, 2 * S],
  ["quota", "back", back, 1.5 * HOUR],
  ["quota", "suspend", suspend, 2 * S],
  ["retry delay", "forward", forward, 5 * S],
  ["retry delay", "back", back, 5 * S],
  ["retry delay", "suspend", suspend, 2 * S],
] as const)("%s: %s", async (promise, _, happens, earliestMs) => {
  const waiting = await SCENES[promise]();
  const { clock } = waiting.bench;
  clock.advanceTo(2 * S);
  expect(waiting.bench.machine.launched).toHaveLength(waiting.attempt - 1);
  happens(clock);
  const atMs = launchedAtMs(waiting, 4 * HOUR);
  expect(atMs).toBeGreaterThanOrEqual(earliestMs - 1);
  expect(atMs).toBeLessThanOrEqual(earliestMs + LOOK_MS + 10);
});

test.each(["begin", "window", "quota", "retry delay"])("%s: set back and right again", async (promise) => {
  const waiting = await SCENES[promise]();
  const { clock } = waiting.bench;
  const dueMs = promise === "retry delay" ? 5 * S : HOUR;
  clock.advanceTo(2 * S);
  clock.step(-2 * HOUR);
  clock.advanceTo(4 * S);
  clock.step(2 * HOUR);
  const atMs = launchedAtMs(waiting, 4 * HOUR);
  expect(atMs).toBeGreaterThanOrEqual(dueMs - 1);
  expect(atMs).toBeLessThanOrEqual(dueMs + LOOK_MS + 10);
});

describe("the delay of a retry", () => {
  // Each line: what happens while the front end is away, the boot after it, and when the attempt begins.
  test.each([
    ["nothing", () => {}, "boot", 5 * S],
    ["a step forward", forward, "boot", 5 * S],
    ["a step back", back, "boot", 5 * S],
    ["a suspend", suspend, "boot", 3 * S],
    ["a reboot and a step back", back, "later", 7 * S],
    ["a reboot and a step forward", forward, "later", 3 * S],
  ] as const)("over a restart of the front end with %s", async (_, happens, bootId, dueMs) => {
    const path = join(folder, `${_}.db`);
    const waiting = await SCENES["retry delay"]({ path });
    const { bench, job } = waiting;
    const { clock, machine } = bench;
    clock.advanceTo(2 * S);
    bench.kill();
    happens(clock);
    clock.advanceTo(3 * S);
    const again = makeBench({ ...failing, clock, machine, store: new Store(path, 0), bootId });
    expect(Math.abs(launchedAtMs({ bench: again, job, attempt: 2 }, HOUR) - dueMs)).toBeLessThanOrEqual(10);
    again.kill();
  });

  test("people read when it ends by the new time", async () => {
    const { bench, job } = await SCENES["retry delay"]();
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ notBeforeMs: 5 * S });
    bench.clock.advanceTo(2 * S);
    back(bench.clock);
    bench.clock.advanceTo(4.5 * S);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ notBeforeMs: 5 * S - HOUR / 2 });
  });

  test("counts from now if the attempt ended later than now, by a clock that was set back", async () => {
    const path = join(folder, "later.db");
    const first = makeBench({ ...failing, path });
    const { clock, machine } = first;
    clock.step(HOUR);
    const job = await submit(first, { retries: 1, retryOn: ["fail"], retryDelayMs: 4 * S });
    clock.advanceTo(500);
    first.kill();
    clock.advanceTo(1500);
    clock.step(-HOUR);
    clock.advanceTo(2 * S);
    const second = makeBench({ ...failing, clock, machine, store: new Store(path, 0) });
    expect(second.frontEnd.job(ANNA, job)).toMatchObject({ state: "queued", notBeforeMs: 6 * S });
    second.kill();
  });
});

describe("retention", () => {
  const ended = async () => {
    const bench = makeBench({ ...fcfs, config: { policy: "fcfs", keepDays: 2 } });
    await submit(bench);
    bench.clock.advanceTo(10 * S);
    expect(bench.frontEnd.retention.step()).toBe(false);
    return bench;
  };
  const kept = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).length;

  test("a clock that is ten years ahead for some hours deletes nothing", async () => {
    const bench = await ended();
    const { clock, frontEnd } = bench;
    clock.step(3650 * DAY);
    for (let hours = 1; hours <= 23; hours++) {
      clock.advanceTo(hours * HOUR);
      frontEnd.retention.step();
    }
    expect(kept(bench)).toBe(1);
    clock.step(-3650 * DAY);
    clock.advanceTo(2 * DAY);
    frontEnd.retention.step();
    expect(kept(bench)).toBe(1);
    clock.advanceTo(2 * DAY + 2 * S);
    frontEnd.retention.step();
    expect(kept(bench)).toBe(0);
  });

  test("one that stays ahead counts after a day; a suspend counts at once", async () => {
    const ahead = await ended();
    ahead.clock.step(30 * DAY);
    ahead.frontEnd.retention.step();
    ahead.clock.advanceTo(DAY + 10 * S);
    ahead.frontEnd.retention.step();
    expect(kept(ahead)).toBe(0);
    const suspended = await ended();
    suspended.clock.suspend(3 * DAY);
    suspended.frontEnd.retention.step();
    expect(kept(suspended)).toBe(0);
  });
});

test("fair share: usage decays by the new time, and setting the clock back restores it", async () => {
  const text = `policy = "fcfs"\n[shares]\nhalfLifeDays = ${1 / 24}\n`;
  const store = new Store(":memory:", 0);
  store.setShareUsage({ uid: ANNA.uid, user: "anna", cpuMs: 8 * HOUR, atMs: 0 });
  const { clock, frontEnd } = makeBench({ config: readConfig(text, "test.toml").config, store });
  const used = () => frontEnd.shares(ANNA).users[0].usedCpuMs;
  clock.step(2 * HOUR);
  expect(used()).toBeCloseTo(2 * HOUR, 3);
  clock.step(-2 * HOUR);
  expect(used()).toBeCloseTo(8 * HOUR, 3);
});

test("forecasts follow a step within 5 seconds", async () => {
  const bench = makeBench({ config: { policy: "fcfs" }, cpus: 1, runMs: () => 9 * HOUR });
  await submit(bench, { limitMs: HOUR });
  const job = await submit(bench);
  const expected = async () => {
    const why = await bench.frontEnd.why(ANNA, job);
    return "forecast" in why ? why.forecast?.p50Ms : undefined;
  };
  expect(await expected()).toBe(HOUR);
  bench.clock.step(2 * HOUR);
  bench.clock.advanceTo(5 * S);
  expect(await expected()).toBe(3 * HOUR);
});

test("hook retry: a clock that is set back while the scheduler is away does not lengthen the pause", async () => {
  const path = join(folder, "hooks.db");
  let tries = 0;
  const startIn = ({ frontEnd, clock }: Bench) => {
    frontEnd.news.start((onResult) => ({
      run({ id }) {
        tries++;
        clock.soon(() => onResult({ id, state: "failed", text: "refused" }));
      },
      close: () => {},
    }));
  };
  const first = makeBench({ ...fcfs, path });
  const { clock, machine } = first;
  startIn(first);
  await submit(first, { webhook: "http://h/" });
  clock.advanceTo(2 * S);
  first.kill();
  clock.step(-HOUR);
  const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
  startIn(second);
  clock.advanceTo(6.9 * S);
  expect(tries).toBe(1);
  clock.advanceTo(7 * S);
  expect(tries).toBe(2);
  second.kill();
});
