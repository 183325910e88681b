/** Exports jobs in the Standard Workload Format 2.2, so that the simulator can replay them. */
import type { WorkloadJob } from "@tutti/kernel/core/workload-events.ts";
import { Numbering, SWF_STATUS } from "@tutti/kernel/workload/traces/swf-numbers.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import type { JobRecord } from "../contract/record.ts";
import { jobOf } from "./workload-form.ts";

/** Jobs per piece. */
const PIECE = 250;

interface SwfFacts {
  readonly cpus: number;
  readonly policy: string;
  readonly queues: readonly string[];
  /** Jobs that ended before may be forgotten; undefined: no job was forgotten. */
  readonly keptSinceMs?: number | undefined;
}

/**
 * The file in pieces, some of them empty. Needs two passes over the jobs: the first counts and sorts those
 * that have started and remembers only their numbers and submit times, the second writes them. Times in the
 * file are seconds since the first submit. Jobs that have not ended have no run time (−1).
 * @param pages all jobs by number
 * @param find returns the current state of a job; undefined if it was forgotten in the meantime
 */
export function* exportSwf(
  pages: Iterable<readonly Pick<JobRecord, "job" | "submittedAtMs" | "startedAtMs">[]>,
  find: (job: JobNumber) => JobRecord | undefined,
  facts: SwfFacts,
): Generator<string, void, void> {
  /** Jobs that have started. */
  const started: Pick<JobRecord, "job" | "submittedAtMs">[] = [];
  for (const page of pages) {
    for (const { job, submittedAtMs, startedAtMs } of page) {
      if (startedAtMs !== undefined) started.push({ job, submittedAtMs });
    }
    yield "";
  }
  // They are already sorted, unless the clock was set back.
  started.sort((a, b) => a.submittedAtMs - b.submittedAtMs || a.job - b.job);
  const epochMs = started[0]?.submittedAtMs ?? 0;
  yield heading(started.length, epochMs, facts);
  const users = new Numbering();
  const names = new Numbering();
  for (let i = 0; i < started.length; i += PIECE) {
    const lines = started.slice(i, i + PIECE).flatMap(({ job }) => {
      const record = find(job);
      if (record?.startedAtMs === undefined) return [];
      return [line(jobOf(record, epochMs), facts, users, names)];
    });
    yield lines.join("");
  }
}

function heading(jobs: number, epochMs: number, { cpus, policy, queues, keptSinceMs }: SwfFacts): string {
  const lines = [
    "; Version: 2.2",
    "; Computer: Tutti",
    `; UnixStartTime: ${Math.floor(epochMs / 1000)}`,
    `; MaxJobs: ${jobs}`,
    `; MaxProcs: ${cpus}`,
    `; Note: policy at the time of the export: ${policy}`,
    "; Note: run time is the time for which the job's row had the processors",
    ...(keptSinceMs === undefined
      ? []
      : [`; Note: jobs that ended before ${new Date(keptSinceMs).toISOString()} were forgotten`]),
    ...queues.map((name, i) => `; Queue: ${i + 1} ${name}`),
  ];
  return `${lines.join("\n")}\n`;
}

function line(job: WorkloadJob, { queues }: SwfFacts, users: Numbering, names: Numbering): string {
  const { submitS, startS = submitS, tasks = 1, threads, limitS, memoryBytes } = job;
  const processors = processorsOf({ tasks, threads });
  const fields = [
    job.job,
    submitS,
    // To the ms, as both are.
    Math.round(1000 * Math.max(0, startS - submitS)) / 1000,
    job.runS ?? -1,
    processors,
    -1,
    -1,
    processors,
    limitS ?? -1,
    memoryBytes === undefined ? -1 : Math.ceil(memoryBytes / 1024 / processors),
    SWF_STATUS.get(job.state) ?? -1,
    users.of(job.user),
    -1,
    names.of(job.name),
    queues.indexOf(job.queue!) + 1 || -1,
    -1,
    job.after?.[0].job ?? -1,
    -1,
  ];
  return `${fields.join(" ")}\n`;
}
