/**
 * Draws bars into an array of pixels. A canvas takes about a microsecond for each rectangle; filling pixels
 * costs only what is visible, and 100,000 bars that are a pixel wide are only 100,000 pixels.
 */
import { chanceOfRunning, colourOf, type Rgb, type TimelineData, type TimelineJob } from "./data.ts";
import { detailOf, pixelsOf } from "./detail.ts";
import type { Bars } from "./rows.ts";
import type { TimeScale } from "./scale.ts";

/** Pixels row by row, each as R, G, B, A bytes. */
interface Raster {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8ClampedArray;
}

interface Scene {
  readonly data: TimelineData;
  readonly bars: Bars;
  /** In pixels of the raster. */
  readonly scale: TimeScale;
  readonly rowPx: number;
  /** Pixels of the rows above the raster. */
  readonly scrolledPx: number;
  /** Of what stands for several jobs. */
  readonly many: Rgb;
  /** Number of the job that is marked; the others are pale. */
  readonly marked?: number;
}

/** How a job looks when it is not marked, but another one is. */
const PALE = 0.3;
/** A running job is between one that has ended and one that is expected. */
const RUNNING = 0.7;
/** Width of a stripe of the future, in pixels. */
const STRIPE_PX = 3;
/** What is drawn between stripes. */
const BETWEEN_STRIPES = 0.35;

/** Rows that are at least partly in the raster. */
export function visibleRows(
  rows: number,
  { rowPx, scrolledPx }: Pick<Scene, "rowPx" | "scrolledPx">,
  height: number,
) {
  return {
    firstRow: Math.max(0, Math.floor(scrolledPx / rowPx)),
    endRow: Math.min(rows, Math.ceil((scrolledPx + height) / rowPx)),
  };
}

/** @returns what was drawn: bars that are wide enough for a label, and clusters */
export function drawBars(raster: Raster, scene: Scene, rows: number) {
  const { data, bars, scale, rowPx, scrolledPx, marked, many } = scene;
  const detail = detailOf(bars, scale, visibleRows(rows, scene, raster.height));
  const pixels = new Pixels(raster);
  // A gap between rows, if there is room for one.
  const gapPx = rowPx >= 4 ? 1 : 0;
  const topOf = (row: number) => Math.round(row * rowPx - scrolledPx);
  const strengthOf = (job: TimelineJob) => (marked === undefined || marked === job.job ? 1 : PALE);
  for (const bar of detail.wide) {
    const job = data.jobs[bars.job[bar]];
    const top = topOf(bars.firstRow[bar]);
    const bottom = topOf(bars.endRow[bar]) - gapPx;
    drawJob(pixels, job, pixelsOf(bars, bar, scale), top, bottom, scene, strengthOf(job));
  }
  for (const { row, fromPx, toPx, count, cover, bar } of detail.clusters) {
    const job = data.jobs[bars.job[bar]];
    // Colours that say something stay: a cluster has that of its first job.
    const colour = count === 1 || data.colour !== undefined ? colourOf(data, job) : many;
    const strength = count === 1 ? strengthOf(job) : (marked === undefined ? 1 : PALE) * (0.4 + 0.6 * cover);
    pixels.fill(fromPx, toPx, topOf(row), topOf(row + 1) - gapPx, colour, strength);
  }
  return detail;
}

function drawJob(
  pixels: Pixels,
  job: TimelineJob,
  [fromPx, toPx]: readonly [number, number],
  top: number,
  bottom: number,
  { data, scale }: Scene,
  strength: number,
): void {
  const colour = colourOf(data, job);
  const edge = colour.map((part) => part * 0.55) as unknown as Rgb;
  const { nowMs = Number.POSITIVE_INFINITY } = data;
  // Up to here it has run.
  const pastPx = job.startMs === undefined ? fromPx : Math.round(scale.px(job.endMs ?? nowMs));
  const pastToPx = job.endMs !== undefined ? toPx : Math.min(toPx, Math.max(fromPx, pastPx));
  pixels.fill(fromPx, pastToPx, top, bottom, colour, strength * (job.endMs === undefined ? RUNNING : 1));
  for (let x = Math.max(pastToPx, 0); x < Math.min(toPx, pixels.width); x++) {
    const chance = chanceOfRunning(scale.ms(x + 0.5), job);
    if (chance > 0) pixels.stripe(x, top, bottom, colour, strength * chance);
  }
  if (bottom - top < 3 || toPx - fromPx < 4) return;
  if (job.startMs !== undefined) pixels.fill(fromPx, fromPx + 1, top, bottom, edge, strength);
  else if (job.expectedStart !== undefined && !job.expectedStart.onlyRange) {
    const px = Math.round(scale.px(job.expectedStart.p50Ms));
    pixels.fill(px, px + 1, top, bottom, edge, strength);
  }
  if (job.endMs !== undefined || job.expectedEnd === undefined || job.expectedEnd.onlyRange) return;
  const px = Math.round(scale.px(job.expectedEnd.p50Ms));
  if (px > pastToPx) pixels.fill(px - 1, px, top, bottom, edge, strength);
}

class Pixels {
  readonly width: number;
  readonly #height: number;
  readonly #words: Uint32Array;

  constructor({ width, height, bytes }: Raster) {
    this.width = width;
    this.#height = height;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, width * height);
  }

  /** @param strength 0 is invisible, 1 opaque */
  fill(fromX: number, toX: number, fromY: number, toY: number, colour: Rgb, strength: number): void {
    const left = Math.max(0, fromX);
    const right = Math.min(this.width, toX);
    if (left >= right) return;
    const word = wordOf(colour, strength);
    for (let y = Math.max(0, fromY); y < Math.min(this.#height, toY); y++)
      this.#words.fill(word, y * this.width + left, y * this.width + right);
  }

  /** One column of diagonal stripes. */
  stripe(x: number, fromY: number, toY: number, colour: Rgb, strength: number): void {
    const dark = wordOf(colour, strength);
    const light = wordOf(colour, strength * BETWEEN_STRIPES);
    for (let y = Math.max(0, fromY); y < Math.min(this.#height, toY); y++)
      this.#words[y * this.width + x] = (x + y) % (2 * STRIPE_PX) < STRIPE_PX ? dark : light;
  }
}

const BYTES = new Uint8Array(4);
const WORD = new Uint32Array(BYTES.buffer);

/** Independent of the order of bytes of the machine. */
function wordOf([r, g, b]: Rgb, strength: number): number {
  BYTES[0] = r;
  BYTES[1] = g;
  BYTES[2] = b;
  BYTES[3] = Math.round(255 * Math.min(1, strength));
  return WORD[0];
}
