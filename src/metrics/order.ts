/**
 * Orders and order statistics on typed arrays.
 *
 * `orderOf` sorts row numbers by a column of doubles: radix sort on the 64 bits, 16 at a time, least significant
 * first; a digit that all keys share costs one counting pass only. Sorting row numbers with a comparison function
 * takes several times as long.
 */

import { ln, power } from "../core/elementary.ts";

const DIGITS = 65536;

/** Rows 0 … length − 1 by ascending key, equal keys by ascending row. Rows whose key is NaN are left out. */
export function orderOf(keys: Float64Array): Uint32Array {
  let rows: Uint32Array = new Uint32Array(keys.length);
  let count = 0;
  for (let row = 0; row < keys.length; row++) if (!Number.isNaN(keys[row])) rows[count++] = row;
  rows = rows.subarray(0, count);
  if (isAscending(keys, rows)) return rows;
  const words = sortableWords(keys);
  let other: Uint32Array = new Uint32Array(count);
  const starts = new Uint32Array(DIGITS);
  for (let digit = 0; digit < 4; digit++) {
    starts.fill(0);
    for (let i = 0; i < count; i++) starts[words[4 * rows[i] + digit]]++;
    if (starts[words[4 * rows[0] + digit]] === count) continue;
    let start = 0;
    for (let value = 0; value < DIGITS; value++) {
      const size = starts[value];
      starts[value] = start;
      start += size;
    }
    for (let i = 0; i < count; i++) {
      const row = rows[i];
      other[starts[words[4 * row + digit]]++] = row;
    }
    const swap = rows;
    rows = other;
    other = swap;
  }
  return rows;
}

function isAscending(keys: Float64Array, rows: Uint32Array): boolean {
  for (let i = 1; i < rows.length; i++) if (keys[rows[i]] < keys[rows[i - 1]]) return false;
  return true;
}

/**
 * Four 16-bit digits per key, least significant first, whose unsigned order is the order of the numbers: negative
 * numbers have all their bits inverted, the others the sign bit. −0 counts as 0.
 */
function sortableWords(keys: Float64Array): Uint16Array {
  const words = new Uint16Array(4 * keys.length);
  const bits = new DataView(new ArrayBuffer(8));
  for (let row = 0; row < keys.length; row++) {
    bits.setFloat64(0, keys[row] + 0);
    let high = bits.getUint32(0);
    let low = bits.getUint32(4);
    if (high >= 0x80000000) {
      high = ~high;
      low = ~low;
    } else {
      high |= 0x80000000;
    }
    words[4 * row] = low & 0xffff;
    words[4 * row + 1] = (low >>> 16) & 0xffff;
    words[4 * row + 2] = high & 0xffff;
    words[4 * row + 3] = (high >>> 16) & 0xffff;
  }
  return words;
}

/**
 * Quantiles of `values[from]` … `values[to − 1]` by linear interpolation between order statistics (type 7 of Hyndman and
 * Fan 1996; the default of R and NumPy). Rearranges that part of the array; no NaN may be among the values.
 * @param shares ascending, each in 0 … 1
 * @returns one quantile per share; NaN when there are no values
 */
export function quantilesInPlace(
  values: Float64Array,
  from: number,
  to: number,
  shares: readonly number[],
): number[] {
  const result: number[] = [];
  if (to <= from) return shares.map(() => Number.NaN);
  let left = from;
  for (const share of shares) {
    const rank = share * (to - from - 1);
    const below = Math.floor(rank);
    selectInPlace(values, left, to - 1, from + below);
    left = from + below;
    const low = values[left];
    const fraction = rank - below;
    if (fraction === 0) {
      result.push(low);
      continue;
    }
    selectInPlace(values, left + 1, to - 1, left + 1);
    result.push(low + (values[left + 1] - low) * fraction);
  }
  return result;
}

/**
 * Floyd and Rivest 1975, "Algorithm 489: SELECT". Afterwards `values[rank]` is what sorting left … right would put there,
 * nothing before it is larger and nothing after it smaller. On long stretches the pivot is first selected from a small
 * sample around the rank, so that hardly more than the stretch itself is looked at.
 */
function selectInPlace(values: Float64Array, left: number, right: number, rank: number): void {
  let patience = 64;
  while (right > left) {
    const length = right - left + 1;
    if (length < 32 || patience-- === 0) {
      values.subarray(left, right + 1).sort();
      return;
    }
    if (length > 600) {
      const sample = 0.5 * power(length, 2 / 3);
      const share = (rank - left) / length;
      const margin = 0.5 * Math.sqrt((ln(length) * sample * (length - sample)) / length);
      const shift = share < 0.5 ? -margin : margin;
      const from = Math.max(left, Math.floor(rank - share * sample + shift));
      const to = Math.min(right, Math.floor(rank + (1 - share) * sample + shift));
      selectInPlace(values, from, to, rank);
    }
    const pivot = values[rank];
    let i = left;
    let j = right;
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i <= j) {
        const swap = values[i];
        values[i++] = values[j];
        values[j--] = swap;
      }
    }
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else return;
  }
}
