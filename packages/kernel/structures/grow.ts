/** Makes longer copies of typed arrays and fills the new part. */

type Int32 = Int32Array<ArrayBuffer>;
type Float64 = Float64Array<ArrayBuffer>;
type Uint8 = Uint8Array<ArrayBuffer>;

/** A copy of twice the length; the new half is 0. */
export function doubled<Numbers extends Int32 | Float64 | Uint8>(array: Numbers): Numbers {
  return grown(array, 2 * array.length, 0);
}

/** A copy of the given length (not shorter than before); the new part is `fill`. */
export function grown<Numbers extends Int32 | Float64 | Uint8>(
  array: Numbers,
  length: number,
  fill: number,
): Numbers {
  const larger = new (array.constructor as new (length: number) => Numbers)(length);
  larger.set(array);
  return (fill === 0 ? larger : larger.fill(fill, array.length)) as Numbers;
}
