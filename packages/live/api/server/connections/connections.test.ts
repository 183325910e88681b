/**
 * Checks the limits on connections against a simple model: which connections, with or without a token, are
 * closed or refused, and which limits hold.
 */

import { isRefusal } from "@tutti/protocol/refusal.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Connections, limitsFor } from "./connections.ts";

const LIMITS = { strangers: 3, ofUser: 4, ofUsers: 6 };
const callers = [0, 1001, 1002, 1003].map((uid) => ({ uid, user: `u${uid}`, isAdministrator: uid === 0 }));

class Fake {
  isClosed = false;
  destroy() {
    this.isClosed = true;
  }
}

describe("Connections", () => {
  test("limits always hold, administrators are always admitted, and a user with fewer connections displaces one with more", () => {
    const step = fc.oneof(
      fc.constant("connect" as const),
      fc.record({ identify: fc.nat(5), as: fc.nat(callers.length - 1) }),
      fc.record({ close: fc.nat(20) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const connections = new Connections<Fake>(LIMITS);
        const strangers: Fake[] = [];
        const known = new Map<Fake, number>();
        const count = (uid: number) => [...known.values()].filter((other) => other === uid).length;
        const forgetClosed = () => {
          for (const [fake] of known) if (fake.isClosed) known.delete(fake);
        };
        for (const step of steps) {
          if (step === "connect") {
            const fake = new Fake();
            connections.add(fake);
            strangers.push(fake);
            // Only the oldest is closed.
            if (strangers.length > LIMITS.strangers) expect(strangers.shift()!.isClosed).toBe(true);
            expect(strangers.some(({ isClosed }) => isClosed)).toBe(false);
          } else if ("identify" in step) {
            const fake = strangers[step.identify];
            if (fake === undefined) continue;
            const caller = callers[step.as];
            const before = new Map(callers.map(({ uid }) => [uid, count(uid)]));
            const refusal = connections.identified(fake, caller);
            forgetClosed();
            if (isRefusal(refusal)) {
              expect(caller.isAdministrator).toBe(false);
              const most = Math.max(...[1001, 1002, 1003].map((uid) => before.get(uid)!));
              expect(before.get(caller.uid)! + 1).toBeGreaterThanOrEqual(Math.min(most, LIMITS.ofUser));
              continue;
            }
            strangers.splice(strangers.indexOf(fake), 1);
            known.set(fake, caller.uid);
          } else {
            const fake = [...known.keys()][step.close];
            if (fake === undefined) continue;
            connections.remove(fake);
            known.delete(fake);
          }
          expect(connections.strangers).toBe(strangers.length);
          for (const { uid, isAdministrator } of callers) {
            expect(connections.ofUser(uid)).toBe(count(uid));
            if (!isAdministrator) expect(count(uid)).toBeLessThanOrEqual(LIMITS.ofUser);
          }
          expect(known.size - count(0)).toBeLessThanOrEqual(LIMITS.ofUsers);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a process that may open few files accepts a few connections", () => {
    expect(limitsFor(1e6)).toEqual({ strangers: 1024, ofUser: 576, ofUsers: 3072 });
    for (const files of [40, 200, 1024, 4096, 10_000]) {
      const { strangers, ofUser, ofUsers } = limitsFor(files);
      expect(Math.min(strangers, ofUser, ofUsers)).toBeGreaterThanOrEqual(4);
      expect(strangers + ofUsers).toBeLessThanOrEqual(Math.max(12, files / 2));
    }
  });
});
