/** Which jobs of the list are selected, and on which one the keyboard is. */
import { signal } from "@preact/signals";

/** Numbers of the selected jobs. */
export const selected = signal<ReadonlySet<number>>(new Set());
/** The job on which the keyboard acts. */
export const cursor = signal<number | undefined>(undefined);
/** Where a range begins: the last job that was selected alone. */
let anchor: number | undefined;

export function toggle(job: number): void {
  const next = new Set(selected.peek());
  if (!next.delete(job)) next.add(job);
  selected.value = next;
  anchor = job;
  cursor.value = job;
}

/** Selects the jobs from the last one that was selected alone to this one, in the order of the list. */
export function extendTo(job: number, list: readonly number[]): void {
  const from = anchor === undefined ? -1 : list.indexOf(anchor);
  const to = list.indexOf(job);
  const [first, last] = from < 0 ? [to, to] : from < to ? [from, to] : [to, from];
  selected.value = new Set([...selected.peek(), ...list.slice(first, last + 1)]);
  if (from < 0) anchor = job;
  cursor.value = job;
}

export function selectOnly(jobs: Iterable<number>): void {
  selected.value = new Set(jobs);
  anchor = undefined;
}

/** Moves the keyboard by some rows of the list, and returns the row. */
export function moveCursor(by: number, list: readonly number[]): number {
  const from = cursor.peek() === undefined ? -1 : list.indexOf(cursor.peek()!);
  const row = from < 0 ? (by < 0 ? list.length - 1 : 0) : Math.max(0, Math.min(list.length - 1, from + by));
  cursor.value = list[row];
  return row;
}

/** Where the next range begins. */
export function anchorAt(job: number | undefined): void {
  anchor = job;
}
