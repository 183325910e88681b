/**
 * Scans the bytes of JSON in pieces before it is parsed. It finds out how deeply the JSON is nested, how many
 * entries its lists and objects have, and where the elements of one list begin and end, so they can be parsed
 * one by one. It does not check whether the text is valid JSON.
 */

export interface ScanLimits {
  /** Levels of brackets. */
  readonly depth: number;
  /** Entries of one list or object. V8 takes seconds to parse an object with a million names. */
  readonly entries: number;
}

interface Scan {
  /** The limit that was exceeded; the scan stops there. */
  readonly beyond?: keyof ScanLimits;
  /** Positions of the list's brackets and commas, if the outermost object has a list of that name. */
  readonly list?: { readonly open: number; readonly close: number; readonly commas: readonly number[] };
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Bytes between two yields: about a millisecond. */
const PIECE_BYTES = 2 ** 18;

/**
 * @param name of a list in the outermost object whose elements should be found; left out: looks for no list
 */
export function* scanJson(bytes: Buffer, limits: ScanLimits, name = ""): Generator<undefined, Scan, void> {
  const quoted = Buffer.from(JSON.stringify(name));
  const entries: number[] = [0];
  const commas: number[] = [];
  let depth = 0;
  let open = -1;
  let close = -1;
  /** Where the last string began. */
  let string = -1;
  let nextPiece = PIECE_BYTES;
  for (let i = 0; i < bytes.length; i++) {
    if (i >= nextPiece) {
      nextPiece = i + PIECE_BYTES;
      yield;
    }
    const byte = bytes[i];
    if (byte === QUOTE) {
      string = i;
      i = endOfString(bytes, i);
      if (i < 0) break;
    } else if (byte === COMMA) {
      if (++entries[depth] >= limits.entries) return { beyond: "entries" };
      if (depth === 2 && open >= 0 && close < 0) commas.push(i);
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth++;
      if (depth > limits.depth) return { beyond: "depth" };
      entries[depth] = 0;
      const isWanted = name !== "" && byte === OPEN_LIST && depth === 2 && open < 0;
      if (isWanted && isNameOf(bytes, string, quoted, i)) open = i;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 2 && open >= 0 && close < 0) close = i;
      depth--;
    }
  }
  return open >= 0 && close >= 0 ? { list: { open, close, commas } } : {};
}

/** Whether the string at `start` is `quoted`, and only a colon and spaces are between it and `end`. */
function isNameOf(bytes: Buffer, start: number, quoted: Buffer, end: number): boolean {
  if (start < 0 || !bytes.subarray(start, start + quoted.length).equals(quoted)) return false;
  for (let i = start + quoted.length; i < end; i++) {
    if (bytes[i] !== COLON && bytes[i] > 0x20) return false;
  }
  return true;
}

/** Position of the closing quote of the string that begins at `start`, or −1. */
function endOfString(bytes: Buffer, start: number): number {
  for (let i = bytes.indexOf(QUOTE, start + 1); i >= 0; i = bytes.indexOf(QUOTE, i + 1)) {
    let backslashes = 0;
    while (bytes[i - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return i;
  }
  return -1;
}
