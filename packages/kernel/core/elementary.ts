/**
 * Computes logarithm and exponential with additions, multiplications and divisions only. ECMAScript leaves
 * the last bits of Math.log, Math.exp and Math.pow to the engine, but workloads must be bit-identical in
 * every engine.
 */

const bits = new DataView(new ArrayBuffer(8));
const LN2_HIGH = 45426 / 65536; // 16 significant bits, so that multiples up to 2^11 are exact
const LN2_LOW = 1.4286068203094173e-6; // ln 2 − LN2_HIGH
const SQRT_2 = Math.SQRT2;

/** 2 to the power of an integer in −1022 … 1023, exactly. */
function powerOfTwo(exponent: number): number {
  bits.setUint32(0, (exponent + 1023) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

/**
 * Natural logarithm of a positive normal number, within 2 units in the last place. Other arguments give NaN.
 * x = m·2^e with m in [√½, √2); ln m = 2·artanh((m − 1)/(m + 1)) by its series.
 */
export function ln(x: number): number {
  if (!(x >= 2.2250738585072014e-308 && x <= Number.MAX_VALUE)) return Number.NaN;
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  let exponent = (high >>> 20) - 1023;
  bits.setUint32(0, (high & 0x000fffff) | 0x3ff00000);
  let mantissa = bits.getFloat64(0);
  if (mantissa > SQRT_2) {
    mantissa *= 0.5;
    exponent++;
  }
  const f = mantissa - 1;
  const s = f / (2 + f);
  const z = s * s;
  // Σ z^k/(2k + 1) for k ≥ 1; z ≤ 0.0295, so the first omitted term is below 2^−58.
  let sum = 1 / 23;
  for (let odd = 21; odd >= 3; odd -= 2) sum = sum * z + 1 / odd;
  // 2s + 2s·z·sum, with 2s = f − s·f so that the leading term is exact.
  const tail = s * (2 * z * sum - f) + exponent * LN2_LOW;
  return exponent * LN2_HIGH + (f + tail);
}

/**
 * Exponential of x, within 2 units in the last place for −708 ≤ x ≤ 709; 0 below and Infinity above.
 * x = k·ln 2 + r with |r| ≤ ½·ln 2; e^r by its Taylor series.
 */
export function exp(x: number): number {
  if (Number.isNaN(x)) return Number.NaN;
  if (x < -708) return 0;
  if (x > 709) return Number.POSITIVE_INFINITY;
  const k = Math.round(x / (LN2_HIGH + LN2_LOW));
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  // r^14/14! is below 2^−57.
  let sum = 1;
  for (let n = 14; n >= 2; n--) sum = 1 + (r / n) * sum;
  return k >= 1023 ? (1 + r * sum) * powerOfTwo(k - 1) * 2 : (1 + r * sum) * powerOfTwo(k);
}

/** x to the power y for positive normal x, by `exp(y·ln x)`; the relative error grows with |y·ln x|. */
export function power(x: number, y: number): number {
  return exp(y * ln(x));
}
