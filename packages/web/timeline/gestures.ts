/**
 * What pointer and wheel do on a timeline. A drag selects an area; on the axis, with Shift or with a finger,
 * it moves the time. The wheel zooms with Ctrl and moves with Shift; otherwise it scrolls, as everywhere.
 */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Gestures {
  /** From here on, positions are in CSS pixels of the element. */
  readonly onZoom: (factor: number, x: number) => void;
  /** @param deltaPx to the right is positive */
  readonly onPan: (deltaPx: number) => void;
  /** While the pointer moves, and once when it is released. */
  readonly onSelect: (fromX: number, fromY: number, toX: number, toY: number, isDone: boolean) => void;
  readonly onClick: (x: number, y: number) => void;
  /** Undefined when the pointer leaves. */
  readonly onHover: (place: { readonly x: number; readonly y: number } | undefined) => void;
  /** Whether a drag that begins here moves the time. */
  readonly pansAt: (x: number, y: number) => boolean;
}

/** A shorter way is a click. */
const CLICK_PX = 4;
const ZOOM_PER_PX = 1.0025;

export function useGestures(target: RefObject<HTMLElement | null>, gestures: Gestures): void {
  const latest = useRef(gestures);
  latest.current = gestures;
  useEffect(() => {
    const element = target.current;
    if (element === null) return;
    const place = ({ clientX, clientY }: MouseEvent) => {
      const { left, top } = element.getBoundingClientRect();
      return { x: clientX - left, y: clientY - top };
    };
    let begin: { readonly x: number; readonly y: number; readonly pans: boolean } | undefined;
    let lastX = 0;
    let hasMoved = false;
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      const { x, y } = place(event);
      begin = { x, y, pans: event.shiftKey || event.pointerType === "touch" || latest.current.pansAt(x, y) };
      lastX = x;
      hasMoved = false;
      element.setPointerCapture(event.pointerId);
    };
    const move = (event: PointerEvent) => {
      const { x, y } = place(event);
      if (begin === undefined) {
        latest.current.onHover(event.pointerType === "touch" ? undefined : { x, y });
        return;
      }
      hasMoved ||= Math.abs(x - begin.x) + Math.abs(y - begin.y) > CLICK_PX;
      if (!hasMoved) return;
      if (begin.pans) latest.current.onPan(x - lastX);
      else latest.current.onSelect(begin.x, begin.y, x, y, false);
      lastX = x;
    };
    const up = (event: PointerEvent) => {
      if (begin === undefined) return;
      const { x, y } = place(event);
      const { pans, x: fromX, y: fromY } = begin;
      begin = undefined;
      if (!hasMoved) latest.current.onClick(x, y);
      else if (!pans) latest.current.onSelect(fromX, fromY, x, y, true);
    };
    const cancel = () => {
      begin = undefined;
    };
    const leave = () => latest.current.onHover(undefined);
    const wheel = (event: WheelEvent) => {
      const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) latest.current.onZoom(ZOOM_PER_PX ** event.deltaY, place(event).x);
      else if (event.shiftKey || Math.abs(across) > Math.abs(event.deltaY)) latest.current.onPan(-across);
      else return;
      event.preventDefault();
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", cancel);
    element.addEventListener("pointerleave", leave);
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", up);
      element.removeEventListener("pointercancel", cancel);
      element.removeEventListener("pointerleave", leave);
      element.removeEventListener("wheel", wheel);
    };
  }, [target]);
}
