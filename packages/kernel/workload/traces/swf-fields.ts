/**
 * Reads the 18 fields of a job line in the Standard Workload Format 2.2 (Parallel Workloads Archive),
 * directly from the bytes, without a string per field.
 *
 *   1 job  2 submit  3 wait  4 run  5 allocated  6 cpu  7 memory  8 requested  9 estimate
 *   10 requested memory  11 status  12 user  13 group  14 application  15 queue  16 partition
 *   17 preceding job  18 think time
 */
import { MAX_INT32 } from "../../core/jobs.ts";

export const FIELD_COUNT = 18;

/** Position of each field in a line, from 0. */
export const Field = {
  jobNumber: 0,
  submit: 1,
  wait: 2,
  run: 3,
  allocated: 4,
  cpu: 5,
  usedMemory: 6,
  requested: 7,
  estimate: 8,
  requestedMemory: 9,
  status: 10,
  user: 11,
  group: 12,
  application: 13,
  queue: 14,
  partition: 15,
  precedingJob: 16,
  thinkTime: 17,
} as const;

/**
 * Times above this many seconds (about 30,000 years) count as unreadable, since their sums would lose whole
 * seconds. The same limit holds for memory in KB.
 */
const MAX_AMOUNT = 1e12;
/** Whole numbers of this many digits are exact in a double. */
const EXACT_DIGITS = 15;
const SPACE = 32;
const MINUS = 45;
const POWERS_OF_TEN = Float64Array.from({ length: EXACT_DIGITS + 1 }, (_, n) => Number(`1e${n}`));
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Each field's name and largest value. Fields whose largest value is the largest Int32 must be whole numbers.
 */
const FIELDS: readonly (readonly [name: string, largest: number])[] = [
  ["job number", MAX_INT32],
  ["submit time", MAX_AMOUNT],
  ["wait time", MAX_AMOUNT],
  ["run time", MAX_AMOUNT],
  ["allocated processors", MAX_INT32],
  ["CPU time", MAX_AMOUNT],
  ["used memory", MAX_AMOUNT],
  ["requested processors", MAX_INT32],
  ["requested time", MAX_AMOUNT],
  ["requested memory", MAX_AMOUNT],
  ["status", MAX_INT32],
  ["user", MAX_INT32],
  ["group", MAX_INT32],
  ["application", MAX_INT32],
  ["queue", MAX_INT32],
  ["partition", MAX_INT32],
  ["preceding job", MAX_INT32],
  ["think time", MAX_AMOUNT],
];
/** The names of the fields, as diagnostics print them. */
export const FIELD_NAMES = FIELDS.map(([name]) => name);
const LARGEST = Float64Array.from(FIELDS, ([, largest]) => largest);

/**
 * Added to the result of parseFields if a field is not plain; plain is a whole number from −1 to 999,999,999.
 */
export const NOT_PLAIN = 32;

/**
 * Reads the numbers of bytes[start … end − 1] into `values`, with NaN for a field that is not a finite
 * number. bytes[end] must be a newline: it ends every loop, which saves a comparison per byte.
 * @returns the number of fields in the line, where FIELD_COUNT + 1 stands for any number above FIELD_COUNT;
 *   plus NOT_PLAIN if some value is not plain and therefore perhaps not usable in its field
 */
export function parseFields(bytes: Uint8Array, start: number, end: number, values: Float64Array): number {
  let at = start;
  let count = 0;
  let notPlain = 0;
  for (;;) {
    let byte = bytes[at];
    while (byte === SPACE) byte = bytes[++at];
    if (byte >= 9 && byte <= 13) {
      if (at >= end) return count + notPlain;
      at++;
      continue;
    }
    if (count === FIELD_COUNT) return count + 1 + notPlain;
    // Half of the fields of a log are unknown (−1).
    if (byte === MINUS && bytes[at + 1] === 49 && bytes[at + 2] === SPACE) {
      values[count++] = -1;
      at += 3;
      continue;
    }
    const first = at;
    const negative = byte === MINUS;
    if (negative) byte = bytes[++at];
    const firstDigit = at;
    let value = 0;
    let digit = byte - 48;
    while (digit >= 0 && digit <= 9) {
      value = (Math.imul(value, 10) + digit) | 0; // wrong from the tenth digit on, but then it is not used
      digit = bytes[++at] - 48;
    }
    const digits = at - firstDigit;
    if (digits > 0 && digits < 10 && (digit === SPACE - 48 || isBlank(digit + 48))) {
      values[count++] = negative ? 0 - value : value;
      if (negative && value > 1) notPlain = NOT_PLAIN;
    } else {
      notPlain = NOT_PLAIN;
      while (!isBlank(bytes[at])) at++;
      values[count++] = parseDecimal(bytes, first, at);
    }
  }
}

/**
 * Whether a value is allowed in a field: in range, whole if the field is, and negative only as −1 for
 * "unknown".
 */
export function isUsable(field: number, value: number): boolean {
  return (value >= 0 && isInRange(field, value)) || value === -1;
}

/** Whether a value is a number within the field's range, and whole if the field is. */
export function isInRange(field: number, value: number): boolean {
  const largest = LARGEST[field];
  return value <= largest && (largest !== MAX_INT32 || value === Math.floor(value));
}

/** At most the first `most` bytes of one field of a line, with unprintable characters replaced. */
export function fieldText(
  bytes: Uint8Array,
  start: number,
  end: number,
  field: number,
  most?: number,
): string {
  let at = start;
  for (let k = 0; ; k++) {
    while (at < end && isBlank(bytes[at])) at++;
    const first = at;
    while (at < end && !isBlank(bytes[at])) at++;
    if (k === field) return printable(bytes, first, at, most);
    if (at >= end) return "";
  }
}

/** At most the first bytes of a range as text, with unprintable characters replaced. */
export function printable(bytes: Uint8Array, start: number, end: number, most = 40): string {
  let text = "";
  for (let i = start; i < end && i < start + most; i++) {
    text += bytes[i] >= 32 && bytes[i] < 127 ? String.fromCharCode(bytes[i]) : "?";
  }
  return text;
}

/**
 * Space and the control characters that move the print position, but not NUL, so that UTF-16 does not pass as
 * numbers.
 */
export function isBlank(byte: number): boolean {
  return byte === SPACE || (byte >= 9 && byte <= 13);
}

/**
 * Reads a number with a fraction, an exponent, a plus sign or many digits; NaN for anything else and for
 * infinity.
 */
function parseDecimal(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === MINUS;
  let mantissa = 0;
  let digits = 0;
  let fraction = -1;
  let at = negative ? start + 1 : start;
  for (; at < end; at++) {
    const digit = bytes[at] - 48;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
      if (fraction >= 0) fraction++;
    } else if (bytes[at] === 46 && fraction < 0) {
      fraction = 0;
    } else break;
  }
  // Both parts of the quotient are exact, so the quotient is the double that is nearest to the text.
  if (at === end && digits > 0 && digits <= EXACT_DIGITS) {
    const value = mantissa / POWERS_OF_TEN[Math.max(0, fraction)];
    return negative ? 0 - value : value;
  }
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]);
  const value = NUMBER.test(text) ? Number(text) + 0 : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}
