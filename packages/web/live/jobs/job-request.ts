/** Reads the fields of the dialogs that submit and change jobs. Names of fields are those of the API. */
import type { Job } from "@tutti/protocol/answers.ts";
import { fieldsWith, JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import type { UpdateBody } from "@tutti/protocol/requests.ts";
import { parseUse } from "@tutti/protocol/resources.ts";
import { BEGIN_EXPECTED, beginTimeMs } from "@tutti/words/begin-time.ts";
import { LIMIT_EXPECTED, limitMsOf } from "@tutti/words/command-line.ts";
import { optionText } from "@tutti/words/job-fields.ts";
import { clockText } from "@tutti/words/times.ts";

export const FORM_FIELDS = fieldsWith("form");
type FormField = (typeof FORM_FIELDS)[number];
/** Of all fields that both dialogs have. */
export type Texts = Readonly<Record<FormField, string>>;
/** As they are when the dialog opens. */
export const NO_TEXTS = Object.fromEntries(FORM_FIELDS.map((field) => [field, ""])) as Texts;

/** What the fields say about a job. */
export type JobTexts = Pick<Job, FormField>;

/** A job as the fields of a dialog; a begin in the past is left out. */
export function textsOf(job: JobTexts, nowMs: number): Texts {
  const { beginAtMs = 0 } = job;
  const now = beginAtMs > nowMs ? job : { ...job, beginAtMs: undefined };
  const texts = FORM_FIELDS.map((field) => {
    const { [field]: value } = now;
    return [field, value === undefined ? "" : optionText(field, value)];
  });
  return Object.fromEntries(texts);
}

/** What is wrong, by field; "": with the whole request. */
export type Problems = Readonly<Record<string, string>>;

/** A begin this long ago is a mistake. */
const PAST_MS = 60_000;

/** How fields of each kind are read, and what is expected if that gives nothing. */
const READERS: Readonly<
  Record<
    (typeof JOB_FIELDS)[FormField]["kind"],
    readonly [read: (text: string, nowMs: number) => unknown, expected: string]
  >
> = {
  count: [Number, ""],
  text: [String, ""],
  duration: [limitMsOf, LIMIT_EXPECTED],
  time: [beginTimeMs, BEGIN_EXPECTED],
  use: [parseUse, "names with numbers, such as gpu:1 or gpu:2,licence:1"],
  ends: [endsOf, ""],
  path: [String, ""],
  names: [namesOf, ""],
};

/** The fields that are filled in, and what is wrong with those that cannot be read. The API checks ranges. */
export function readTexts(
  texts: Texts,
  nowMs: number,
): { readonly request: UpdateBody; readonly problems: Problems } {
  const problems: Record<string, string> = {};
  const request: Record<string, unknown> = {};
  for (const field of FORM_FIELDS) {
    const text = texts[field].trim();
    if (text === "") continue;
    const { kind } = JOB_FIELDS[field];
    const [read, expected] = READERS[kind];
    const value = read(text, nowMs);
    request[field] = value;
    if (value === undefined) problems[field] = `is "${text}", expected ${expected}`;
    else if (kind === "time" && (value as number) < nowMs - PAST_MS)
      problems[field] = `was ${clockText(value as number, nowMs)}, expected a time in the future`;
  }
  return { request, problems };
}

/** `fail,75,sigbus` as the API reads it. */
function endsOf(text: string): string[] {
  return text.split(",").map((part) => {
    const word = part.trim();
    return /^sig/i.test(word) ? word.toUpperCase() : word;
  });
}

function namesOf(text: string): string[] {
  return text.split(",").map((part) => part.trim());
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
