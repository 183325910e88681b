/**
 * Waits until jobs have ended, be it one or thousands. One request asks which of the jobs have ended, and the
 * scheduler answers as soon as at least one has. Each job is reported once. After a restart of the scheduler,
 * the wait continues.
 */

import { sleep } from "@tutti/host/sleep.ts";
import { holds, type NumberRange, rangesOf } from "@tutti/kernel/core/number-ranges.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, MissingJobs } from "@tutti/protocol/schema.ts";
import { endedAmong, requestParts } from "./job-lists.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

const MAX_WAIT_S = 30;
/** Pause between requests, so that jobs that end shortly after each other come in one answer. */
const GATHER_MS = 100;
/** Pause between rounds if the numbers do not fit into one request: then no request waits for an end. */
const POLL_MS = 1000;

/**
 * @param numbers numbers of existing jobs, rising
 * @param onEnd called once for each job, when it has ended
 * @returns jobs that were forgotten before we saw that they had ended
 */
export async function untilEnded(
  connection: ReconnectingClient,
  numbers: readonly number[],
  onEnd: (job: Job) => void,
): Promise<MissingJobs[]> {
  const pending = new Set(numbers);
  const missing: MissingJobs[] = [];
  const end = (job: Job) => {
    if (pending.delete(job.job)) onEnd(job);
  };
  while (pending.size > 0) {
    const parts = requestParts(rangesOf(pending));
    const before = pending.size;
    const waitS = parts.length === 1 ? MAX_WAIT_S : 0;
    for (const part of parts) {
      const gone = await connection.retry((client) => reportEnded(client, part, waitS, end));
      missing.push(...gone);
      for (const number of pending) if (holds(gone, number)) pending.delete(number);
    }
    if (pending.size > 0) await sleep(pending.size < before || waitS > 0 ? GATHER_MS : POLL_MS);
  }
  return missing;
}

/** Calls `end` for the jobs that have ended; returns those that no longer exist. */
async function reportEnded(
  client: Client,
  numbers: readonly NumberRange[],
  waitS: number,
  end: (job: Job) => void,
): Promise<MissingJobs[]> {
  const gone: MissingJobs[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { jobs, next, missing = [] } = await endedAmong(client, numbers, after, waitS);
    for (const job of jobs) end(job);
    gone.push(...missing);
    after = next;
  }
  return gone;
}
