/** What `tutti top` knows of the scheduler, and what it shows of it. */
import { matchesGlob } from "@tutti/kernel/core/glob.ts";
import type { Job, MatrixAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import type { JobLine } from "../text/job-columns.ts";
import { JobLines } from "../text/job-text.ts";

export interface World {
  readonly status: StatusAnswer;
  readonly matrix: MatrixAnswer;
  /** When the matrix arrived, on the clock of `performance.now()`. */
  readonly matrixAtMs: number;
  readonly jobs: ReadonlyMap<number, Job>;
}

/** Running jobs first, then waiting ones, then ended ones, the last end first. */
export function linesOf(jobs: Iterable<Job>, filter: string): JobLine[] {
  const words = filter.split(/\s+/).filter((word) => word !== "");
  const matching = [...jobs].filter((job) => words.every((word) => matches(job, word)));
  const active = new JobLines(Number.POSITIVE_INFINITY);
  for (const job of matching.filter(({ state }) => !isEnded(state)).sort((a, b) => a.job - b.job))
    active.add(job);
  const ended = matching.filter(({ state }) => isEnded(state));
  ended.sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0) || b.job - a.job);
  return [...active.shown().lines, ...ended];
}

/** Whether a word of the filter selects a job: a selector, or a part of the name. */
function matches({ job, name, state, queue, user }: Job, word: string): boolean {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(word) ?? [];
  if (first !== undefined) return job >= Number(first) && job <= Number(last);
  const [, key = "", value = ""] = /^(state:|name:|queue:|@)(.+)$/s.exec(word) ?? [];
  switch (key) {
    case "state:":
      return state.startsWith(value);
    case "name:":
      return matchesGlob(name, value);
    case "queue:":
      return queue === value;
    case "@":
      return user === value;
    default:
      return name.toLowerCase().includes(word.toLowerCase());
  }
}
