/** Which jobs a verb is about: `7`, `3-9`, `7,9`, `last`, `all`, `state:failed`, `name:sim*`, `queue:short`, `@user`. */
import type { Client } from "../api/client.ts";
import type { Job, JobState } from "../api/contract.ts";
import { closest } from "../core/closest.ts";
import { NotFoundError, UsageError } from "./errors.ts";

export const SELECTOR_HELP =
  "7, 3-9, 7,9, last, all, state:failed, name:sim*, queue:short or @user; several add up";

export const ACTIVE: readonly JobState[] = ["queued", "held", "starting", "running", "ending"];
const STATES: readonly JobState[] = [...ACTIVE, "done", "failed", "cancelled"];

export type Selector =
  | { readonly kind: "numbers"; readonly first: number; readonly last: number }
  | { readonly kind: "last" }
  | { readonly kind: "matching"; readonly matches: (job: Job) => boolean };

/** @throws UsageError when the text is no selector */
export function parseSelector(text: string): Selector[] {
  return text.split(",").map((part) => parseOne(part, text));
}

/**
 * The numbers of the jobs meant, rising, each once. A single number is given back unseen: the request about it tells whether there is such a job.
 * @param among for selectors that match, and ranges: only jobs in these states
 * @throws UsageError, NotFoundError when a selector matches nothing
 */
export async function selectJobs(
  client: Client,
  words: readonly string[],
  among?: readonly JobState[],
): Promise<number[]> {
  const selectors = words.flatMap((word) => parseSelector(word).map((one) => ({ ...one, word })));
  const numbers = new Set<number>();
  let all: readonly Job[] | undefined;
  for (const selector of selectors) {
    if (selector.kind === "numbers" && selector.first === selector.last) {
      numbers.add(selector.first);
      continue;
    }
    all ??= (await client.jobs()).jobs;
    const found = chosen(selector, all, among);
    if (found.length === 0) {
      const what = among === undefined || selector.kind === "last" ? "no job" : noneText(among);
      throw new NotFoundError(
        `Cannot find a job for "${selector.word}": ${what} matches; tutti jobs --all lists them`,
      );
    }
    for (const { job } of found) numbers.add(job);
  }
  return [...numbers].sort((a, b) => a - b);
}

/** Whether the words name this job by its number: what cannot be done with it is then told. */
export function isNamed(job: number, words: readonly string[]): boolean {
  return words
    .flatMap(parseSelector)
    .some((one) => one.kind === "numbers" && one.first === job && one.last === job);
}

function noneText(among: readonly JobState[]): string {
  return among.length === ACTIVE.length
    ? "no job that waits or runs"
    : `no job that is ${among.join(" or ")}`;
}

function chosen(selector: Selector, all: readonly Job[], among?: readonly JobState[]): readonly Job[] {
  if (selector.kind === "last") return all.slice(-1);
  const matches =
    selector.kind === "matching"
      ? selector.matches
      : ({ job }: Job) => job >= selector.first && job <= selector.last;
  return all.filter((job) => matches(job) && (among?.includes(job.state) ?? true));
}

function parseOne(part: string, whole: string): Selector {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
  if (first !== undefined) {
    if (Number(last) >= Number(first)) return { kind: "numbers", first: Number(first), last: Number(last) };
    throw new UsageError(`Cannot use the selector "${whole}": ${first} is after ${last}, expected it before`);
  }
  if (part === "last") return { kind: "last" };
  if (part === "all") return { kind: "matching", matches: () => true };
  const [, key = "", value = ""] = /^(state:|name:|queue:|@)(.+)$/s.exec(part) ?? [];
  switch (key) {
    case "state:":
      if (!(STATES as readonly string[]).includes(value)) {
        throw new UsageError(
          `Cannot use the state "${value}"${closest(value, STATES)}: expected one of ${STATES.join(", ")}`,
        );
      }
      return { kind: "matching", matches: ({ state }) => state === value };
    case "name:": {
      const pattern = globPattern(value);
      return { kind: "matching", matches: ({ name }) => pattern.test(name) };
    }
    case "queue:":
      return { kind: "matching", matches: ({ queue }) => queue === value };
    case "@":
      return { kind: "matching", matches: ({ user }) => user === value };
    default:
      throw new UsageError(`Cannot use the selector "${whole}": expected ${SELECTOR_HELP}`);
  }
}

/** `*` for anything, everything else for itself. Neighbouring stars are one, so that matching takes no long search. */
function globPattern(glob: string): RegExp {
  const parts = glob.split(/\*+/).map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*?")}$`, "su");
}
