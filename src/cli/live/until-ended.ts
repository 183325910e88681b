/**
 * Waits for jobs, thousands as well as one: the scheduler is asked which of them have ended, in one request that is answered when one has.
 * So each job is told once, and the wait goes on where it was when the scheduler was gone for a while.
 */
import type { Client } from "../../api/client/client.ts";
import { holds, type NumberRange, rangesOf } from "../../core/number-ranges.ts";
import { pause } from "../../host/pause.ts";
import type { Job } from "../../protocol/schema.ts";
import { endedAmong, isWithoutPages, type MissingJobs, requestParts } from "./job-lists.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

const MAX_WAIT_S = 30;
/** Jobs that end one soon after the other are told of together. */
const BREATH_MS = 100;
/** Where one request cannot hold all numbers, none waits. */
const LOOK_AGAIN_MS = 1000;
/** Requests at a time to a scheduler of the first release, which waits for one job in each. */
const AT_ONCE = 16;

/**
 * @param numbers jobs that there are, rising
 * @param onEnd called for each job once, when it has ended
 * @returns what became forgotten before it was seen to have ended
 */
export async function untilEnded(
  connection: ReconnectingClient,
  numbers: readonly number[],
  onEnd: (job: Job) => void,
): Promise<MissingJobs[]> {
  const left = new Set(numbers);
  const missing: MissingJobs[] = [];
  const end = (job: Job) => {
    if (left.delete(job.job)) onEnd(job);
  };
  try {
    while (left.size > 0) {
      const parts = requestParts(rangesOf(left));
      const before = left.size;
      const waitS = parts.length === 1 ? MAX_WAIT_S : 0;
      for (const part of parts) {
        const gone = await connection.retry((client) => tellEnded(client, part, waitS, end));
        missing.push(...gone);
        for (const number of left) if (holds(gone, number)) left.delete(number);
      }
      if (left.size > 0) await pause(left.size < before || waitS > 0 ? BREATH_MS : LOOK_AGAIN_MS);
    }
  } catch (error) {
    if (!isWithoutPages(error)) throw error;
    await oneByOne(connection, [...left], end);
  }
  return missing;
}

/** Tells of those that have ended; gives those that are not there any more. */
async function tellEnded(
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

async function oneByOne(
  connection: ReconnectingClient,
  numbers: readonly number[],
  end: (job: Job) => void,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < numbers.length) {
      const number = numbers[next++];
      end(await connection.retry((client) => client.ended(number)));
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, numbers.length) }, worker));
}
