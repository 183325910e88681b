/** What a drawing must know of the page: its width, and when its colours change. */
import type { RefObject } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

/** The width of an element in CSS pixels; 0 before it is shown. */
export function useWidth(target: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidth] = useState(0);
  useEffect(() => {
    const element = target.current;
    if (element === null) return;
    const measure = () => setWidth(element.clientWidth);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [target]);
  return widthPx;
}

/** Renders again when the system or the user changes between light and dark. */
export function useTheme(): void {
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const change = () => again(undefined);
    dark.addEventListener("change", change);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      dark.removeEventListener("change", change);
      observer.disconnect();
    };
  }, []);
}
