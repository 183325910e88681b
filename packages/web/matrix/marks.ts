/** What is drawn above the cells: borders, labels, the lit gang's outline, the cursor, and the scale. */
import { type Cells, gangOf, IDLE, isExtra, runsOfRow, type Span } from "./cells.ts";
import type { Grid } from "./grid.ts";
import type { Ink } from "./ink.ts";
import { type Cell, fitted, type Geometry, labelsOf, letterPx, ticksOf, xOf } from "./layout.ts";

interface Marked {
  readonly grid: Grid;
  readonly cells: Cells;
  readonly geometry: Geometry;
  readonly ink: Ink;
  /** Number of the job that stands out. */
  readonly lit: number | undefined;
  /** Whether cells are wide enough for borders. */
  readonly hasBorders: boolean;
}

const SCALE_PX = 18;
const NODES_PX = 16;
const TICK_APART_PX = 34;

/** Height of the scale, and of the names of nodes if there are several. */
export function scaleHeight({ nodes }: Pick<Grid, "nodes">): number {
  return SCALE_PX + (nodes.length > 1 ? NODES_PX : 0);
}

/** Widths of texts at one height of letters: measuring is slow, and so is asking a context for its font. */
class Widths {
  readonly #px = new Map<string, number>();
  #font = "";

  of(context: CanvasRenderingContext2D, font: string): (text: string) => number {
    if (this.#font !== font || this.#px.size > 10_000) this.#px.clear();
    this.#font = font;
    return (text) => {
      let px = this.#px.get(text);
      if (px === undefined) {
        px = context.measureText(text).width;
        this.#px.set(text, px);
      }
      return px;
    };
  }
}
const widths = new Widths();

/** Rows firstRow … endRow − 1 from a pixel to another one. */
export interface Area {
  readonly firstRow: number;
  readonly endRow: number;
  readonly fromPx: number;
  readonly toPx: number;
}

/** Borders and outlines reach this far beyond their gang. */
const BORDER_PX = 2;

/** Where the marks of some processors of a row are. */
export function areaOf(geometry: Geometry, row: number, { first, end }: Span): Area {
  const fromPx = Math.max(0, Math.floor(xOf(geometry, first)) - BORDER_PX);
  const toPx = Math.min(geometry.widthPx, Math.ceil(xOf(geometry, end)) + BORDER_PX);
  return { firstRow: row, endRow: row + 1, fromPx, toPx };
}

/**
 * Draws an area in place of what was there. Letters that are higher than a row are cut off at its border.
 * @param context with its origin at the cells
 * @param isLabelled of a stretch, by its index
 */
export function drawMarks(
  context: CanvasRenderingContext2D,
  { grid, cells, geometry, ink, lit, hasBorders }: Marked,
  area: Area,
  isLabelled: (stretch: number) => boolean,
): void {
  const { rowPx } = geometry;
  const { firstRow, endRow, fromPx, toPx } = area;
  if (toPx <= fromPx) return;
  const rectangle = [fromPx, firstRow * rowPx, toPx - fromPx, (endRow - firstRow) * rowPx] as const;
  context.clearRect(...rectangle);
  context.save();
  context.beginPath();
  context.rect(...rectangle);
  context.clip();
  const end = Math.min(endRow, grid.rows);
  if (hasBorders)
    for (let row = firstRow; row < end; row++) drawBorders(context, { cells, geometry, ink, lit }, row);
  if (rowPx >= 5) {
    context.fillStyle = ink.back;
    for (let row = firstRow; row < Math.min(end, grid.rows - 1); row++)
      context.fillRect(fromPx, (row + 1) * rowPx - 1, toPx - fromPx, 1);
  }
  const stretches = stretchesIn(grid, geometry, area);
  const font = fontOf(letterPx(rowPx));
  context.font = font;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = "#000";
  const labelled = stretches.filter((i) => (lit === undefined || lit === grid.job[i]) && isLabelled(i));
  for (const { text, x, y } of labelsOf(grid, grid.names, geometry, widths.of(context, font), labelled))
    context.fillText(text, x, y + 0.5);
  if (lit !== undefined)
    for (const i of stretches) if (grid.job[i] === lit) drawOutline(context, grid, i, geometry, ink);
  context.restore();
}

/** Indices of the stretches that an area shows at least in part. */
function stretchesIn(
  { row, first, end }: Grid,
  { span, widthPx }: Geometry,
  { firstRow, endRow, fromPx, toPx }: Area,
): number[] {
  const perPx = (span.end - span.first) / widthPx;
  const from = span.first + (fromPx - BORDER_PX) * perPx;
  const to = span.first + (toPx + BORDER_PX) * perPx;
  const found: number[] = [];
  for (let i = 0; i < row.length; i++)
    if (row[i] >= firstRow && row[i] < endRow && end[i] > from && first[i] < to) found.push(i);
  return found;
}

/** Borders of gangs, outlines of idle fragments, and hatching of extra slots, if there is room. */
function drawBorders(
  context: CanvasRenderingContext2D,
  { cells, geometry, ink, lit }: Pick<Marked, "cells" | "geometry" | "ink" | "lit">,
  row: number,
): void {
  const { rowPx, span } = geometry;
  context.lineWidth = 1;
  for (const { first, end, value } of runsOfRow(cells, row)) {
    if (end <= span.first || first >= span.end) continue;
    const left = xOf(geometry, first);
    const right = xOf(geometry, end);
    if (value === IDLE) {
      if (rowPx < 8 || right - left < 6) continue;
      context.strokeStyle = ink.line;
      context.strokeRect(left + 1.5, row * rowPx + 1.5, right - left - 4, rowPx - 4);
      continue;
    }
    if (isExtra(value) && rowPx >= 6 && right - left >= 4) {
      context.globalAlpha = lit === undefined || lit === cells.jobs[gangOf(value)] ? 1 : 0.25;
      context.fillStyle = hatching(context);
      context.fillRect(left, row * rowPx, right - left, rowPx);
      context.globalAlpha = 1;
    }
    if (right - left < 3 || first === 0) continue;
    const before = cells.values[row * cells.processors + first - 1];
    if (gangOf(before) < 0) continue;
    context.fillStyle = ink.back;
    context.fillRect(Math.round(left) - 0.5, row * rowPx, 1, rowPx);
  }
}

function drawOutline(
  context: CanvasRenderingContext2D,
  grid: Grid,
  stretch: number,
  geometry: Geometry,
  ink: Ink,
): void {
  const { rowPx } = geometry;
  const left = xOf(geometry, grid.first[stretch]);
  const width = Math.max(3, xOf(geometry, grid.end[stretch]) - left);
  context.lineWidth = 2;
  context.strokeStyle = ink.text;
  context.strokeRect(left + 1, grid.row[stretch] * rowPx + 1, width - 2, rowPx - 3);
}

/** @param context with its origin at the cells */
export function drawCursor(
  context: CanvasRenderingContext2D,
  { cells, geometry, ink }: Pick<Marked, "cells" | "geometry" | "ink">,
  { row, processor }: Cell,
): void {
  const { span, rowPx } = geometry;
  if (row >= cells.rows || processor < span.first || processor >= span.end) return;
  const left = xOf(geometry, processor);
  const width = Math.max(4, xOf(geometry, processor + 1) - left);
  context.lineWidth = 2;
  context.strokeStyle = ink.accent;
  context.strokeRect(left, row * rowPx, width, rowPx);
}

/**
 * The numbers of processors and rows, and the names of nodes.
 * @param context with its origin at the upper left corner of the picture
 */
export function drawScale(
  context: CanvasRenderingContext2D,
  { grid, geometry, ink }: Pick<Marked, "grid" | "geometry" | "ink">,
  gutterPx: number,
): void {
  const { rowPx, span } = geometry;
  const topPx = scaleHeight(grid);
  context.font = fontOf(12);
  context.fillStyle = ink.muted;
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  for (const { text, x } of ticksOf(grid, geometry, TICK_APART_PX))
    context.fillText(text, gutterPx + x, topPx - 5);
  if (grid.nodes.length > 1) {
    let freePx = 0;
    for (const { name, first, end } of grid.nodes) {
      if (end <= span.first || first >= span.end) continue;
      const x = gutterPx + Math.max(0, xOf(geometry, first));
      context.fillStyle = ink.line;
      context.fillRect(x, topPx - SCALE_PX - 2, 1, SCALE_PX + 2);
      if (x < freePx) continue;
      context.fillStyle = ink.text;
      // A long name must not reach into the next node.
      const roomPx = gutterPx + xOf(geometry, Math.min(end, span.end)) - x - 4;
      const text = fitted(name, roomPx, (part) => context.measureText(part).width);
      if (text === undefined) continue;
      context.fillText(text, x + 2, NODES_PX - 5);
      freePx = x + context.measureText(text).width + 12;
    }
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillStyle = ink.muted;
  const every = Math.ceil(13 / rowPx);
  for (let row = 0; row < grid.rows; row += every)
    context.fillText(String(row + 1), gutterPx - 6, topPx + (row + 0.5) * rowPx);
}

function fontOf(px: number): string {
  return `${px}px system-ui, "DejaVu Sans", sans-serif`;
}

let hatchTile: HTMLCanvasElement | undefined;

function hatching(on: CanvasRenderingContext2D): CanvasPattern {
  if (hatchTile === undefined) {
    hatchTile = document.createElement("canvas");
    hatchTile.width = 6;
    hatchTile.height = 6;
    const context = hatchTile.getContext("2d")!;
    context.strokeStyle = "rgb(0 0 0 / 45%)";
    context.lineWidth = 1;
    context.beginPath();
    for (const shift of [-6, 0, 6]) {
      context.moveTo(shift, 6);
      context.lineTo(shift + 6, 0);
    }
    context.stroke();
  }
  return on.createPattern(hatchTile, "repeat")!;
}
