/**
 * Draws the Ousterhout matrix for a terminal:
 *
 *   gang, slot 100 ms, row 2 of 2, policy gang
 *           0   1   2   3
 *     row 1 12  12  13  ·
 *   ▶ row 2 14  14  14  14
 *
 * A column is a CPU, and a cell holds the number of the job; · is an idle CPU. Rows run in turn, one slot
 * each; ▶ marks the row that is running. The colours are safe for colour-blind people, and the text says
 * everything without them. If there are several nodes, a line above the CPUs has their names, and bars are
 * between them.
 */

import { plural } from "@tutti/kernel/core/format.ts";
import { cpusText, THIS_NODE } from "@tutti/kernel/core/machine.ts";
import { shorten } from "@tutti/lab/report/text/table.ts";
import type { MatrixAnswer } from "@tutti/protocol/schema.ts";
import { activeRow } from "@tutti/protocol/turns.ts";
import { visibleLine } from "@tutti/words/visible.ts";

/** Colours of Okabe and Ito as background, each with a readable foreground. */
const PALETTE: readonly (readonly [back: string, front: string])[] = [
  ["230;159;0", "0;0;0"],
  ["86;180;233", "0;0;0"],
  ["0;158;115", "255;255;255"],
  ["240;228;66", "0;0;0"],
  ["0;114;178", "255;255;255"],
  ["213;94;0", "255;255;255"],
  ["204;121;167", "0;0;0"],
];
const EMPTY = "·";
const BAR = "│";

interface MatrixTextOptions {
  readonly width: number;
  /** Maximum number of lines of rows; a line then says how many rows are left out. Default: all rows. */
  readonly mostRows?: number;
  readonly colour: boolean;
  /** Monotonic time in ms, on the clock of the answer's `nowMs`. */
  readonly nowMs: number;
}

/** The matrix with the names of its jobs. */
export function matrixText(matrix: MatrixAnswer, options: MatrixTextOptions): string {
  const names = matrix.rows.length === 0 ? "" : legend(matrix, options.width);
  return `${matrixLines(matrix, options).join("\n")}\n${names}`;
}

/** The matrix as lines. If the cells do not fit the width, each row lists its jobs with their CPUs. */
export function matrixLines(
  matrix: MatrixAnswer,
  { width, mostRows = Number.POSITIVE_INFINITY, colour, nowMs }: MatrixTextOptions,
): string[] {
  const { rows, sharing, mode, slotMs, policy } = matrix;
  const columns = columnsOf(matrix);
  const active = activeRow(matrix, nowMs);
  const turn = sharing === "time" && rows.length > 0 ? `, row ${active + 1} of ${rows.length}` : "";
  const kind = sharing === "time" ? `${mode}, slot ${slotMs} ms` : "space sharing";
  const head = shorten(`${kind}${turn}, policy ${visibleLine(policy)}`, width);
  if (rows.length === 0) return [head, "  no gang is in the matrix"];
  const names = rows.map((_, i) => `row ${i + 1}`);
  const label = Math.max(...names.map((name) => name.length));
  const cell = Math.max(
    2,
    ...columns.map(({ cpu }) => String(cpu).length),
    ...rows.flat().map(({ job }) => String(job).length),
  );
  const fits = 2 + label + columns.length * (cell + 1) <= width;
  const shown = rows.length <= mostRows ? rows : rows.slice(0, Math.max(0, mostRows - 1));
  const lines = shown.map((row, i) => {
    const start = `${i === active || sharing === "space" ? "▶" : " "} ${names[i].padEnd(label)}`;
    const text = fits ? cellsOf(row, columns, cell, colour) : shorten(runsOf(row), width - start.length - 1);
    return `${start} ${text}`;
  });
  const more = rows.length - shown.length;
  return [
    head,
    ...(fits ? scales(columns, cell, 3 + label).map((line) => shorten(line, width)) : []),
    ...lines,
    ...(more === 0 ? [] : [`  and ${plural(more, "more row")}`]),
  ];
}

/** A CPU of a node. */
interface Column {
  readonly node: string;
  readonly cpu: number;
  readonly key: string;
}

function columnsOf({
  cpus,
  nodes = [{ node: THIS_NODE, cpus }],
}: Pick<MatrixAnswer, "cpus" | "nodes">): Column[] {
  return nodes.flatMap(({ node, cpus: own }) => own.map((cpu) => ({ node, cpu, key: `${node}/${cpu}` })));
}

/** A line with the numbers of the CPUs, and above it the names of the nodes if there are several. */
function scales(columns: readonly Column[], cell: number, indent: number): string[] {
  const numbers =
    " ".repeat(indent) +
    columns
      .map(({ cpu }, i) => String(cpu).padEnd(cell) + gapAfter(columns, i))
      .join("")
      .trimEnd();
  if (columns.every(({ node }) => node === columns[0].node)) return [numbers];
  let names = " ".repeat(indent);
  for (const [i, { node }] of columns.entries()) {
    const at = indent + i * (cell + 1);
    const name = visibleLine(node);
    if (i === 0) names += name;
    else if (node !== columns[i - 1].node) names = `${names.padEnd(at - 1).slice(0, at - 1)}${BAR}${name}`;
  }
  return [names, numbers];
}

/** What is between a cell and the next one. */
function gapAfter(columns: readonly Column[], i: number): string {
  if (i === columns.length - 1) return "";
  return columns[i + 1].node === columns[i].node ? " " : BAR;
}

type Row = MatrixAnswer["rows"][number];

function cellsOf(row: Row, columns: readonly Column[], cell: number, colour: boolean): string {
  const holder = new Map(row.flatMap((gang) => columnsOf(gang).map(({ key }) => [key, gang.job] as const)));
  return columns
    .map(({ key }, i) => {
      const job = holder.get(key);
      const text = (job === undefined ? EMPTY : String(job)).padEnd(cell);
      // If the next cell has the same job, the gap between them gets its colour, so that a gang is one block.
      const gap = gapAfter(columns, i);
      if (!colour || job === undefined) return text + gap;
      return holder.get(columns[i + 1]?.key ?? "") === job
        ? painted(text + gap, job)
        : painted(text, job) + gap;
    })
    .join("")
    .trimEnd();
}

function runsOf(row: Row): string {
  return row.map(({ job, cpus, nodes }) => `${job} on ${cpusText(cpus, nodes)}`).join("; ");
}

/** Names of the jobs. */
function legend({ rows }: MatrixAnswer, width: number): string {
  const names = new Map(rows.flat().map(({ job, name }) => [job, visibleLine(name)]));
  const lines: string[] = [];
  let line = "";
  for (const [job, name] of [...names].sort(([a], [b]) => a - b)) {
    const entry = shorten(name === "" ? `${job} another user's` : `${job} ${name}`, 24);
    if (line !== "" && line.length + entry.length + 3 > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? `  ${entry}` : `, ${entry}`;
  }
  return [...lines, line].map((text) => `${text}\n`).join("");
}

function painted(text: string, job: number): string {
  const [back, front] = PALETTE[job % PALETTE.length];
  return `\u001b[48;2;${back};38;2;${front}m${text}\u001b[0m`;
}
