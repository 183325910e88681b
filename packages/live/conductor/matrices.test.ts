import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Matrices } from "./matrices.ts";

function matrix(sequence: number, slotMs = 100): ConductorMatrix {
  return { sequence, slotMs, mode: "gang", rows: [] };
}

function at(slot: number) {
  return () => slot;
}

test("a staged matrix is in force from its slot on, not before", () => {
  const matrices = new Matrices(matrix(0));
  expect(matrices.stage(matrix(1))).toBeUndefined();
  expect(matrices.settle(at(1000))).toBeUndefined();
  expect(matrices.turn(1, 7, at(5))).toBeUndefined();
  expect(matrices.settle(at(6))).toBeUndefined();
  expect(matrices.inForce.sequence).toBe(0);
  // The boundary was noticed a slot late.
  expect(matrices.settle(at(8))?.sequence).toBe(1);
  expect(matrices.inForce.sequence).toBe(1);
  expect(matrices.turning).toEqual([]);
});

test("it is refused if it is unknown, too old or too late, and the answer says why", () => {
  const matrices = new Matrices(matrix(4));
  expect(matrices.stage(matrix(4))).toContain("expected a higher number");
  expect(matrices.turn(5, 9, at(5))).toContain("not staged");
  matrices.stage(matrix(5));
  expect(matrices.turn(5, 5, at(5))).toBe("slot 5 has begun (this is slot 5), expected a later one");
  // It is still staged, so a later slot is possible.
  expect(matrices.turn(5, 6, at(5))).toBeUndefined();
  expect(matrices.turn(5, 6, at(5))).toBeUndefined();
  expect(matrices.stage(matrix(5))).toContain("expected a higher number");
  expect(matrices.revoke(5)).toBe(true);
  expect(matrices.revoke(5)).toBe(false);
  expect(matrices.settle(at(6))).toBeUndefined();
});

test("its slot is counted in slots of its own length", () => {
  // At 900 ms: slot 9 of 100 ms, slot 4 of 200 ms.
  const slotNow = (ms: number) => (slotMs: number) => Math.floor(ms / slotMs);
  const matrices = new Matrices(matrix(0, 100));
  matrices.stage(matrix(1, 200));
  expect(matrices.turn(1, 5, slotNow(900))).toBeUndefined();
  expect(matrices.settle(slotNow(999))).toBeUndefined();
  expect(matrices.settle(slotNow(1000))?.slotMs).toBe(200);
});

type Step =
  | { readonly type: "stage"; readonly sequence: number }
  | { readonly type: "turn"; readonly sequence: number; readonly atSlot: number }
  | { readonly type: "revoke"; readonly sequence: number }
  | { readonly type: "use"; readonly sequence: number }
  | { readonly type: "wait"; readonly slots: number };

const sequence = fc.integer({ min: 1, max: 6 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant("stage" as const), sequence }),
  fc.record({ type: fc.constant("turn" as const), sequence, atSlot: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ type: fc.constant("revoke" as const), sequence }),
  fc.record({ type: fc.constant("use" as const), sequence }),
  fc.record({ type: fc.constant("wait" as const), slots: fc.integer({ min: 1, max: 3 }) }),
);

/** Keeps all that was ever agreed, and looks through all of it. */
class Twin {
  slot = 0;
  staged: number | undefined;
  /** Sequence and first slot of every matrix that was agreed on and not revoked in time. */
  agreed: (readonly [sequence: number, atSlot: number])[] = [[0, -1]];

  get inForce(): number {
    return Math.max(...this.agreed.filter(([, atSlot]) => atSlot <= this.slot).map(([one]) => one));
  }

  get later(): number[] {
    const later = this.agreed.filter(([one, atSlot]) => atSlot > this.slot && one > this.inForce);
    return later.map(([one]) => one);
  }

  take(step: Step): boolean {
    const { slot, inForce, later } = this;
    if (step.type === "wait") {
      this.slot += step.slots;
      return true;
    }
    const { sequence: one } = step;
    if (step.type === "stage") {
      if (one <= Math.max(inForce, ...later)) return false;
      this.staged = one;
      return true;
    }
    if (step.type === "use") {
      if (one <= inForce) return true;
      this.agreed = [...this.agreed.filter(([other]) => other > one || other <= inForce), [one, slot]];
      if (this.staged !== undefined && this.staged <= one) this.staged = undefined;
      return true;
    }
    const isStaged = this.staged === one;
    const isLater = later.includes(one);
    if (step.type === "revoke") {
      if (isLater) this.agreed = this.agreed.filter(([other]) => other !== one);
      if (isStaged) this.staged = undefined;
      return isStaged || isLater;
    }
    if (!isStaged && !isLater) return false;
    if (this.agreed.some(([other, atSlot]) => other === one && atSlot === step.atSlot)) return true;
    if (step.atSlot <= slot) return false;
    this.agreed = [...this.agreed.filter(([other]) => other !== one), [one, step.atSlot]];
    if (isStaged) this.staged = undefined;
    return true;
  }
}

test("whatever is staged, turned, revoked and used: of all agreed on, the newest that is due is in force", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const matrices = new Matrices(matrix(0));
      const twin = new Twin();
      for (const one of steps) {
        const isTaken = twin.take(one);
        matrices.settle(at(twin.slot));
        if (one.type === "stage") expect(matrices.stage(matrix(one.sequence)) === undefined).toBe(isTaken);
        else if (one.type === "turn") {
          expect(matrices.turn(one.sequence, one.atSlot, at(twin.slot)) === undefined).toBe(isTaken);
        } else if (one.type === "revoke") expect(matrices.revoke(one.sequence)).toBe(isTaken);
        // The conductor ignores a matrix that is not newer.
        else if (one.type === "use" && one.sequence > matrices.inForce.sequence) {
          matrices.use(matrix(one.sequence));
        }
        expect(matrices.inForce.sequence).toBe(twin.inForce);
        expect(matrices.turning.map((turning) => turning.matrix.sequence)).toEqual(
          twin.later.sort((a, b) => a - b),
        );
      }
    }),
    { numRuns: 2000 },
  );
});
