/** Turns ended jobs into requests that run them again, with the same spec, environment and script. */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import { type Answer, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import { submitJob } from "@tutti/protocol/requests.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { namesOf } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import { hasNamedQueue, type Submission } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

/** The repetitions of the jobs of one user. They belong to this user, no matter who asks for them. */
interface Repetitions {
  readonly owner: Caller;
  readonly batch: Submission[];
}

/** The values of each variable, job by job. */
type Columns = Record<string, string[]>;
type Context = Pick<FrontEndParts, "store" | "config">;

/**
 * Fields that a repetition has from somewhere else, or not at all. The jobs that the first one waited for
 * have ended, and its begin has passed.
 */
const NOT_COPIED: ReadonlySet<string> = new Set([
  "script",
  "env",
  "queue",
  "stdout",
  "stderr",
  "after",
  "array",
  "values",
  "held",
  "priority",
  "umask",
  "beginAtMs",
  "singleton",
] satisfies (keyof SubmitJob)[]);
const COPIED = Object.keys(submitJob.shape).filter((field) => !NOT_COPIED.has(field));

/**
 * The selected jobs as requests, by owner. Selected jobs of an array become an array, with the same indices.
 */
export function repetitionsOf(
  context: Context,
  caller: Caller,
  records: readonly JobRecord[],
): Answer<readonly Repetitions[]> {
  if (records.length > MAX_JOBS_PER_BATCH) {
    return refuse(
      "too-large",
      `Cannot run ${records.length} jobs again in one request, expected at most ${MAX_JOBS_PER_BATCH}; send several requests`,
    );
  }
  const owners = new Map<number, Repetitions>();
  const arrays = new Map<string, { indices: number[]; repeats: JobNumber[]; values?: Columns | undefined }>();
  const read = reader(context);
  for (const record of records) {
    const refusal = whyNotRepeated(record);
    if (refusal !== undefined) return refusal;
    const { uid, user, job, array, arrayIndex, arrayLimit } = record;
    let repetitions = owners.get(uid);
    if (repetitions === undefined) {
      repetitions = { owner: { uid, user, isAdministrator: caller.isAdministrator }, batch: [] };
      owners.set(uid, repetitions);
    }
    const request = requestOf(record, repetitions.owner, context, read);
    if (arrayIndex === undefined) {
      repetitions.batch.push({ request, indices: [undefined], repeats: [job] });
      continue;
    }
    const values = record.values && Object.entries(record.values);
    // Jobs of an array may have been changed one by one since they were submitted.
    const key = JSON.stringify([
      array,
      values?.map(([name]) => name),
      record.environment,
      record.script,
      { ...request, env: {}, script: 0 },
    ]);
    const known = arrays.get(key);
    if (known !== undefined) {
      known.indices.push(arrayIndex);
      known.repeats.push(job);
      for (const [name, value] of values ?? []) known.values![name].push(value);
    } else {
      const members = { indices: [arrayIndex], repeats: [job] };
      const columns = values && Object.fromEntries(values.map(([name, value]) => [name, [value]]));
      arrays.set(key, { ...members, values: columns });
      repetitions.batch.push({ request: { ...request, values: columns }, arrayLimit, ...members });
    }
  }
  return [...owners.values()];
}

function whyNotRepeated({ job, state, repeat, input }: JobRecord): Refusal | undefined {
  if (!isEnded(state)) {
    return refuse(
      "wrong-state",
      `Cannot run job ${job} again: it is ${state}; expected a job that has ended (tutti requeue starts a running one again)`,
    );
  }
  if (input === "pipe") {
    return refuse(
      "wrong-state",
      `Cannot run job ${job} again: what it read as standard input is not kept; use tutti run with the same input`,
    );
  }
  if (repeat !== undefined) return undefined;
  return refuse(
    "wrong-state",
    `Cannot run job ${job} again: its environment and script are no longer kept (of each user, the last 8 MiB are); submit it again`,
  );
}

function requestOf(
  record: JobRecord,
  owner: Caller,
  { config }: Context,
  read: ReturnType<typeof reader>,
): SubmitJob {
  const { environment, script, scriptWord, repeat, umask, priority } = record;
  const copied = Object.fromEntries(
    COPIED.map((field) => [field, record[field as keyof JobRecord]] as const).filter(
      ([, value]) => value !== undefined,
    ),
  );
  // A queue that the configuration no longer has is chosen again.
  const isNamed = hasNamedQueue(record) && config.queues.some((one) => namesOf(one).includes(record.queue));
  return {
    ...(copied as Pick<SubmitJob, "command" | "cwd">),
    ...repeat,
    env: read.environment(environment),
    ...(script !== undefined && { script: { base64: read.script(script), word: scriptWord ?? 0 } }),
    ...(umask !== undefined && { umask: umask.toString(8).padStart(3, "0") }),
    // Only administrators may raise a priority.
    priority: owner.isAdministrator ? priority : Math.min(0, priority),
    ...(isNamed && { queue: record.queue }),
  };
}

/** Reads each content once: equal ones are the same object, as those of one request are. */
function reader({ store: { contents } }: Context) {
  const environments = new Map<number, Record<string, string>>();
  const scripts = new Map<number, string>();
  const once = <T>(known: Map<number, T>, id: number, make: () => T): T => {
    const value = known.get(id) ?? make();
    known.set(id, value);
    return value;
  };
  return {
    environment: (id: number) => once(environments, id, () => contents.environment(id)),
    script: (id: number) =>
      once(scripts, id, () => Buffer.from(contents.script(id) ?? []).toString("base64")),
  };
}
