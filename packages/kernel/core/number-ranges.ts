/** Reads and writes lists of numbers in the form that people use: `3-9,12`. */

/** Numbers from the first to the last, both included. */
export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

const RANGE = /^(\d{1,15})(?:-(\d{1,15}))?$/;

/** The ranges as written, or undefined if the text is not a list of positive whole numbers and ranges. */
export function parseRanges(text: string): NumberRange[] | undefined {
  const ranges: NumberRange[] = [];
  for (const part of text.split(",")) {
    const [, first, last = first] = RANGE.exec(part) ?? [];
    if (first === undefined || Number(first) < 1 || Number(last) < Number(first)) return undefined;
    ranges.push({ first: Number(first), last: Number(last) });
  }
  return ranges;
}

/** The same numbers as ascending ranges that neither overlap nor touch. */
export function mergeRanges(ranges: readonly NumberRange[]): NumberRange[] {
  const merged: NumberRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last + 1) merged.push(range);
    else if (range.last > before.last) merged[merged.length - 1] = { ...before, last: range.last };
  }
  return merged;
}

/** Combines numbers into as few ranges as possible. */
export function rangesOf(numbers: Iterable<number>): NumberRange[] {
  return mergeRanges([...numbers].map((number) => ({ first: number, last: number })));
}

/** `3-9,12`. */
export function rangesText(ranges: readonly NumberRange[], between = ","): string {
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(between);
}

/** Whether one of the ranges contains the number. The ranges must ascend and not overlap. */
export function holds(ranges: readonly NumberRange[], number: number): boolean {
  let from = 0;
  let to = ranges.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (ranges[middle].last < number) from = middle + 1;
    else to = middle;
  }
  return from < ranges.length && ranges[from].first <= number;
}
