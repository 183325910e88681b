/** Papers in the page's worker: what is published of them, their cells, and a table made of their results. */

import { RunInputs, WITHOUT_FILES } from "@tutti/lab/experiments/inputs.ts";
import type { Cell, CellResult } from "@tutti/lab/experiments/kinds.ts";
import { runSummary } from "@tutti/lab/experiments/summary.ts";
import { type PrintedPaper, type PrintedTable, printedTable } from "@tutti/lab/report/printed-table.ts";
import { runSites } from "@tutti/papers/dimitriadou2009/run.ts";
import { runQueues } from "@tutti/papers/kawanami2008/run.ts";
import type { PaperTable, PaperTables } from "@tutti/papers/paper.ts";
import { Results } from "@tutti/papers/results.ts";
import { runTasks } from "@tutti/papers/silva1999/run.ts";
import { PAPER_TABLES } from "@tutti/papers/table-registry.ts";
import { unpackPapers } from "./packed-papers.ts";

/** A paper as the page shows it before anything is computed. */
export interface ShownPaper extends PrintedPaper {
  /** How many simulations each table needs. */
  readonly runs: readonly number[];
}

/** A table by its paper and its place in the list of the paper's tables. */
export interface TableName {
  readonly paper: string;
  readonly table: number;
}

export function shownPapers(packed: string): ShownPaper[] {
  return unpackPapers(packed).map((paper) => {
    const { key } = paper.paper;
    const runs = paper.tables.map((_, table) => cellsOfTable({ paper: key, table }).length);
    return { ...paper, runs };
  });
}

/** The simulations that the table needs. */
export function cellsOfTable(name: TableName): Cell[] {
  const { paper, table } = found(name);
  return placedCells(paper, table).map(({ cell }) => cell);
}

/** @param results in the order of the cells */
export function tableOf(name: TableName, results: readonly CellResult[]): PrintedTable {
  const { paper, table } = found(name);
  return printedTable(table.of(new Results(placedCells(paper, table), results)));
}

const inputs = new RunInputs(WITHOUT_FILES);

/** @throws InputError for a kind of cell that no paper has */
export async function runPaperCell(cell: Cell): Promise<CellResult> {
  switch (cell.kind) {
    case "summary":
      return runSummary(cell, inputs);
    case "queues":
      return runQueues(cell, inputs);
    case "sites":
      return runSites(cell, inputs);
    case "tasks":
      return runTasks(cell, inputs);
    default:
      throw new Error(`Broken invariant: no paper has cells of the kind ${cell.kind}`);
  }
}

function found({ paper: key, table: at }: TableName) {
  const paper = PAPER_TABLES.find((one) => one.key === key);
  const table = paper?.tables[at];
  if (paper === undefined || table === undefined)
    throw new Error(`Broken invariant: no table ${at} of ${key}`);
  return { paper, table };
}

function placedCells(paper: PaperTables, table: PaperTable) {
  return paper.cells(paper.defaultSeed).filter(({ place }) => table.needs(place));
}
