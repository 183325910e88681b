/**
 * The picture of the matrix as pixels. A cell that is at least 2 device pixels wide is one pixel, which the
 * page draws scaled. Narrower cells form blocks of processors at least 2 device pixels wide. A block shows
 * the share of each gang and of idle processors as heights of a stack, gangs by their first processor, idle
 * below:
 *
 *   8 processors   12 12 12 12 13  ·  ·  ·        height 4   12 12 13 ·
 *
 * Nothing disappears: everything in a block has at least one pixel. If a block contains more gangs than the
 * row has pixels, the pixel above the idle one says that there are more.
 */
import { type Cells, gangOf, IDLE, isExtra, type Span } from "./cells.ts";

/** Sizes of the picture in pixels, which the page draws scaled. */
export interface Raster {
  readonly width: number;
  /** Processors per pixel, more than 1 if cells are too narrow. The last block may have fewer. */
  readonly perBlock: number;
  /** Pixels per row of the matrix. */
  readonly perRow: number;
}

const LEAST_CELL_PX = 2;

/** Value of a pixel that stands for more gangs than fit. */
export function moreValue({ jobs }: Pick<Cells, "jobs">): number {
  return 2 * jobs.length + 1;
}

/**
 * @param widthPx device pixels for the visible processors
 * @param rowPx device pixels for a row
 */
export function rasterOf({ first, end }: Span, widthPx: number, rowPx: number): Raster {
  const shown = end - first;
  const perBlock = Math.max(1, Math.ceil((LEAST_CELL_PX * shown) / Math.max(widthPx, LEAST_CELL_PX)));
  return {
    width: Math.ceil(shown / perBlock),
    perBlock,
    perRow: perBlock === 1 ? 1 : Math.max(1, Math.floor(rowPx)),
  };
}

/** What a value looks like: four bytes of a pixel. The value is that of a cell, or `moreValue`. */
export type Palette = (value: number) => number;

/** Draws a row of the matrix into the pixels of the whole picture. */
export function drawRow(
  cells: Cells,
  { first, end }: Span,
  { width, perBlock, perRow }: Raster,
  row: number,
  palette: Palette,
  pixels: Uint32Array,
): void {
  const { processors, values } = cells;
  const from = row * processors + first;
  const until = row * processors + end;
  const top = row * perRow * width;
  const mixed: number[] = [];
  for (let x = 0; x < width; x++) {
    const block = from + x * perBlock;
    if (!isUniform(values, block, Math.min(block + perBlock, until))) mixed.push(x);
    pixels[top + x] = palette(values[block]);
  }
  for (let y = 1; y < perRow; y++) pixels.copyWithin(top + y * width, top, top + width);
  const more = moreValue(cells);
  for (const x of mixed) {
    const block = from + x * perBlock;
    let at = top + x;
    for (const { value, height } of stackOf(values, block, Math.min(block + perBlock, until), perRow, more)) {
      const pixel = palette(value);
      for (let y = 0; y < height; y++, at += width) pixels[at] = pixel;
    }
  }
}

/**
 * The value that a pixel of a block shows.
 * @param line from the top of the row
 */
export function valueAt(
  cells: Cells,
  { first, end }: Span,
  { perBlock, perRow }: Raster,
  row: number,
  x: number,
  line: number,
): number {
  const from = row * cells.processors + first + x * perBlock;
  const until = Math.min(from + perBlock, row * cells.processors + end);
  let rest = line;
  for (const { value, height } of stackOf(cells.values, from, until, perRow, moreValue(cells))) {
    if (rest < height) return value;
    rest -= height;
  }
  return IDLE;
}

function isUniform(values: Uint32Array, from: number, to: number): boolean {
  const value = values[from];
  for (let i = from + 1; i < to; i++) if (values[i] !== value) return false;
  return true;
}

interface Part {
  readonly value: number;
  count: number;
  height: number;
}

/** How the values of a block, from … until − 1, share the height of a row, from the top. */
export function stackOf(
  values: ArrayLike<number>,
  from: number,
  until: number,
  height: number,
  more: number,
): Part[] {
  const gangs: Part[] = [];
  const size = until - from;
  let idle = 0;
  for (let i = from; i < until; ) {
    const value = values[i];
    const begin = i;
    while (++i < until && values[i] === value);
    if (value === IDLE) {
      idle += i - begin;
      continue;
    }
    const known = gangs.find((gang) => gang.value === value);
    if (known === undefined) gangs.push({ value, count: i - begin, height: 1 });
    else known.count += i - begin;
  }
  const below = idle === 0 ? [] : [{ value: IDLE, count: idle, height: 1 }];
  if (gangs.length + below.length > height) return crowded(gangs, below, height, more);
  const parts = [...gangs, ...below];
  let rest = height;
  for (const part of parts) {
    part.height = Math.max(1, Math.floor((part.count * height) / size));
    rest -= part.height;
  }
  // The largest remainder first. Every part has a pixel, so only one that has more gives one up.
  const lacks = ({ count, height: own }: Part) => (count * height) / size - own;
  for (; rest > 0; rest--) parts.reduce((a, b) => (lacks(b) > lacks(a) ? b : a)).height++;
  for (; rest < 0; rest++)
    parts.filter((part) => part.height > 1).reduce((a, b) => (lacks(b) < lacks(a) ? b : a)).height--;
  return parts;
}

/** The largest gangs, the mark for more, and idle processors, with a pixel each. */
function crowded(gangs: readonly Part[], below: readonly Part[], height: number, more: number): Part[] {
  const kept = Math.max(0, height - 1 - below.length);
  const largest = new Set([...gangs].sort((a, b) => b.count - a.count).slice(0, kept));
  const shown = gangs.filter((gang) => largest.has(gang));
  return [...shown, { value: more, count: 0, height: 1 }, ...below].slice(0, height);
}

type Rgb = readonly [red: number, green: number, blue: number];

export interface Colours {
  /** Behind everything: what dimmed cells fade into. */
  readonly back: Rgb;
  readonly idle: Rgb;
  /** Of a pixel that stands for more gangs. */
  readonly more: Rgb;
  readonly ofJob: (job: number) => Rgb;
}

/** What remains of the colour of an extra slot, and of a gang while another one is lit. */
const EXTRA_SHARE = 0.62;
const DIM_SHARE = 0.22;

const BYTES = new Uint8Array(4);
const PIXEL = new Uint32Array(BYTES.buffer);

/**
 * Colours are computed when they are first used: a change draws a few rows.
 * @param lit the gang of this job stands out; undefined: all do
 */
export function paletteOf({ jobs }: Pick<Cells, "jobs">, colours: Colours, lit: number | undefined): Palette {
  const more = moreValue({ jobs });
  // 0 is not known yet: all colours are opaque.
  const known = new Uint32Array(more + 1);
  const pixel = (rgb: Rgb, share: number) => {
    for (let i = 0; i < 3; i++) BYTES[i] = Math.round(share * rgb[i] + (1 - share) * colours.back[i]);
    BYTES[3] = 255;
    return PIXEL[0];
  };
  const compute = (value: number) => {
    if (value === IDLE) return pixel(colours.idle, 1);
    if (value === more) return pixel(colours.more, lit === undefined ? 1 : DIM_SHARE);
    const job = jobs[gangOf(value)];
    const dim = lit === undefined || lit === job ? 1 : DIM_SHARE;
    return pixel(colours.ofJob(job), dim * (isExtra(value) ? EXTRA_SHARE : 1));
  };
  return (value) => {
    if (known[value] === 0) known[value] = compute(value);
    return known[value];
  };
}
