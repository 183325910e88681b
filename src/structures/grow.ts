/** Growing typed arrays: contents kept, the new part filled. */

type Int32 = Int32Array<ArrayBuffer>;

/** Twice as long, the new half 0. */
export function doubled(array: Int32): Int32 {
  return grown(array, 2 * array.length, 0);
}

/** `length` long (not shorter than before), the new part `fill`. */
export function grown(array: Int32, length: number, fill: number): Int32 {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger.fill(fill, array.length);
}

/** Twice as long, the new half 0. */
export function doubledFloats(array: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * array.length);
  larger.set(array);
  return larger;
}
