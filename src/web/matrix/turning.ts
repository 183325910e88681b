/**
 * Moves the light over the rows by the page's own clock. Each frame only compares the row; the page changes
 * when the next row gets its slot. Users who want no movement see the number of the slot instead.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isStill } from "./motion.ts";
import type { MatrixPainter, Scene } from "./painter.ts";

/** Whose turn it is. */
export interface Turn {
  readonly slot: number;
  readonly row: number;
}

/** A still picture shows the slot once per second. */
const STEP_MS = 1000;

/**
 * @param turn undefined: rows do not take turns
 * @param drawn another object whenever the picture is another one; undefined: there is none yet
 * @returns the step in words, for users who want no movement
 */
export function useTurning(
  picture: RefObject<HTMLDivElement | null>,
  painter: RefObject<MatrixPainter | null>,
  turn: (() => Turn) | undefined,
  drawn: Scene | undefined,
): string {
  const [step, setStep] = useState("");
  const latest = useRef(turn);
  latest.current = turn;
  const still = isStill.value;
  const turns = turn !== undefined;

  useLayoutEffect(() => {
    const element = picture.current!;
    const rows = drawn?.grid.rows ?? 0;
    let slot = Number.NaN;
    let row = Number.NaN;
    const light = () => {
      const now = latest.current?.();
      if (now === undefined || (now.slot === slot && now.row === row)) return;
      if (now.row !== row && !still) place(element, painter.current!, now.row);
      ({ slot, row } = now);
      element.dataset.slot = String(slot);
      element.dataset.row = String(row);
      if (still) setStep(rows > 1 ? `slot ${slot}, row ${row + 1} of ${rows}` : "");
    };
    const isTurning = turns && rows > 0;
    if (!isTurning || still) hide(element);
    if (!isTurning) {
      delete element.dataset.slot;
      delete element.dataset.row;
      setStep("");
    }
    if (drawn === undefined) return undefined;
    if (still) {
      if (!isTurning) return undefined;
      light();
      const timer = setInterval(light, STEP_MS);
      return () => clearInterval(timer);
    }
    setStep("");
    if (painter.current!.isMoving) element.dataset.moving = "true";
    else delete element.dataset.moving;
    if (isTurning) light();
    let frame = requestAnimationFrame(function next(nowMs) {
      const wasMoving = painter.current!.isMoving;
      painter.current!.frame(nowMs);
      if (wasMoving) row = Number.NaN;
      if (wasMoving !== painter.current!.isMoving) delete element.dataset.moving;
      if (isTurning) light();
      if (isTurning || painter.current!.isMoving) frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [turns, still, drawn, picture, painter]);
  return step;
}

/** Two veils cover the other rows, and the light marks the row whose turn it is. */
function place(element: HTMLElement, { geometry, topPx, gutterPx, rows }: MatrixPainter, row: number): void {
  const [above, below, light] = parts(element);
  const { rowPx } = geometry;
  const set = (part: HTMLElement, fromPx: number, heightPx: number, left: string) => {
    part.hidden = rows < 2 || heightPx === 0;
    part.style.left = left;
    part.style.height = `${heightPx}px`;
    part.style.transform = `translateY(${topPx + fromPx}px)`;
  };
  set(above, 0, row * rowPx, `${gutterPx}px`);
  set(below, (row + 1) * rowPx, (rows - row - 1) * rowPx, `${gutterPx}px`);
  set(light, row * rowPx, rowPx, "0");
}

function hide(element: HTMLElement): void {
  for (const part of parts(element)) part.hidden = true;
}

function parts(element: HTMLElement): HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>(".matrix-veil, .matrix-light")];
}
