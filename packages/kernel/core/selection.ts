/** Finds order statistics, such as the median, in typed arrays without sorting them. */
import { ln, power } from "./elementary.ts";

/**
 * Quantiles of `values[from]` … `values[to − 1]` by linear interpolation between order statistics (type 7 of
 * Hyndman and Fan 1996; the default of R and NumPy). Rearranges that part of the array, which must not
 * contain NaN.
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
 * Floyd and Rivest 1975, "Algorithm 489: SELECT". Afterwards `values[rank]` is what sorting left … right
 * would put there; nothing before it is larger, and nothing after it is smaller. For a long range, the pivot
 * is first selected from a small sample around the rank, so that few values are compared more than once.
 */
export function selectInPlace(values: Float64Array, left: number, right: number, rank: number): void {
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
