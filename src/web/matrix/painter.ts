/**
 * Draws the matrix on two canvases: the cells as one scaled picture, which changes with the matrix and with
 * the lit gang; above it borders, labels and marks. What differs from the matrix before moves to its new
 * place first. Which row is lit is not drawn here: the page moves an element over the rows.
 */
import { gangCss } from "../page/gang-colours.ts";
import { type Cells, gangOf, IDLE, isExtra, runsOf } from "./cells.ts";
import type { Changes } from "./changes.ts";
import type { Grid, Stretches } from "./grid.ts";
import { type Plane, paletteOf, pixelsOf, planeOf, type Span } from "./image.ts";
import { type Ink, inkOf } from "./ink.ts";
import { type Cell, type Geometry, labelsOf, letterPx, rowHeight, ticksOf, xOf } from "./layout.ts";

export interface Scene {
  readonly grid: Grid;
  readonly cells: Cells;
  readonly span: Span;
  /** CSS pixels that the canvas may take. */
  readonly widthPx: number;
  readonly heightPx: number;
  /** Number of the job that stands out. */
  readonly lit: number | undefined;
  readonly cursor: Cell | undefined;
}

interface Movement {
  readonly before: Grid;
  readonly changes: Changes;
  readonly fromMs: number;
  /** The rows of the picture that change: firstRow … endRow − 1. */
  readonly firstRow: number;
  readonly endRow: number;
}

const MOVE_MS = 400;
const SCALE_PX = 18;
const NODES_PX = 16;
const TICK_APART_PX = 34;
/** Width of a digit of a row's number. */
const DIGIT_PX = 8;

export class MatrixPainter {
  readonly #image: HTMLCanvasElement;
  readonly #marks: HTMLCanvasElement;
  readonly #pixels = document.createElement("canvas");
  readonly #imageContext: CanvasRenderingContext2D;
  readonly #marksContext: CanvasRenderingContext2D;
  readonly #widths = new Map<string, number>();
  #ink: Ink;
  #scene: Scene | undefined;
  #plane: Plane | undefined;
  #planeOfCells: Cells | undefined;
  #planeKey = "";
  #movement: Movement | undefined;

  constructor(image: HTMLCanvasElement, marks: HTMLCanvasElement) {
    this.#image = image;
    this.#marks = marks;
    this.#imageContext = image.getContext("2d")!;
    this.#marksContext = marks.getContext("2d")!;
    this.#ink = inkOf(marks);
  }

  get plane(): Plane | undefined {
    return this.#plane;
  }

  get isMoving(): boolean {
    return this.#movement !== undefined;
  }

  /** Rows of the picture: while gangs move, as many as the larger one of the two matrices has. */
  get rows(): number {
    return Math.max(this.#scene?.grid.rows ?? 0, this.#movement?.before.rows ?? 0);
  }

  get geometry(): Geometry {
    const { span, widthPx, heightPx } = this.#scene!;
    return { span, widthPx: widthPx - this.gutterPx, rowPx: rowHeight(this.rows, heightPx - this.topPx) };
  }

  /** Width of the numbers of the rows. */
  get gutterPx(): number {
    return 20 + DIGIT_PX * String(this.rows).length;
  }

  /** Height of the scale, and of the names of nodes if there are several. */
  get topPx(): number {
    return SCALE_PX + (this.#scene!.grid.nodes.length > 1 ? NODES_PX : 0);
  }

  /** The colours of the page may have changed. */
  readInk(): void {
    this.#ink = inkOf(this.#marks);
  }

  /** @param came how the matrix came from another one, to be shown as a movement */
  show(scene: Scene, came?: Pick<Movement, "before" | "changes">): void {
    const nowMs = performance.now();
    if (came !== undefined)
      this.#movement = { ...came, fromMs: nowMs, ...rowsOf(came.before, scene.grid, came.changes) };
    else if (scene.grid !== this.#scene?.grid) this.#movement = undefined;
    this.#scene = scene;
    this.#layOut();
    this.#draw();
    if (this.#movement !== undefined) this.#drawMovement(this.#movement, nowMs);
  }

  /** Draws the next step of a movement, if there is one. */
  frame(nowMs: number): void {
    if (this.#movement === undefined) return;
    if (nowMs - this.#movement.fromMs < MOVE_MS) {
      this.#drawMovement(this.#movement, nowMs);
      return;
    }
    this.#movement = undefined;
    this.#layOut();
    this.#draw();
  }

  /** Sets the sizes of the canvases and computes the picture. */
  #layOut(): void {
    const { cells, span, lit } = this.#scene!;
    const { widthPx, rowPx } = this.geometry;
    const dpr = devicePixelRatio;
    const heightPx = this.rows * rowPx;
    resize(this.#image, widthPx, heightPx);
    this.#image.style.left = `${this.gutterPx}px`;
    this.#image.style.top = `${this.topPx}px`;
    resize(this.#marks, this.gutterPx + widthPx, this.topPx + heightPx);
    this.#image.parentElement!.style.height = `${this.topPx + heightPx}px`;
    const drawn = this.#planeFor(cells, span, widthPx * dpr, rowPx * dpr);
    if (drawn.width === 0 || drawn.height === 0) return;
    resizeTo(this.#pixels, drawn.width, drawn.height);
    const palette = paletteOf(cells, this.#ink.colours, lit);
    this.#pixels
      .getContext("2d")!
      .putImageData(new ImageData(pixelsOf(drawn, palette), drawn.width, drawn.height), 0, 0);
  }

  /** Hovering and colours do not change it. */
  #planeFor(cells: Cells, span: Span, widthPx: number, rowPx: number): Plane {
    const key = `${span.first} ${span.end} ${widthPx} ${rowPx}`;
    if (this.#plane === undefined || this.#planeOfCells !== cells || this.#planeKey !== key) {
      this.#plane = planeOf(cells, span, widthPx, rowPx);
      this.#planeOfCells = cells;
      this.#planeKey = key;
    }
    return this.#plane;
  }

  #draw(): void {
    const { grid } = this.#scene!;
    const { widthPx, rowPx } = this.geometry;
    const context = this.#imageContext;
    const dpr = devicePixelRatio;
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.fillStyle = this.#ink.back;
    context.fillRect(0, 0, widthPx, this.rows * rowPx);
    this.#drawRows(context, 0, grid.rows);
    this.#drawMarks();
  }

  /** Draws rows first … end − 1 of the picture, scaled. */
  #drawRows(context: CanvasRenderingContext2D, first: number, end: number): void {
    const { span, cells } = this.#scene!;
    const { widthPx, rowPx } = this.geometry;
    const plane = this.#plane;
    const last = Math.min(end, cells.rows);
    if (plane === undefined || last <= first) return;
    context.imageSmoothingEnabled = false;
    const { width, perRow } = plane;
    const drawnPx = (widthPx * width * plane.perBlock) / (span.end - span.first);
    const [from, to] = [first * perRow, last * perRow];
    context.drawImage(
      this.#pixels,
      0,
      from,
      width,
      to - from,
      0,
      first * rowPx,
      drawnPx,
      (last - first) * rowPx,
    );
  }

  #drawMovement({ before, changes, fromMs, firstRow, endRow }: Movement, nowMs: number): void {
    const { grid, span, lit } = this.#scene!;
    const share = Math.min(1, Math.max(0, (nowMs - fromMs) / MOVE_MS));
    // Slow at both ends.
    const way = share * share * (3 - 2 * share);
    const { rowPx, widthPx } = this.geometry;
    const context = this.#imageContext;
    context.fillStyle = this.#ink.back;
    context.fillRect(0, firstRow * rowPx, widthPx, (endRow - firstRow) * rowPx);
    this.#drawRows(context, firstRow, endRow);
    for (const row of changes.vanished) {
      context.globalAlpha = 1 - 0.7 * way;
      context.strokeStyle = this.#ink.warn;
      context.lineWidth = Math.min(3, rowPx / 2);
      context.setLineDash([8, 5]);
      context.strokeRect(1.5, row * rowPx + 1.5, widthPx - 3, rowPx - 3);
      context.setLineDash([]);
    }
    const left = span.first;
    const scale = widthPx / (span.end - span.first);
    const heightPx = rowPx - (rowPx >= 5 ? 1 : 0);
    const rectangle = (first: number, processors: number, row: number) =>
      context.fillRect((first - left) * scale, row * rowPx, Math.max(1, processors * scale), heightPx);
    const box = (of: Stretches, i: number, alpha: number, first = of.first[i], row = of.row[i]) => {
      context.globalAlpha = alpha * (lit === undefined || lit === of.job[i] ? 1 : 0.22);
      context.fillStyle = gangCss(of.job[i]);
      rectangle(first, of.end[i] - of.first[i], row);
    };
    // The picture below shows them at their new places already.
    context.fillStyle = this.#ink.idle;
    for (const i of changes.added) rectangle(grid.first[i], grid.end[i] - grid.first[i], grid.row[i]);
    for (const { to } of changes.moves)
      rectangle(grid.first[to], grid.end[to] - grid.first[to], grid.row[to]);
    for (const i of changes.gone) box(before, i, 1 - way);
    for (const i of changes.added) box(grid, i, way);
    for (const { from, to } of changes.moves)
      box(
        grid,
        to,
        1,
        before.first[from] + way * (grid.first[to] - before.first[from]),
        before.row[from] + way * (grid.row[to] - before.row[from]),
      );
    context.globalAlpha = 1;
  }

  #drawMarks(): void {
    const { grid, cells, cursor, lit } = this.#scene!;
    const { geometry, topPx, gutterPx } = this;
    const { rowPx, widthPx, span } = geometry;
    const context = this.#marksContext;
    const dpr = devicePixelRatio;
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.clearRect(0, 0, gutterPx + widthPx, topPx + this.rows * rowPx);
    this.#drawScale(context);
    context.translate(gutterPx, topPx);
    context.save();
    context.beginPath();
    context.rect(0, 0, widthPx, this.rows * rowPx);
    context.clip();
    if (this.#plane?.perBlock === 1) this.#drawBorders(context);
    if (rowPx >= 5) {
      context.fillStyle = this.#ink.back;
      for (let row = 1; row < grid.rows; row++) context.fillRect(0, row * rowPx - 1, widthPx, 1);
    }
    context.font = this.#font(letterPx(rowPx));
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { text, x, y, job } of labelsOf(
      this.#standing(),
      grid.names,
      geometry,
      this.#textPx(context),
    )) {
      if (lit !== undefined && lit !== job) continue;
      context.fillStyle = "#000";
      context.fillText(text, x, y + 0.5);
    }
    if (lit !== undefined) this.#outline(context, lit);
    context.restore();
    if (
      cursor !== undefined &&
      cursor.row < cells.rows &&
      cursor.processor >= span.first &&
      cursor.processor < span.end
    ) {
      const left = xOf(geometry, cursor.processor);
      const width = Math.max(4, xOf(geometry, cursor.processor + 1) - left);
      context.lineWidth = 2;
      context.strokeStyle = this.#ink.accent;
      context.strokeRect(left, cursor.row * rowPx, width, rowPx);
    }
  }

  /** The stretches that do not move now. */
  #standing(): Stretches {
    const { grid } = this.#scene!;
    if (this.#movement === undefined) return grid;
    const { added, moves } = this.#movement.changes;
    const out = new Set([...added, ...moves.map(({ to }) => to)]);
    const keep = (list: readonly number[]) => list.filter((_, i) => !out.has(i));
    const { rows, row, first, end, job } = grid;
    return { rows, row: keep(row), first: keep(first), end: keep(end), job: keep(job) };
  }

  /** Borders of gangs, outlines of idle fragments, and hatching of extra slots, if there is room. */
  #drawBorders(context: CanvasRenderingContext2D): void {
    const { cells, span, lit } = this.#scene!;
    const { geometry } = this;
    const { rowPx } = geometry;
    const hatch = context.createPattern(hatching(), "repeat")!;
    context.lineWidth = 1;
    for (const { row, first, end, value } of runsOf(cells)) {
      if (end <= span.first || first >= span.end) continue;
      const left = xOf(geometry, first);
      const right = xOf(geometry, end);
      if (value === IDLE) {
        if (rowPx < 8 || right - left < 6) continue;
        context.strokeStyle = this.#ink.line;
        context.strokeRect(left + 1.5, row * rowPx + 1.5, right - left - 4, rowPx - 4);
        continue;
      }
      if (isExtra(value) && rowPx >= 6 && right - left >= 4) {
        context.globalAlpha = lit === undefined || lit === cells.jobs[gangOf(value)] ? 1 : 0.25;
        context.fillStyle = hatch;
        context.fillRect(left, row * rowPx, right - left, rowPx);
        context.globalAlpha = 1;
      }
      if (right - left < 3 || first === 0) continue;
      const before = cells.values[row * cells.processors + first - 1];
      if (gangOf(before) < 0) continue;
      context.fillStyle = this.#ink.back;
      context.fillRect(Math.round(left) - 0.5, row * rowPx, 1, rowPx);
    }
  }

  #outline(context: CanvasRenderingContext2D, job: number): void {
    const { grid } = this.#scene!;
    const { geometry } = this;
    context.lineWidth = 2;
    context.strokeStyle = this.#ink.text;
    for (const [i, other] of grid.job.entries()) {
      if (other !== job) continue;
      const left = xOf(geometry, grid.first[i]);
      const width = Math.max(3, xOf(geometry, grid.end[i]) - left);
      context.strokeRect(left + 1, grid.row[i] * geometry.rowPx + 1, width - 2, geometry.rowPx - 3);
    }
  }

  #drawScale(context: CanvasRenderingContext2D): void {
    const { grid, span } = this.#scene!;
    const { geometry, gutterPx, topPx } = this;
    const { rowPx } = geometry;
    context.font = this.#font(12);
    context.fillStyle = this.#ink.muted;
    context.textBaseline = "alphabetic";
    context.textAlign = "left";
    for (const { text, x } of ticksOf(grid, geometry, TICK_APART_PX))
      context.fillText(text, gutterPx + x, topPx - 5);
    if (grid.nodes.length > 1) {
      let freePx = 0;
      for (const { name, first, end } of grid.nodes) {
        if (end <= span.first || first >= span.end) continue;
        const x = gutterPx + Math.max(0, xOf(geometry, first));
        context.fillStyle = this.#ink.line;
        context.fillRect(x, topPx - SCALE_PX - 2, 1, SCALE_PX + 2);
        if (x < freePx) continue;
        context.fillStyle = this.#ink.text;
        context.fillText(name, x + 2, NODES_PX - 5);
        freePx = x + context.measureText(name).width + 12;
      }
    }
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillStyle = this.#ink.muted;
    const every = Math.ceil(13 / rowPx);
    for (let row = 0; row < grid.rows; row += every)
      context.fillText(String(row + 1), gutterPx - 6, topPx + (row + 0.5) * rowPx);
  }

  #font(px: number): string {
    return `${px}px system-ui, "DejaVu Sans", sans-serif`;
  }

  #textPx(context: CanvasRenderingContext2D): (text: string) => number {
    if (this.#widths.size > 10_000) this.#widths.clear();
    return (text) => {
      const key = `${context.font} ${text}`;
      const known = this.#widths.get(key);
      if (known !== undefined) return known;
      const { width } = context.measureText(text);
      this.#widths.set(key, width);
      return width;
    };
  }
}

function rowsOf(
  before: Stretches,
  after: Stretches,
  changes: Changes,
): Pick<Movement, "firstRow" | "endRow"> {
  let [firstRow, endRow] = [Number.POSITIVE_INFINITY, 0];
  const add = (row: number) => {
    firstRow = Math.min(firstRow, row);
    endRow = Math.max(endRow, row + 1);
  };
  for (const row of changes.vanished) add(row);
  for (const i of changes.gone) add(before.row[i]);
  for (const i of changes.added) add(after.row[i]);
  for (const { from, to } of changes.moves) {
    add(before.row[from]);
    add(after.row[to]);
  }
  return { firstRow: Math.min(firstRow, endRow), endRow };
}

function resize(canvas: HTMLCanvasElement, widthPx: number, heightPx: number): void {
  const [width, height] = [widthPx, heightPx].map((px) => Math.max(1, Math.round(px * devicePixelRatio)));
  resizeTo(canvas, width, height);
  canvas.style.width = `${widthPx}px`;
  canvas.style.height = `${heightPx}px`;
}

/** Setting a size clears a canvas, even if it is the same. */
function resizeTo(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

let hatchTile: HTMLCanvasElement | undefined;

function hatching(): HTMLCanvasElement {
  if (hatchTile !== undefined) return hatchTile;
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
  return hatchTile;
}
