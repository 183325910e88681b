/** Looks at a made-up gang at times of the test's own clock, and lists the times at which it advanced. */
import { expect, test } from "vitest";
import { GangPart, LOOK_MS, type Machine } from "./gang-part.ts";

class Gang extends GangPart {
  isHurried = false;
  readonly isReady = true;
  protected readonly canMove = true;
  protected readonly folders = [];
  protected readonly firsts = [];
  readonly advancedAtMs: number[] = [];
  nextMs: number | undefined;

  advance(nowMs: number): undefined {
    this.advancedAtMs.push(nowMs);
    if (this.nextMs !== undefined) this.lookAtMs = this.nextMs;
  }

  lose(): void {}
  protected kill(): void {}
}

function gang(): Gang {
  const machine = { containment: { freezer: { thaw() {} } }, shares: {}, note() {} } as unknown as Machine;
  const one = new Gang(machine, { job: 1, attempt: 1, folder: "/", graceMs: 0 });
  one.phase = "running";
  one.begun = true;
  return one;
}

/** Looks at a gang each 5 ms, from the first time to before the last. */
function lookFrom(fromMs: number, toMs: number, one: Gang): readonly number[] {
  const before = one.advancedAtMs.length;
  for (let ms = fromMs; ms < toMs; ms += 5) one.look(ms);
  return one.advancedAtMs.slice(before);
}

test("look() lets a gang advance about as often as it may change, also at more frequent looks", () => {
  const one = gang();
  expect(lookFrom(0, 100, one)).toEqual([0, 25, 50, 75]);
  one.isHurried = true;
  expect(lookFrom(100, 115, one)).toEqual([100, 105, 110]);
});

test("look() leaves a gang alone until the time that it has named, or until it is stopped or continued", () => {
  const one = gang();
  one.nextMs = Number.POSITIVE_INFINITY;
  expect(lookFrom(0, 10_000, one)).toEqual([0]);
  one.frozen = true;
  expect(lookFrom(10_000, 20_000, one)).toEqual([10_000]);
  one.frozen = true;
  expect(lookFrom(20_000, 30_000, one)).toEqual([]);
  one.thaw();
  expect(lookFrom(30_000, 40_000, one)).toEqual([30_000]);
  // Turns that are shorter than the time between two looks do not need more looks.
  one.frozen = true;
  one.look(40_000);
  one.thaw();
  expect(one.lookAtMs).toBe(40_000 + LOOK_MS);
});

test("look() lets a gang advance at once that is to end", () => {
  const one = gang();
  one.nextMs = Number.POSITIVE_INFINITY;
  one.look(0);
  one.stop("cancelled", false);
  expect(lookFrom(5, 10, one)).toEqual([5]);
});
