/**
 * Parses the ways to select jobs on the command line: `7`, `3-9`, `7,9`, `last`, `all`, `state:failed`,
 * `name:sim*`, `queue:short`, `@user`.
 */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import { FILTERS, JOB_FIELDS } from "@tutti/protocol/job-fields.ts";
import type { MissingJobs } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES, ENDED_STATES, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { NotFoundError, UsageError } from "../errors.ts";
import { hint } from "../text/text.ts";
import { type AskedJobs, jobPages, missingText } from "./job-lists.ts";

export const SELECTOR_HELP =
  "one or several: 7 | 3-9 | 7,9 | last | all | state:failed | name:sim* | queue:short | @user";

/** Number of ended jobs, the newest ones, that `all` selects. Every other selector searches all kept jobs. */
const LISTED_ENDED = 1000;

type Selector =
  | { readonly kind: "numbers"; readonly first: number; readonly last: number }
  | { readonly kind: "last" }
  | { readonly kind: "all" }
  | { readonly kind: "matching"; readonly asked: AskedJobs };

export interface Selection {
  /** Rising, without duplicates. */
  readonly numbers: readonly number[];
  /** Numbers in ranges that have no job. Empty if only jobs in certain states were selected. */
  readonly missing: readonly MissingJobs[];
}

/** @throws UsageError when the text is not a selector */
export function parseSelector(text: string): Selector[] {
  return text.split(",").map((part) => parseOne(part, text));
}

/**
 * The selected jobs. A single number is returned unchecked: the request about it will say whether the job
 * exists.
 * @param among patterns and ranges select only jobs in these states
 * @throws UsageError, NotFoundError when a selector matches nothing
 */
export async function select(
  client: Client,
  words: readonly string[],
  among?: readonly JobState[],
): Promise<Selection> {
  const selectors = words.flatMap((word) => parseSelector(word).map((selector) => ({ ...selector, word })));
  const numbers = new Set<number>();
  const missing: MissingJobs[] = [];
  for (const selector of selectors) {
    if (selector.kind === "numbers" && selector.first === selector.last) {
      numbers.add(selector.first);
      continue;
    }
    const gaps: MissingJobs[] = [];
    let matches = 0;
    for (const asked of listsOf(selector, among)) {
      for await (const page of jobPages(client, asked)) {
        matches += page.jobs.length;
        for (const { job } of page.jobs) numbers.add(job);
        if (among === undefined) gaps.push(...page.missing);
      }
    }
    if (matches === 0) throw new NotFoundError(nothingFoundText(selector, gaps, among));
    missing.push(...gaps);
  }
  return { numbers: [...numbers].sort((a, b) => a - b), missing };
}

/** The numbers of the selected jobs. Reports on standard error which numbers of ranges have no job. */
export async function selectJobs(
  client: Client,
  words: readonly string[],
  among?: readonly JobState[],
): Promise<readonly number[]> {
  const { numbers, missing } = await select(client, words, among);
  if (missing.length > 0) hint(`tutti: ${missingText(missing)}`);
  return numbers;
}

/**
 * Jobs that are selected by a single number. If a command cannot handle one of these jobs, that is an error.
 */
export function namedJobs(words: readonly string[]): ReadonlySet<number> {
  const selectors = words.flatMap(parseSelector);
  return new Set(
    selectors.flatMap((selector) =>
      selector.kind === "numbers" && selector.first === selector.last ? [selector.first] : [],
    ),
  );
}

/** The lists to ask the scheduler for. */
function listsOf(selector: Selector, among: readonly JobState[] | undefined): AskedJobs[] {
  const states = among === undefined ? {} : { states: among };
  switch (selector.kind) {
    case "numbers":
      return [{ numbers: [{ first: Math.max(1, selector.first), last: selector.last }], ...states }];
    case "last":
      return [{ last: 1 }];
    case "all":
      // Active jobs first: then a job that ends between the two requests is in both answers and not lost.
      return among === undefined
        ? [{ states: ACTIVE_STATES }, { states: ENDED_STATES, last: LISTED_ENDED }]
        : [states];
    case "matching": {
      const { asked } = selector;
      if (asked.states === undefined || among === undefined) return [{ ...states, ...asked }];
      const both = asked.states.filter((state) => among.includes(state));
      return both.length === 0 ? [] : [{ ...asked, states: both }];
    }
  }
}

function nothingFoundText(
  selector: Selector & { readonly word: string },
  missing: readonly MissingJobs[],
  among: readonly JobState[] | undefined,
): string {
  if (missing.length > 0) return `Cannot find a job for "${selector.word}": ${missingText(missing)}`;
  const what =
    among === undefined || selector.kind === "last"
      ? "no job"
      : among.length === ACTIVE_STATES.length
        ? "no waiting or running job"
        : `no job that is ${among.join(" or ")}`;
  return `Cannot find a job for "${selector.word}": ${what} matches; tutti jobs --all lists all jobs`;
}

function parseOne(part: string, whole: string): Selector {
  const [, first, last = first] = /^0*([1-9]\d{0,14})(?:-(\d{1,15}))?$/.exec(part) ?? [];
  if (first !== undefined) {
    if (Number(last) >= Number(first)) return { kind: "numbers", first: Number(first), last: Number(last) };
    throw new UsageError(
      `Cannot use the selector "${whole}": ${first} is greater than ${last}, expected the smaller number first`,
    );
  }
  if (part === "last") return { kind: "last" };
  if (part === "all") return { kind: "all" };
  const [, state] = /^state:(.+)$/s.exec(part) ?? [];
  if (state !== undefined) {
    if ((JOB_STATES as readonly string[]).includes(state))
      return { kind: "matching", asked: { states: [state as JobState] } };
    throw new UsageError(
      `Cannot use the state "${state}"${closest(state, JOB_STATES)}: expected one of ${JOB_STATES.join(", ")}`,
    );
  }
  for (const name of FILTERS) {
    const [prefix] = JOB_FIELDS[name].filter;
    if (part.startsWith(prefix) && part !== prefix)
      return { kind: "matching", asked: { [name]: part.slice(prefix.length) } };
  }
  throw new UsageError(`Cannot use the selector "${whole}": expected ${SELECTOR_HELP}`);
}
