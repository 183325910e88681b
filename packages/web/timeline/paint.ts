/** Paints a timeline on a canvas: axis, names of rows, bars, bands, now, and the selected area. */
import type { Area } from "./area.ts";
import { jobTitle, type TimelineData } from "./data.ts";
import { pixelsOf } from "./detail.ts";
import { drawBars, visibleRows } from "./raster.ts";
import type { Arrangement } from "./rows.ts";
import { type TimeScale, timeScale } from "./scale.ts";
import { type Clock, ticksOf } from "./ticks.ts";

/** Sizes in CSS pixels. */
interface Layout {
  readonly widthPx: number;
  readonly heightPx: number;
  /** Height of the axis; 0 for a picture that shares the axis of another one. */
  readonly axisPx: number;
  /** Width of the names of rows. */
  readonly gutterPx: number;
  readonly rowPx: number;
}

export const AXIS_PX = 34;
/** Least distance of two ticks. */
const TICK_GAP_PX = 84;
const FONT = '12px system-ui, "DejaVu Sans", sans-serif';
const TEXT_PX = 12;

export interface Picture extends Layout {
  readonly data: TimelineData;
  readonly arrangement: Arrangement;
  /** In CSS pixels from the right of the names. */
  readonly scale: TimeScale;
  readonly scrolledPx: number;
  readonly clock: Clock;
  /** Number of the job that the pointer is on, or that is pinned. */
  readonly marked?: number | undefined;
  readonly area?: Area | undefined;
  readonly ink: Ink;
}

/** Colours of the page. */
export type Ink = Readonly<Record<(typeof INKS)[number], string>>;
const INKS = ["back", "text", "muted", "line", "accent", "bad", "idle"] as const;

const dark = matchMedia("(prefers-color-scheme: dark)");
let kept: { readonly theme: string; readonly ink: Ink } | undefined;

/** The colours of the page as they are now, light or dark. Reading them is slow, so they are kept. */
export function inkOf(element: HTMLElement): Ink {
  const theme = `${document.documentElement.dataset.theme} ${dark.matches}`;
  if (kept?.theme === theme) return kept.ink;
  const probe = document.createElement("i");
  probe.hidden = true;
  element.append(probe);
  const entries = INKS.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  kept = { theme, ink: Object.fromEntries(entries) as Ink };
  return kept.ink;
}

export function paint(canvas: HTMLCanvasElement, picture: Picture): void {
  const { widthPx, heightPx, gutterPx, axisPx, ink, scale, arrangement, rowPx, scrolledPx } = picture;
  const ratio = globalThis.devicePixelRatio || 1;
  const width = Math.round(widthPx * ratio);
  const height = Math.round(heightPx * ratio);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null || width === 0 || height === 0) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = ink.back;
  context.fillRect(0, 0, widthPx, heightPx);
  context.font = FONT;
  const yOf = (row: number) => axisPx + row * rowPx - scrolledPx;
  const window = visibleRows(arrangement.rows, picture, heightPx - axisPx);
  inRect(context, gutterPx, axisPx, widthPx, heightPx, () => {
    paintBands(context, picture);
    paintGrid(context, picture, yOf);
    if (arrangement.kind === "jobs") paintWaits(context, picture, window, yOf);
    paintBars(context, picture, ratio);
    paintPromises(context, picture, yOf);
    paintMarks(context, picture);
    if (picture.area) paintArea(context, picture.area, picture, yOf);
  });
  paintNames(context, picture, window, yOf);
  paintAxis(context, picture);
  const { nowMs } = picture.data;
  if (nowMs === undefined) return;
  const x = Math.round(gutterPx + scale.px(nowMs)) + 0.5;
  if (x >= gutterPx && x <= widthPx) line(context, x, axisPx - 8, x, heightPx, ink.bad, 1.5);
}

function paintBars(context: CanvasRenderingContext2D, picture: Picture, ratio: number): void {
  const { data, arrangement, scale, rowPx, scrolledPx, axisPx, gutterPx, widthPx, heightPx, marked, ink } =
    picture;
  const width = Math.round((widthPx - gutterPx) * ratio);
  const height = Math.round((heightPx - axisPx) * ratio);
  if (width < 1 || height < 1) return;
  const image = imageOf(width, height);
  const { bars } = arrangement;
  const { nowMs } = data;
  const finer = timeScale(scale.fromMs, scale.toMs, width, scale.warp);
  const detail = drawBars(
    { width, height, bytes: image.data },
    {
      data,
      bars,
      scale: finer,
      rowPx: rowPx * ratio,
      scrolledPx: scrolledPx * ratio,
      many: numbersOf(ink.muted),
      ...(marked !== undefined && { marked }),
    },
    arrangement.rows,
  );
  const layer = layerOf(width, height);
  layer.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(layer.canvas, gutterPx, axisPx, width / ratio, height / ratio);
  context.textBaseline = "middle";
  // A row of one job is named at its side.
  for (const bar of arrangement.kind === "jobs" ? [] : detail.wide) {
    const job = data.jobs[bars.job[bar]];
    const top = axisPx + bars.firstRow[bar] * rowPx - scrolledPx;
    const barPx = (bars.endRow[bar] - bars.firstRow[bar]) * rowPx;
    const [fromPx, toPx] = pixelsOf(bars, bar, scale);
    const left = Math.max(0, fromPx) + gutterPx;
    const room = Math.min(toPx, scale.widthPx) + gutterPx - left - 6;
    if (room < 24 || barPx < TEXT_PX) continue;
    // Most of the label must be on the plain part.
    const plainPx = job.endMs !== undefined || nowMs === undefined ? room : gutterPx + scale.px(nowMs) - left;
    const isStriped = job.startMs === undefined || plainPx < Math.min(room, 60);
    const isPale = marked !== undefined && marked !== job.job;
    // Other colours than those of numbers may be dark.
    const hasHalo = isStriped || isPale || data.colour !== undefined;
    const colour = hasHalo ? ink.text : "#000000";
    label(context, jobTitle(job), left + 3, top + barPx / 2, room, colour, hasHalo ? ink.back : undefined);
  }
  for (const { row, fromPx, toPx, count } of detail.clusters) {
    const room = (toPx - fromPx) / ratio - 6;
    if (count < 2 || room < 40 || rowPx < TEXT_PX) continue;
    const y = axisPx + (row + 0.5) * rowPx - scrolledPx;
    label(context, `${count} jobs`, gutterPx + fromPx / ratio + 3, y, room, ink.text, ink.back);
  }
}

function paintBands(
  context: CanvasRenderingContext2D,
  { data, scale, axisPx, gutterPx, heightPx, ink }: Picture,
): void {
  for (const { fromMs, toMs, label: text } of data.bands ?? []) {
    const left = gutterPx + scale.px(fromMs);
    const width = Math.max(1, scale.px(toMs) - scale.px(fromMs));
    context.fillStyle = ink.idle;
    context.fillRect(left, axisPx, width, heightPx);
    context.textBaseline = "middle";
    label(context, text, Math.max(left, gutterPx) + 3, heightPx - 10, width - 6, ink.muted, undefined);
  }
}

/** A line over the bars, with its label if there is room before the next one. */
function paintMarks(
  context: CanvasRenderingContext2D,
  { data: { marks = [] }, scale, axisPx, gutterPx, widthPx, heightPx, ink }: Picture,
): void {
  for (const [i, { atMs, label: text }] of marks.entries()) {
    const x = Math.round(gutterPx + scale.px(atMs)) + 0.5;
    if (x < gutterPx || x > widthPx) continue;
    line(context, x, axisPx, x, heightPx, ink.bad, 1);
    const next = marks[i + 1];
    const room = (next === undefined ? widthPx : Math.min(widthPx, gutterPx + scale.px(next.atMs))) - x - 6;
    if (room < 90) continue;
    context.textBaseline = "middle";
    // The name of a job may be beneath it.
    context.fillStyle = ink.back;
    context.fillRect(x + 1, axisPx + 1, Math.min(room, context.measureText(text).width) + 5, 16);
    label(context, text, x + 3, axisPx + 9, room, ink.bad, undefined);
  }
}

function paintGrid(context: CanvasRenderingContext2D, picture: Picture, yOf: (row: number) => number): void {
  const { scale, clock, axisPx, gutterPx, widthPx, heightPx, ink, arrangement } = picture;
  for (const { px } of ticksOf(scale, clock, TICK_GAP_PX)) {
    const x = Math.round(gutterPx + px) + 0.5;
    line(context, x, axisPx, x, heightPx, ink.line, 1);
  }
  for (const { fromMs, toMs } of scale.warp.stretches) {
    // Where time is compressed, the ground is darker.
    context.fillStyle = ink.idle;
    context.fillRect(gutterPx + scale.px(fromMs), axisPx, scale.px(toMs) - scale.px(fromMs), heightPx);
  }
  if (arrangement.kind === "jobs") return;
  for (const { firstRow } of arrangement.groups) {
    const y = Math.round(yOf(firstRow)) - 0.5;
    if (firstRow > 0 && y > axisPx) line(context, gutterPx, y, widthPx, y, ink.muted, 1);
  }
}

/** A thin line from the submission of a job to its start. */
function paintWaits(
  context: CanvasRenderingContext2D,
  { data, arrangement, scale, gutterPx, ink, rowPx }: Picture,
  { firstRow, endRow }: { readonly firstRow: number; readonly endRow: number },
  yOf: (row: number) => number,
): void {
  const { bars, groups } = arrangement;
  for (let bar = 0; bar < bars.length; bar++) {
    const row = bars.firstRow[bar];
    if (row < firstRow || row >= endRow || groups.length === 0) continue;
    const { submittedMs, startMs, expectedStart } = data.jobs[bars.job[bar]];
    const untilMs = startMs ?? expectedStart?.p50Ms;
    if (submittedMs === undefined || untilMs === undefined) continue;
    const y = Math.round(yOf(row) + rowPx / 2) + 0.5;
    line(context, gutterPx + scale.px(submittedMs), y, gutterPx + scale.px(untilMs), y, ink.muted, 1);
  }
}

/**
 * Where the policy has promised a start: a frame from there, as long as the job is expected to run. In a row
 * with other jobs, only that of the marked job: it would be taken for theirs.
 */
function paintPromises(
  context: CanvasRenderingContext2D,
  picture: Picture,
  yOf: (row: number) => number,
): void {
  const { data, arrangement, scale, gutterPx, ink, rowPx, marked } = picture;
  const { bars } = arrangement;
  context.setLineDash([4, 3]);
  for (let bar = 0; bar < bars.length; bar++) {
    const { job, promisedMs, expectedStart, expectedEnd } = data.jobs[bars.job[bar]];
    if (arrangement.kind !== "jobs" && job !== marked) continue;
    if (promisedMs === undefined || expectedStart === undefined || expectedEnd === undefined) continue;
    const left = gutterPx + scale.px(promisedMs);
    const right = gutterPx + scale.px(promisedMs + expectedEnd.p50Ms - expectedStart.p50Ms);
    context.strokeStyle = ink.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left, yOf(bars.firstRow[bar]) + 1, Math.max(2, right - left), Math.max(2, rowPx - 3));
  }
  context.setLineDash([]);
}

function paintArea(
  context: CanvasRenderingContext2D,
  { fromMs, toMs, firstRow, endRow }: Area,
  { scale, gutterPx, ink }: Picture,
  yOf: (row: number) => number,
): void {
  const left = gutterPx + scale.px(fromMs);
  const width = scale.px(toMs) - scale.px(fromMs);
  context.globalAlpha = 0.18;
  context.fillStyle = ink.accent;
  context.fillRect(left, yOf(firstRow), width, yOf(endRow) - yOf(firstRow));
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left, yOf(firstRow), width, yOf(endRow) - yOf(firstRow));
}

function paintNames(
  context: CanvasRenderingContext2D,
  { arrangement, data, axisPx, gutterPx, heightPx, rowPx, ink, widthPx }: Picture,
  { firstRow, endRow }: { readonly firstRow: number; readonly endRow: number },
  yOf: (row: number) => number,
): void {
  context.textBaseline = "middle";
  line(context, gutterPx - 0.5, axisPx, gutterPx - 0.5, heightPx, ink.line, 1);
  inRect(context, 0, axisPx, Math.min(gutterPx, widthPx), heightPx, () => {
    for (const { title, firstRow: first, endRow: end, firstCpu } of arrangement.groups) {
      if (end <= firstRow || first >= endRow) continue;
      if (arrangement.kind !== "jobs" && first > 0)
        line(context, 0, Math.round(yOf(first)) - 0.5, gutterPx, Math.round(yOf(first)) - 0.5, ink.muted, 1);
      // The title stays in sight while its rows are.
      const y =
        Math.min(Math.max(yOf(first), axisPx), yOf(end) - TEXT_PX - 4) + Math.max(8, Math.min(rowPx, 20) / 2);
      const numberPx = firstCpu === undefined ? 0 : 22;
      label(context, title, 4, y, gutterPx - 8 - numberPx, ink.text, undefined);
      if (firstCpu === undefined) continue;
      const every = Math.max(1, Math.ceil((TEXT_PX + 2) / rowPx));
      context.textAlign = "right";
      for (let row = Math.max(first, firstRow); row < Math.min(end, endRow); row++) {
        const cpu = firstCpu + row - first;
        if (cpu % every !== 0) continue;
        const text = data.cpuName?.(cpu) ?? String(cpu);
        context.fillStyle = ink.muted;
        context.fillText(text.slice(0, 10), gutterPx - 5, yOf(row) + Math.max(rowPx, TEXT_PX) / 2);
      }
      context.textAlign = "left";
    }
  });
}

function paintAxis(
  context: CanvasRenderingContext2D,
  { scale, clock, axisPx, gutterPx, widthPx, ink }: Picture,
): void {
  if (axisPx === 0) return;
  context.fillStyle = ink.back;
  context.fillRect(0, 0, widthPx, axisPx);
  line(context, 0, axisPx - 0.5, widthPx, axisPx - 0.5, ink.line, 1);
  context.textBaseline = "alphabetic";
  for (const { px, label: text, day } of ticksOf(scale, clock, TICK_GAP_PX)) {
    const x = Math.round(gutterPx + px) + 0.5;
    line(context, x, axisPx - 6, x, axisPx, ink.muted, 1);
    context.fillStyle = ink.muted;
    context.fillText(text, x + 3, axisPx - 6);
    if (day !== undefined && day !== text) context.fillText(day, x + 3, axisPx - 20);
  }
}

/** A text that is cut to the room it has. @param halo colour around it, on a ground that is not plain */
function label(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  room: number,
  colour: string,
  halo: string | undefined,
): void {
  // 200 characters never fit; measuring long names would be slow.
  let shown = text.slice(0, 200);
  const width = context.measureText(shown).width;
  if (width > room) {
    shown = shown.slice(0, Math.max(0, Math.floor((shown.length * room) / width) - 1));
    if (shown.length < 2) return;
    shown += "…";
  }
  if (halo !== undefined) {
    context.strokeStyle = halo;
    context.lineWidth = 3;
    context.lineJoin = "round";
    context.strokeText(shown, x, y);
  }
  context.fillStyle = colour;
  context.fillText(shown, x, y);
}

function line(
  context: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
  colour: string,
  widthPx: number,
): void {
  context.strokeStyle = colour;
  context.lineWidth = widthPx;
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

function inRect(
  context: CanvasRenderingContext2D,
  left: number,
  top: number,
  right: number,
  bottom: number,
  draw: () => void,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, bottom - top);
  context.clip();
  draw();
  context.restore();
}

let image: ImageData | undefined;

/** Empty pixels. A new array for every frame would cost more than drawing. */
function imageOf(width: number, height: number): ImageData {
  if (image?.width === width && image.height === height) image.data.fill(0);
  else image = new ImageData(width, height);
  return image;
}

let layer: CanvasRenderingContext2D | undefined;

/** A canvas that nobody sees, for pixels: `putImageData` would overwrite what is below. */
function layerOf(width: number, height: number): CanvasRenderingContext2D {
  layer ??= document.createElement("canvas").getContext("2d")!;
  if (layer.canvas.width !== width) layer.canvas.width = width;
  if (layer.canvas.height !== height) layer.canvas.height = height;
  return layer;
}

/** Red, green, blue of a computed colour. */
function numbersOf(colour: string): readonly [number, number, number] {
  const [r = 128, g = 128, b = 128] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return [r, g, b];
}
