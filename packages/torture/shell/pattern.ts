/** Patterns of the shell: * ? [a-z] [!a-z]; a backslash makes the next character ordinary. */

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

export function hasPattern(pattern: string): boolean {
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    if (character === "\\") i++;
    else if (character === "*" || character === "?" || character === "[") return true;
  }
  return false;
}

/** The text that stands for itself as a pattern. */
export function escapePattern(text: string): string {
  return /[*?[\]\\!^-]/.test(text) ? text.replace(/[*?[\]\\!^-]/g, "\\$&") : text;
}

/** The only text that a pattern without special characters matches. */
export function unescapePattern(pattern: string): string {
  return pattern.includes("\\") ? pattern.replace(/\\(.)/gs, "$1") : pattern;
}

export function matches(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let starAt = 0;
  while (t < text.length) {
    const next = p < pattern.length ? matchOne(pattern, p, text[t]) : -1;
    if (pattern[p] === "*") {
      star = ++p;
      starAt = t;
    } else if (next >= 0) {
      p = next;
      t++;
    } else if (star >= 0) {
      p = star;
      t = ++starAt;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p >= pattern.length;
}

/** @returns where the pattern continues behind what matches one character; −1: it does not match */
function matchOne(pattern: string, at: number, character: string): number {
  const first = pattern[at];
  if (first === "?") return at + 1;
  if (first === "\\" && at + 1 < pattern.length) return pattern[at + 1] === character ? at + 2 : -1;
  if (first === "[") {
    const end = matchSet(pattern, at, character);
    if (end !== undefined) return end;
  }
  return first === character ? at + 1 : -1;
}

/** As matchOne; undefined if the bracket is not closed. */
function matchSet(pattern: string, at: number, character: string): number | undefined {
  let i = at + 1;
  const isNegated = pattern[i] === "!" || pattern[i] === "^";
  if (isNegated) i++;
  let isIn = false;
  for (let isFirst = true; ; isFirst = false) {
    if (i >= pattern.length) return undefined;
    if (pattern[i] === "]" && !isFirst) break;
    if (pattern.startsWith("[:", i)) {
      const end = pattern.indexOf(":]", i + 2);
      const isClass = end < 0 ? undefined : CLASSES[pattern.slice(i + 2, end)];
      if (isClass !== undefined) {
        isIn ||= isClass.test(character);
        i = end + 2;
        continue;
      }
    }
    if (pattern[i] === "\\" && i + 1 < pattern.length) i++;
    const low = pattern[i++];
    let high = low;
    if (pattern[i] === "-" && pattern[i + 1] !== "]" && i + 1 < pattern.length) {
      i++;
      if (pattern[i] === "\\" && i + 1 < pattern.length) i++;
      high = pattern[i++];
    }
    isIn ||= low <= character && character <= high;
  }
  return isIn !== isNegated ? i + 1 : -1;
}

/**
 * Removes what the pattern matches.
 * @param operator # or ## from the beginning, % or %% from the end; twice: as much as possible
 */
export function trim(value: string, pattern: string, operator: string): string {
  const isLongest = operator.length === 2;
  const isFront = operator[0] === "#";
  // One star at the open side, as in ${path##*/}, is what scripts have, and long texts would take their time.
  const open = isFront ? pattern[0] === "*" : pattern.endsWith("*") && pattern.at(-2) !== "\\";
  const rest = !open ? pattern : isFront ? pattern.slice(1) : pattern.slice(0, -1);
  if (!hasPattern(rest)) return trimText(value, unescapePattern(rest), isFront, open, isLongest);
  for (let i = 0; i <= value.length; i++) {
    const length = isLongest ? value.length - i : i;
    const at = isFront ? length : value.length - length;
    const cut = isFront ? value.slice(0, at) : value.slice(at);
    if (matches(pattern, cut)) return isFront ? value.slice(at) : value.slice(0, at);
  }
  return value;
}

function trimText(value: string, text: string, isFront: boolean, open: boolean, isLongest: boolean): string {
  if (!open) {
    if (isFront) return value.startsWith(text) ? value.slice(text.length) : value;
    return value.endsWith(text) ? value.slice(0, value.length - text.length) : value;
  }
  const at = isFront === isLongest ? value.lastIndexOf(text) : value.indexOf(text);
  if (at < 0) return value;
  return isFront ? value.slice(at + text.length) : value.slice(0, at);
}
