/**
 * Where things are on the screen, in CSS pixels from the upper left corner of the cells: rows, labels, the
 * scale of processors, and which cell is at a point.
 */
import { type Cells, gangOf, IDLE, type Span } from "./cells.ts";
import { type Grid, processorName, type Stretches } from "./grid.ts";
import { type Raster, valueAt } from "./image.ts";

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
  raster: Raster,
  geometry: Geometry,
  x: number,
  y: number,
): Cell | undefined {
  const { span, widthPx, rowPx } = geometry;
  const row = Math.floor(y / rowPx);
  if (x < 0 || x >= widthPx || y < 0 || row >= cells.rows) return undefined;
  const shown = span.end - span.first;
  const processor = span.first + Math.min(shown - 1, Math.floor((x * shown) / widthPx));
  if (raster.perBlock === 1) return { row, processor };
  const column = Math.floor((processor - span.first) / raster.perBlock);
  const line = Math.min(raster.perRow - 1, Math.floor(((y - row * rowPx) * raster.perRow) / rowPx));
  const value = valueAt(cells, span, raster, row, column, line);
  const first = span.first + column * raster.perBlock;
  const end = Math.min(first + raster.perBlock, span.end);
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

/** Fewer characters of a text that is cut say nothing. */
const MIN_CUT = 3;

/** The text if it fits, else its beginning with …; undefined if fewer than `least` characters fit. */
export function fitted(
  text: string,
  roomPx: number,
  textPx: (text: string) => number,
  least = MIN_CUT,
): string | undefined {
  const px = textPx(text);
  if (px <= roomPx) return text;
  const characters = [...text];
  for (let count = Math.ceil((characters.length * roomPx) / px); count >= least; count--) {
    const cut = `${characters.slice(0, count).join("")}…`;
    if (textPx(cut) <= roomPx) return cut;
  }
  return undefined;
}

/**
 * The number of each gang with its name, both cut as little as it fits, or nothing.
 * @param textPx width of a text at the height of `letterPx`
 * @param which indices of stretches; default: all
 */
export function labelsOf(
  { row, first, end, job }: Stretches,
  names: ReadonlyMap<number, string>,
  geometry: Geometry,
  textPx: (text: string) => number,
  which: Iterable<number> = job.keys(),
): Label[] {
  const { span, rowPx } = geometry;
  if (letterPx(rowPx) === 0) return [];
  const labels: Label[] = [];
  for (const i of which) {
    const number = job[i];
    const left = xOf(geometry, Math.max(first[i], span.first));
    const right = xOf(geometry, Math.min(end[i], span.end));
    const room = right - left - 2 * LABEL_MARGIN_PX;
    if (room < MIN_LABEL_PX) continue;
    const name = names.get(number) ?? "";
    const digits = String(number);
    const text =
      // A cut label has at least a character of the name.
      (name === "" ? undefined : fitted(`${digits} ${name}`, room, textPx, digits.length + 2)) ??
      fitted(digits, room, textPx);
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
export function cellText(grid: Grid, cells: Cells, { row, processor }: Cell): string {
  const value = cells.values[row * cells.processors + processor];
  const place = `row ${row + 1}, CPU ${processorName(grid, processor)}`;
  if (value === IDLE) return `${place}: idle`;
  const job = cells.jobs[gangOf(value)];
  const name = grid.names.get(job);
  const who =
    name === undefined ? `job ${job}` : name === "" ? `job ${job}, another user's` : `job ${job} ${name}`;
  const cpus = grid.job.reduce(
    (sum, other, i) => (other === job && grid.row[i] === row ? sum + grid.end[i] - grid.first[i] : sum),
    0,
  );
  const slots = new Set(grid.row.filter((_, i) => grid.job[i] === job)).size;
  const share = `${slots} of ${cells.rows} ${cells.rows === 1 ? "slot" : "slots"}`;
  return `${place}: ${who}, ${cpus} ${cpus === 1 ? "CPU" : "CPUs"}, ${share} per round`;
}
