/** Checks the judge of turns on records made by hand, so that it can fail. */
import { describe, expect, test } from "vitest";
import {
  commonTime,
  coveredMs,
  type Piece,
  parseRecord,
  quantile,
  sharesOf,
  skewsOf,
  type TaskRecord,
  turnsByNode,
  turnsOf,
  wholeRounds,
  workPerCpuS,
} from "./records.ts";

/** Pieces given by begin and end in ms; the task had a CPU all the time, and did 10 units per ms. */
function task(
  gang: string,
  node: string,
  pieces: readonly (readonly [number, number])[],
  continuedMs: readonly number[] = [],
): TaskRecord {
  const made: Piece[] = pieces.map(([fromMs, toMs]) => ({
    fromMs,
    toMs,
    cpuMs: toMs - fromMs,
    work: 10 * (toMs - fromMs),
  }));
  return { gang, node, pieces: made, continuedMs, isPrompt: true };
}

test("a record is read, on the clock of all nodes", () => {
  const text = [
    "node n2",
    "prompt 1",
    "ran 2000001000000 2000002500000 1400000 12",
    "ran 2000007000000 2000009000000 2000000 16",
    "continued 2000006000000",
    "ended 0",
    "",
  ].join("\n");
  expect(parseRecord("a", text, (node) => (node === "n2" ? 2_000_000 : 0))).toEqual({
    gang: "a",
    node: "n2",
    isPrompt: true,
    pieces: [
      { fromMs: 1, toMs: 2.5, cpuMs: 1.4, work: 12 },
      { fromMs: 7, toMs: 9, cpuMs: 2, work: 16 },
    ],
    continuedMs: [6],
  });
  expect(() => parseRecord("a", text.replace("ended 0\n", ""), () => 0)).toThrow(
    /record of gang a is incomplete/,
  );
});

describe("shares", () => {
  test("only the common time counts, and of a piece only its part in it", () => {
    // a ran 0 to 10 and 20 to 30, b 12 to 20 and 30 to 40: from 12 to 30, a has 10 and b has 8.
    const records = [
      task("a", "n1", [
        [0, 10],
        [20, 30],
      ]),
      task("b", "n1", [
        [12, 20],
        [30, 40],
      ]),
    ];
    expect(commonTime(records)).toEqual({ fromMs: 12, toMs: 30 });
    expect([...sharesOf(records, commonTime(records))]).toEqual([
      ["a", 10 / 18],
      ["b", 8 / 18],
    ]);
    // From 25 to 35, both have 5.
    expect([...sharesOf(records, { fromMs: 25, toMs: 35 }).values()]).toEqual([0.5, 0.5]);
  });

  test("whole rounds begin and end with a turn of the first gang, which makes shares of equal turns equal", () => {
    // Turns of 10 ms, and a gap of 2 ms in one that does not end it.
    const records = [
      task("a", "n1", [
        [0, 4],
        [6, 10],
        [20, 30],
        [40, 50],
      ]),
      task("b", "n1", [
        [10, 20],
        [30, 40],
      ]),
    ];
    expect(wholeRounds(records, { fromMs: 0, toMs: 50 }, 5)).toEqual({ fromMs: 0, toMs: 40 });
    const within = wholeRounds(records, { fromMs: 5, toMs: 48 }, 5);
    expect(within).toEqual({ fromMs: 20, toMs: 40 });
    expect([...sharesOf(records, within).values()]).toEqual([0.5, 0.5]);
    expect(wholeRounds(records, { fromMs: 5, toMs: 35 }, 5)).toEqual({ fromMs: 5, toMs: 35 });
  });

  test("time in which any task ran", () => {
    const records = [
      task("a", "n1", [
        [0, 10],
        [20, 30],
      ]),
      task("b", "n2", [
        [5, 12],
        [40, 50],
      ]),
    ];
    expect(coveredMs(records, { fromMs: 2, toMs: 45 })).toBe(10 + 10 + 5);
    expect(coveredMs(records, { fromMs: 12, toMs: 20 })).toBe(0);
  });

  test("work per CPU second is that of all tasks together", () => {
    const slow = task("b", "n1", [[0, 10]]);
    const half = { ...slow, pieces: slow.pieces.map((piece) => ({ ...piece, work: piece.work / 2 })) };
    expect(workPerCpuS([task("a", "n1", [[0, 10]])])).toBeCloseTo(10_000, 9);
    expect(workPerCpuS([task("a", "n1", [[0, 10]]), half])).toBeCloseTo(7_500, 9);
  });
});

describe("turns", () => {
  test("the tasks of a gang take turns on the CPUs within one turn of the gang", () => {
    const gang = [
      task("a", "n1", [
        [0, 3],
        [9, 12],
      ]),
      task("a", "n1", [
        [4, 7],
        [200, 203],
      ]),
    ];
    expect(turnsOf(gang, 50)).toEqual([
      { fromMs: 0, toMs: 12 },
      { fromMs: 200, toMs: 203 },
    ]);
  });

  test("gangs that follow each other are not together", () => {
    const a = task("a", "n1", [
      [0, 99],
      [200, 299],
      [400, 499],
    ]);
    const b = task("b", "n1", [
      [100, 199],
      [300, 399],
    ]);
    const turns = new Map([
      ["a", 3],
      ["b", 2],
    ]);
    expect(turnsByNode([a, b], 50)).toEqual([{ node: "n1", switches: 4, togetherMs: 0, turns }]);
  });

  test("a gang that is stopped too late is together with the next, on that node only", () => {
    const b = (node: string) => task("b", node, [[100, 199]]);
    const [one, two] = turnsByNode(
      [task("a", "n1", [[0, 103]]), b("n1"), task("a", "n2", [[0, 99]]), b("n2")],
      50,
    );
    expect([one.togetherMs, two.togetherMs]).toEqual([3, 0]);
  });

  test("two gangs that share the CPUs in small pieces are together, though never at the same instant", () => {
    const a = task("a", "n1", [
      [0, 3],
      [6, 9],
      [12, 15],
    ]);
    const b = task("b", "n1", [
      [3, 6],
      [9, 12],
      [15, 18],
    ]);
    expect(turnsByNode([a, b], 50)[0].togetherMs).toBe(12);
  });

  test("three at once count for each pair", () => {
    const all = ["a", "b", "c"].map((gang) => task(gang, "n1", [[0, 10]]));
    expect(turnsByNode(all, 50)[0].togetherMs).toBe(30);
  });
});

describe("skew", () => {
  const RAN: readonly (readonly [number, number])[] = [[0, 1000]];

  test("is the time from the first to the last node; further tasks of a node do not count", () => {
    const records = [
      task("a", "n1", RAN, [100, 300]),
      task("a", "n1", RAN, [100.8, 300.4]),
      task("a", "n2", RAN, [100.5, 299]),
    ];
    expect(skewsOf(records, 50)).toEqual({ skewsMs: [0.5, 1], partial: 0 });
  });

  test("a turn on some of the nodes only is counted as partial", () => {
    const records = [task("a", "n1", RAN, [100, 300]), task("a", "n2", RAN, [300.25])];
    expect(skewsOf(records, 50)).toEqual({ skewsMs: [0.25], partial: 1 });
  });

  test("a task that begins a turn before the others, or ends one after them, had no turn without them", () => {
    const records = [task("a", "n1", [[0, 350]], [100, 300]), task("a", "n2", [[250, 600]], [300.25, 500])];
    expect(skewsOf(records, 50)).toEqual({ skewsMs: [0.25], partial: 0 });
  });

  test("gangs are apart from each other", () => {
    const records = [task("a", "n1", RAN, [100]), task("b", "n2", RAN, [101])];
    expect(skewsOf(records, 50)).toEqual({ skewsMs: [0, 0], partial: 0 });
  });

  test("quantiles", () => {
    const values = Array.from({ length: 200 }, (_, i) => 199 - i);
    expect([quantile(values, 0.5), quantile(values, 0.99), quantile([7], 0.99)]).toEqual([100, 198, 7]);
  });
});
