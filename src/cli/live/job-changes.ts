/** Changes jobs in batches, with a result for each job. */
import type { Client } from "../../api/client/client.ts";
import { RefusedError } from "../../api/client/errors.ts";
import { MAX_JOBS_PER_BATCH } from "../../protocol/limits.ts";
import type { BatchAnswer, BatchBody, JobAnswer } from "../../protocol/schema.ts";

export type Change = Pick<BatchBody, "action" | "priority" | "release" | "update">;

type ChangeResult = BatchAnswer["results"][number];

/** Concurrent requests to a scheduler of the first release, which takes one job per request. */
const CONCURRENT_REQUESTS = 64;

/**
 * `cancel` begins with the last jobs. Running jobs are mostly among the first ones: if those ended first,
 * other jobs that should also be cancelled would start.
 */
export async function* changesOf(
  client: Client,
  change: Change,
  numbers: readonly number[],
): AsyncGenerator<ChangeResult> {
  const order = change.action === "cancel" ? numbers.toReversed() : numbers;
  for (let i = 0; i < order.length; i += MAX_JOBS_PER_BATCH) {
    const jobs = order.slice(i, i + MAX_JOBS_PER_BATCH);
    try {
      const body: BatchBody = { ...change, jobs: jobs.join(",") };
      yield* (await client.ask<BatchAnswer>("/v1/batch", { method: "POST", body })).results;
    } catch (error) {
      if (!(error instanceof RefusedError && error.message.startsWith('Cannot find "/v1/batch"')))
        throw error;
      for (let k = 0; k < jobs.length; k += CONCURRENT_REQUESTS) {
        const batch = jobs.slice(k, k + CONCURRENT_REQUESTS);
        yield* await Promise.all(batch.map((number) => changeOne(client, change, number)));
      }
    }
  }
}

/** Changes one job, for a scheduler of the first release. */
async function changeOne(
  client: Client,
  { action, priority, update }: Change,
  number: number,
): Promise<ChangeResult> {
  const [path, options] =
    action === "priority" || action === "update"
      ? [`/v1/jobs/${number}`, { method: "PATCH", body: update ?? { priority } }]
      : [`/v1/jobs/${number}/${action}`, { method: "POST" }];
  try {
    return { number, job: (await client.ask<JobAnswer>(path, options)).job };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { number, refused: error.refused, message: error.message };
  }
}
