import type { MatrixAnswer } from "@tutti/protocol/schema.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf, changedSpans, gangOf, isExtra, runsOf, slotsOf } from "./cells.ts";
import { gridOfAnswer, gridOfSnapshot, processorName } from "./grid.ts";
import { anyCells, gridOf, stretchesOf } from "./grids-for-tests.ts";
import { lineTexts, numbersOf, tableOf, tabText } from "./table.ts";

describe("gridOfAnswer()", () => {
  test("makes stretches of the CPUs of each gang", () => {
    const grid = gridOfAnswer({
      cpus: [0, 1, 2, 5],
      rows: [
        [
          { job: 12, name: "a", cpus: [0, 1] },
          { job: 13, name: "", cpus: [5] },
        ],
        [{ job: 14, name: "c", cpus: [0, 2, 5] }],
      ],
    });
    // Processor 3 is CPU 5, so CPUs 2 and 5 are neighbors.
    expect(grid).toMatchObject({
      processors: 4,
      rows: 2,
      row: [0, 0, 1, 1],
      first: [0, 3, 0, 2],
      end: [2, 4, 1, 4],
      job: [12, 13, 14, 14],
      cpu: [0, 1, 2, 5],
    });
    expect([0, 3].map((processor) => processorName(grid, processor))).toEqual(["0", "5"]);
    expect(grid.names.get(13)).toBe("");
  });

  test("shows characters of names that steer text, so that label and table are harmless", () => {
    const rows = [[{ job: 5, name: "a\u202egpj.exe\u001b\n", cpus: [0] }]];
    const grid = gridOfAnswer({ cpus: [0], rows });
    expect(grid.names.get(5)).toBe("a\\u202egpj.exe\\x1b\\n");
    expect(tableOf(cellsOf(grid, 1), grid).map(({ name }) => name)).toEqual(["a\\u202egpj.exe\\x1b\\n"]);
  });

  test("puts the CPUs of several nodes one after the other", () => {
    const nodes = [
      { node: "n1", cpus: [0, 1, 4] },
      { node: "n2", cpus: [0, 1] },
    ];
    const on = [
      { node: "n1", cpus: [4] },
      { node: "n2", cpus: [0] },
    ];
    const grid = gridOfAnswer({
      cpus: [0, 1, 4, 0, 1],
      nodes,
      rows: [[{ job: 3, name: "a", cpus: [4, 0], nodes: on }]],
    });
    expect(grid).toMatchObject({ first: [2], end: [4], processors: 5 });
    expect(grid.nodes).toEqual([
      { name: "n1", first: 0, end: 3 },
      { name: "n2", first: 3, end: 5 },
    ]);
    expect([2, 3].map((processor) => processorName(grid, processor))).toEqual(["n1:4", "n2:0"]);
  });

  test("gridOfSnapshot() sorts what a simulation recorded in the order of its decisions", () => {
    const snapshot = { rows: 2, row: [1, 0, 0], first: [0, 2, 0], end: [4, 4, 2], job: [7, 8, 9] };
    expect(gridOfSnapshot(snapshot, 4, (job) => job + 1)).toMatchObject({
      row: [0, 0, 1],
      first: [0, 2, 0],
      end: [2, 4, 4],
      job: [10, 9, 8],
    });
  });

  test("names of nodes are harmless and short", () => {
    const nodes = [
      { node: "n\u202e1\u001b[2J\n", cpus: [0] },
      { node: "x".repeat(300), cpus: [0] },
    ];
    const grid = gridOfAnswer({ cpus: [0, 0], nodes, rows: [] });
    expect(grid.nodes.map(({ name }) => name)).toEqual(["n\\u202e1\\x1b[2J\\n", `${"x".repeat(63)}…`]);
    expect(processorName(grid, 0)).toBe("n\\u202e1\\x1b[2J\\n:0");
  });

  test("an empty matrix has no rows", () => {
    const empty: MatrixAnswer["rows"] = [];
    expect(gridOfAnswer({ cpus: [0, 1], rows: empty })).toMatchObject({ rows: 0, row: [], processors: 2 });
  });
});

describe("cellsOf()", () => {
  test("gives each gang a value, and another one in its extra slots", () => {
    const { jobs, values } = cellsOf(gridOf("7 7 . 3", "3 . 7 7", ". . 7 7"), 4);
    expect(jobs).toEqual([3, 7]);
    // Job 3 is gang 0: 1 in row 1, its first one, 2 in row 2. Job 7 is gang 1: 3 in row 1, 4 elsewhere.
    expect([...values]).toEqual([3, 3, 0, 1, 2, 0, 4, 4, 0, 0, 4, 4]);
    expect([0, 1, 2, 3, 4].map(gangOf)).toEqual([-1, 0, 0, 1, 1]);
    expect([0, 1, 2, 3, 4].map(isExtra)).toEqual([false, false, true, false, true]);
  });

  test("is what a search for each cell finds, and its runs restore the stretches", () => {
    fc.assert(
      fc.property(anyCells(6, 12), (rows) => {
        const stretches = stretchesOf(rows);
        const processors = rows[0]?.length ?? 1;
        const cells = cellsOf(stretches, processors);
        for (const [r, row] of rows.entries())
          for (const [p, job] of row.entries()) {
            const value = cells.values[r * processors + p];
            expect(gangOf(value) < 0 ? undefined : cells.jobs[gangOf(value)]).toBe(job);
            const earlier = rows.slice(0, r).some((other) => other.includes(job));
            expect(isExtra(value)).toBe(job !== undefined && earlier);
          }
        const busy = runsOf(cells).filter(({ value }) => gangOf(value) >= 0);
        expect(
          busy.map(({ row, first, end, value }) => [row, first, end, cells.jobs[gangOf(value)]]),
        ).toEqual(
          stretches.job.map((job, i) => [stretches.row[i], stretches.first[i], stretches.end[i], job]),
        );
        expect(slotsOf(cells)).toEqual(
          cells.jobs.map((job) => rows.filter((row) => row.includes(job)).length),
        );
      }),
    );
  });
});

describe("the table", () => {
  const grid = {
    ...gridOf("7 7 . 3", "3 . 7 7"),
    names: new Map([
      [3, ""],
      [7, "a\tb"],
    ]),
  };
  const cells = cellsOf(grid, 4);

  test("has a line per stretch, with the share of the slots", () => {
    expect(tableOf(cells, grid).map(lineTexts)).toEqual([
      ["1", "0", "1", "2", "7", "a\tb", "100 %"],
      ["1", "3", "3", "1", "3", "another user's", "100 %"],
      ["2", "0", "0", "1", "3", "another user's", "100 % (extra slot)"],
      ["2", "2", "3", "2", "7", "a\tb", "100 % (extra slot)"],
    ]);
    expect(tabText(tableOf(cells, grid).slice(0, 1))).toBe(
      "row\tfirst CPU\tlast CPU\tCPUs\tjob\tname\tshare\n1\t0\t1\t2\t7\ta b\t100 %\n",
    );
    const third = tableOf(cellsOf(gridOf("1", "2", "3"), 1), gridOf("1"));
    expect(lineTexts(third[0]).at(-1)).toBe("33.3 %");
  });

  test("idle fragments are counted", () => {
    expect(numbersOf(cells)).toEqual({
      rows: 2,
      gangs: 2,
      busyCells: 6,
      cells: 8,
      fragments: 2,
      largestFragment: 1,
    });
    expect(numbersOf(cellsOf(gridOf(". . 1 .", ". . . ."), 4))).toMatchObject({
      fragments: 3,
      largestFragment: 4,
    });
  });

  test("a snapshot shows the numbers of its jobs", () => {
    const named = gridOfSnapshot(gridOf("0 1"), 2, (index) => 100 + index);
    expect(named.job).toEqual([100, 101]);
  });
});

describe("changedSpans()", () => {
  type Named = readonly (readonly [number, string])[];
  const shown = (grid: ReturnType<typeof gridOf>, names: Named = []) => ({
    cells: cellsOf(grid, grid.processors),
    grid: { ...grid, names: new Map(names) },
  });
  const spans = (before: ReturnType<typeof shown>, after: ReturnType<typeof shown>) =>
    [...changedSpans(before, after)].map(([row, { first, end }]) => `${row}: ${first}-${end - 1}`);

  test("are where jobs, names or kinds of slots differ", () => {
    const before = shown(gridOf("7 7 . 3", "3 . 7 7", "5 5 6 8"));
    expect(spans(before, shown(gridOf("7 7 . 3", "3 . 7 7", "5 5 6 8")))).toEqual([]);
    // Job 1 changes the positions of all other jobs, but only its own place.
    expect(spans(before, shown(gridOf("7 7 . 3", "3 . 7 7", "5 5 1 8")))).toEqual(["2: 2-2"]);
    // What was an extra slot of job 7 is its own. Idle processors belong to what is next to them.
    expect(spans(before, shown(gridOf(". . . 3", "3 . 7 7", "5 5 6 8")))).toEqual(["0: 0-2", "1: 1-3"]);
    expect(spans(before, shown(gridOf("7 7 . 3")))).toEqual([]);
    expect(spans(shown(gridOf("7 7 . 3")), shown(gridOf("7 7 . 3", "3 . 7 7")))).toEqual(["1: 0-3"]);
    expect(spans(shown(gridOf("7 7 . 3")), shown(gridOf("7 7 . 3", ". . . .")))).toEqual(["1: 0-3"]);
    const named = shown(gridOf("7 7 . 3", "3 . 7 7", "5 5 6 8"), [[5, "solver"]]);
    expect(spans(before, named)).toEqual(["2: 0-1"]);
  });

  test("no cell outside them differs, and every one of them has a cell that does", () => {
    fc.assert(
      fc.property(anyCells(4, 6, 4), anyCells(4, 6, 4), (early, late) => {
        const processors = Math.min(early[0]?.length ?? 6, late[0]?.length ?? 6);
        const cut = (rows: typeof early) => {
          const grid = gridOfSnapshot(stretchesOf(rows.map((row) => row.slice(0, processors))), processors);
          return { grid, cells: cellsOf(grid, processors) };
        };
        const [before, after] = [cut(early), cut(late)];
        const cellOf = ({ cells: { values, jobs } }: typeof before, row: number, processor: number) => {
          const value = values[row * processors + processor];
          return `${jobs[gangOf(value)]} ${isExtra(value)}`;
        };
        const changed = changedSpans(before, after);
        for (let row = 0; row < after.cells.rows; row++) {
          const span = changed.get(row) ?? { first: 0, end: 0 };
          const differs = (processor: number) =>
            row >= before.cells.rows || cellOf(before, row, processor) !== cellOf(after, row, processor);
          const all = Array.from({ length: processors }, (_, processor) => processor);
          const different = all.filter(differs);
          expect(different.every((processor) => processor >= span.first && processor < span.end)).toBe(true);
          if (changed.has(row)) expect(different.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});
