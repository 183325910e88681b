/** Judges what holds for jobs together: units, limits, arrays, and times in which nothing may begin. */
import { type History, type JudgedJob, nameOf, type Start } from "./history.ts";

interface Run {
  readonly start: Start;
  readonly job: JudgedJob;
}

/** What was being started when the store was replaced has begun by then. */
const MAY_BEGIN_MS = 5000;

export function judgeTogether(history: History): string[] {
  const { jobs, starts, quiet, lost, forgotten, restores, mostJobs } = history;
  const byNumber = new Map(jobs.flatMap((job) => [...job.numbers, ...job.reruns].map((one) => [one, job])));
  // Of others, only the scheduler knows when they ended.
  const runs: Run[] = starts
    .filter((start) => start.endedMs !== undefined && !lost.has(nameOf(start)) && byNumber.has(start.job))
    .map((start) => ({ start, job: byNumber.get(start.job)! }));
  const problems = quiet.flatMap(({ fromMs, toMs }) =>
    starts
      .filter(({ beganMs }) => beganMs > fromMs && beganMs < toMs)
      .map(({ job }) => `job ${job} began while nothing was to start`),
  );
  // A restored store that does not know a start does not know either what it takes: others get it.
  const isStray = ({ job, beganMs }: Start, atMs: number) =>
    forgotten.has(job) && restores.some((ms) => beganMs < ms + MAY_BEGIN_MS && ms <= atMs);
  for (const one of runs) {
    const atMs = one.start.beganMs;
    const meanwhile = runs.filter(
      ({ start }) => start.beganMs <= atMs && start.endedMs! > atMs && !isStray(start, atMs),
    );
    const others = meanwhile.filter((other) => other !== one);
    for (const unit of one.start.units) {
      const holder = others.find(({ start }) => start.units.includes(unit));
      if (holder !== undefined)
        problems.push(`jobs ${holder.start.job} and ${one.start.job} both had ${unit}`);
    }
    const { most = Number.POSITIVE_INFINITY, numbers } = one.job;
    const ofArray = meanwhile.filter(({ start }) => numbers.includes(start.job));
    if (ofArray.length > most)
      problems.push(`${ofArray.length} jobs of array ${numbers[0]} ran, expected ${most}`);
    const ofUser = meanwhile.filter(({ job }) => job.user === one.job.user && !job.isReleased);
    if (ofUser.length > mostJobs) {
      problems.push(
        `${ofUser.length} jobs of ${one.job.user} ran, expected ${mostJobs}: ${describe(ofUser)}`,
      );
    }
  }
  return problems;
}

function describe(runs: readonly Run[]): string {
  return runs.map(({ start }) => nameOf(start)).join(", ");
}
