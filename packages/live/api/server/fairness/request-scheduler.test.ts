/**
 * Tests that the fair queue keeps its guarantee for random users, costs and pauses, and tests the request
 * scheduler on a clock that advances only while it works.
 */

import { FairQueue } from "@tutti/kernel/structures/fair-queue.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClientLeft, FairLine, RequestScheduler } from "./request-scheduler.ts";

const USERS = 4;
const MAX_COST = 20;

describe("FairQueue", () => {
  test("each item is taken once, in its user's order, and users who wait together get the same time within two pieces", () => {
    const step = fc.oneof(
      fc.record({ add: fc.nat(USERS - 1), count: fc.integer({ min: 1, max: 8 }) }),
      fc.record({ costs: fc.array(fc.integer({ min: 0, max: MAX_COST }), { minLength: 1, maxLength: 12 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new FairQueue<number>();
        const waiting: number[][] = Array.from({ length: USERS }, () => []);
        /** Cost of user i since both i and j have been waiting without a pause. */
        const together = Array.from({ length: USERS }, () => new Array<number>(USERS).fill(0));
        let items = 0;
        for (const step of steps) {
          if ("add" in step) {
            for (let i = 0; i < step.count; i++) {
              waiting[step.add].push(items);
              queue.add(step.add, items++);
            }
            continue;
          }
          for (const cost of step.costs) {
            const taken = queue.take();
            expect(queue.size).toBe(waiting.flat().length - (taken === undefined ? 0 : 1));
            if (taken === undefined) break;
            const { user, item } = taken;
            expect(item).toBe(waiting[user].shift());
            queue.charge(user, cost);
            for (let other = 0; other < USERS; other++) together[user][other] += cost;
            for (let i = 0; i < USERS; i++) {
              for (let j = 0; j < USERS; j++) {
                if (waiting[i].length === 0 || waiting[j].length === 0) {
                  together[i][j] = 0;
                  together[j][i] = 0;
                }
                expect(together[i][j] - together[j][i]).toBeLessThanOrEqual(2 * MAX_COST);
              }
            }
          }
        }
        while (queue.size > 0) {
          const { user, item } = queue.take()!;
          expect(item).toBe(waiting[user].shift());
          queue.charge(user, 1);
        }
        expect(waiting.flat()).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test("a pause earns nothing: a user who comes back gets one turn, not all missed turns", () => {
    const queue = new FairQueue<string>();
    for (let i = 0; i < 100; i++) queue.add(1, "busy");
    for (let i = 0; i < 50; i++) queue.charge(queue.take()!.user, 10);
    for (let i = 0; i < 50; i++) queue.add(2, "back");
    const order = Array.from({ length: 10 }, () => {
      const { user } = queue.take()!;
      queue.charge(user, 10);
      return user;
    });
    expect(order.filter((user) => user === 2)).toHaveLength(5);
  });
});

/** A machine whose time advances only by work, and whose event loop polls on demand. */
function machine() {
  let nowMs = 0;
  let thens: (() => void)[] = [];
  return {
    nowMs: () => nowMs,
    afterPoll: (then: () => void) => void thens.push(then),
    work: (ms: number) => {
      nowMs += ms;
    },
    /** True if there was work to do. */
    poll: () => {
      const now = thens;
      thens = [];
      for (const then of now) then();
      return now.length > 0;
    },
  };
}

const stays = () => false;

describe("RequestScheduler", () => {
  test("an idle scheduler runs work immediately", () => {
    const scheduler = new RequestScheduler(machine());
    let isDone = false;
    void scheduler.turnsOf(1, stays).run(() => {
      isDone = true;
    });
    expect(isDone).toBe(true);
  });

  test("little is done between two polls, and a light user waits for at most two pieces of a heavy one", () => {
    const loop = machine();
    const scheduler = new RequestScheduler(loop);
    const order: string[] = [];
    const piece = (name: string, ms: number) => () => {
      order.push(name);
      loop.work(ms);
    };
    const heavy = scheduler.turnsOf(1, stays);
    for (let i = 0; i < 100; i++) void heavy.run(piece("heavy", 10));
    loop.poll();
    const before = order.length;
    void scheduler.turnsOf(2, stays).run(piece("light", 1));
    while (!order.includes("light")) {
      const count = order.length;
      expect(loop.poll()).toBe(true);
      expect(order.length - count).toBeLessThanOrEqual(2);
    }
    expect(order.indexOf("light") - before).toBeLessThanOrEqual(1);
    while (loop.poll());
    expect(order.filter((name) => name === "heavy")).toHaveLength(100);
    expect(scheduler.waiting).toBe(0);
  });

  test("work of a client that has left is not run, and its pieces are closed", async () => {
    const loop = machine();
    const scheduler = new RequestScheduler(loop);
    let isGone = false;
    let pieces = 0;
    let isClosed = false;
    function* work() {
      try {
        for (;;) {
          pieces++;
          loop.work(10);
          yield;
        }
      } finally {
        isClosed = true;
      }
    }
    const turns = scheduler.turnsOf(1, () => isGone);
    const through = turns.through(work());
    const single = turns.run(() => pieces++);
    isGone = true;
    const before = pieces;
    const both = Promise.allSettled([through, single]);
    for (let i = 0; i < 5; i++) {
      loop.poll();
      await Promise.resolve();
    }
    const [first, second] = await both;
    expect([first, second]).toMatchObject([
      { status: "rejected", reason: expect.any(ClientLeft) },
      { status: "rejected", reason: expect.any(ClientLeft) },
    ]);
    expect([pieces, isClosed]).toEqual([before, true]);
  });

  test("an error reaches only its own caller", async () => {
    const scheduler = new RequestScheduler();
    const turns = scheduler.turnsOf(1, stays);
    const broken = turns.run(() => {
      throw new RangeError("broken");
    });
    await expect(broken).rejects.toThrow("broken");
    expect(await turns.run(() => "fine")).toBe("fine");
  });
});

describe("FairLine", () => {
  test("one at a time: a user with one forecast waits for only one of a user with many", async () => {
    let nowMs = 0;
    const line = new FairLine(() => nowMs);
    const order: string[] = [];
    let busy = 0;
    const work = (name: string) => async () => {
      expect(++busy).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      nowMs += 1000;
      busy--;
      order.push(name);
    };
    const all = Array.from({ length: 20 }, () => line.run(1, work("many")));
    all.push(line.run(2, work("one")));
    const broken = line.run(3, () => Promise.reject(new RangeError("broken")));
    await expect(broken).rejects.toThrow("broken");
    await Promise.all(all);
    expect(order.indexOf("one")).toBe(1);
    expect(order).toHaveLength(21);
  });
});
