/**
 * Sorts ended jobs by what they have in common with the jobs of a forecast. Not every end tells how long such
 * jobs run:
 *
 *   done               tells it
 *   time limit         tells it: the next job will not run past its limit either
 *   failed             tells it after a minute; until then, the job more likely had a typo
 *   lost, requeued,    tells nothing: something else ended the job, or it never ran
 *   cancelled
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { FEWEST_PAST_JOBS } from "@tutti/protocol/limits.ts";
import type { JobRecord } from "../contract/record.ts";
import type { History, Kin } from "./running-times.ts";

/** What says of which kind a job is. */
type OfKind = Pick<JobRecord, "uid" | "name" | "array">;

/** What of an ended job says how long jobs of its kind run. */
type Ended = OfKind & Pick<JobRecord, "state" | "reason" | "ranMs" | "estimateMs">;

/** A job that fails earlier says nothing of how long others run. */
export const EARLY_FAILURE_MS = 60_000;

/** Reasons of failures that somebody asked for; see daemon/dispatch/outcome.ts. */
const ENDED_BY_OTHERS: ReadonlySet<string> = new Set(["requeued", "the scheduler was shut down"]);

/** The kind of each job, as an index, and what is known of each kind. */
export interface KnownKinds {
  readonly kind: Int32Array;
  readonly kin: readonly Kin[];
  /** Index of a kind by what all its jobs have in common. */
  readonly indices: ReadonlyMap<string, number>;
}

const NO_KIN: Kin = { ratios: new Float64Array(0), areSiblings: false };

export class PastJobs {
  readonly history: History;
  readonly #byArray = new Map<JobNumber, Kin>();
  readonly #byName = new Map<string, Kin>();

  /** @param launchMs from the decision to start a job until its process runs */
  constructor(ended: readonly Ended[], launchMs: readonly number[]) {
    const telling = ended.filter(tellsRunningTime);
    const ratios = enough(telling.map(ratioOf));
    this.history = { ratios, launchMs: Float64Array.from(launchMs) };
    const inArrays = telling.flatMap((job) =>
      job.array === undefined ? [] : [[job.array, ratioOf(job)] as const],
    );
    for (const [array, ratios] of grouped(inArrays)) this.#byArray.set(array, { ratios, areSiblings: true });
    const named = telling.map((job) => [nameOf(job), ratioOf(job)] as const);
    for (const [name, ratios] of grouped(named)) this.#byName.set(name, { ratios, areSiblings: false });
  }

  /** @param known kinds of other jobs, which keep their indices */
  kindsOf(jobs: readonly OfKind[], known?: KnownKinds): KnownKinds {
    const kin = [...(known?.kin ?? [])];
    const indices = new Map<string, number>();
    const kind = new Int32Array(jobs.length);
    jobs.forEach((job, row) => {
      const key = job.array === undefined ? nameOf(job) : String(job.array);
      let index = known?.indices.get(key) ?? indices.get(key);
      if (index === undefined) {
        index = kin.push(this.#kinOf(job)) - 1;
        indices.set(key, index);
      }
      kind[row] = index;
    });
    return { kind, kin, indices };
  }

  /** Too few siblings do not keep a job from taking after those of its name. */
  #kinOf(job: OfKind): Kin {
    const siblings = job.array === undefined ? undefined : this.#byArray.get(job.array);
    return siblings !== undefined && siblings.ratios.length > 0
      ? siblings
      : (this.#byName.get(nameOf(job)) ?? NO_KIN);
  }
}

/** Running time ÷ estimate. Time limits usually prevent longer running times. */
function ratioOf({ ranMs, estimateMs }: Ended): number {
  return Math.min(1, ranMs / estimateMs);
}

function tellsRunningTime({ state, reason = "", ranMs }: Ended): boolean {
  if (state === "done" || reason === "time limit") return true;
  const isItsOwn = !reason.startsWith("lost: ") && !ENDED_BY_OTHERS.has(reason);
  return state === "failed" && isItsOwn && ranMs >= EARLY_FAILURE_MS;
}

/** Ascending; empty if there are too few. */
function enough(ratios: readonly number[]): Float64Array {
  return ratios.length < FEWEST_PAST_JOBS ? new Float64Array(0) : Float64Array.from(ratios).sort();
}

/** Distinct from the text of any array's number. */
function nameOf({ uid, name }: OfKind): string {
  return `${uid} ${name}`;
}

function grouped<Key>(pairs: readonly (readonly [Key, number])[]): Map<Key, Float64Array> {
  const lists = new Map<Key, number[]>();
  for (const [key, value] of pairs) {
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [value]);
    else list.push(value);
  }
  return new Map([...lists].map(([key, values]) => [key, enough(values)]));
}
