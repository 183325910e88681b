/** A question of what would happen: its fields in the address, as a request, and as a command line. */
import type { WhatIfBody } from "../../../protocol/requests.ts";
import { quoted, secondsOf } from "../../../words/command-line.ts";

/** As the user typed them; empty if they change nothing. */
export interface Fields {
  /** CPUs of a job that might be submitted. */
  readonly tasks: string;
  readonly limit: string;
  readonly queue: string;
  /** Number of CPUs that are taken away. */
  readonly without: string;
  readonly policy: string;
}

export const NO_FIELDS: Fields = { tasks: "", limit: "", queue: "", without: "", policy: "" };

export function readFields(query: Readonly<Record<string, string>>): Fields {
  const { tasks = "", limit = "", queue = "", without = "", policy = "" } = query;
  return { tasks, limit, queue: printable(queue), without, policy: printable(policy) };
}

/** A link could put control characters into the command line that people copy into a terminal. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "");
}

/** The request; undefined if nothing is changed. @throws RangeError saying which field cannot be read */
export function bodyOf({ tasks, limit, queue, without, policy }: Fields): WhatIfBody | undefined {
  const hasJob = tasks !== "" || limit !== "" || queue !== "";
  const body: WhatIfBody = {
    ...(policy.trim() !== "" && { policies: [policy.trim()] }),
    ...(hasJob && {
      jobs: [
        {
          ...(tasks !== "" && { tasks: wholeNumber(tasks, "The number of CPUs of the job") }),
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
  if (Number.isInteger(value) && value >= 1) return value;
  throw new RangeError(`${name} is "${text}": write a whole number of at least 1.`);
}

function limitOf(text: string): number {
  const ms = Math.round(secondsOf(text) * 1000);
  if (ms >= 1) return ms;
  throw new RangeError(`The limit is "${text}": write a duration such as 90s, 10m or 2h.`);
}

/** The job as options of `tutti submit`; empty if the question has none. */
export function jobOptions({ tasks, limit, queue }: Fields): string {
  const words = [
    ...(tasks === "" ? [] : ["-n", tasks]),
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
