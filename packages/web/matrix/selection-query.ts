/** Writes the selection as parameters of an address, such as `gang=12` and `cpus=128-255`, and reads it. */
import type { Span } from "./cells.ts";

export interface MatrixSelection {
  /** Number of the job whose gang stays lit. */
  readonly pinned: number | undefined;
  /** The visible processors, by their position; undefined: all. */
  readonly span: Span | undefined;
}

export function parseSelection(query: Readonly<Record<string, string>>): MatrixSelection {
  const pinned = /^\d{1,15}$/.test(query.gang ?? "") ? Number(query.gang) : undefined;
  const [, from, to] = /^(\d{1,9})-(\d{1,9})$/.exec(query.cpus ?? "") ?? [];
  const span = from === undefined ? undefined : { first: Number(from), end: Number(to) + 1 };
  return { pinned, span: span !== undefined && span.end > span.first ? span : undefined };
}

export function selectionQuery({ pinned, span }: MatrixSelection): Record<string, string> {
  return {
    gang: pinned === undefined ? "" : String(pinned),
    cpus: span === undefined ? "" : `${span.first}-${span.end - 1}`,
  };
}

/** The part of the span that a machine has; all of its processors if there is none. */
export function visibleSpan(span: Span | undefined, processors: number): Span {
  const all = { first: 0, end: processors };
  if (span === undefined) return all;
  const visible = { first: Math.max(0, span.first), end: Math.min(processors, span.end) };
  return visible.end > visible.first ? visible : all;
}

/** Half as many processors, or twice as many, around one; undefined if these are all. */
export function zoomed(
  { first, end }: Span,
  processors: number,
  around: number,
  closer: boolean,
): Span | undefined {
  const size = Math.max(1, Math.round((end - first) * (closer ? 0.5 : 2)));
  if (size >= processors) return undefined;
  // The processor keeps its place on the screen.
  const share = (around - first) / (end - first);
  const start = Math.max(0, Math.min(processors - size, Math.round(around - share * size)));
  return { first: start, end: start + size };
}
