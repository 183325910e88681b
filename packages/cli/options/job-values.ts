/** Parses the values of a job's options. */
import { resolve } from "node:path";
import { parseArray } from "@tutti/protocol/array.ts";
import type { JobField, Kind } from "@tutti/protocol/job-fields.ts";
import {
  MAX_BEGIN_AHEAD_MS,
  MAX_DEPENDENCIES,
  MAX_HOOK_LENGTH,
  MAX_LIMIT_MS,
  MAX_NAME_LENGTH,
  MAX_PATH_LENGTH,
} from "@tutti/protocol/limits.ts";
import {
  areMailAddresses,
  isWebAddress,
  MAIL_ADDRESSES,
  NEWS_EVENTS,
  WARNING_SIGNALS,
} from "@tutti/protocol/news/news.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { BEGIN_EXPECTED, beginTimeMs } from "@tutti/words/begin-time.ts";
import { clockText } from "@tutti/words/times.ts";
import { InvalidArgumentError } from "commander";
import { UsageError } from "../errors.ts";
import { bytes, duration, integer, units } from "./parse.ts";
import { signalNamed } from "./signal-names.ts";

/** Stands for the newest job. */
export const LAST_JOB = 0;
/** How long before the limit a signal is sent if its option does not say so: as in Slurm. */
const DEFAULT_BEFORE_S = 60;

type Parser = (text: string, before: unknown) => unknown;

/** How options of each kind of field are read. Left out: the text is the value. */
const PARSERS: Readonly<Partial<Record<Kind, (row: JobField) => Parser>>> = {
  count: ({ min = 0, max }) => integer(min, max),
  bytes: () => bytes,
  duration: durationMs,
  time: () => beginTime,
  text: words,
  choice,
  ends: () => retryWords,
  names: () => names,
  use: () => units,
  dependencies: () => dependencies,
  indices: () => arrayIndices,
  url: () => webAddress,
  addresses: () => mailAddresses,
  events: () => newsEvents,
  signal: () => limitSignal,
  path: (row) => words({ ...row, max: MAX_PATH_LENGTH }),
  hook: (row) => words({ ...row, max: MAX_HOOK_LENGTH }),
  folder: () => (text) => resolve(text),
  environment: () => (text) => chooseEnvironment(text, process.env),
};

/** Reads the value of a field's option; undefined: it is as it is written. */
export function parserOf(row: JobField): Parser | undefined {
  return PARSERS[row.kind]?.(row);
}

/** A limit may be as short as one likes: the shortest limit there is is 1 ms. */
function durationMs({ min = 1, max = MAX_LIMIT_MS }: JobField): Parser {
  const read = min > 1 ? duration(min / 1000, max / 1000) : limitSeconds;
  return (text) => Math.max(1, Math.round(read(text) * 1000));
}

/** A bare number is seconds here, but minutes in Slurm. */
export const limitSeconds = duration("above zero", MAX_LIMIT_MS / 1000);

function beginTime(text: string): number {
  const nowMs = Date.now();
  const beginMs = beginTimeMs(text, nowMs);
  if (beginMs === undefined) throw new InvalidArgumentError(`expected ${BEGIN_EXPECTED}`);
  if (beginMs < nowMs - 60_000)
    throw new InvalidArgumentError(`it was ${clockText(beginMs)}, expected a time in the future`);
  if (beginMs - nowMs <= MAX_BEGIN_AHEAD_MS) return beginMs;
  throw new InvalidArgumentError(
    `it is ${clockText(beginMs)}, expected a time in the next ten years, such as ${BEGIN_EXPECTED}`,
  );
}

function words({ max = MAX_NAME_LENGTH }: JobField): Parser {
  return (text) => {
    const { length } = text;
    if (length >= 1 && length <= max) return text;
    throw new InvalidArgumentError(`it has ${length} characters, expected 1 to ${max} characters`);
  };
}

function choice({ choices = [] }: JobField): Parser {
  return (text) => {
    if (choices.includes(text)) return text;
    throw new InvalidArgumentError(`expected ${choices.join(" or ")}`);
  };
}

function arrayIndices(text: string): string {
  // The number of jobs is not known yet: a sweep may give it.
  const spec = parseArray(text, 1);
  if (typeof spec !== "string") return text;
  const [, why = spec] = /": (.*)$/.exec(spec) ?? [];
  throw new InvalidArgumentError(why);
}

function retryWords(text: string): NonNullable<SubmitJob["retryOn"]> {
  return text.split(",").map((part) => {
    const word = part.trim();
    if (word === "fail") return word;
    if (/^[1-9]\d{0,2}$/.test(word) && Number(word) <= 255) return word;
    const name = /^\d/.test(word) ? undefined : signalNamed(word);
    if (name !== undefined) return name;
    throw new InvalidArgumentError(
      `it names "${word}", expected fail, an exit code from 1 to 255 or a signal such as SIGBUS`,
    );
  });
}

/** May be repeated. */
function names(text: string, before: unknown): string[] {
  const more = text.split(",").map((part) => part.trim());
  if (more.includes("")) throw new InvalidArgumentError("Expected names separated by commas.");
  return [...((before as string[] | undefined) ?? []), ...more];
}

/** `last` has the number 0 until it is looked up. */
function dependencies(text: string): NonNullable<SubmitJob["after"]> {
  return text.split(",").flatMap((part) => {
    const [, how = "ok", first, last = first] =
      /^(?:(ok|any|notok|each):)?(last|[1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(part.trim()) ?? [];
    const kind = how === "notok" || how === "each" ? { kind: how as "notok" | "each" } : {};
    const to = (job: number) => ({ job, ok: how === "ok" || how === "each", ...kind });
    if (first === "last" && last === "last") return [to(LAST_JOB)];
    const count = Number(last) - Number(first) + 1;
    if (count >= 1 && count <= MAX_DEPENDENCIES) {
      return Array.from({ length: count }, (_, i) => to(Number(first) + i));
    }
    throw new InvalidArgumentError(
      `expected at most ${MAX_DEPENDENCIES} job numbers separated by commas, such as 12,13, 12-40, last, any:12, notok:12 or each:12`,
    );
  });
}

function webAddress(text: string): string {
  if (isWebAddress(text)) return text;
  throw new InvalidArgumentError("expected an address that begins with http:// or https://");
}

function mailAddresses(text: string): string {
  const addresses = text.replaceAll(/ *, */g, ",").trim();
  if (areMailAddresses(addresses)) return addresses;
  throw new InvalidArgumentError(`expected ${MAIL_ADDRESSES}`);
}

function newsEvents(text: string): NonNullable<SubmitJob["notify"]> {
  const events = text.split(",").map((word) => {
    const event = NEWS_EVENTS.find((one) => one === word.trim().toLowerCase());
    if (event !== undefined) return event;
    throw new InvalidArgumentError(`it names "${word}", expected start, end or fail, separated by commas`);
  });
  return [...new Set(events)];
}

/** Reads `[B:]SIGNAL[@SECONDS]`, as Slurm writes it: a name with or without SIG, or a number. */
function limitSignal(text: string): NonNullable<SubmitJob["limitSignal"]> {
  const [, batch, word = "", seconds = String(DEFAULT_BEFORE_S)] =
    /^(B:)?([A-Za-z0-9]+)(?:@(\d{1,9}))?$/i.exec(text.trim()) ?? [];
  const wanted = signalNamed(word);
  const name = WARNING_SIGNALS.find((one) => one === wanted);
  const beforeMs = Number(seconds) * 1000;
  if (name === undefined || beforeMs > MAX_LIMIT_MS) {
    throw new InvalidArgumentError(
      `expected a signal and seconds before the limit, such as USR1@30 or B:TERM@120; possible are ${WARNING_SIGNALS.map((one) => one.slice(3)).join(", ")}`,
    );
  }
  return { name, beforeMs, ...(batch !== undefined && { batchOnly: true }) };
}

/**
 * The environment that a job gets: `all`, `none`, names, `PREFIX*` and `NAME=value`, separated by commas. A
 * value alone does not include `all`.
 */
export function chooseEnvironment(spec: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const part of spec.split(",").filter((word) => word !== "")) {
    const equals = part.indexOf("=");
    if (equals === 0) throw new UsageError(`Cannot use "${part}" in --env: expected a name before =`);
    if (/\s/.test(part.slice(0, equals)))
      throw new UsageError(`Cannot use "${part}" in --env: its name has a blank, expected NAME=value`);
    if (equals > 0) {
      chosen[part.slice(0, equals)] = part.slice(equals + 1);
      continue;
    }
    if (part === "none") continue;
    const isChosen =
      part === "all"
        ? () => true
        : part.endsWith("*")
          ? (name: string) => name.startsWith(part.slice(0, -1))
          : (name: string) => name === part;
    for (const [name, value] of Object.entries(env)) {
      if (value !== undefined && name !== "" && isChosen(name)) chosen[name] = value;
    }
  }
  return chosen;
}
