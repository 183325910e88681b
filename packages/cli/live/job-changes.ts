/** Changes jobs in batches, with a result for each job. */
import type { Client } from "@tutti/live/api/client/client.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import type { BatchAnswer, BatchBody } from "@tutti/protocol/schema.ts";

export type Change = Omit<BatchBody, "jobs">;

type ChangeResult = BatchAnswer["results"][number];

/**
 * `cancel` begins with the last jobs. Running jobs are mostly among the first ones: if those ended first,
 * other jobs that should also be cancelled would start.
 */
export async function changesOf(
  client: Client,
  change: Change,
  numbers: readonly number[],
): Promise<readonly ChangeResult[]> {
  const order = change.action === "cancel" ? numbers.toReversed() : numbers;
  const results: ChangeResult[] = [];
  for (let i = 0; i < order.length; i += MAX_JOBS_PER_BATCH) {
    const jobs = order.slice(i, i + MAX_JOBS_PER_BATCH);
    const body: BatchBody = { ...change, jobs: jobs.join(",") };
    results.push(...(await client.ask<BatchAnswer>("/v1/batch", { method: "POST", body })).results);
  }
  return results;
}
