/** Parses the values of options: turns text into checked numbers, with units. */

import { limitText } from "@tutti/kernel/core/format.ts";
import { MAX_LOAD } from "@tutti/kernel/workload/scale.ts";
import { parseSizeFrom } from "@tutti/kernel/workload/traces/size-from.ts";
import { parseUse, type Use, useText, whyNoUse } from "@tutti/protocol/resources.ts";
import { durationSeconds } from "@tutti/words/command-line.ts";
import { InvalidArgumentError } from "commander";

/** An option's parser for whole numbers in a range. */
export function integer(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    const range =
      max === Number.MAX_SAFE_INTEGER && !(value > max) ? `${min} or more` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`expected an integer, ${range}`);
  };
}

export const processors = integer(1, 2 ** 31 - 1);

/** Bytes of 512M, 2G, 1.5T; powers of 1024. */
export function bytes(text: string): number {
  const [, digits, unit = ""] = /^(\d+\.?\d*)\s*([KMGT])i?B?$/i.exec(text.trim()) ?? [];
  const value = Math.round(Number(digits) * 1024 ** " KMGT".indexOf(unit.toUpperCase()));
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("expected a size with a unit, such as 512M or 2G, at most 8191T");
}

/** Of `gpu:2,licence`; the option may be repeated. */
export function units(text: string, before: unknown): Use {
  const all = before === undefined ? text : `${useText(before as Use)},${text}`;
  const use = parseUse(all);
  if (use !== undefined) return use;
  throw new InvalidArgumentError(
    `${whyNoUse(all)}, expected resources with their numbers of units, such as gpu:1 or gpu:2,licence:1`,
  );
}

/** Where in a trace sizes are; undefined for the usual place. */
export function sizeFrom(text: string): string | undefined {
  try {
    return parseSizeFrom(text) === undefined ? undefined : text;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message.replace(/^Cannot .*?: /s, ""));
  }
}

/** A share of the jobs: 0.1 or 10%. */
export function share(text: string): number {
  const percent = /^([\d.]+)\s*%$/.exec(text.trim())?.[1];
  const value =
    percent === undefined ? (text.trim() === "" ? Number.NaN : Number(text)) : Number(percent) / 100;
  if (value >= 0 && value < 1) return value;
  throw new InvalidArgumentError("expected a share of the jobs, such as 0.1 or 10%, below 1");
}

/** About 30 years; anything longer is a typing error. */
const MAX_S = 10_950 * 86_400;

/**
 * An option's parser for durations: 90, 90s, 1.5m, 2h, 1d, 500ms, 1:30:00. The result is in seconds.
 * @param maxS the longest accepted duration in seconds
 * @param min if this is a number, it is the shortest accepted duration in seconds
 */
export function duration(
  min: "zero" | "above zero" | number,
  maxS: number = MAX_S,
): (text: string) => number {
  const range =
    min === "zero"
      ? " of 0 s or more"
      : min === "above zero"
        ? " above 0"
        : ` of at least ${min < 1 ? `${min} s` : limitText(min * 1000)}`;
  return (text) => {
    const value = durationSeconds(text);
    const isLong = min === "zero" ? value >= 0 : min === "above zero" ? value > 0 : value >= min;
    if (isLong && value <= maxS) return value;
    const limit = value > maxS ? `, at most ${limitText(maxS * 1000)}` : "";
    throw new InvalidArgumentError(
      `expected a duration${range}, such as 90, 90s, 1.5m, 2h or 1:30:00${limit}`,
    );
  };
}

/** The estimate that a policy sees for a job without one: the job's run time, or this duration. */
export function missingEstimate(text: string): "run" | { readonly seconds: number } {
  if (text === "run") return "run";
  try {
    return { seconds: duration("above zero")(text) };
  } catch {
    throw new InvalidArgumentError("expected run, or a duration above 0 such as 3600, 90m or 1h");
  }
}

export function positive(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value > 0 && value < Number.POSITIVE_INFINITY) return value;
  throw new InvalidArgumentError("expected a number above 0");
}

/** An offered load to which arrivals are scaled. */
export function load(text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (value > 0 && value <= MAX_LOAD) return value;
  throw new InvalidArgumentError(`expected a number above 0, at most ${MAX_LOAD}; 1 fills the machine`);
}

/**
 * A list separated by commas. A repeated option adds to the list. A number belongs to the word before it, as
 * in `phases-lock:groups=8,4,4`.
 */
export function list(text: string, before: readonly string[] | undefined): readonly string[] {
  const words: string[] = [];
  for (const word of text.split(",").map((one) => one.trim())) {
    if (word === "") continue;
    if (/^\d[\d.]*(?::|$)/.test(word) && words.at(-1)?.includes("=")) words.push(`${words.pop()},${word}`);
    else words.push(word);
  }
  if (words.length === 0) throw new InvalidArgumentError("expected at least one name");
  return [...(before ?? []), ...words];
}
