/**
 * What of the bars can be seen at a scale. No bar vanishes: what is narrower than a pixel is drawn as one,
 * and neighbours that share pixels become a cluster that knows how many they are.
 */
import type { Bars } from "./rows.ts";
import type { TimeScale } from "./scale.ts";

/** The rows that are visible, from `firstRow` up to, but not including, `endRow`. */
interface RowWindow {
  readonly firstRow: number;
  readonly endRow: number;
}

/** Narrow bars of one row whose pixels touch. */
interface Cluster {
  readonly row: number;
  readonly fromPx: number;
  readonly toPx: number;
  readonly count: number;
  /** Share of its pixels' time in which something is drawn, at most 1. */
  readonly cover: number;
  /** Index of one of its bars. */
  readonly bar: number;
}

interface Detail {
  /** Indices of bars that are at least a pixel wide. */
  readonly wide: readonly number[];
  readonly clusters: readonly Cluster[];
}

/** The whole pixels of a bar: from `fromPx` up to `toPx`, at least one. */
export function pixelsOf(bars: Bars, bar: number, scale: TimeScale): readonly [number, number] {
  const from = Math.floor(scale.px(bars.fromMs[bar]));
  const to = Math.ceil(scale.px(bars.toMs[bar]));
  return [from, Math.max(from + 1, to)];
}

export function detailOf(bars: Bars, scale: TimeScale, { firstRow, endRow }: RowWindow): Detail {
  const wide: number[] = [];
  const clusters: Cluster[] = [];
  const rows = Math.max(0, endRow - firstRow);
  // The open cluster of each row: narrow bars come in the order of their beginnings.
  const from = new Int32Array(rows);
  const to = new Int32Array(rows).fill(-1);
  const count = new Int32Array(rows);
  const coverPx = new Float64Array(rows);
  const example = new Int32Array(rows);
  const close = (row: number): void => {
    if (count[row] === 0) return;
    const cover = Math.min(1, coverPx[row] / (to[row] - from[row]));
    clusters.push({
      row: row + firstRow,
      fromPx: from[row],
      toPx: to[row],
      count: count[row],
      cover,
      bar: example[row],
    });
    count[row] = 0;
  };
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.fromMs[bar] > scale.toMs) break;
    if (bars.toMs[bar] < scale.fromMs) continue;
    const top = Math.max(bars.firstRow[bar], firstRow) - firstRow;
    const bottom = Math.min(bars.endRow[bar], endRow) - firstRow;
    if (top >= bottom) continue;
    const startPx = scale.px(bars.fromMs[bar]);
    const widthPx = scale.px(bars.toMs[bar]) - startPx;
    if (widthPx >= 1) {
      wide.push(bar);
      continue;
    }
    const [fromPx, toPx] = pixelsOf(bars, bar, scale);
    for (let row = top; row < bottom; row++) {
      if (count[row] === 0 || fromPx > to[row]) {
        close(row);
        from[row] = fromPx;
        to[row] = toPx;
        coverPx[row] = 0;
        example[row] = bar;
      }
      to[row] = Math.max(to[row], toPx);
      count[row]++;
      coverPx[row] += widthPx;
    }
  }
  for (let row = 0; row < rows; row++) close(row);
  return { wide, clusters };
}

/** Indices of the bars that are drawn at a pixel of a row. */
export function barsAt(bars: Bars, scale: TimeScale, row: number, px: number): number[] {
  const found: number[] = [];
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.firstRow[bar] > row || bars.endRow[bar] <= row) continue;
    const [fromPx, toPx] = pixelsOf(bars, bar, scale);
    if (fromPx <= px && px < toPx) found.push(bar);
  }
  return found;
}
