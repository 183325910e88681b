/**
 * Parses the index lists of job arrays in Slurm's syntax: `1-100`, `0-20:5`, `1,4,9`. A suffix such as `%5`
 * lets at most five jobs run at once.
 */
import { MAX_ARRAY_INDEX, MAX_JOBS_PER_BATCH } from "./limits.ts";

/** Characters of a list in a message. */
const MAX_SHOWN = 100;
/** Indices that a list may name, if it names some of them more than once. */
const MAX_NAMED = 10 * MAX_JOBS_PER_BATCH;

interface ArraySpec {
  readonly indices: readonly number[];
  readonly atOnce?: number;
}

/**
 * @param count number of jobs, if it is known; the text may then be only `%5`, with indices from 1
 * @returns the indices in ascending order without duplicates, or a message that says why the text is not a
 *   list
 */
export function parseArray(text: string, count?: number): ArraySpec | string {
  const [, list = "", atOnceText] = /^([^%]*)(?:%(\d{1,7}))?$/.exec(text) ?? [];
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  const atOnce = atOnceText === undefined ? undefined : Number(atOnceText);
  const expected = "expected indices such as 1-100, 0-20:5 or 1,4,9, with %5 for at most five at once";
  if (list === "" && count !== undefined && atOnce) {
    return { indices: Array.from({ length: count }, (_, i) => i + 1), atOnce };
  }
  if (list === "" || atOnce === 0) return `Cannot use the array "${shown}": ${expected}`;
  const indices = new Set<number>();
  let named = 0;
  for (const part of list.split(",")) {
    const [, first, last = first, step = "1"] =
      /^(\d{1,15})(?:-(\d{1,15})(?::(\d{1,15}))?)?$/.exec(part) ?? [];
    if (first === undefined || Number(step) === 0) {
      return `Cannot use "${part.slice(0, MAX_SHOWN)}" in the array "${shown}": ${expected}`;
    }
    if (Number(last) < Number(first)) {
      return `Cannot use "${part.slice(0, MAX_SHOWN)}" in the array "${shown}": the range is empty, expected the smaller index first`;
    }
    if (Number(last) > MAX_ARRAY_INDEX) {
      return `Cannot use "${part.slice(0, MAX_SHOWN)}" in the array "${shown}": expected indices up to ${MAX_ARRAY_INDEX}`;
    }
    for (let i = Number(first); i <= Number(last); i += Number(step)) {
      indices.add(i);
      if (++named > MAX_NAMED) return `Cannot use the array: it names indices more than once; ${expected}`;
      if (indices.size > MAX_JOBS_PER_BATCH)
        return `Cannot use the array "${shown}": it has more than ${MAX_JOBS_PER_BATCH} jobs; submit several arrays`;
    }
  }
  const sorted = [...indices].sort((a, b) => a - b);
  return atOnce === undefined ? { indices: sorted } : { indices: sorted, atOnce };
}
