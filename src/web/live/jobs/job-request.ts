/** Reads the fields of the dialogs that submit and change jobs. Names of fields are those of the API. */
import type { Job } from "../../../protocol/answers.ts";
import type { UpdateBody } from "../../../protocol/requests.ts";
import { parseUse, useText } from "../../../protocol/resources.ts";
import { BEGIN_EXPECTED, beginTimeMs } from "../../../words/begin-time.ts";
import { LIMIT_EXPECTED, limitMsOf } from "../../../words/command-line.ts";
import { clockText, isoText } from "../../../words/times.ts";

/** Of all fields that both dialogs have, as they are when the dialog opens. */
export const NO_TEXTS = {
  name: "",
  tasks: "",
  threads: "",
  use: "",
  limitMs: "",
  queue: "",
  beginAtMs: "",
  retries: "",
  retryOn: "",
  retryDelayMs: "",
};
export type Texts = Readonly<Record<keyof typeof NO_TEXTS, string>>;

/** What the fields say about a job. */
export type JobTexts = Pick<Job, keyof Texts>;

/** A job as the fields of a dialog; a begin in the past is left out. */
export function textsOf(job: JobTexts, nowMs: number): Texts {
  const { name, tasks, threads, use, limitMs, queue, beginAtMs = 0 } = job;
  const { retries, retryOn = [], retryDelayMs } = job;
  return {
    ...{ name, queue },
    tasks: String(tasks),
    threads: String(threads ?? ""),
    use: use === undefined ? "" : useText(use),
    limitMs: durationText(limitMs),
    beginAtMs: beginAtMs > nowMs ? isoText(beginAtMs).replace(/\.\d+/, "") : "",
    retries: String(retries ?? ""),
    retryOn: retryOn.join(","),
    retryDelayMs: durationText(retryDelayMs),
  };
}

const UNITS = [
  [3_600_000, "h"],
  [60_000, "m"],
] as const;

/** As `--time` reads it: `90s`, `10m` or `2h`. */
export function durationText(ms: number | undefined): string {
  if (ms === undefined) return "";
  const [unitMs, unit] = UNITS.find(([each]) => ms % each === 0) ?? [1000, "s"];
  return ms / unitMs + unit;
}

/** What is wrong, by field; "": with the whole request. */
export type Problems = Readonly<Record<string, string>>;

/** A begin this long ago is a mistake. */
const PAST_MS = 60_000;

/** The fields that are filled in, and what is wrong with those that cannot be read. The API checks ranges. */
export function readTexts(
  texts: Texts,
  nowMs: number,
): { readonly request: UpdateBody; readonly problems: Problems } {
  const problems: Record<string, string> = {};
  const read = <Value>(name: keyof Texts, parse: (text: string) => Value | undefined, expected = "") => {
    const text = texts[name].trim();
    if (text === "") return {};
    const value = parse(text);
    if (value === undefined) problems[name] = `is "${text}", expected ${expected}`;
    return { [name]: value };
  };
  const begin = (text: string) => {
    const atMs = beginTimeMs(text, nowMs);
    if (atMs === undefined || atMs >= nowMs - PAST_MS) return atMs;
    problems.beginAtMs = `was ${clockText(atMs, nowMs)}, expected a time in the future`;
    return atMs;
  };
  const request: UpdateBody = {
    ...read("name", String),
    ...read("tasks", Number),
    ...read("threads", Number),
    ...read("use", parseUse, "names with numbers, such as gpu:1 or gpu:2,licence:1"),
    ...read("limitMs", limitMsOf, LIMIT_EXPECTED),
    ...read("queue", String),
    ...read("beginAtMs", begin, BEGIN_EXPECTED),
    ...read("retries", Number),
    ...read("retryOn", endsOf),
    ...read("retryDelayMs", limitMsOf, "a duration from 1s to 1d, such as 30s or 5m"),
  };
  return { request, problems };
}

/** `fail,75,sigbus` as the API reads it. */
function endsOf(text: string): string[] {
  return text.split(",").map((part) => {
    const word = part.trim();
    return /^sig/i.test(word) ? word.toUpperCase() : word;
  });
}

/** The words of a refusal, by the field that they name: `Cannot use the body: jobs[0].tasks: is 0, …`. */
export function problemsOf(message: string, names: readonly string[] = Object.keys(NO_TEXTS)): Problems {
  const found: Record<string, string> = {};
  const list = message.replace(/^Cannot use the body: /, "");
  for (const part of list.split(/; (?=(?:jobs\[0\]|update)\.)/)) {
    const [, name = "", text = ""] = /^(?:jobs\[0\]|update)\.(\w+)[^:]*: (.*)$/s.exec(part) ?? [];
    if (!names.includes(name)) return { "": message };
    found[name] ??= text;
  }
  return found;
}
