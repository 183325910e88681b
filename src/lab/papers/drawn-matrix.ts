/** Reads and shows matrices as rows of characters, for the examples that papers work through by hand. */
import type { JobIndex } from "../../core/jobs.ts";
import type { GangMachine, MatrixView, RowId } from "../../core/policy.ts";
import { OusterhoutMatrix } from "../../structures/matrix/matrix.ts";
import { WorkloadTree } from "../../structures/matrix/workload-tree.ts";
import type { ReproducedMatrices } from "./paper.ts";

/** Rows from the top: one string per row, one character per processor, "." for idle. */
export type Picture = readonly string[];

export class Matrix extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
}

/** Characters of jobs 0, 1, 2 … */
export const NAMES = "0123456789abcdefghijklmnopqrstuvwxyz";
export const jobNamed = (name: string): JobIndex => NAMES.indexOf(name);

/** @param arrivals sizes of jobs that are not drawn, by name */
export function drawn(
  rows: Picture,
  arrivals: Readonly<Record<string, number>> = {},
): { machine: Matrix; rows: RowId[] } {
  const cells = rows.join("");
  const sizes = [...NAMES].map((name) => arrivals[name] ?? cells.split(name).length - 1);
  const machine = new Matrix(rows[0].length, sizes);
  const ids = rows.map((cells) => {
    const row = machine.addRow();
    for (const name of new Set(cells.replaceAll(".", ""))) {
      const runs = [...cells.matchAll(new RegExp(`${name}+`, "g"))];
      const stretches = runs.flatMap(({ index, 0: run }) => [index, index + run.length]);
      machine.placeStretches(jobNamed(name), row, stretches, runs.length);
    }
    return row;
  });
  return { machine, rows: ids };
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

export function picture(matrix: MatrixView): Picture {
  return cellsOf(matrix).map((row) => row.map((job) => NAMES[job] ?? ".").join(""));
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

/** The values of the workload tree over the matrix, level by level from the root. */
export function treeOf(matrix: MatrixView, lowestLevel: number): string {
  const tree = new WorkloadTree(matrix.processors);
  for (const [processor, idle] of idleSlots(matrix).entries()) tree.add(processor, 1, idle);
  return Array.from({ length: tree.height - lowestLevel + 1 }, (_, depth) => {
    const level = tree.height - depth;
    const nodes = Array.from({ length: matrix.processors >> level }, (_, node) => tree.value(level, node));
    return nodes.join(" ");
  }).join(" | ");
}
