/** Finds what a workflow has left to run. */
import type { JobsAnswer, StatusAnswer, SubmitJob } from "../../protocol/schema.ts";
import type { SubmitOptions } from "../options/submit-options.ts";
import { readWorkflow } from "../options/workflow.ts";
import { workflowEntries } from "../options/workflow-jobs.ts";
import { hint } from "../text/text.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

/** The entries of a submit that runs the workflow, or resumes it: none if nothing is left to run. */
export async function workflowJobs(
  connect: () => ReconnectingClient,
  file: string,
  options: SubmitOptions,
  resume: boolean,
): Promise<readonly SubmitJob[]> {
  const { name, tasks } = await readWorkflow(file, options);
  if (!resume) return workflowEntries(tasks);
  const { jobs } = await connect().retry(async (client) => {
    const { user } = await client.ask<StatusAnswer>("/v1/status");
    const query = new URLSearchParams({ name: `${name}/*`, user });
    return client.ask<JobsAnswer>(`/v1/jobs?${query}`);
  });
  const entries = workflowEntries(tasks, jobs);
  if (entries.length === 0) hint(`tutti: nothing to resume: all jobs of ${name} have succeeded, wait or run`);
  return entries;
}
