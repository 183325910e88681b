/** Which running jobs have no place in the matrix: after a switch of the policy they wait, stopped, for their turn. */
import type { Client } from "../../api/client/client.ts";
import type { Job, MatrixAnswer } from "../../protocol/schema.ts";

/** A job that has only just been given its place may not be in the answer yet. */
const FRESH_MS = 2000;

export async function stoppedJobs(client: Client, jobs: readonly Job[]): Promise<ReadonlySet<number>> {
  const running = jobs.filter(
    ({ state, startedAtMs = 0 }) => state === "running" && Date.now() - startedAtMs > FRESH_MS,
  );
  if (running.length === 0) return new Set();
  const { rows } = await client.ask<MatrixAnswer>("/v1/matrix");
  const placed = new Set(rows.flat().map(({ job }) => job));
  const absent = running.filter(({ job }) => !placed.has(job));
  // Those that have ended meanwhile are absent too.
  const now = await Promise.all(absent.map(async ({ job }) => (await client.job(job)).job));
  return new Set(now.filter(({ state }) => state === "running").map(({ job }) => job));
}
