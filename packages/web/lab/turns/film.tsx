/** The units in motion: who holds, switches and saves which, and who waits, as time goes on. */
import { formatDuration } from "@tutti/kernel/core/format.ts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { gangCss } from "../../page/gang-colours.ts";
import { Button } from "../../page/parts.tsx";
import type { TurnsFilm } from "./run.ts";

/** Shown before the present instant, as a share of the whole film. */
const WINDOW = 1 / 8;
/** The whole film takes this long. */
const FILM_S = 60;
const MAX_ROW_PX = 18;
const MAX_HEIGHT_PX = 480;
const GUTTER_PX = 34;
/** Longest list of gangs that wait. */
const MOST_LISTED = 20;

export function Film({ film, title }: { readonly film: TurnsFilm; readonly title: string }) {
  const [atMs, setAtMs] = useState(film.endMs * WINDOW);
  const [isPlaying, setPlaying] = useState(false);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => setAtMs(film.endMs * WINDOW), [film]);
  useEffect(() => {
    if (!isPlaying) return;
    let latest = performance.now();
    let frame = 0;
    const step = (now: number) => {
      const byMs = ((now - latest) / 1000 / FILM_S) * film.endMs;
      latest = now;
      setAtMs((ms) => {
        if (ms + byMs >= film.endMs) setPlaying(false);
        return Math.min(film.endMs, ms + byMs);
      });
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, film]);
  useEffect(() => {
    if (canvas.current !== null) draw(canvas.current, film, atMs);
  }, [film, atMs]);
  const waiting = useMemo(
    () => film.boxes.filter(({ wantedMs, gotMs }) => wantedMs <= atMs && gotMs > atMs),
    [film, atMs],
  );
  const holding = film.boxes.filter(({ beganMs, yieldedMs }) => beganMs <= atMs && yieldedMs > atMs);
  const units = holding.reduce((sum, box) => sum + box.units.length, 0);
  const names = waiting.slice(0, MOST_LISTED).map(({ gang }) => String(gang + 1));
  const more = waiting.length - names.length;
  return (
    <figure class="film">
      <figcaption>{title}</figcaption>
      <canvas ref={canvas} role="img" aria-label={`Units in use by ${title}, over time`} />
      <div class="controls">
        <Button
          onClick={() => {
            if (atMs >= film.endMs) setAtMs(film.endMs * WINDOW);
            setPlaying(!isPlaying);
          }}
        >
          {isPlaying ? "Pause" : "Play"}
        </Button>
        <input
          type="range"
          aria-label="time"
          min={0}
          max={film.endMs}
          value={atMs}
          onInput={({ currentTarget }) => setAtMs(Number(currentTarget.value))}
        />
        <output>{formatDuration(atMs / 1000)}</output>
      </div>
      <p class="muted">
        {units} of {film.units} units work for {holding.length === 1 ? "1 gang" : `${holding.length} gangs`};{" "}
        {waiting.length === 0
          ? "nobody waits"
          : `waiting: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`}
        . Pale: switching or saving.
      </p>
    </figure>
  );
}

function draw(canvas: HTMLCanvasElement, film: TurnsFilm, atMs: number): void {
  const { units, unitsPerNode, boxes, endMs } = film;
  const width = canvas.clientWidth;
  const rowPx = Math.max(1, Math.min(MAX_ROW_PX, MAX_HEIGHT_PX / units));
  const height = Math.ceil(rowPx * units);
  const scale = devicePixelRatio;
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d")!;
  const style = getComputedStyle(canvas);
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const spanMs = endMs * WINDOW;
  const fromMs = Math.max(0, atMs - spanMs);
  const xOf = (ms: number) => GUTTER_PX + ((ms - fromMs) / spanMs) * (width - GUTTER_PX - 2);
  const gap = rowPx > 4 ? 1 : 0;
  const bar = (unit: number, from: number, to: number, alpha: number) => {
    const [x, end] = [xOf(Math.max(from, fromMs)), xOf(Math.min(to, atMs))];
    if (end <= x) return;
    context.globalAlpha = alpha;
    context.fillRect(x, unit * rowPx, end - x, rowPx - gap);
  };
  for (const { gang, units: own, gotMs, beganMs, yieldedMs, freedMs } of boxes) {
    if (gotMs > atMs || freedMs < fromMs) continue;
    context.fillStyle = gangCss(gang);
    for (const unit of own) {
      bar(unit, gotMs, beganMs, 0.35);
      bar(unit, beganMs, yieldedMs, 1);
      bar(unit, yieldedMs, freedMs, 0.35);
    }
    if (rowPx < 11) continue;
    const [x, end] = [xOf(Math.max(beganMs, fromMs)), xOf(Math.min(yieldedMs, atMs))];
    context.globalAlpha = 1;
    context.fillStyle = "#000";
    context.font = `${Math.min(12, rowPx - 4)}px ${style.fontFamily}`;
    if (end - x > 22) context.fillText(String(gang + 1), x + 3, own[0] * rowPx + rowPx - 5);
  }
  context.globalAlpha = 1;
  context.fillStyle = style.color;
  context.strokeStyle = style.borderTopColor;
  context.font = `11px ${style.fontFamily}`;
  for (let unit = 0; unit < units; unit += unitsPerNode) {
    if (unit > 0) {
      context.beginPath();
      context.moveTo(0, unit * rowPx - gap / 2);
      context.lineTo(width, unit * rowPx - gap / 2);
      context.stroke();
    }
    if (unitsPerNode * rowPx >= 11)
      context.fillText(String(unit), 2, unit * rowPx + Math.min(12, rowPx * unitsPerNode));
  }
}
