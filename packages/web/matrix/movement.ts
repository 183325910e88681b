/** Shows how one matrix came from another: gangs move to their new places, come, and fade away. */
import { gangCss } from "../page/gang-colours.ts";
import { addSpan, type Span, type Spans } from "./cells.ts";
import type { Changes } from "./changes.ts";
import type { Grid, Stretches } from "./grid.ts";
import type { Ink } from "./ink.ts";
import type { Geometry } from "./layout.ts";

/** How a matrix came from another one. */
export interface Came {
  readonly before: Grid;
  readonly changes: Changes;
}

const MOVE_MS = 400;
/** What remains of a gang that moves while another one is lit. */
const DIM_ALPHA = 0.22;

export class Movement {
  readonly before: Grid;
  readonly #grid: Grid;
  readonly #changes: Changes;
  readonly #fromMs: number;
  /** Stretches that are not at their places yet. */
  readonly #moving: ReadonlySet<number>;
  readonly #drawn = new Set<number>();

  constructor({ before, changes }: Came, grid: Grid, nowMs: number) {
    this.before = before;
    this.#grid = grid;
    this.#changes = changes;
    this.#fromMs = nowMs;
    this.#moving = new Set([...changes.added, ...changes.moves.map(({ to }) => to)]);
  }

  isOver(nowMs: number): boolean {
    return nowMs - this.#fromMs >= MOVE_MS;
  }

  isMoving(stretch: number): boolean {
    return this.#moving.has(stretch);
  }

  /** Where gangs will be that are not there yet. */
  targets(): Spans {
    const { row, first, end } = this.#grid;
    const spans = new Map<number, Span>();
    for (const i of this.#moving) addSpan(spans, row[i], { first: first[i], end: end[i] });
    return spans;
  }

  /** Rows on which the last step has drawn. */
  get drawnRows(): ReadonlySet<number> {
    return this.#drawn;
  }

  /** The picture shows gangs at their new places; they are not there yet. */
  clearTargets(
    context: CanvasRenderingContext2D,
    geometry: Geometry,
    { idle }: Ink,
    isCleared: (row: number) => boolean,
  ): void {
    const { row, first, end } = this.#grid;
    context.fillStyle = idle;
    for (const i of this.#moving)
      if (isCleared(row[i])) fillStretch(context, geometry, first[i], end[i], row[i]);
  }

  /**
   * Draws the next step.
   * @param lit number of the job that stands out
   * @param restore draws rows of the later matrix without the gangs that move
   */
  step(
    context: CanvasRenderingContext2D,
    geometry: Geometry,
    { warn }: Ink,
    lit: number | undefined,
    nowMs: number,
    restore: (rows: ReadonlySet<number>) => void,
  ): void {
    const share = Math.min(1, Math.max(0, (nowMs - this.#fromMs) / MOVE_MS));
    // Slow at both ends.
    const way = share * share * (3 - 2 * share);
    const { rowPx, widthPx } = geometry;
    const { gone, added, moves, vanished } = this.#changes;
    const [before, grid] = [this.before, this.#grid];
    const drawn = this.#drawn;
    restore(drawn);
    drawn.clear();
    const box = (of: Stretches, i: number, alpha: number, first = of.first[i], row = of.row[i]) => {
      context.globalAlpha = alpha * (lit === undefined || lit === of.job[i] ? 1 : DIM_ALPHA);
      context.fillStyle = gangCss(of.job[i]);
      fillStretch(context, geometry, first, first + of.end[i] - of.first[i], row);
      drawn.add(Math.floor(row)).add(Math.ceil(row));
    };
    for (const row of vanished) {
      context.globalAlpha = 1 - 0.7 * way;
      context.strokeStyle = warn;
      context.lineWidth = Math.min(3, rowPx / 2);
      context.setLineDash([8, 5]);
      context.strokeRect(1.5, row * rowPx + 1.5, widthPx - 3, rowPx - 3);
      context.setLineDash([]);
      drawn.add(row);
    }
    for (const i of gone) box(before, i, 1 - way);
    for (const i of added) box(grid, i, way);
    const between = (from: number, to: number) => from + way * (to - from);
    for (const { from, to } of moves)
      box(grid, to, 1, between(before.first[from], grid.first[to]), between(before.row[from], grid.row[to]));
    context.globalAlpha = 1;
  }
}

/** Processors first … end − 1, both of which may be fractions. */
function fillStretch(
  context: CanvasRenderingContext2D,
  { span, widthPx, rowPx }: Geometry,
  first: number,
  end: number,
  row: number,
): void {
  const scale = widthPx / (span.end - span.first);
  const heightPx = rowPx - (rowPx >= 5 ? 1 : 0);
  context.fillRect((first - span.first) * scale, row * rowPx, Math.max(1, (end - first) * scale), heightPx);
}
