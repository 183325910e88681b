import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AvailabilityProfile } from "./availability-profile.ts";

const PROCESSORS = 8;
const HORIZON = 40;

/** The naive twin: free processors at each second from 0 to HORIZON − 1. All are free after that. */
class NaiveProfile {
  readonly free: number[] = new Array(HORIZON).fill(PROCESSORS);
  at(time: number): number {
    return time < HORIZON ? this.free[time] : PROCESSORS;
  }
  change(start: number, end: number, by: number) {
    for (let t = start; t < end; t++) this.free[t] += by;
  }
  fits(start: number, end: number, size: number): boolean {
    if (start === end) return this.at(start) >= size;
    for (let t = start; t < end; t++) if (this.at(t) < size) return false;
    return true;
  }
  earliest(size: number, duration: number, from: number): number {
    for (let start = from; ; start++) if (this.fits(start, start + duration, size)) return start;
  }
}

const step = fc.record({
  method: fc.nat(5),
  a: fc.nat(HORIZON - 1),
  b: fc.nat(12),
  size: fc.integer({ min: 1, max: PROCESSORS }),
});

describe("AvailabilityProfile", () => {
  test("every method agrees with one number per second", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const profile = new AvailabilityProfile(PROCESSORS);
        const naive = new NaiveProfile();
        const held: { start: number; end: number; size: number }[] = [];
        let now = 0;
        for (const { method, a, b, size } of steps) {
          const from = Math.max(a, now);
          if (method <= 1) {
            const start = profile.earliest(size, b, from);
            expect(start).toBe(naive.earliest(size, b, from));
            if (start + b < HORIZON) {
              profile.reserve(start, start + b, size);
              naive.change(start, start + b, -size);
              held.push({ start, end: start + b, size });
            }
          } else if (method === 2 && held.length > 0) {
            const { start, end, size: s } = held.splice(a % held.length, 1)[0];
            profile.release(Math.max(start, now), Math.max(end, now), s);
            naive.change(Math.max(start, now), Math.max(end, now), s);
          } else if (method === 3 && held.length > 0) {
            // A reservation moves to the earliest start; its own processors count as free.
            const mine = held[a % held.length];
            if (mine.start < now) continue;
            const found = profile.earlier(mine.size, mine.end - mine.start, now, mine.start);
            naive.change(mine.start, mine.end, mine.size);
            const earliest = Math.min(mine.start, naive.earliest(mine.size, mine.end - mine.start, now));
            expect(found).toBe(earliest);
            // Only starts before an instant are considered.
            const before = profile.earlier(mine.size, mine.end - mine.start, now, mine.start, b);
            expect(before).toBe(earliest < b ? earliest : mine.start);
            naive.change(mine.start, mine.end, -mine.size);
          } else if (method === 4) {
            now = Math.min(from, now + 3);
            profile.forgetBefore(now);
          } else {
            expect(profile.freeAt(from)).toBe(naive.at(from));
            const until = from + b;
            const frees = Array.from({ length: b }, (_, i) => naive.at(from + i));
            expect(profile.maxFree(from, until)).toBe(Math.max(0, ...frees));
            expect(profile.freeAt(profile.segmentStart(from, now))).toBe(naive.at(from));
          }
          profile.audit();
          for (let t = now; t < HORIZON; t++) expect(profile.freeAt(t)).toBe(naive.at(t));
        }
      }),
    );
  });

  test("steps() gives the profile of a hand-worked case", () => {
    const profile = new AvailabilityProfile(4);
    profile.reserve(0, 5, 4);
    profile.reserve(5, 12, 2);
    profile.forgetBefore(0);
    expect(profile.steps()).toEqual([
      [0, 0],
      [5, 2],
      [12, 4],
    ]);
    expect(profile.earliest(2, 100, 0)).toBe(5);
    expect(profile.earliest(3, 1, 0)).toBe(12);
    expect(() => profile.reserve(3, 4, 1)).toThrow("profile would have -1 of 4");
  });

  test("reserve() keeps its place when the arrays grow between the two cuts", () => {
    const profile = new AvailabilityProfile(1000);
    for (let i = 0; i < 300; i++) profile.reserve(2 * i, 2 * i + 1, 1 + (i % 3));
    profile.audit();
    expect(profile.freeAt(0)).toBe(999);
    expect(profile.freeAt(1)).toBe(1000);
    expect(profile.freeAt(4)).toBe(997);
  });
});
