/**
 * More of what can happen to the clocks than one change while the scheduler is there: they are set back and
 * right again, and they are set while the front end is away. Instants are monotonic times, worked by hand.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOOK_MS } from "@tutti/host/clock.ts";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { delayBeginsMs } from "@tutti/live/daemon/dispatch/retry-delays.ts";
import { ANNA, type Bench, makeBench, ROOT } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { Store } from "@tutti/live/daemon/store/store.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ended, failHooks, failing, fcfs, launchedAtMs, submit, WAITING } from "./front-end.ts";
import { CHANGES, DAY, HOUR, S } from "./scenes.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-steps-"));
afterAll(() => rmSync(folder, { recursive: true }));

const { forward, back, suspend } = CHANGES;

test.each(["begin", "window", "quota", "retry delay"] as const)(
  "%s: set back and right again",
  async (promise) => {
    const waiting = await WAITING[promise]();
    const { clock } = waiting.bench;
    const dueMs = promise === "retry delay" ? 5 * S : HOUR;
    clock.advanceTo(2 * S);
    clock.step(-2 * HOUR);
    clock.advanceTo(4 * S);
    clock.step(2 * HOUR);
    const atMs = launchedAtMs(waiting, 4 * HOUR);
    expect(atMs).toBeGreaterThanOrEqual(dueMs - 1);
    expect(atMs).toBeLessThanOrEqual(dueMs + LOOK_MS + 10);
  },
);

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
    const waiting = await WAITING["retry delay"]({ path });
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

  test.each([
    ["forward", forward],
    ["back", back],
  ] as const)(
    "counts from the end, though the clock was set %s before the front end heard of it",
    async (_, set) => {
      const path = join(folder, `late ${_}.db`);
      const first = makeBench({ ...failing, path });
      const { clock, machine } = first;
      const job = await submit(first, { retries: 1, retryOn: ["fail"], retryDelayMs: 4 * S });
      clock.advanceTo(500);
      first.kill();
      // It ends at 1 s.
      clock.advanceTo(1500);
      set(clock);
      clock.advanceTo(2 * S);
      const second = makeBench({ ...failing, clock, machine, store: new Store(path, 0) });
      expect(launchedAtMs({ bench: second, job, attempt: 2 }, HOUR)).toBeCloseTo(5 * S, -2);
      second.kill();
    },
  );

  // A cycle takes some ms, and asks for the time more than once.
  test.each([
    ["in which the attempt ends", 900, "forward"],
    ["in which the attempt ends", 900, "back"],
    ["in which the job waits", 2 * S, "forward"],
    ["in which the job waits", 2 * S, "back"],
  ] as const)("is not changed by a step within a cycle %s (at %d ms, %s)", async (_, atMs, how) => {
    for (let reads = 1; reads <= 12; reads++) {
      const clock = new FakeClock();
      const bench = makeBench({ ...failing, clock });
      const job = await submit(bench, { retries: 1, retryOn: ["fail"], retryDelayMs: 4 * S });
      clock.advanceTo(atMs);
      let left = reads;
      const unixMs = clock.unixMs.bind(clock);
      clock.unixMs = () => {
        if (--left === 0) CHANGES[how](clock);
        return unixMs();
      };
      await submit(bench, { held: true });
      const launched = launchedAtMs({ bench, job, attempt: 2 }, 4 * HOUR);
      expect(launched, `a step before read ${reads}`).toBeGreaterThanOrEqual(5 * S - 1);
      expect(launched, `a step before read ${reads}`).toBeLessThanOrEqual(5 * S + LOOK_MS + 10);
      bench.kill();
    }
  });

  test("people read when it ends by the new time", async () => {
    const { bench, job } = await WAITING["retry delay"]();
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ notBeforeMs: 5 * S });
    bench.clock.advanceTo(2 * S);
    back(bench.clock);
    bench.clock.advanceTo(4.5 * S);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ notBeforeMs: 5 * S - HOUR / 2 });
  });

  test.each([
    ["without clocks, from an earlier conductor", {}],
    ["with those of an earlier boot", { clocks: { bootId: "before", aheadMs: 0 } }],
  ])("counts from now at the latest if an end %s is later than now", async (_, more) => {
    const bench = makeBench(fcfs);
    bench.clock.advanceTo(2 * S);
    const parts = { clock: bench.clock, bootId: "boot" };
    const end = (endedAtMs: number) => delayBeginsMs(parts, { endedAtMs, ...more });
    expect([end(S), end(HOUR)]).toEqual([S, 2 * S]);
    bench.kill();
  });
});

describe("retention", () => {
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

test("hook retry: a clock that is set back while the scheduler is away does not lengthen the pause", async () => {
  const path = join(folder, "hooks.db");
  const first = makeBench({ ...fcfs, path });
  const { clock, machine } = first;
  const tries = failHooks(first);
  await submit(first, { webhook: "http://h/" });
  clock.advanceTo(2 * S);
  first.kill();
  clock.step(-HOUR);
  const second = makeBench({ ...fcfs, clock, machine, store: new Store(path, 0) });
  const more = failHooks(second);
  clock.advanceTo(6.9 * S);
  expect([tries.length, more]).toEqual([1, []]);
  clock.advanceTo(7 * S);
  expect(more).toEqual([7 * S]);
  second.kill();
});
