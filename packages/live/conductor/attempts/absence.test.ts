/** Reckons by hand how long gangs ran while no conductor was there. */

import { bootId } from "@tutti/host/processes.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ranUnseenMs, savedNow } from "./absence.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "hrtime", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const gang = (job: number) => ({ job, attempt: 1, cpus: [0] });
const alone = { name: "1.1", kept: false };
/** Saved now; then so much time passes. */
function saved(rows: readonly (readonly ReturnType<typeof gang>[])[], passMs: number, boot = bootId()) {
  const state = { bootId: boot, savedAt: savedNow(), matrix: { rows } };
  vi.advanceTimersByTime(passMs);
  return state;
}

test("one that has ended: all the time, after a second of turns", () => {
  const ended = (rows: Parameters<typeof saved>[0], afterMs: number, of = alone) => {
    const endedAtMs = Date.now() + afterMs;
    return ranUnseenMs(saved(rows, 60_000), of, endedAtMs);
  };
  expect(ended([[gang(1)]], 5000)).toBe(5000);
  expect(ended([[gang(1)], [gang(2)]], 5000)).toBe(4500);
  expect(ended([[gang(1)], [gang(2)]], 600)).toBe(300);
  expect(ended([[gang(1)], [gang(2)], [gang(1)], [gang(3)]], 1000)).toBe(500);
  expect(ended([[gang(1)], [gang(2)]], 5000, { name: "1.1", kept: true })).toBe(5000);
  // It had no row, so it stood until the guardian continued it.
  expect(ended([[gang(2)]], 5000)).toBe(4000);
});

test("one that still runs: what is certain, also if the conductor hung for 5 s before it was killed", () => {
  expect(ranUnseenMs(saved([[gang(1)]], 5000), alone)).toBe(5000);
  expect(ranUnseenMs(saved([[gang(1)], [gang(1), gang(2)]], 5000), alone)).toBe(5000);
  expect(ranUnseenMs(saved([[gang(1)], [gang(2)]], 5000), alone)).toBe(0);
  expect(ranUnseenMs(saved([[gang(1)], [gang(2)]], 8000), alone)).toBe(2000);
  expect(ranUnseenMs(saved([[gang(1)], [gang(2)]], 5000), { name: "1.1", kept: true })).toBe(5000);
});

test("one that still runs but was found stopped, because the guardian was killed, too: nothing", () => {
  const state = { ...saved([[gang(1)], [gang(2)]], 20_000), stood: new Set(["1.1"]) };
  expect(ranUnseenMs(state, alone)).toBe(0);
  expect(ranUnseenMs(state, { name: "2.1", kept: false })).toBe(14_000);
});

test("until its end, whatever the wall clock did meanwhile", () => {
  const endedAtMs = Date.now() + 2000;
  const state = saved([[gang(1)]], 5000);
  expect(ranUnseenMs(state, alone, endedAtMs)).toBe(2000);
  // The clock was set before the end: by an hour forward, or back.
  expect(ranUnseenMs(state, alone, endedAtMs + 3_600_000)).toBe(5000);
  expect(ranUnseenMs(state, alone, endedAtMs - 3_600_000)).toBe(0);
  // It is set while the job still runs.
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(ranUnseenMs(state, alone)).toBe(5000);
});

test("0 if nobody knows: after a reboot, and in a state of an earlier version", () => {
  const endedAtMs = Date.now() + 2000;
  const state = saved([[gang(1)]], 5000, "an earlier boot");
  expect(ranUnseenMs(state, alone)).toBe(0);
  // Its end is noted: it ended before the reboot.
  expect(ranUnseenMs(state, alone, endedAtMs)).toBe(2000);
  expect(ranUnseenMs({ bootId: bootId(), matrix: { rows: [[gang(1)]] } }, alone)).toBe(0);
});
