/** Turns matrices on simulated conductors while messages are lost, delayed, or a node dies. */

import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { FromConductor, ToTurning } from "@tutti/protocol/conductor.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeConductor } from "./conductor-for-tests.ts";
import { Turning, type Wish } from "./turning.ts";

const SLOT_MS = 100;
const END_MS = 8000;

/** What happens to the message with this number, of all messages in both directions. */
interface Fault {
  readonly message: number;
  /** Undefined: it is lost. */
  readonly delayMs: number | undefined;
}

interface Turned {
  /** Numbers of the matrices in force in the middle of each slot, by node. */
  readonly slots: readonly (readonly number[])[];
  readonly turns: readonly { readonly aheadMs: number }[];
  readonly missing: readonly string[];
  /** Numbers of the matrices that the first node has acknowledged. */
  readonly acknowledged: readonly number[];
  /** Jobs in the rows at the end, by node. */
  readonly last: readonly (readonly number[])[];
}

/** One row, with this gang on all nodes. */
const wishOf = (job: number): Wish => ({
  slotMs: SLOT_MS,
  on: () => ({
    text: String(job),
    slotsOf: new Map([[String(job), "all"]]),
    matrix: (sequence) => ({
      sequence,
      slotMs: SLOT_MS,
      mode: "gang",
      strict: true,
      rows: [[{ job, attempt: 1, cpus: [0] }]],
    }),
  }),
});

function run(
  count: number,
  delays: readonly number[],
  wishesMs: readonly number[],
  faults: readonly Fault[],
  deadFromMs = Number.POSITIVE_INFINITY,
): Turned {
  const clock = new FakeClock();
  const names = Array.from({ length: count }, (_, i) => `n${i + 1}`);
  const members = new Set(names);
  const turns: { aheadMs: number }[] = [];
  const missing: string[] = [];
  const acknowledged: number[] = [];
  let messages = 0;
  /** Sends in order, each message with its own delay. */
  const wire = () => {
    let lastMs = 0;
    return (deliver: () => void) => {
      const fault = faults.find(({ message }) => message === messages);
      const delayMs = delays[messages++ % delays.length];
      if (fault !== undefined && fault.delayMs === undefined) return;
      lastMs = Math.max(lastMs, clock.nowMs() + delayMs + (fault?.delayMs ?? 0));
      clock.at(lastMs, deliver);
    };
  };
  const world = {
    clock,
    scriptOf: () => ({ computeMs: 1 }),
    claims: new Map<string, string>(),
    record: () => {},
    say: () => {},
    spread: () => {},
  };
  const links = new Map(
    names.map((name) => {
      const conductor = new FakeConductor(
        name,
        world,
        () => clock.nowMs(),
        (ms) => ms,
      );
      conductor.receive({ type: "grid", epochMs: 0 });
      const [to, from] = [wire(), wire()];
      conductor.connect((message) => from(() => receive(name, message)));
      return [name, { conductor, send: (message: ToTurning) => to(() => conductor.receive(message)) }];
    }),
  );
  const turning = new Turning({
    clock,
    epochMs: () => 0,
    nodes: () => [...members],
    send: (name, message) => {
      if (message.type === "turn") turns.push({ aheadMs: message.atSlot * SLOT_MS - clock.nowMs() });
      links.get(name)!.send(message);
    },
    onMissing: (name) => {
      missing.push(name);
      members.delete(name);
      turning.left(name);
    },
  });
  const receive = (name: string, message: FromConductor) => {
    if (message.type === "staged") turning.staged(name, message.sequence);
    else if (message.type === "turning") {
      if (name === "n1") acknowledged.push(message.sequence);
      turning.turning(name, message.sequence);
    }
  };
  wishesMs.forEach((atMs, i) => void clock.at(atMs, () => turning.wish(wishOf(i + 1))));
  if (deadFromMs < END_MS) clock.at(deadFromMs, () => links.get("n1")!.conductor.loseAll());
  const slots: number[][] = [];
  for (let ms = SLOT_MS / 2; ms < END_MS; ms += SLOT_MS) {
    clock.advanceTo(ms);
    slots.push([...members].map((name) => links.get(name)!.conductor.matrix.sequence));
  }
  const last = [...members].map((name) =>
    links
      .get(name)!
      .conductor.matrix.rows.flat()
      .map(({ job }) => job),
  );
  return { slots, turns, missing, acknowledged, last };
}

const delays = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 30 });
const wishes = fc.array(fc.integer({ min: 0, max: 4000 }), { minLength: 1, maxLength: 12 });
const fault = fc.record({
  message: fc.nat({ max: 120 }),
  delayMs: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
});

test("no two nodes ever have different matrices in a slot, whichever message is lost or delayed", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 5 }),
      delays,
      wishes,
      fc.option(fault, { nil: undefined }),
      (count, delay, wishesMs, one) => {
        const { slots, turns, last, missing } = run(count, delay, wishesMs, one === undefined ? [] : [one]);
        for (const sequences of slots) expect(new Set(sequences).size).toBe(1);
        for (const { aheadMs } of turns) expect(aheadMs).toBeGreaterThanOrEqual(2 * SLOT_MS);
        // The newest wish comes into force on all nodes; of several at one instant, the last one.
        const newest = wishesMs.lastIndexOf(Math.max(...wishesMs)) + 1;
        expect(missing).toEqual([]);
        expect(last).toEqual(Array(count).fill([newest]));
      },
    ),
    { numRuns: 300 },
  );
});

test("a revocation comes in time while messages take less than a slot", () => {
  const slow = fc.array(fc.double({ min: 0, max: 95, noNaN: true }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), slow, wishes, (count, delay, wishesMs) => {
      const { slots, last } = run(count, delay, wishesMs, []);
      for (const sequences of slots) expect(new Set(sequences).size).toBe(1);
      const newest = wishesMs.lastIndexOf(Math.max(...wishesMs)) + 1;
      expect(last).toEqual(Array(count).fill([newest]));
    }),
    { numRuns: 300 },
  );
});

test("an answer that is there when a timer is late counts; after a failure there is twice the time: by hand", () => {
  // 50 ms each way: turn at 100 for slot 3, answers at 200, which is half of the time.
  expect(run(2, [50], [0], []).turns).toEqual([{ aheadMs: 200 }, { aheadMs: 200 }]);
  // 80 ms each way: turn at 160 for slot 4, half is at 280, and the answers come at 320. The second round is
  // staged at 280, turned at 440, and four slots ahead is slot 9.
  const { turns, slots } = run(2, [80], [0], []);
  expect(turns.map(({ aheadMs }) => aheadMs)).toEqual([240, 240, 460, 460]);
  expect(slots.slice(0, 10).map(([sequence]) => sequence)).toEqual([...Array(9).fill(-1), 2]);
});

test("a node that keeps the old matrix makes the others keep it, until it counts as silent", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 5 }),
      delays,
      fc.integer({ min: 500, max: 3000 }),
      fc.integer({ min: -300, max: 300 }),
      (count, delay, wishMs, aroundMs) => {
        const deadMs = wishMs + aroundMs;
        const { slots, last, missing, acknowledged } = run(count, delay, [0, wishMs], [], deadMs);
        for (const sequences of slots) {
          const isMember = sequences.length === count;
          const [sequence, ...rest] = isMember ? sequences.slice(1) : sequences;
          expect(new Set([sequence, ...rest]).size).toBe(1);
          if (isMember && sequence !== -1) expect(acknowledged).toContain(sequence);
        }
        expect(last.slice(1 - count)).toEqual(Array(count - 1).fill([2]));
        if (aroundMs < 0) expect(missing).toEqual(["n1"]);
      },
    ),
  );
});

test("a wish that is superseded while it is staged never comes into force: by hand", () => {
  // Staged at 0 and 5 ms with 10 ms each way: the first wish is dropped, the second is staged at 25 ms.
  const { slots, turns } = run(2, [10], [0, 5], []);
  // turn is sent at 25 ms, so slot 3 (300 ms) is the first one that is two slots ahead.
  expect(turns).toEqual([{ aheadMs: 275 }, { aheadMs: 275 }]);
  expect(slots.slice(0, 4)).toEqual([
    [-1, -1],
    [-1, -1],
    [-1, -1],
    [2, 2],
  ]);
});
