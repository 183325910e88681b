/** Draws only the visible rows of a long list. All rows have the same height. */
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

interface VirtualList {
  readonly items: readonly { readonly index: number; readonly start: number }[];
  readonly heightPx: number;
  /** Scrolls as little as is necessary to show a row. */
  readonly show: (index: number) => void;
  /** Rows that fit into the list. */
  readonly pageRows: number;
}

/** Rows above and below the visible ones that are drawn, too. */
const OVERSCAN = 8;

/** @param headPx the heading stays at the top and covers this much */
export function useVirtualList(
  count: number,
  rowPx: number,
  scroller: RefObject<HTMLElement | null>,
  headPx: number,
): VirtualList {
  const [topRow, setTopRow] = useState(0);
  const [rows, setRows] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = () => {
      setTopRow(Math.floor(element.scrollTop / rowPx));
      setRows(Math.floor((element.clientHeight - headPx) / rowPx));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, []);
  const end = Math.min(count, topRow + rows + 2 + OVERSCAN);
  const first = Math.max(0, Math.min(topRow, end - rows) - OVERSCAN);
  return {
    items: Array.from({ length: end - first }, (_, i) => ({
      index: first + i,
      start: (first + i) * rowPx,
    })),
    heightPx: count * rowPx,
    show: (index) => {
      const element = scroller.current!;
      const lowestPx = headPx + (index + 1) * rowPx - element.clientHeight;
      element.scrollTop = Math.max(lowestPx, Math.min(index * rowPx, element.scrollTop));
    },
    pageRows: Math.max(1, rows),
  };
}
