/** Changes rows on simulated conductors, gang by gang, while messages are lost or late. */
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { AttemptKey } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToTurning } from "@tutti/protocol/conductor.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Matrix } from "../executor.ts";
import { FakeConductor } from "./conductor-for-tests.ts";
import type { Gangs } from "./gangs.ts";
import { RowSender } from "./row-sender.ts";
import { Turning } from "./turning.ts";

const SLOT_MS = 100;

/** Gangs, each on some nodes, by row. */
type Rows = readonly (readonly { readonly job: number; readonly on: readonly string[] }[])[];

interface Wanted {
  readonly atMs: number;
  readonly rows: Rows;
  readonly fromSlot?: number;
}

interface Message {
  readonly node: string;
  readonly number: number;
  readonly type: string;
}

/** @returns the jobs that each node runs, for each slot, in its middle */
function run(
  nodes: readonly string[],
  wanted: readonly Wanted[],
  /** How long a message takes; undefined: it is lost. */
  delayOf: (message: Message) => number | undefined,
  endMs: number,
) {
  const clock = new FakeClock();
  const sent: Message[] = [];
  const missing: string[] = [];
  const world = {
    clock,
    scriptOf: () => ({ computeMs: 1 }),
    claims: new Map<string, string>(),
    record: () => {},
    say: () => {},
    spread: () => {},
  };
  /** Sends in order. */
  const wire = (node: string) => {
    let lastMs = 0;
    return ({ type }: { readonly type: string }, deliver: () => void) => {
      const message = { node, number: sent.length, type };
      sent.push(message);
      const delayMs = delayOf(message);
      if (delayMs === undefined) return;
      lastMs = Math.max(lastMs, clock.nowMs() + delayMs);
      clock.at(lastMs, deliver);
    };
  };
  const receive = (node: string, message: FromConductor) => {
    if (message.type === "staged") turning.staged(node, message.sequence);
    else if (message.type === "turning") turning.turning(node, message.sequence);
  };
  const links = new Map(
    nodes.map((node) => {
      const conductor = new FakeConductor(
        node,
        world,
        () => clock.nowMs(),
        (ms) => ms,
      );
      conductor.receive({ type: "grid", epochMs: 0 });
      const [to, from] = [wire(node), wire(node)];
      conductor.connect((message) => {
        if (message.type !== "slots") from(message, () => receive(node, message));
      });
      const send = (message: ToTurning) => to(message, () => conductor.receive(message));
      return [node, { conductor, send }];
    }),
  );
  const turning: Turning = new Turning({
    clock,
    epochMs: () => 0,
    nodes: () => nodes,
    send: (node, message) => links.get(node)!.send(message),
    onMissing: (node) => missing.push(node),
  });
  const nodesOf = new Map(wanted.flatMap(({ rows }) => rows.flat().map(({ job, on }) => [job, on] as const)));
  const find = ({ job }: AttemptKey) =>
    ({ takesTurns: true, isOpen: true, facts: { nodes: nodesOf.get(job)! } }) as ReturnType<Gangs["find"]>;
  const sender = new RowSender({ clock, gangs: { find } as Gangs, turning, isUp: () => true });
  for (const node of nodes) turning.greeted(node, -1, []);
  for (const [i, { atMs, rows, fromSlot = 0 }] of wanted.entries()) {
    const matrix: Matrix = {
      sequence: i,
      slotMs: SLOT_MS,
      mode: "gang",
      fromSlot,
      rows: rows.map((gangs) =>
        gangs.map(({ job, on }) => ({ job, attempt: 1, nodes: on.map((node) => ({ node, cpus: [0] })) })),
      ),
    };
    clock.at(atMs, () => sender.set(matrix));
  }
  const slots: ReadonlyMap<string, readonly number[]>[] = [];
  for (let slot = 0; (slot + 0.5) * SLOT_MS < endMs; slot++) {
    clock.advanceTo((slot + 0.5) * SLOT_MS);
    slots.push(
      new Map(
        [...links].map(([node, { conductor }]) => {
          const { rows, fromSlot = 0 } = conductor.matrix;
          const count = rows.length;
          const row = count === 0 ? [] : rows[(((slot - fromSlot) % count) + count) % count];
          return [node, row.map(({ job }) => job)];
        }),
      ),
    );
  }
  return { slots, sent, missing, nodesOf };
}

const NODES = ["n1", "n2", "n3", "n4", "n5"];

/** Gangs come and go. Each gets the first row in which its nodes are free. */
const histories = fc
  .array(
    fc.record({
      pauseMs: fc.integer({ min: 0, max: 400 }),
      comes: fc.subarray(NODES, { minLength: 1 }),
      goes: fc.nat({ max: 20 }),
      fromSlot: fc.nat({ max: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((changes) => {
    const wanted: Wanted[] = [];
    const rows: { job: number; on: readonly string[] }[][] = [];
    let atMs = 0;
    for (const [i, { pauseMs, comes, goes, fromSlot }] of changes.entries()) {
      atMs += pauseMs;
      for (const row of rows) {
        const index = row.findIndex(({ job }) => job === goes);
        if (index >= 0) row.splice(index, 1);
      }
      const isFree = (row: (typeof rows)[number]) =>
        !row.some(({ on }) => on.some((node) => comes.includes(node)));
      let row = rows.find(isFree);
      if (row === undefined) {
        row = [];
        rows.push(row);
      }
      row.push({ job: i + 1, on: comes });
      wanted.push({ atMs, fromSlot, rows: rows.filter((one) => one.length > 0).map((one) => [...one]) });
    }
    return wanted;
  });
const delays = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { minLength: 1, maxLength: 30 });
const fault = fc.record({
  message: fc.nat({ max: 200 }),
  delayMs: fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
});

test("a gang has each slot on all of its nodes or on none, whichever message is lost or late", () => {
  fc.assert(
    fc.property(histories, delays, fc.option(fault, { nil: undefined }), (wanted, delay, one) => {
      const delayOf = ({ number }: Message) => {
        const usual = delay[number % delay.length];
        if (number !== one?.message) return usual;
        return one.delayMs === undefined ? undefined : usual + one.delayMs;
      };
      const { slots, nodesOf, missing } = run(NODES, wanted, delayOf, 10_000);
      for (const jobsOn of slots) {
        for (const [job, on] of nodesOf) {
          const here = NODES.filter((node) => jobsOn.get(node)!.includes(job));
          expect([[], on]).toContainEqual(here);
        }
      }
      expect(missing).toEqual([]);
      // In the end, the newest matrix is in force on all nodes.
      const { rows, fromSlot = 0 } = wanted.at(-1)!;
      const slot = slots.length - 1;
      const row = rows[(((slot - fromSlot) % rows.length) + rows.length) % rows.length];
      for (const node of NODES)
        expect(slots[slot].get(node)).toEqual(
          row.filter(({ on }) => on.includes(node)).map(({ job }) => job),
        );
    }),
    { numRuns: 120 },
  );
});

test("a slow node delays its own gangs only: by hand", () => {
  // n1 and n2 are staged at 20 ms, for slot 3. n3 needs 150 ms each way: it is staged at 300 ms, for slot 5.
  // Its turn is not acknowledged when half of the time is over, at 400, but the revocation arrives at 550.
  const rows = [
    [
      { job: 1, on: ["n1", "n2"] },
      { job: 2, on: ["n3"] },
    ],
  ];
  const { slots } = run(
    ["n1", "n2", "n3"],
    [{ atMs: 0, rows }],
    ({ node }) => (node === "n3" ? 150 : 10),
    3000,
  );
  const firstSlot = (node: string) => slots.findIndex((jobsOn) => jobsOn.get(node)!.length > 0);
  expect(["n1", "n2", "n3"].map(firstSlot)).toEqual([3, 3, 5]);
});

test("a node whose rows stay the same is asked nothing: by hand", () => {
  const first = { job: 1, on: ["n1", "n2"] };
  const { sent, slots } = run(
    ["n1", "n2", "n3"],
    [
      { atMs: 0, rows: [[first]] },
      { atMs: 1000, rows: [[first, { job: 2, on: ["n3"] }]] },
    ],
    () => 10,
    2000,
  );
  const both = ["stage", "staged", "turn", "turning"].flatMap((type) => [`n1 ${type}`, `n2 ${type}`]);
  expect(sent.map(({ node, type }) => `${node} ${type}`)).toEqual([
    ...both,
    "n3 stage",
    "n3 staged",
    "n3 turn",
    "n3 turning",
  ]);
  expect([...slots[19]]).toEqual([
    ["n1", [1]],
    ["n2", [1]],
    ["n3", [2]],
  ]);
});

test("another number of rows changes all nodes that have gangs, but in groups that share gangs: by hand", () => {
  // n3 alone is slow: n1 and n2 have two rows before it has.
  const both = { job: 1, on: ["n1", "n2"] };
  const alone = { job: 2, on: ["n3"] };
  const { slots } = run(
    ["n1", "n2", "n3"],
    [
      { atMs: 0, rows: [[both, alone]] },
      { atMs: 1000, rows: [[both, alone], [{ job: 3, on: ["n1"] }]] },
    ],
    ({ node, number }) => (node === "n3" && number > 11 ? 40 : 10),
    2000,
  );
  // n1 and n2: staged at 1020, so the second row is there in slot 13. n3: staged at 1080, in slot 13, too.
  expect(slots[12].get("n1")).toEqual([1]);
  expect(slots[13].get("n1")).toEqual([3]);
  expect(slots[13].get("n2")).toEqual([]);
  expect(slots[13].get("n3")).toEqual([]);
  expect(slots[14].get("n3")).toEqual([2]);
});
