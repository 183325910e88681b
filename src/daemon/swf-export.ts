/** What ran, in the Standard Workload Format 2.2, so that the simulator can run it again. */
import type { JobInfo, JobState } from "./service.ts";

const STATUS: Partial<Record<JobState, number>> = { done: 1, failed: 0, cancelled: 5 };

/** Times in the file are seconds since the first submit. Jobs that have not started, or were cancelled before, have no run time (−1). */
export function exportSwf(
  jobs: readonly JobInfo[],
  {
    cpus,
    policy,
    queues,
    keptSinceMs,
  }: {
    readonly cpus: number;
    readonly policy: string;
    readonly queues: readonly string[];
    /** Jobs that ended up to then are forgotten; undefined: none is. */
    readonly keptSinceMs?: number | undefined;
  },
): string {
  const told = jobs
    .filter(({ startedAtMs }) => startedAtMs !== undefined)
    .sort((a, b) => a.submittedAtMs - b.submittedAtMs || a.job - b.job);
  const epochMs = told[0]?.submittedAtMs ?? 0;
  const users = numbering(told.map(({ user }) => user));
  const names = numbering(told.map(({ name }) => name));
  const lines = [
    "; Version: 2.2",
    "; Computer: Tutti",
    `; UnixStartTime: ${Math.floor(epochMs / 1000)}`,
    `; MaxJobs: ${told.length}`,
    `; MaxProcs: ${cpus}`,
    `; Note: policy at the time of the export: ${policy}`,
    "; Note: run time is time that the job's row had the processors",
    ...(keptSinceMs === undefined
      ? []
      : [`; Note: jobs that ended before ${new Date(keptSinceMs).toISOString()} are forgotten`]),
    ...queues.map((name, i) => `; Queue: ${i + 1} ${name}`),
  ];
  for (const job of told) {
    const runS = job.state === "running" || job.state === "ending" ? -1 : seconds(job.ranMs);
    lines.push(
      [
        job.job,
        seconds(job.submittedAtMs - epochMs),
        seconds(Math.max(0, job.startedAtMs! - job.submittedAtMs)),
        runS,
        job.tasks,
        -1,
        -1,
        job.tasks,
        job.limitMs === undefined ? -1 : seconds(job.limitMs),
        job.memoryBytes === undefined ? -1 : Math.ceil(job.memoryBytes / 1024 / job.tasks),
        STATUS[job.state] ?? -1,
        users(job.user),
        -1,
        names(job.name),
        queues.indexOf(job.queue) + 1 || -1,
        -1,
        job.after[0] ?? -1,
        -1,
      ].join(" "),
    );
  }
  return `${lines.join("\n")}\n`;
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}

/** Numbers from 1 in order of first occurrence. */
function numbering(words: readonly string[]): (word: string) => number {
  const numbers = new Map<string, number>();
  for (const word of words) if (!numbers.has(word)) numbers.set(word, numbers.size + 1);
  return (word) => numbers.get(word) ?? -1;
}
