/**
 * The table twin of the picture: for screen readers and for copying. It is made from the cells that are
 * drawn, not from the answer that they were made of.
 */
import { type Cells, gangOf, isExtra, runsOf, slotsOf } from "./cells.ts";
import { type Grid, processorName } from "./grid.ts";

interface TableLine {
  /** From 1. */
  readonly row: number;
  readonly firstCpu: string;
  readonly lastCpu: string;
  readonly cpus: number;
  readonly job: number;
  readonly name: string;
  /** The row is an extra slot of the gang. */
  readonly extra: boolean;
  /** Slots of the gang per round ÷ rows. */
  readonly share: number;
}

export function tableOf(cells: Cells, grid: Pick<Grid, "nodes" | "cpu" | "names">): TableLine[] {
  const slots = slotsOf(cells);
  return runsOf(cells).flatMap(({ row, first, end, value }) => {
    const gang = gangOf(value);
    if (gang < 0) return [];
    const job = cells.jobs[gang];
    return {
      row: row + 1,
      firstCpu: processorName(grid, first),
      lastCpu: processorName(grid, end - 1),
      cpus: end - first,
      job,
      name: nameText(grid.names.get(job)),
      extra: isExtra(value),
      share: slots[gang] / cells.rows,
    };
  });
}

export const TABLE_HEAD = ["row", "first CPU", "last CPU", "CPUs", "job", "name", "share"] as const;

/** The texts of a line, in the order of `TABLE_HEAD`. */
export function lineTexts(line: TableLine): string[] {
  const share = `${Math.round(1000 * line.share) / 10} %${line.extra ? " (extra slot)" : ""}`;
  return [
    String(line.row),
    line.firstCpu,
    line.lastCpu,
    String(line.cpus),
    String(line.job),
    line.name,
    share,
  ];
}

/** For spreadsheets: a line each, with tabs between the values. */
export function tabText(lines: readonly TableLine[]): string {
  const clean = (text: string) => text.replace(/[\t\r\n]+/g, " ");
  return [TABLE_HEAD, ...lines.map(lineTexts)].map((line) => `${line.map(clean).join("\t")}\n`).join("");
}

interface MatrixNumbers {
  readonly rows: number;
  readonly gangs: number;
  readonly busyCells: number;
  readonly cells: number;
  readonly fragments: number;
  readonly largestFragment: number;
}

export function numbersOf(cells: Cells): MatrixNumbers {
  const idle = runsOf(cells).filter(({ value }) => gangOf(value) < 0);
  const sizes = idle.map(({ first, end }) => end - first);
  const total = cells.rows * cells.processors;
  return {
    rows: cells.rows,
    gangs: cells.jobs.length,
    busyCells: total - sizes.reduce((sum, size) => sum + size, 0),
    cells: total,
    fragments: idle.length,
    largestFragment: sizes.reduce((a, b) => Math.max(a, b), 0),
  };
}

function nameText(name: string | undefined): string {
  return name === "" ? "another user's" : (name ?? "");
}
