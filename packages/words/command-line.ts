/** Writes and reads the words of a command line. */
import { MAX_LIMIT_MS } from "@tutti/protocol/limits.ts";
import { slurmSeconds } from "@tutti/protocol/slurm-time.ts";

/** A word, with quotes if a shell needs them. */
export function quoted(word: string): string {
  return /^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The words of a line, as a shell splits it: at spaces outside of quotes. Nothing is expanded. Undefined if a
 * quote or a backslash is left open.
 */
export function wordsOf(line: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (quote !== "") {
      if (character === quote) quote = "";
      else if (quote === '"' && character === "\\" && /["\\$`]/.test(line[i + 1] ?? "")) word += line[++i];
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (character === "\\") {
      if (i + 1 === line.length) return undefined;
      word = (word ?? "") + line[++i];
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== "") return undefined;
  return word === undefined ? words : [...words, word];
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  m: 60,
  min: 60,
  h: 3600,
  d: 86400,
};

/** Seconds of 90, 90s, 1.5m, 2h, 1d, 500ms; NaN for anything else. */
export function secondsOf(text: string): number {
  const [, digits, unit = "s"] = /^(\d+\.?\d*|\.\d+)\s*(ms|s|m|min|h|d)?$/.exec(text.trim()) ?? [];
  return Number(digits) * SECONDS_PER_UNIT[unit];
}

/** Seconds of a duration with a unit, or with a colon or a dash, as Slurm writes it; NaN for others. */
export function durationSeconds(text: string): number {
  return /[:-]/.test(text) ? (slurmSeconds(text.trim()) ?? Number.NaN) : secondsOf(text);
}

/** What people may write as a limit on running time. */
export const LIMIT_EXPECTED = `a duration from 1ms to ${MAX_LIMIT_MS / 86_400_000}d, such as 90s, 10m or 2h`;

/** Milliseconds of a limit; undefined if it is not a duration in this range. */
export function limitMsOf(text: string): number | undefined {
  const ms = Math.round(durationSeconds(text) * 1000);
  return ms >= 1 && ms <= MAX_LIMIT_MS ? ms : undefined;
}
