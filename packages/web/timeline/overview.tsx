/** The load over time above a timeline, with the part that is shown. Drag there to show another part. */
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { bucketsOf } from "./buckets.ts";
import type { TimelineData } from "./data.ts";
import { useTheme } from "./measure.ts";
import { type Ink, inkOf } from "./paint.ts";
import { MIN_SPAN_MS, type Stretch, type TimeScale, timeScale, type Warp } from "./scale.ts";

const HEIGHT_PX = 44;
/** Width of a bucket. */
const STEP_PX = 2;
/** A shorter drag moves the part that is shown. */
const CLICK_PX = 4;

interface OverviewProps {
  readonly data: TimelineData;
  /** All that can be shown. */
  readonly all: Stretch;
  readonly shown: Stretch;
  readonly warp: Warp;
  readonly widthPx: number;
  readonly onShow: (shown: Stretch) => void;
}

export function Overview({ data, all, shown, warp, widthPx, onShow }: OverviewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { fromMs, toMs } = all;
  const scale = useMemo(
    () => timeScale(fromMs, toMs, Math.max(1, widthPx), warp),
    [fromMs, toMs, widthPx, warp],
  );
  const loads = useMemo(() => {
    const edges = Float64Array.from({ length: Math.ceil(scale.widthPx / STEP_PX) + 1 }, (_, i) =>
      scale.ms(i * STEP_PX),
    );
    return { ...bucketsOf(data, edges), cpus: data.cpus };
  }, [data, scale]);
  useTheme();
  useLayoutEffect(() => {
    if (canvas.current !== null && widthPx > 0)
      paintOverview(canvas.current, loads, scale, shown, data.nowMs, inkOf(canvas.current));
  });
  const begin = useRef<number | undefined>(undefined);
  const placeOf = ({ clientX }: PointerEvent) => clientX - canvas.current!.getBoundingClientRect().left;
  const show = (event: PointerEvent) => {
    if (begin.current === undefined) return;
    const x = placeOf(event);
    if (Math.abs(x - begin.current) > CLICK_PX) {
      const ends = [scale.ms(begin.current), scale.ms(x)].sort((a, b) => a - b);
      if (ends[1] - ends[0] >= MIN_SPAN_MS) onShow({ fromMs: ends[0], toMs: ends[1] });
    } else {
      const half = (warp.to(shown.toMs) - warp.to(shown.fromMs)) / 2;
      const middle = warp.to(scale.ms(x));
      onShow({ fromMs: warp.from(middle - half), toMs: warp.from(middle + half) });
    }
  };
  return (
    <canvas
      ref={canvas}
      class="timeline-overview"
      role="img"
      aria-label="Busy CPUs over time, with the part that is shown"
      style={{ width: `${widthPx}px`, height: `${HEIGHT_PX}px` }}
      onPointerDown={(event) => {
        begin.current = placeOf(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (begin.current !== undefined && Math.abs(placeOf(event) - begin.current) > CLICK_PX) show(event);
      }}
      onPointerUp={(event) => {
        show(event);
        begin.current = undefined;
      }}
      onPointerCancel={() => {
        begin.current = undefined;
      }}
    />
  );
}

function paintOverview(
  canvas: HTMLCanvasElement,
  {
    used,
    expected,
    cpus,
  }: { readonly used: Float64Array; readonly expected: Float64Array; readonly cpus: number },
  scale: TimeScale,
  shown: Stretch,
  nowMs: number | undefined,
  ink: Ink,
): void {
  const { widthPx } = scale;
  const ratio = globalThis.devicePixelRatio || 1;
  canvas.width = Math.round(widthPx * ratio);
  canvas.height = Math.round(HEIGHT_PX * ratio);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = ink.idle;
  context.fillRect(0, 0, widthPx, HEIGHT_PX);
  // Under time sharing, more jobs than CPUs may have a share.
  const highest = used.reduce((most, load, i) => Math.max(most, load + expected[i]), cpus);
  used.forEach((load, i) => {
    const usedPx = (HEIGHT_PX * load) / highest;
    const expectedPx = (HEIGHT_PX * expected[i]) / highest;
    context.fillStyle = ink.muted;
    context.fillRect(i * STEP_PX, HEIGHT_PX - usedPx, STEP_PX, usedPx);
    context.globalAlpha = 0.5;
    context.fillRect(i * STEP_PX, HEIGHT_PX - usedPx - expectedPx, STEP_PX, expectedPx);
    context.globalAlpha = 1;
  });
  const from = Math.max(0, scale.px(shown.fromMs));
  const to = Math.min(widthPx, Math.max(from + 2, scale.px(shown.toMs)));
  context.globalAlpha = 0.15;
  context.fillStyle = ink.accent;
  context.fillRect(from, 0, to - from, HEIGHT_PX);
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 2;
  context.strokeRect(from + 1, 1, Math.max(0, to - from - 2), HEIGHT_PX - 2);
  if (nowMs === undefined) return;
  context.fillStyle = ink.bad;
  context.fillRect(scale.px(nowMs) - 0.75, 0, 1.5, HEIGHT_PX);
}
