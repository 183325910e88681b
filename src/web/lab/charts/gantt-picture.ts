/**
 * Paints the boxes of a Gantt chart into pixels, and writes them as SVG. A box has at least one pixel,
 * however short the job: what is narrower than a pixel is not left out.
 */
import { escapeHtml } from "../../../report/text/escape.ts";
import { formatDuration } from "../../../report/text/format.ts";
import type { Span } from "../views/over-time.tsx";
import type { Boxes } from "../worker/deal.ts";

/** With more boxes than this, the SVG holds the picture instead of the boxes. */
export const MAX_SVG_BOXES = 20_000;
/** Boxes from this size on, in pixels, are separated from their neighbours by a line. */
const SEPARATED_PX = 4;

export interface GanttView extends Span {
  readonly processors: number;
  /** Red, green and blue of a job's boxes. */
  colour(job: number): readonly [number, number, number];
}

/** Calls `draw` with every box that is in the view, in pixels of a picture of this size. */
function eachBox(
  { job, first, size, startS, endS }: Boxes,
  { fromS, toS, processors }: GanttView,
  width: number,
  height: number,
  draw: (box: number, job: number, left: number, top: number, right: number, bottom: number) => void,
): void {
  const perS = width / (toS - fromS);
  const perProcessor = height / processors;
  for (let box = 0; box < job.length; box++) {
    // Also leaves out boxes without a start or an end.
    if (!(startS[box] < toS && endS[box] >= fromS)) continue;
    const left = Math.max(0, (startS[box] - fromS) * perS);
    const right = Math.min(width, (endS[box] - fromS) * perS);
    const top = first[box] * perProcessor;
    draw(box, job[box], left, top, right, top + size[box] * perProcessor);
  }
}

export function paintGantt(image: ImageData, boxes: Boxes, view: GanttView): void {
  const { width, height } = image;
  const pixels = new Uint32Array(image.data.buffer);
  pixels.fill(0);
  eachBox(boxes, view, width, height, (_box, job, left, top, right, bottom) => {
    const [red, green, blue] = view.colour(job);
    const colour = (255 << 24) | (blue << 16) | (green << 8) | red;
    const x0 = Math.min(width - 1, Math.floor(left));
    const y0 = Math.min(height - 1, Math.floor(top));
    let x1 = Math.max(x0 + 1, Math.floor(right));
    let y1 = Math.max(y0 + 1, Math.floor(bottom));
    if (x1 - x0 >= SEPARATED_PX) x1--;
    if (y1 - y0 >= SEPARATED_PX) y1--;
    for (let y = y0; y < y1; y++) pixels.fill(colour, y * width + x0, y * width + x1);
  });
}

/** The box at a place of the picture, both 0 … 1; the last that is painted there. */
export function boxAt(boxes: Boxes, view: GanttView, x: number, y: number): number | undefined {
  const timeS = view.fromS + x * (view.toS - view.fromS);
  const processor = Math.floor(y * view.processors);
  const { first, size, startS, endS } = boxes;
  let found: number | undefined;
  for (let box = 0; box < first.length; box++) {
    const isThere = startS[box] <= timeS && timeS < endS[box];
    if (isThere && first[box] <= processor && processor < first[box] + size[box]) found = box;
  }
  return found;
}

export function boxesIn(boxes: Boxes, { fromS, toS }: Span): number[] {
  const found: number[] = [];
  for (let box = 0; box < boxes.job.length; box++)
    if (boxes.startS[box] < toS && boxes.endS[box] >= fromS) found.push(box);
  return found;
}

const WIDTH = 1000;
const HEIGHT = 500;
const TOP = 34;
const BOTTOM = 26;

/**
 * @param picture URL of the painted picture, which stands for the boxes if there are very many
 * @param nameOf text for a job, which viewers show when the pointer rests on its box
 */
export function ganttSvg(
  title: string,
  boxes: Boxes,
  view: GanttView,
  picture: string | undefined,
  nameOf: (job: number) => string,
): string {
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT + TOP + BOTTOM}" font-family="sans-serif" font-size="12" fill="#55606a">`,
    `<rect width="${WIDTH}" height="${HEIGHT + TOP + BOTTOM}" fill="#ffffff"/>`,
    `<text x="0" y="20" font-size="15">${escapeHtml(title)}</text>`,
  ];
  if (picture !== undefined) {
    parts.push(
      `<image href="${picture}" y="${TOP}" width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="none"/>`,
    );
  } else {
    eachBox(boxes, view, WIDTH, HEIGHT, (_box, job, left, top, right, bottom) => {
      const size = `width="${Math.max(0.4, right - left).toFixed(2)}" height="${Math.max(0.4, bottom - top).toFixed(2)}"`;
      parts.push(
        `<rect x="${left.toFixed(2)}" y="${(TOP + top).toFixed(2)}" ${size} fill="rgb(${view.colour(job).join(",")})" stroke="#ffffff" stroke-width="0.3"><title>${escapeHtml(nameOf(job))}</title></rect>`,
      );
    });
  }
  const bottom = HEIGHT + TOP + 18;
  parts.push(
    `<text x="0" y="${bottom}">${view.processors} processors, from top to bottom</text>`,
    `<text x="${WIDTH}" y="${bottom}" text-anchor="end">${formatDuration(view.toS - view.fromS)} from left to right</text>`,
  );
  return `${parts.join("\n")}\n</svg>\n`;
}
