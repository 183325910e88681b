/** A question of what would happen: its fields in the address, as a request, and as a command line. */
import { MAX_TASKS } from "@tutti/protocol/limits.ts";
import type { WhatIfBody } from "@tutti/protocol/requests.ts";
import { parseUse, type Use } from "@tutti/protocol/resources.ts";
import { LIMIT_EXPECTED, limitMsOf, quoted } from "@tutti/words/command-line.ts";

/** As the user typed them; empty if they change nothing. */
export interface Fields {
  /** Tasks of a job that might be submitted. */
  readonly tasks: string;
  /** CPUs of each task. */
  readonly threads: string;
  /** Units of countable resources, such as `gpu:1`. */
  readonly use: string;
  readonly limit: string;
  readonly queue: string;
  /** Number of CPUs that are taken away. */
  readonly without: string;
  readonly policy: string;
}

export const NO_FIELDS: Fields = {
  tasks: "",
  threads: "",
  use: "",
  limit: "",
  queue: "",
  without: "",
  policy: "",
};

export function readFields(query: Readonly<Record<string, string>>): Fields {
  const { tasks = "", threads = "", use = "", limit = "", queue = "", without = "", policy = "" } = query;
  const names = { use: printable(use), queue: printable(queue), policy: printable(policy) };
  return { tasks, threads, limit, without, ...names };
}

/** A link could put control characters into the command line that people copy into a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "");
}

/** The request; undefined if nothing is changed. @throws RangeError saying which field cannot be read */
export function bodyOf(fields: Fields): WhatIfBody | undefined {
  const { tasks, threads, use, limit, queue, without, policy } = fields;
  const hasJob = [tasks, threads, use.trim(), limit, queue].some((field) => field !== "");
  const body: WhatIfBody = {
    ...(policy.trim() !== "" && { policies: [policy.trim()] }),
    ...(hasJob && {
      jobs: [
        {
          ...(tasks !== "" && { tasks: wholeNumber(tasks, "The number of tasks of the job") }),
          ...(threads !== "" && { threads: wholeNumber(threads, "The number of threads of a task") }),
          ...(use.trim() !== "" && { use: unitsOf(use) }),
          ...(limit.trim() !== "" && { limitMs: limitOf(limit) }),
          ...(queue !== "" && { queue }),
        },
      ],
    }),
    ...(without !== "" && { withoutCpus: wholeNumber(without, "The number of CPUs to take away") }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function wholeNumber(text: string, name: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_TASKS) return value;
  throw new RangeError(`${name} is "${text}": write a whole number from 1 to ${MAX_TASKS}.`);
}

function unitsOf(text: string): Use {
  const use = parseUse(text);
  if (use !== undefined) return use;
  throw new RangeError(
    `The resources are "${text}": write names with numbers, such as gpu:1 or gpu:2,licence:1.`,
  );
}

function limitOf(text: string): number {
  const ms = limitMsOf(text);
  if (ms !== undefined) return ms;
  throw new RangeError(`The limit is "${text}": write ${LIMIT_EXPECTED}.`);
}

/** The job as options of `tutti submit`; empty if the question has none. */
export function jobOptions({ tasks, threads, use, limit, queue }: Fields): string {
  const words = [
    ...(tasks === "" ? [] : ["-n", tasks]),
    ...(threads === "" ? [] : ["-c", threads]),
    ...(use.trim() === "" ? [] : ["--use", use.replaceAll(/\s/g, "")]),
    ...(limit.trim() === "" ? [] : ["--time", limitWord(limit)]),
    ...(queue === "" ? [] : ["--queue", queue]),
  ];
  return words.map(quoted).join(" ");
}

/** A number alone means seconds here, but people who know Slurm would read minutes: the unit is written. */
function limitWord(limit: string): string {
  const word = limit.replaceAll(/\s/g, "");
  return /\d$/.test(word) ? `${word}s` : word;
}

/** The same question for a terminal. */
export function whatIfLine(fields: Fields): string {
  const { policy, without } = fields;
  const options = jobOptions(fields);
  const words = [
    ...["tutti", "whatif"],
    ...(policy.trim() === "" ? [] : [policy.trim()]),
    ...(options === "" ? [] : ["--job", options]),
    ...(without === "" ? [] : ["--without-cpus", without]),
  ];
  return words.map(quoted).join(" ");
}

/** Submits the job of the question from a terminal. */
export function submitLine(fields: Fields): string {
  return `tutti submit ${jobOptions(fields)} -- COMMAND`;
}
