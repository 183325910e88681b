/**
 * Parses the index lists of job arrays in Slurm's syntax: `1-100`, `0-20:5`, `1,4,9`. A suffix such as `%5`
 * lets at most five jobs run at once.
 */
import { MAX_ARRAY_INDEX, MAX_JOBS_PER_BATCH } from "./limits.ts";

interface ArraySpec {
  readonly indices: readonly number[];
  readonly atOnce?: number;
}

/**
 * @returns the indices in ascending order without duplicates, or a message that says why the text is not a
 *   list
 */
export function parseArray(text: string): ArraySpec | string {
  const [, list = "", atOnceText] = /^([^%]+)(?:%(\d{1,7}))?$/.exec(text) ?? [];
  const atOnce = atOnceText === undefined ? undefined : Number(atOnceText);
  const expected = "expected indices such as 1-100, 0-20:5 or 1,4,9, with %5 for at most five at once";
  if (list === "" || atOnce === 0) return `Cannot use the array "${text}": ${expected}`;
  const indices = new Set<number>();
  for (const part of list.split(",")) {
    const [, first, last = first, step = "1"] =
      /^(\d{1,15})(?:-(\d{1,15})(?::(\d{1,15}))?)?$/.exec(part) ?? [];
    if (first === undefined || Number(step) === 0) {
      return `Cannot use "${part}" in the array "${text}": ${expected}`;
    }
    if (Number(last) < Number(first)) {
      return `Cannot use "${part}" in the array "${text}": the range is empty, expected the smaller index first`;
    }
    if (Number(last) > MAX_ARRAY_INDEX) {
      return `Cannot use "${part}" in the array "${text}": expected indices up to ${MAX_ARRAY_INDEX}`;
    }
    for (let i = Number(first); i <= Number(last); i += Number(step)) {
      indices.add(i);
      if (indices.size > MAX_JOBS_PER_BATCH)
        return `Cannot use the array "${text}": it has more than ${MAX_JOBS_PER_BATCH} jobs; submit several arrays`;
    }
  }
  const sorted = [...indices].sort((a, b) => a - b);
  return atOnce === undefined ? { indices: sorted } : { indices: sorted, atOnce };
}
