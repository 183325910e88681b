/** What echo and printf print. */
import { encode } from "./io.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};
const ESCAPE = /\\(?:(0?[0-7]{1,3})|(.))/gs;
const DIRECTIVE = /%(?:%|\(([^)]*)\)T|([-+ #0]*)(\*|[0-9]+)?(?:\.(\*|[0-9]+)?)?([diouxXcsb]))/g;

/** @returns the text up to \c, if that may be there, and whether it was */
function plainOf(text: string, mayEnd = true): { readonly text: string; readonly isLast: boolean } {
  if (!text.includes("\\")) return { text, isLast: false };
  let plain = "";
  let from = 0;
  for (const found of text.matchAll(ESCAPE)) {
    const [whole, octal, letter] = found;
    plain += text.slice(from, found.index);
    if (letter === "c" && mayEnd) return { text: plain, isLast: true };
    from = found.index + whole.length;
    plain +=
      octal === undefined ? (ESCAPES[letter] ?? whole) : String.fromCharCode(Number.parseInt(octal, 8) & 255);
  }
  return { text: plain + text.slice(from), isLast: false };
}

/** @param words without the name */
export function echo(words: readonly string[], isBash: boolean): string {
  let start = 0;
  let isPlain = isBash;
  let end = "\n";
  for (; words[start]?.startsWith("-"); start++) {
    if (words[start] === "-n") end = "";
    else if (isBash && words[start] === "-e") isPlain = false;
    else break;
    if (!isBash) {
      start++;
      break;
    }
  }
  const text = words.slice(start).join(" ");
  if (isPlain) return text + end;
  const { text: plain, isLast } = plainOf(text);
  return isLast ? plain : plain + end;
}

interface Printed {
  readonly text: string;
  /** Arguments that are not numbers. */
  readonly wrong: readonly string[];
}

/**
 * @param words format and arguments
 * @param unixMs for %(…)T, which is a directive of bash
 */
export function printf(words: readonly string[], unixMs: number): Printed {
  const [format = "", ...rest] = words;
  const wrong: string[] = [];
  const queue = rest;
  let text = "";
  let isOver = false;
  const next = () => queue.shift() ?? "";
  const integer = (word: string) => {
    if (word === "") return 0;
    if (word[0] === "'" || word[0] === '"') return word.codePointAt(1) ?? 0;
    const found = /^\s*([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[0-9]+)/.exec(word);
    if (found === null || found[0].length < word.length) wrong.push(word);
    if (found === null) return 0;
    const digits = /^0[0-7]+$/.test(found[2]) ? Number.parseInt(found[2], 8) : Number(found[2]);
    return found[1] === "-" ? -digits : digits;
  };
  do {
    const before = queue.length;
    let from = 0;
    for (const found of format.matchAll(DIRECTIVE)) {
      text += plainOf(format.slice(from, found.index), false).text;
      from = found.index + found[0].length;
      const [whole, time, flags = "", width, precision, letter] = found;
      if (whole === "%%") text += "%";
      else if (time !== undefined) {
        const at = next();
        text += formatTime(time, at === "" || at === "-1" ? unixMs : Number(at) * 1000);
      } else {
        const wide = width === "*" ? integer(next()) : Number(width ?? 0);
        const precise = precision === "*" ? integer(next()) : precision && Number(precision);
        const digits = typeof precise === "number" ? precise : whole.includes(".") ? 0 : undefined;
        let value: string;
        if (letter === "s") value = cut(next(), digits);
        else if (letter === "c") value = next().slice(0, 1);
        else if (letter === "b") {
          const { text: plain, isLast } = plainOf(next());
          value = cut(plain, digits);
          isOver = isLast;
        } else value = formatInteger(integer(next()), letter, flags, digits);
        text += pad(value, wide, flags, !"scb".includes(letter) && digits === undefined);
        if (isOver) break;
      }
    }
    if (isOver) break;
    text += plainOf(format.slice(from), false).text;
    if (queue.length === before) break;
  } while (queue.length > 0);
  return { text, wrong };
}

function cut(text: string, length: number | undefined): string {
  return length === undefined ? text : text.slice(0, length);
}

function formatInteger(value: number, letter: string, flags: string, digits: number | undefined): string {
  const isSigned = letter === "d" || letter === "i";
  const positive = isSigned ? Math.abs(value) : value < 0 ? 2 ** 64 + value : value;
  const base = letter === "o" ? 8 : letter === "x" || letter === "X" ? 16 : 10;
  let text = positive.toString(base).padStart(digits ?? 0, "0");
  if (letter === "X") text = text.toUpperCase();
  if (flags.includes("#") && value !== 0 && base !== 10) text = (base === 8 ? "0" : `0${letter}`) + text;
  if (!isSigned) return text;
  return (value < 0 ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "") + text;
}

/** Widths are in bytes. */
function pad(text: string, width: number, flags: string, mayBeZeros: boolean): string {
  if (width === 0) return text;
  const isLeft = flags.includes("-") || width < 0;
  const missing = Math.abs(width) - encode(text).length;
  if (missing <= 0) return text;
  if (isLeft) return text + " ".repeat(missing);
  if (!mayBeZeros || !flags.includes("0")) return " ".repeat(missing) + text;
  const sign = /^(?:[-+ ]|0[xX])?/.exec(text)?.[0] ?? "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}

/** A time in UTC, by a format of strftime. */
export function formatTime(format: string, unixMs: number): string {
  const iso = new Date(unixMs).toISOString();
  const [day, time] = [iso.slice(0, 10), iso.slice(11, 19)];
  const fields: Readonly<Record<string, string>> = {
    F: day,
    T: time,
    Y: iso.slice(0, 4),
    m: iso.slice(5, 7),
    d: iso.slice(8, 10),
    H: iso.slice(11, 13),
    M: iso.slice(14, 16),
    S: iso.slice(17, 19),
    N: `${iso.slice(20, 23)}000000`,
    s: String(Math.floor(unixMs / 1000)),
    z: "+0000",
    Z: "UTC",
    "%": "%",
  };
  return format.replace(/%(.)/g, (whole, letter) => fields[letter] ?? whole);
}
