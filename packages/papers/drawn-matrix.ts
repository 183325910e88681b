/** Reads and shows matrices as rows of characters, for the examples that papers work through by hand. */
import { assert } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { GangMachine, MatrixView, RowId, RunId } from "@tutti/kernel/core/policy.ts";
import { OusterhoutMatrix } from "@tutti/kernel/structures/matrix/matrix.ts";
import { WorkloadTree } from "@tutti/kernel/structures/matrix/workload-tree.ts";
import type { DrawnFigures, ReproducedMatrices } from "./paper.ts";
import { filled } from "./texts.ts";

/** The figures together. */
export function together(parts: readonly DrawnFigures[]): DrawnFigures {
  return {
    matrices: parts.flatMap(({ matrices }) => matrices),
    statements: parts.flatMap(({ statements }) => statements),
  };
}

/** Rows from the top: one string per row, one character per processor, "." for idle. */
export type Picture = readonly string[];

export class Matrix extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
}

/** Characters of jobs 0, 1, 2 … */
export const NAMES = "0123456789abcdefghijklmnopqrstuvwxyz";
const jobNamed = (name: string): JobIndex => NAMES.indexOf(name);

/** Moves a whole job to a row that is idle on all of the job's processors: a legal shift. */
export function shift(machine: GangMachine, run: RunId, to: RowId): void {
  const first = machine.runFirst(run);
  const end = first + machine.runSize(run);
  assert(machine.isIdle(to, first, end), `row ${to} is idle on processors ${first} to ${end - 1}`);
  machine.exchange(machine.runRow(run), to, first, end);
}

/**
 * A matrix on which the operations of a figure are done one after the other. Jobs have the names of the
 * picture; rows are S1, S2, … from the bottom.
 */
export class Drawing {
  readonly machine: Matrix;
  readonly #rows: readonly RowId[];

  /** @param arrivals sizes of jobs that are not drawn, by name */
  constructor(rows: Picture, arrivals: Readonly<Record<string, number>> = {}) {
    const cells = rows.join("");
    const sizes = [...NAMES].map((name) => arrivals[name] ?? cells.split(name).length - 1);
    const machine = new Matrix(rows[0].length, sizes);
    this.machine = machine;
    const ids = rows.map((cells) => {
      const row = machine.addRow();
      for (const name of new Set(cells.replaceAll(".", ""))) {
        const runs = [...cells.matchAll(new RegExp(`${name}+`, "g"))];
        const stretches = runs.flatMap(({ index, 0: run }) => [index, index + run.length]);
        machine.placeStretches(jobNamed(name), row, stretches, runs.length);
      }
      return row;
    });
    this.#rows = ids.reverse();
  }

  row(number: number): RowId {
    return this.#rows[number - 1];
  }

  end(names: string): this {
    for (const name of names) this.machine.removeJob(jobNamed(name));
    return this;
  }

  exchange(a: number, b: number, first: number, end: number): this {
    this.machine.exchange(this.row(a), this.row(b), first, end);
    return this;
  }

  /** The whole job moves to the row. */
  move(name: string, to: number): this {
    shift(this.machine, this.machine.firstRunOfJob(jobNamed(name)), this.row(to));
    return this;
  }

  place(name: string, row: number, first: number): this {
    this.machine.place(jobNamed(name), this.row(row), first);
    return this;
  }

  /** Each job also runs in this row, on its processors. */
  unite(names: string, row: number): this {
    for (const name of names) this.place(name, row, processorsOf(this.machine, jobNamed(name))[0]);
    return this;
  }

  deleteRow(row: number): this {
    this.machine.deleteRow(this.row(row));
    return this;
  }

  get picture(): Picture {
    return cellsOf(this.machine).map((row) => row.map((job) => NAMES[job] ?? ".").join(""));
  }

  /** The picture in one line. */
  get text(): string {
    return this.picture.join(" / ");
  }

  /** The values of the workload tree over the matrix, level by level from the root. */
  tree(lowestLevel = 0): string {
    const { processors } = this.machine;
    const tree = new WorkloadTree(processors);
    for (const [processor, idle] of idleSlots(this.machine).entries()) tree.add(processor, 1, idle);
    return Array.from({ length: tree.height - lowestLevel + 1 }, (_, depth) => {
      const level = tree.height - depth;
      return Array.from({ length: processors >> level }, (_, node) => tree.value(level, node)).join(" ");
    }).join(" | ");
  }

  step(caption: string): ReproducedMatrices["steps"][number] {
    return step(caption, this.machine);
  }
}

function cellsOf(matrix: MatrixView): JobIndex[][] {
  return Array.from({ length: matrix.rowCount }, (_, position) => {
    const cells = new Array<JobIndex>(matrix.processors).fill(-1);
    for (let run = matrix.firstRun(matrix.rowAt(position)); run !== -1; run = matrix.nextRun(run)) {
      const first = matrix.runFirst(run);
      cells.fill(matrix.runJob(run), first, first + matrix.runSize(run));
    }
    return cells;
  });
}

export function processorsOf(matrix: MatrixView, job: JobIndex): number[] {
  const row = cellsOf(matrix).find((cells) => cells.includes(job)) ?? [];
  return [...row.keys()].filter((at) => row[at] === job);
}

export function idleSlots(matrix: MatrixView): number[] {
  const rows = cellsOf(matrix);
  return Array.from({ length: matrix.processors }, (_, at) => rows.filter((row) => row[at] === -1).length);
}

export function step(caption: string, matrix: MatrixView): ReproducedMatrices["steps"][number] {
  return { caption, rows: cellsOf(matrix).map((row) => row.map((job) => NAMES[job] ?? null)) };
}

/** What is done to a drawing, by the words of docs/papers/KEY.texts.json. */
const OPERATIONS: Readonly<
  Record<string, (drawing: Drawing, jobs: string, at: readonly number[]) => Drawing>
> = {
  end: (drawing, jobs) => drawing.end(jobs),
  move: (drawing, job, [to]) => drawing.move(job, to),
  place: (drawing, job, [row, first]) => drawing.place(job, row, first),
  unite: (drawing, jobs, [row]) => drawing.unite(jobs, row),
  exchange: (drawing, a, [b, first, end]) => drawing.exchange(Number(a), b, first, end),
  deleteRow: (drawing, row) => drawing.deleteRow(Number(row)),
};

/** A figure that is worked through, as docs/papers/KEY.texts.json has it. */
interface DrawnText {
  readonly id: string;
  readonly title: string;
  /** The matrix before any operation. */
  readonly rows: Picture;
  /** Sizes of jobs that are not drawn. */
  readonly arrivals?: Readonly<Record<string, number>>;
  /** By name, the operations that lead to each matrix, such as `end xy, exchange 1 2 0 4`. */
  readonly matrices: Readonly<Record<string, string>>;
  /** Of the trees; default: single processors. */
  readonly lowestLevel?: number;
  readonly steps: readonly (readonly [caption: string, matrix: string])[];
  readonly statements: readonly {
    readonly statement: string;
    /** What the values must be for the statement to hold. */
    readonly is: Readonly<Record<string, string>>;
    /** A matrix no row of which may have these cells. */
    readonly lacks?: readonly [matrix: string, cells: string];
    readonly evidence: string;
  }[];
}

/**
 * The figure, and the statements on it. Texts quote a matrix by its name in braces; with `_tree`, `_idle` and
 * `_left` the values of the workload tree, the idle slots of each processor, and the left half; with `_rows`
 * and `_more` the number of its rows, and one more.
 */
export function drawnFigure(text: unknown): DrawnFigures {
  const { id, title, rows, arrivals, matrices, lowestLevel, steps, statements } = text as DrawnText;
  const drawings = Object.entries(matrices).map(([name, operations]) => {
    const drawing = new Drawing(rows, arrivals);
    for (const operation of operations === "" ? [] : operations.split(", ")) {
      const [verb, jobs, ...at] = operation.split(" ");
      OPERATIONS[verb](drawing, jobs, at.map(Number));
    }
    return [name, drawing] as const;
  });
  const byName = new Map(drawings);
  const values: Readonly<Record<string, string>> = Object.fromEntries(
    drawings.flatMap(([name, drawing]) => [
      [name, drawing.text],
      [`${name}_tree`, drawing.tree(lowestLevel)],
      [`${name}_idle`, idleSlots(drawing.machine).join(" ")],
      [`${name}_left`, drawing.picture.map((row) => row.slice(0, row.length / 2)).join(" / ")],
      [`${name}_rows`, String(drawing.picture.length)],
      [`${name}_more`, String(drawing.picture.length + 1)],
    ]),
  );
  const isWithout = (matrix: string, cells: string) =>
    byName.get(matrix)!.picture.every((row) => !row.includes(cells));
  return {
    matrices: [
      { id, title, steps: steps.map(([caption, name]) => byName.get(name)!.step(filled(caption, values))) },
    ],
    statements: statements.map(({ statement, is, lacks, evidence }) => ({
      statement,
      holds:
        Object.entries(is).every(([name, value]) => values[name] === value) &&
        (lacks === undefined || isWithout(...lacks)),
      evidence: filled(evidence, values),
    })),
  };
}
