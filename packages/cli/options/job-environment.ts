/** Asks, as the user on the scheduler's machine, whether jobs can have the environments that they name. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { environmentWords, NO_ENVIRONMENT, WHY_PREFIX } from "@tutti/host/job-environment.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { UsageError } from "../errors.ts";

/** Loading many modules from a busy file server takes a while. After that, the job itself finds out. */
const PATIENCE_MS = 20_000;

/** Whether a submit must ask. Jobs that wait for others are not checked: those may make the environment. */
export function needsEnvironment(job: SubmitJob): boolean {
  return job.after === undefined && environmentWords(job, "check").length > 0;
}

/** @throws UsageError for the first job whose environment is not there */
export async function checkEnvironments(jobs: readonly SubmitJob[]): Promise<void> {
  const asked = new Set<string>();
  for (const job of jobs.filter(needsEnvironment)) {
    const { modules, conda, venv, image, cwd, env } = job;
    const key = JSON.stringify([modules, conda, venv, image, cwd, env]);
    if (asked.has(key)) continue;
    asked.add(key);
    const why = await whyNoEnvironment(job);
    if (why !== undefined) throw new UsageError(why);
  }
}

async function whyNoEnvironment(job: SubmitJob): Promise<string | undefined> {
  const [program, ...words] = environmentWords(job, "check");
  const child = spawn(program, words, {
    ...{ cwd: job.cwd, env: job.env, timeout: PATIENCE_MS },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on("error", () => resolve(null)).on("close", resolve);
  });
  const said = await text(child.stderr);
  if ((await ended) !== NO_ENVIRONMENT) return undefined;
  const line = said.trimEnd().split("\n").at(-1) ?? "";
  return line.startsWith(WHY_PREFIX) ? line.slice(WHY_PREFIX.length) : undefined;
}
