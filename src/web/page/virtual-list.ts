/** Draws only the visible rows of a long list. All rows have the same height. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useLayoutEffect, useReducer, useState } from "preact/hooks";

interface VirtualList {
  readonly items: readonly VirtualItem[];
  readonly heightPx: number;
  /** Scrolls as little as is necessary to show a row. */
  readonly show: (index: number) => void;
  /** Rows that fit into the list. */
  readonly pageRows: number;
}

/** Rows above and below the visible ones that are drawn, too. */
const OVERSCAN = 8;

export function useVirtualList(
  count: number,
  rowPx: number,
  scroller: RefObject<HTMLElement | null>,
  headPx: number,
): VirtualList {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const [list] = useState(
    () =>
      new Virtualizer<HTMLElement, HTMLElement>({
        count,
        getScrollElement: () => scroller.current,
        estimateSize: () => rowPx,
        overscan: OVERSCAN,
        // The heading stays at the top and covers this much.
        scrollPaddingStart: headPx,
        scrollToFn: elementScroll,
        observeElementRect,
        observeElementOffset,
        onChange: () => redraw(undefined),
      }),
  );
  list.setOptions({ ...list.options, count });
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  return {
    items: list.getVirtualItems(),
    heightPx: list.getTotalSize(),
    show: (index) => list.scrollToIndex(index, { align: "auto" }),
    pageRows: Math.max(1, Math.floor(((list.scrollRect?.height ?? 0) - headPx) / rowPx)),
  };
}
