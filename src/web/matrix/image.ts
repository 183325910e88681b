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
import { type Cells, gangOf, IDLE, isExtra } from "./cells.ts";

/** The visible processors: first … end − 1. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

export interface Plane {
  readonly width: number;
  readonly height: number;
  /** Processors per pixel, more than 1 if cells are too narrow. The last block may have fewer. */
  readonly perBlock: number;
  /** Pixels per row of the matrix. */
  readonly perRow: number;
  /** Pixel by pixel: a value of a cell, or `moreValue` of the cells. */
  readonly values: Uint32Array;
}

const LEAST_CELL_PX = 2;

/** Value of a pixel that stands for more gangs than fit. */
export function moreValue({ jobs }: Cells): number {
  return 2 * jobs.length + 1;
}

/**
 * @param widthPx device pixels for the visible processors
 * @param rowPx device pixels for a row
 */
export function planeOf(cells: Cells, { first, end }: Span, widthPx: number, rowPx: number): Plane {
  const { rows, processors, values } = cells;
  const shown = end - first;
  const perBlock = Math.max(1, Math.ceil((LEAST_CELL_PX * shown) / Math.max(widthPx, LEAST_CELL_PX)));
  const width = Math.ceil(shown / perBlock);
  const perRow = perBlock === 1 ? 1 : Math.max(1, Math.floor(rowPx));
  const plane = new Uint32Array(width * rows * perRow);
  const more = moreValue(cells);
  const mixed: number[] = [];
  for (let row = 0; row < rows; row++) {
    const start = row * processors;
    const top = row * perRow * width;
    if (perBlock === 1) {
      plane.set(values.subarray(start + first, start + end), top);
      continue;
    }
    mixed.length = 0;
    for (let x = 0; x < width; x++) {
      const from = start + first + x * perBlock;
      if (!isUniform(values, from, Math.min(from + perBlock, start + end))) mixed.push(x);
      plane[top + x] = values[from];
    }
    for (let y = 1; y < perRow; y++) plane.copyWithin(top + y * width, top, top + width);
    for (const x of mixed) {
      const from = start + first + x * perBlock;
      const stack = stackOf(values.subarray(from, Math.min(from + perBlock, start + end)), perRow, more);
      let at = top + x;
      for (const { value, height } of stack) for (let y = 0; y < height; y++, at += width) plane[at] = value;
    }
  }
  return { width, height: rows * perRow, perBlock, perRow, values: plane };
}

function isUniform(values: Uint32Array, from: number, to: number): boolean {
  const value = values[from];
  for (let i = from + 1; i < to; i++) if (values[i] !== value) return false;
  return true;
}

interface Part {
  readonly value: number;
  readonly count: number;
  height: number;
}

/** How a block's values share the height of a row, from the top. */
export function stackOf(block: ArrayLike<number>, height: number, more: number): Part[] {
  const gangs: Part[] = [];
  let idle = 0;
  for (let i = 0; i < block.length; ) {
    const value = block[i];
    const from = i;
    while (++i < block.length && block[i] === value);
    if (value === IDLE) idle += i - from;
    else {
      const known = gangs.findIndex((gang) => gang.value === value);
      const count = i - from + (known < 0 ? 0 : gangs[known].count);
      if (known < 0) gangs.push({ value, count, height: 1 });
      else gangs[known] = { value, count, height: 1 };
    }
  }
  const below = idle === 0 ? [] : [{ value: IDLE, count: idle, height: 1 }];
  if (gangs.length + below.length > height) return crowded(gangs, below, height, more);
  const parts = [...gangs, ...below];
  let rest = height;
  for (const part of parts) {
    part.height = Math.max(1, Math.floor((part.count * height) / block.length));
    rest -= part.height;
  }
  // The largest remainder first. Every part has a pixel, so only one that has more gives one up.
  const lacks = ({ count, height: own }: Part) => (count * height) / block.length - own;
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

/**
 * Red, green, blue and opacity of each value. @param lit the gang of this job stands out; undefined: all do
 */
export function paletteOf(
  { jobs }: Pick<Cells, "jobs">,
  colours: Colours,
  lit: number | undefined,
): Uint8Array {
  const palette = new Uint8Array(4 * (2 * jobs.length + 2));
  const set = (value: number, rgb: Rgb, share: number) => {
    for (let i = 0; i < 3; i++)
      palette[4 * value + i] = Math.round(share * rgb[i] + (1 - share) * colours.back[i]);
    palette[4 * value + 3] = 255;
  };
  set(IDLE, colours.idle, 1);
  for (let value = 1; value <= 2 * jobs.length; value++) {
    const job = jobs[gangOf(value)];
    const dim = lit === undefined || lit === job ? 1 : DIM_SHARE;
    set(value, colours.ofJob(job), dim * (isExtra(value) ? EXTRA_SHARE : 1));
  }
  set(2 * jobs.length + 1, colours.more, lit === undefined ? 1 : DIM_SHARE);
  return palette;
}

/** The pixels of a picture, for `ImageData`. */
export function pixelsOf({ values }: Plane, palette: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  // Four bytes at once; both sides have the machine's byte order.
  const colours = new Uint32Array(palette.buffer);
  const pixels = new Uint32Array(values.length);
  for (let i = 0; i < values.length; i++) pixels[i] = colours[values[i]];
  return new Uint8ClampedArray(pixels.buffer);
}
