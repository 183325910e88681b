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
    const lights = lightsOf(element);
    const rows = drawn?.grid.rows ?? 0;
    let slot = Number.NaN;
    let row = Number.NaN;
    const light = () => {
      const now = latest.current?.();
      if (now === undefined || (now.slot === slot && now.row === row)) return;
      if (now.row !== row && !still) place(lights, painter.current!, now.row);
      ({ slot, row } = now);
      element.dataset.slot = String(slot);
      element.dataset.row = String(row);
      if (still) setStep(rows > 1 ? `slot ${slot}, row ${row + 1} of ${rows}` : "");
    };
    const isTurning = turns && rows > 0;
    if (!isTurning || still) lights.turns.hidden = lights.light.hidden = true;
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

/** The elements over the rows. */
interface Lights {
  /** The size of the cells; it cuts the veils off. */
  readonly turns: HTMLElement;
  readonly above: HTMLElement;
  readonly below: HTMLElement;
  readonly light: HTMLElement;
}

function lightsOf(element: HTMLElement): Lights {
  const one = (selector: string) => element.querySelector<HTMLElement>(selector)!;
  const [above, below] = element.querySelectorAll<HTMLElement>(".matrix-veil");
  return { turns: one(".matrix-turns"), above, below, light: one(".matrix-light") };
}

/**
 * Two veils, each as large as all rows, cover the other rows, and the light marks the row whose turn it is.
 * From row to row, they only move: nothing is laid out or painted.
 */
function place({ turns, above, below, light }: Lights, painter: MatrixPainter, row: number): void {
  const { topPx, gutterPx, rows } = painter;
  const { rowPx } = painter.geometry;
  turns.hidden = light.hidden = rows < 2;
  turns.style.left = `${gutterPx}px`;
  turns.style.top = `${topPx}px`;
  turns.style.height = `${rows * rowPx}px`;
  light.style.height = `${rowPx}px`;
  above.style.transform = `translateY(${(row - rows) * rowPx}px)`;
  below.style.transform = `translateY(${(row + 1) * rowPx}px)`;
  light.style.transform = `translateY(${topPx + row * rowPx}px)`;
}
