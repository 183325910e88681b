/**
 * Where things are on the screen, in CSS pixels from the upper left corner of the cells: rows, labels, the
 * scale of processors, and which cell is at a point.
 */
import { type Cells, gangOf, IDLE } from "./cells.ts";
import { type Grid, processorName, type Stretches } from "./grid.ts";
import type { Plane, Span } from "./image.ts";

export interface Geometry {
  readonly span: Span;
  readonly widthPx: number;
  readonly rowPx: number;
}

const MAX_ROW_PX = 34;
/** Of less than 3 pixels, a row could not show two gangs and an idle processor of one block. */
const MIN_ROW_PX = 3;

/** Whole pixels, so that all rows are equally high. */
export function rowHeight(rows: number, availablePx: number): number {
  const fitting = Math.floor(availablePx / Math.max(1, rows));
  return Math.max(MIN_ROW_PX, Math.min(MAX_ROW_PX, fitting));
}

/** Left edge of a processor. */
export function xOf({ span, widthPx }: Geometry, processor: number): number {
  return ((processor - span.first) * widthPx) / (span.end - span.first);
}

export interface Cell {
  readonly row: number;
  readonly processor: number;
}

/**
 * The cell at a point. Where cells form a block, it is the block's first cell of the gang (or idle) that is
 * drawn at the point; the first cell of all, if the point stands for more gangs.
 */
export function cellAt(
  cells: Cells,
  plane: Plane,
  geometry: Geometry,
  x: number,
  y: number,
): Cell | undefined {
  const { span, widthPx, rowPx } = geometry;
  const row = Math.floor(y / rowPx);
  if (x < 0 || x >= widthPx || y < 0 || row >= cells.rows) return undefined;
  const shown = span.end - span.first;
  const processor = span.first + Math.min(shown - 1, Math.floor((x * shown) / widthPx));
  if (plane.perBlock === 1) return { row, processor };
  const column = Math.floor((processor - span.first) / plane.perBlock);
  const line = Math.min(plane.perRow - 1, Math.floor(((y - row * rowPx) * plane.perRow) / rowPx));
  const value = plane.values[(row * plane.perRow + line) * plane.width + column];
  const first = span.first + column * plane.perBlock;
  const end = Math.min(first + plane.perBlock, span.end);
  const block = cells.values.subarray(row * cells.processors + first, row * cells.processors + end);
  return { row, processor: first + Math.max(0, block.indexOf(value)) };
}

interface Label {
  readonly job: number;
  readonly text: string;
  /** Middle of the gang's visible part. */
  readonly x: number;
  readonly y: number;
}

const MIN_LABEL_PX = 6;
const LABEL_MARGIN_PX = 3;

/** Height of the labels' letters; 0 if rows are too low for labels. */
export function letterPx(rowPx: number): number {
  return rowPx < MIN_LABEL_PX + 5 ? 0 : Math.min(13, rowPx - 3);
}

/**
 * The number of each gang with its name, or only the number, or nothing, as it fits.
 * @param textPx width of a text at the height of `letterPx`
 */
export function labelsOf(
  { row, first, end, job }: Stretches,
  names: ReadonlyMap<number, string>,
  geometry: Geometry,
  textPx: (text: string) => number,
): Label[] {
  const { span, rowPx } = geometry;
  if (letterPx(rowPx) === 0) return [];
  const labels: Label[] = [];
  for (const [i, number] of job.entries()) {
    const left = xOf(geometry, Math.max(first[i], span.first));
    const right = xOf(geometry, Math.min(end[i], span.end));
    const room = right - left - 2 * LABEL_MARGIN_PX;
    if (room < MIN_LABEL_PX) continue;
    const name = names.get(number) ?? "";
    const texts = name === "" ? [String(number)] : [`${number} ${name}`, String(number)];
    const text = texts.find((candidate) => textPx(candidate) <= room);
    if (text !== undefined)
      labels.push({ job: number, text, x: (left + right) / 2, y: (row[i] + 0.5) * rowPx });
  }
  return labels;
}

interface Tick {
  readonly text: string;
  readonly x: number;
}

/** Numbers of processors at round distances, at least `apartPx` from each other. */
export function ticksOf(grid: Grid, geometry: Geometry, apartPx: number): Tick[] {
  const { span, widthPx } = geometry;
  const least = (apartPx * (span.end - span.first)) / widthPx;
  let step = 1;
  for (let i = 0; step < least; i++) step *= i % 3 === 1 ? 2.5 : 2;
  const ticks: Tick[] = [];
  for (const node of grid.nodes) {
    const from = Math.max(node.first, span.first);
    for (let at = node.first; at < Math.min(node.end, span.end); at += step) {
      const x = xOf(geometry, at);
      if (at >= from && x - (ticks.at(-1)?.x ?? -apartPx) >= apartPx)
        ticks.push({ text: String(grid.cpu[at]), x });
    }
  }
  return ticks;
}

/** A cell in words: what a screen reader says and what hovering shows. */
export function cellText(
  grid: Grid,
  cells: Cells,
  slots: readonly number[],
  { row, processor }: Cell,
): string {
  const value = cells.values[row * cells.processors + processor];
  const place = `row ${row + 1}, CPU ${processorName(grid, processor)}`;
  if (value === IDLE) return `${place}: idle`;
  const gang = gangOf(value);
  const job = cells.jobs[gang];
  const name = grid.names.get(job);
  const who =
    name === undefined ? `job ${job}` : name === "" ? `job ${job}, another user's` : `job ${job} ${name}`;
  const cpus = grid.job.reduce(
    (sum, other, i) => (other === job && grid.row[i] === row ? sum + grid.end[i] - grid.first[i] : sum),
    0,
  );
  const share = `${slots[gang]} of ${cells.rows} ${cells.rows === 1 ? "slot" : "slots"}`;
  return `${place}: ${who}, ${cpus} ${cpus === 1 ? "CPU" : "CPUs"}, ${share} per round`;
}
