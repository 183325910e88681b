/** What the page Now says about the scheduler, as text from its answers. */

import { formatDuration, plural } from "@tutti/kernel/core/format.ts";
import type { Event, Job, MatrixAnswer, StatusAnswer } from "@tutti/protocol/answers.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { eventSentence } from "@tutti/words/event-sentences.ts";
import { jobName, outcomeText } from "@tutti/words/jobs.ts";
import { nodeWarnings } from "@tutti/words/status.ts";
import { visibleLine } from "@tutti/words/visible.ts";

/** If more than one slot in a hundred begins later than this share of a slot, gangs lose time. */
const LATE_SHARE = 0.25;

/** The new policy takes over in the same cycle. */
const SWITCH_MS = 1000;

/** What is wrong, each with what to do; empty if nothing is. */
export function troublesOf(status: StatusAnswer, matrix: MatrixAnswer | undefined): string[] {
  const { trouble, conductor, strays = [], nodes = [] } = status;
  const { connected, silentMs, lateP99Ms = 0 } = conductor;
  // On a cluster without nodes, `trouble` says why, or no job waits for any.
  const hasNodes = status.nodes?.length !== 0;
  const found: string[] = [];
  if (trouble !== undefined)
    found.push(`${visibleLine(trouble)}. Running jobs go on. Mend it; the scheduler tries again by itself.`);
  if (!connected && hasNodes)
    found.push(
      "The conductor is not connected: nothing starts or ends until it is. Running gangs go on. If this lasts longer than a minute, run: tutti doctor",
    );
  else if (silentMs !== undefined)
    found.push(
      `The conductor has not answered for ${formatDuration(silentMs / 1000)}: nothing starts or ends until it does. If it does not return, run: tutti doctor`,
    );
  if (matrix?.sharing === "time" && lateP99Ms > LATE_SHARE * matrix.slotMs)
    found.push(
      `One slot in a hundred begins at least ${lateP99Ms.toFixed(0)} ms late, and a slot lasts ${matrix.slotMs} ms. Gangs lose this time. Use longer slots (--slot), or keep other programs away from these CPUs.`,
    );
  found.push(...nodeWarnings(nodes));
  if (strays.length > 0)
    found.push(
      `${plural(strays.length, "attempt")} ${strays.length === 1 ? "runs" : "run"} without a record in the store. To end the first one, run: tutti cancel ${strays[0].job}`,
    );
  return found;
}

/** The longest time that a queued job has waited, in ms; undefined if no job is queued. */
export function longestWaitMs(jobs: Iterable<Job>, nowMs: number): number | undefined {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const { state, submittedAtMs } of jobs)
    if (state === "queued" && submittedAtMs < earliestMs) earliestMs = submittedAtMs;
  return Number.isFinite(earliestMs) ? Math.max(0, nowMs - earliestMs) : undefined;
}

/** Something that happened. */
interface Happening {
  readonly atMs: number;
  readonly text: string;
  readonly job: number | undefined;
  /** Of two things at the same time, the later one is larger. */
  readonly order: number;
}

/**
 * The last things that happened, newest first: what jobs say about themselves, also for the time before the
 * page was opened, and the events that people understand.
 */
export function lastHappenings(
  jobs: ReadonlyMap<number, Job>,
  events: readonly Event[],
  count: number,
): Happening[] {
  const found = new Newest(count);
  const arrays = new Map<number, { readonly first: Job; last: number }>();
  for (const job of jobs.values()) {
    const { submittedAtMs, startedAtMs, endedAtMs, array } = job;
    const name = nameOf(job);
    const add = (atMs: number | undefined, order: number, text: () => string) => {
      if (atMs !== undefined && found.takes(atMs)) found.add({ atMs, text: text(), job: job.job, order });
    };
    const again = job.repeats === undefined ? "" : `: it runs job ${job.repeats} again`;
    if (array === undefined || again !== "")
      add(submittedAtMs, 0, () => `${name} of ${visibleLine(job.user)} submitted${again}`);
    else {
      const known = arrays.get(array);
      if (known === undefined || job.job < known.first.job)
        arrays.set(array, { first: job, last: known?.last ?? job.job });
      else known.last = Math.max(known.last, job.job);
    }
    add(startedAtMs, 1, () => `${name} started on ${plural(processorsOf(job), "CPU")}`);
    if (isEnded(job.state)) add(endedAtMs, 2, () => outcomeText(job));
  }
  // An array is one line: its jobs would fill the list.
  for (const { first, last } of arrays.values()) {
    const { job, submittedAtMs: atMs, user } = first;
    if (!found.takes(atMs)) continue;
    const who = last === job ? nameOf(first) : `jobs ${job}-${last} (${visibleLine(first.name)})`;
    found.add({ atMs, text: `${who} of ${visibleLine(user)} submitted`, job, order: 0 });
  }
  // The newest first: equal ones stay in the order in which they were added.
  for (const event of [...events].reverse()) {
    const { atMs, job } = event;
    if (!found.takes(atMs) || isSaidBySwitch(event, events)) continue;
    const known = job === undefined ? undefined : jobs.get(job);
    const text = eventSentence(event, known === undefined ? `job ${job}` : nameOf(known));
    if (text !== undefined) found.add({ atMs, text, job, order: 1 });
  }
  return found.list();
}

/** Whether the event only confirms a switch of the policy, which another event says. */
function isSaidBySwitch({ kind, atMs, data }: Event, events: readonly Event[]): boolean {
  return (
    kind === "policy" &&
    data?.policy !== undefined &&
    events.some(
      (other) =>
        other.kind === "policy" &&
        other.data?.after === data.policy &&
        Math.abs(other.atMs - atMs) < SWITCH_MS,
    )
  );
}

function nameOf(job: Job): string {
  return `job ${job.job} (${jobName(job)})`;
}

/** Keeps the newest of many. */
class Newest {
  readonly #count: number;
  #kept: Happening[] = [];
  #leastMs = Number.NEGATIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
  }

  takes(atMs: number): boolean {
    return atMs >= this.#leastMs;
  }

  add(one: Happening): void {
    this.#kept.push(one);
    // Sorting rarely is enough: most candidates are older than those kept.
    if (this.#kept.length >= 4 * this.#count) this.#trim();
  }

  list(): Happening[] {
    this.#trim();
    return this.#kept;
  }

  #trim(): void {
    // Of a batch that was submitted at one instant, the last job is the newest.
    this.#kept = this.#kept
      .sort((a, b) => b.atMs - a.atMs || b.order - a.order || (b.job ?? 0) - (a.job ?? 0))
      .slice(0, this.#count);
    if (this.#kept.length === this.#count) this.#leastMs = this.#kept[this.#count - 1].atMs;
  }
}
