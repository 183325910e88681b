/** Writes a month of history directly into the file of a store. */
import type { JobRecord } from "../contract/record.ts";
import { retainedBytes } from "../contract/submission.ts";
import { Store } from "./store.ts";

/**
 * Submit time of the last ended job; ten jobs per second came before it. None is old enough to be forgotten.
 */
const LAST_MS = Date.now() - 3_600_000;

export interface History {
  /** Number of ended jobs, numbered from 1. */
  readonly ended: number;
  /** Number of held jobs, numbered after the ended ones. */
  readonly held?: number;
  /** Owner of the jobs. */
  readonly uid: number;
  readonly user: string;
  /** Exit code of an ended job; left out: 0. */
  readonly codeOf?: (job: number) => number;
  /** Whether an ended job was forgotten. */
  readonly isForgotten?: (job: number) => boolean;
}

export function fillStore(path: string, history: History): void {
  const { ended, held = 0, isForgotten = () => false } = history;
  const store = new Store(path);
  store.begin();
  const environment = store.contents.nothing();
  const forgotten = [];
  for (let job = 1; job <= ended + held; job++) {
    const record = recordOf(job, environment, history);
    const bytes = retainedBytes(record);
    store.insertJob(record, job <= ended ? bytes : undefined);
    if (job > ended || !isForgotten(job)) continue;
    const { uid, state, endedAtMs = 0 } = record;
    forgotten.push({ job, uid, state, endedAtMs, bytes, wasStarted: true });
  }
  store.kept.forgetJobs(forgotten);
  store.commit();
  store.close();
}

function recordOf(
  job: number,
  environment: number,
  { ended, uid, user, codeOf = () => 0 }: History,
): JobRecord {
  const code = codeOf(job);
  const submittedAtMs = LAST_MS - 100 * (ended - job);
  return {
    ...{ job, name: `sim-${job % 100}`, uid, user, queue: "default", tasks: 1, priority: 0, queueRank: job },
    ...{
      command: ["./simulate", "--seed", String(job)],
      cwd: "/tmp",
      stdout: `/tmp/${job}.out`,
      stderr: `/tmp/${job}.err`,
    },
    ...{ after: [], retries: 0, environment, estimateMs: 60_000, submittedAtMs, nodes: [] },
    ...(job > ended
      ? { state: "held", attempt: 0, ranMs: 0 }
      : {
          state: code === 0 ? "done" : "failed",
          ...{
            attempt: 1,
            ranMs: 5000,
            startedAtMs: submittedAtMs + 500,
            endedAtMs: submittedAtMs + 6000,
            code,
          },
          ...(code !== 0 && { reason: `exit code ${code}` }),
        }),
  };
}
