/** Determines what the jobs of a submission wait for. */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import { type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { type Dependency, isConditional, isUnmet, unmetText } from "../contract/dependencies.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Submission } from "../contract/submission.ts";

/** What a job waits for. */
export interface Waits {
  readonly after: readonly Dependency[];
  /** Why it can never start; undefined: it can. */
  readonly unmet: string | undefined;
}

/** The jobs of an earlier entry of the same request. */
export interface Entry {
  readonly jobs: readonly JobRecord[];
  readonly byIndex: ReadonlyMap<number | undefined, JobRecord>;
}

/** A job that the caller may see; forgotten: it has ended, but it is unknown how. */
type Find = (job: JobNumber) => JobRecord | "forgotten" | undefined;
type Asked = NonNullable<SubmitJob["after"]>[number];

/**
 * What each job of a submission waits for, or one for all, without jobs of the same request.
 * @returns the number of a job for which no job can wait, or a refusal
 */
export function waitsOf(
  { request, indices }: Submission,
  find: Find,
): readonly Waits[] | JobNumber | Refusal {
  const { after = [] } = request;
  const common: Dependency[] = [];
  const arrays: ReadonlyMap<number, JobNumber>[] = [];
  for (const asked of after) {
    const { job, kind } = asked;
    if (job === undefined) continue;
    const other = find(job);
    const dependency = dependencyOf({ ...asked, job });
    // A forgotten job has ended, but it is unknown whether it succeeded.
    if (other === undefined || (other === "forgotten" && isConditional(dependency))) return job;
    if (kind !== "each") common.push(dependency);
    else {
      const array = other === "forgotten" ? undefined : other.array;
      if (array === undefined || indices[0] === undefined) return refuseEach(job, array);
      arrays.push(tasksOf(array, find));
    }
  }
  if (arrays.length === 0) return [{ after: common, unmet: unmetOf(common, find) }];
  const waits: Waits[] = [];
  for (const index of indices) {
    const own: Dependency[] = [];
    for (const tasks of arrays) {
      const job = tasks.get(index!);
      if (job === undefined) return refuseIndex(index!, tasks);
      own.push({ job, ok: true });
    }
    const all = [...common, ...own];
    waits.push({ after: all, unmet: unmetOf(all, find) });
  }
  return waits;
}

/**
 * What the job at a position of a submission waits for, with earlier entries of the request, which now have
 * numbers.
 */
export function withEntries(
  { request: { after = [] }, indices }: Submission,
  position: number,
  { after: waitsFor, unmet }: Waits,
  entries: readonly Entry[],
): Waits {
  const others = after.flatMap((asked) => {
    if (asked.entry === undefined) return [];
    const { jobs, byIndex } = entries[asked.entry];
    const wanted = asked.kind === "each" ? [byIndex.get(indices[position])!] : jobs;
    return wanted.map((other) => ({ other, dependency: dependencyOf({ ...asked, job: other.job }) }));
  });
  if (others.length === 0) return { after: waitsFor, unmet };
  const failed = others.find(({ other, dependency }) => isUnmet(dependency, other.state));
  return {
    after: [...waitsFor, ...others.map(({ dependency }) => dependency)],
    unmet: unmet ?? (failed && unmetText(failed.other.job, failed.other.state)),
  };
}

function dependencyOf({ job, ok, kind }: Omit<Asked, "job"> & { readonly job: JobNumber }): Dependency {
  if (kind === "notok") return { job, ok: false, kind };
  return { job, ok: kind === "each" || ok };
}

/** The jobs of an array by index. They have consecutive numbers; some may be forgotten. */
function tasksOf(array: JobNumber, find: Find): ReadonlyMap<number, JobNumber> {
  const tasks = new Map<number, JobNumber>();
  for (let job = array; job < array + MAX_JOBS_PER_BATCH; job++) {
    const task = find(job);
    if (task === undefined) break;
    if (task === "forgotten") continue;
    if (task.array !== array) break;
    if (task.arrayIndex !== undefined) tasks.set(task.arrayIndex, job);
  }
  return tasks;
}

/** Why a job with these dependencies can never start. */
function unmetOf(after: readonly Dependency[], find: Find): string | undefined {
  for (const dependency of after) {
    const other = find(dependency.job);
    if (typeof other === "object" && isUnmet(dependency, other.state))
      return unmetText(dependency.job, other.state);
  }
  return undefined;
}

function refuseEach(job: JobNumber, array: JobNumber | undefined): Refusal {
  return array === undefined
    ? refuse(
        "invalid",
        `Cannot wait for each job of the array of job ${job}: it belongs to no array; expected a job of an array (each:12), or ${job} alone`,
      )
    : refuse(
        "invalid",
        `Cannot wait for each job of array ${array}: the new job is not an array; expected an array with the same indices (--array), or all jobs of ${array} as a range`,
      );
}

function refuseIndex(index: number, tasks: ReadonlyMap<number, JobNumber>): Refusal {
  const [first] = tasks.values();
  return refuse(
    "invalid",
    `Cannot wait for index ${index} of array ${first}: that array has no job with this index; expected some of ${[...tasks.keys()].slice(0, 5).join(", ")}${tasks.size > 5 ? " …" : ""}`,
  );
}
