/** Compares the measured offset with the true one of two simulated clocks. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ClockOffset, MAX_DRIFT, MIN_TRIPS } from "./offset.ts";

const trip = fc.record({
  pauseMs: fc.double({ min: 0, max: 1000, noNaN: true }),
  toMs: fc.double({ min: 0, max: 50, noNaN: true }),
  fromMs: fc.double({ min: 0, max: 50, noNaN: true }),
});

test("the true offset is always within the uncertainty, whatever the delays and the drift are", () => {
  fc.assert(
    fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: -MAX_DRIFT, max: MAX_DRIFT, noNaN: true }),
      fc.array(trip, { minLength: MIN_TRIPS, maxLength: 60 }),
      fc.double({ min: 0, max: 5000, noNaN: true }),
      (startMs, drift, trips, laterMs) => {
        const nodeAt = (ms: number) => startMs + ms * (1 + drift);
        const offset = new ClockOffset();
        let nowMs = 0;
        for (const { pauseMs, toMs, fromMs } of trips) {
          nowMs += pauseMs;
          offset.add(nowMs, nodeAt(nowMs + toMs), nowMs + toMs + fromMs);
          nowMs += toMs + fromMs;
        }
        nowMs += laterMs;
        const found = offset.at(nowMs)!;
        const errorMs = Math.abs(found.offsetMs - (nodeAt(nowMs) - nowMs));
        expect(errorMs).toBeLessThanOrEqual(found.uncertaintyMs);
      },
    ),
  );
});

test("the quickest round trip counts: 4 ms there and back, 2 ms in the middle", () => {
  const offset = new ClockOffset();
  for (let i = 0; i < MIN_TRIPS - 1; i++) offset.add(100 * i, 100 * i + 7000 + 60, 100 * i + 80);
  expect(offset.at(2000)).toBeUndefined();
  offset.add(1990, 1990 + 7000 + 3, 1994);
  const found = offset.at(1994)!;
  expect(found.offsetMs).toBe(7001);
  expect(found.uncertaintyMs).toBeCloseTo(2, 2);
});

test("a node that was started again has another clock", () => {
  const offset = new ClockOffset();
  for (let i = 0; i < MIN_TRIPS; i++) offset.add(100 * i, 100 * i + 50_001, 100 * i + 2);
  expect(offset.at(2000)).toMatchObject({ offsetMs: 50_000 });
  offset.add(2000, 12, 2002);
  expect(offset.at(2002)).toBeUndefined();
  for (let i = 1; i < MIN_TRIPS; i++) offset.add(2000 + 100 * i, 100 * i + 12, 2002 + 100 * i);
  expect(offset.at(5000)!.offsetMs).toBe(-1989);
});
