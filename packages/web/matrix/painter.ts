/**
 * Draws the matrix on two canvases: the cells as one scaled picture; above it borders, labels and marks. A
 * change draws only the rows that differ. What differs from the matrix before moves to its new place first.
 * Which row is lit is not drawn here: the page moves elements over the rows.
 */
import { addSpan, type Cells, changedSpans, type Span, type Spans } from "./cells.ts";
import type { Grid } from "./grid.ts";
import { drawRow, paletteOf, type Raster, rasterOf } from "./image.ts";
import { type Ink, inkOf } from "./ink.ts";
import { type Cell, type Geometry, rowHeight } from "./layout.ts";
import { type Area, areaOf, drawCursor, drawMarks, drawScale, scaleHeight } from "./marks.ts";
import { type Came, Movement } from "./movement.ts";

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

/** Numbers of rows. */
type Rows = ReadonlySet<number>;
/** What the scale shows. */
type Machine = Pick<Grid, "nodes" | "cpu">;

/** Width of a digit of a row's number. */
const DIGIT_PX = 8;

export class MatrixPainter {
  readonly #image: HTMLCanvasElement;
  readonly #marks: HTMLCanvasElement;
  readonly #imageContext: CanvasRenderingContext2D;
  readonly #marksContext: CanvasRenderingContext2D;
  /** The picture before it is scaled. */
  readonly #small = document.createElement("canvas").getContext("2d")!;
  #pixels: ImageData | undefined;
  #ink: Ink;
  #scene: Scene | undefined;
  #raster: Raster | undefined;
  #movement: Movement | undefined;
  /** What is drawn, apart from the cells: if it changes, everything is drawn. */
  #frame: readonly unknown[] = [];
  #machine: Machine = { nodes: [], cpu: [] };

  constructor(image: HTMLCanvasElement, marks: HTMLCanvasElement) {
    this.#image = image;
    this.#marks = marks;
    this.#imageContext = image.getContext("2d")!;
    this.#marksContext = marks.getContext("2d")!;
    this.#ink = inkOf(marks);
  }

  get raster(): Raster | undefined {
    return this.#raster;
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

  /** Height of the scale. */
  get topPx(): number {
    return scaleHeight(this.#scene!.grid);
  }

  /** The colours of the page may have changed. */
  readInk(): void {
    this.#ink = inkOf(this.#marks);
  }

  /** @param came how the matrix came from another one, to be shown as a movement */
  show(scene: Scene, came?: Came): void {
    const nowMs = performance.now();
    const before = this.#scene;
    const interrupted = scene.grid === before?.grid ? undefined : this.#movement;
    this.#scene = scene;
    if (came !== undefined) this.#movement = new Movement(came, scene.grid, nowMs);
    else if (scene.grid !== before?.grid) this.#movement = undefined;
    if (this.#layOut() || before === undefined) this.#drawAll();
    else {
      const parts = new Map(changedSpans(before, scene));
      for (const movement of [interrupted, this.#movement])
        for (const [row, span] of movement?.targets() ?? []) addSpan(parts, row, span);
      this.#draw(parts, interrupted?.drawnRows);
    }
    this.#step(nowMs);
  }

  /** Draws the next step of a movement, if there is one. */
  frame(nowMs: number): void {
    if (this.#movement === undefined) return;
    if (!this.#movement.isOver(nowMs)) {
      this.#step(nowMs);
      return;
    }
    const over = this.#movement;
    this.#movement = undefined;
    if (this.#layOut()) this.#drawAll();
    else this.#draw(over.targets(), over.drawnRows);
  }

  /**
   * Sets the sizes of the canvases.
   * @returns whether everything must be drawn, because more than cells has changed
   */
  #layOut(): boolean {
    const { grid, span, lit, cursor } = this.#scene!;
    const { gutterPx, topPx, rows } = this;
    const { widthPx, rowPx } = this.geometry;
    const dpr = devicePixelRatio;
    const frame = [
      ...[gutterPx, topPx, rows, grid.rows, widthPx, rowPx, dpr, span.first, span.end, this.#ink, lit],
      ...[cursor?.row, cursor?.processor],
    ];
    const isSame = frame.every((part, i) => part === this.#frame[i]) && isSameMachine(grid, this.#machine);
    this.#frame = frame;
    this.#machine = grid;
    // Rows have pixels in common if they do not begin at whole ones, and at a cursor, which is wider.
    const arePixelsShared =
      ![rowPx, topPx, gutterPx, 1].every((px) => Number.isInteger(px * dpr)) || cursor !== undefined;
    if (isSame) return arePixelsShared;
    const heightPx = rows * rowPx;
    resize(this.#image, widthPx, heightPx);
    this.#image.style.left = `${gutterPx}px`;
    this.#image.style.top = `${topPx}px`;
    resize(this.#marks, gutterPx + widthPx, topPx + heightPx);
    this.#image.parentElement!.style.height = `${topPx + heightPx}px`;
    const raster = rasterOf(span, widthPx * dpr, rowPx * dpr);
    const { width } = raster;
    const height = raster.perRow * grid.rows;
    this.#raster = raster;
    if (width === 0 || height === 0) this.#pixels = undefined;
    else if (this.#pixels?.width !== width || this.#pixels.height !== height) {
      resizeTo(this.#small.canvas, width, height);
      this.#pixels = new ImageData(width, height);
    }
    return true;
  }

  #drawAll(): void {
    const { geometry, topPx, gutterPx, rows } = this;
    const { grid } = this.#scene!;
    const { widthPx, rowPx } = geometry;
    this.#drawPixels(Array.from({ length: rows }, (_, row) => row));
    const context = this.#marksContext;
    const dpr = devicePixelRatio;
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.clearRect(0, 0, gutterPx + widthPx, topPx + rows * rowPx);
    drawScale(context, { grid, geometry, ink: this.#ink }, gutterPx);
    this.#drawMarks([{ firstRow: 0, endRow: rows, fromPx: 0, toPx: widthPx }]);
  }

  /**
   * Draws what has changed.
   * @param drawnRows rows of which only cells must be drawn
   */
  #draw(parts: Spans, drawnRows: Rows = new Set()): void {
    this.#drawPixels([...new Set([...parts.keys(), ...drawnRows])]);
    this.#drawMarks(Array.from(parts, ([row, span]) => areaOf(this.geometry, row, span)));
  }

  #drawPixels(rows: readonly number[]): void {
    const { cells, span, lit } = this.#scene!;
    const raster = this.#raster;
    const pixels = this.#pixels;
    if (raster !== undefined && pixels !== undefined) {
      const words = new Uint32Array(pixels.data.buffer);
      const palette = paletteOf(cells, this.#ink.colours, lit);
      const { width, perRow } = raster;
      for (const row of rows) if (row < cells.rows) drawRow(cells, span, raster, row, palette, words);
      for (const [first, end] of stretchesOf(rows))
        this.#small.putImageData(pixels, 0, 0, 0, first * perRow, width, (end - first) * perRow);
    }
    this.#drawRows(new Set(rows));
  }

  /** Draws rows of the picture, scaled, without the gangs that still move to them. */
  #drawRows(rows: Rows): void {
    const { span, cells } = this.#scene!;
    const { geometry } = this;
    const { widthPx, rowPx } = geometry;
    const context = this.#imageContext;
    const dpr = devicePixelRatio;
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    context.imageSmoothingEnabled = false;
    context.fillStyle = this.#ink.back;
    for (const [first, end] of stretchesOf(rows)) {
      context.fillRect(0, first * rowPx, widthPx, (end - first) * rowPx);
      const count = Math.min(end, cells.rows) - first;
      if (this.#raster === undefined || count <= 0) continue;
      const { width, perRow, perBlock } = this.#raster;
      const drawnPx = (widthPx * width * perBlock) / (span.end - span.first);
      const from = [0, first * perRow, width, count * perRow] as const;
      context.drawImage(this.#small.canvas, ...from, 0, first * rowPx, drawnPx, count * rowPx);
    }
    this.#movement?.clearTargets(context, geometry, this.#ink, (row) => rows.has(row));
  }

  #step(nowMs: number): void {
    const { lit } = this.#scene!;
    const restore = (rows: Rows) => this.#drawRows(rows);
    this.#movement?.step(this.#imageContext, this.geometry, this.#ink, lit, nowMs, restore);
  }

  #drawMarks(areas: readonly Area[]): void {
    const { grid, cells, cursor, lit } = this.#scene!;
    const { geometry, topPx, gutterPx } = this;
    const context = this.#marksContext;
    const dpr = devicePixelRatio;
    context.setTransform(dpr, 0, 0, dpr, dpr * gutterPx, dpr * topPx);
    const hasBorders = this.#raster?.perBlock === 1;
    const marked = { grid, cells, geometry, ink: this.#ink, lit, hasBorders };
    const isLabelled = (stretch: number) => this.#movement?.isMoving(stretch) !== true;
    for (const area of areas) drawMarks(context, marked, area, isLabelled);
    if (cursor !== undefined) drawCursor(context, marked, cursor);
  }
}

function isSameMachine(a: Machine, b: Machine): boolean {
  return (
    a.nodes.length === b.nodes.length &&
    a.cpu.length === b.cpu.length &&
    a.nodes.every(({ name, first }, i) => name === b.nodes[i].name && first === b.nodes[i].first) &&
    a.cpu.every((cpu, i) => cpu === b.cpu[i])
  );
}

/** Rows that are next to each other: first … end − 1. */
function stretchesOf(rows: Iterable<number>): [first: number, end: number][] {
  const stretches: [number, number][] = [];
  for (const row of [...rows].sort((a, b) => a - b)) {
    const last = stretches.at(-1);
    if (last !== undefined && last[1] === row) last[1]++;
    else stretches.push([row, row + 1]);
  }
  return stretches;
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
