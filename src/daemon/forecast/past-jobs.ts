/** Sorts ended jobs by what they have in common with the jobs of a forecast. */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { History, Kin } from "./running-times.ts";

/** What says of which kind a job is. */
type OfKind = Pick<JobRecord, "uid" | "name" | "array">;

const NO_KIN: Kin = { ratios: new Float64Array(0), areSiblings: false };

export class PastJobs {
  readonly history: History;
  readonly #byArray = new Map<JobNumber, Kin>();
  readonly #byName = new Map<string, Kin>();

  /** @param launchMs from the decision to start a job until its process runs */
  constructor(ended: readonly JobRecord[], launchMs: readonly number[]) {
    const ratios = Float64Array.from(ended, ratioOf).sort();
    this.history = { ratios, launchMs: Float64Array.from(launchMs) };
    const inArrays = ended.flatMap((job) =>
      job.array === undefined ? [] : [[job.array, ratioOf(job)] as const],
    );
    for (const [array, ratios] of grouped(inArrays)) this.#byArray.set(array, { ratios, areSiblings: true });
    const named = ended.map((job) => [nameOf(job), ratioOf(job)] as const);
    for (const [name, ratios] of grouped(named)) this.#byName.set(name, { ratios, areSiblings: false });
  }

  /** The kind of each job, as an index, and what is known of each kind. */
  kindsOf(jobs: readonly OfKind[]): { readonly kind: Int32Array; readonly kin: readonly Kin[] } {
    const indices = new Map<string, number>();
    const kin: Kin[] = [];
    const kind = Int32Array.from(jobs, (job) => {
      const key = job.array === undefined ? nameOf(job) : String(job.array);
      let index = indices.get(key);
      if (index === undefined) {
        index = kin.push(this.#kinOf(job)) - 1;
        indices.set(key, index);
      }
      return index;
    });
    return { kind, kin };
  }

  #kinOf(job: OfKind): Kin {
    const siblings = job.array === undefined ? undefined : this.#byArray.get(job.array);
    return siblings ?? this.#byName.get(nameOf(job)) ?? NO_KIN;
  }
}

/** Running time ÷ estimate. Time limits usually prevent longer running times. */
function ratioOf({ ranMs, estimateMs }: JobRecord): number {
  return Math.min(1, ranMs / estimateMs);
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
  return new Map([...lists].map(([key, values]) => [key, Float64Array.from(values).sort()]));
}
