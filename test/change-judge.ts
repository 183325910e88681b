/**
 * Judges a run of jobs with retries, begin times, edits, reruns and drains. It knows what the test asked for
 * and was answered, and what the jobs wrote themselves. From these it derives what must have happened, by the
 * rules in docs/guide-user.md.
 */
import type { Job } from "../src/protocol/schema.ts";

/** What a job asks for. An edit replaces all of it at once. */
export interface Asked {
  readonly name: string;
  readonly tasks: number;
  readonly limitMs: number;
  readonly retries: number;
  readonly retryOn: readonly string[];
  readonly retryDelayMs: number;
  readonly beginAtMs?: number;
}

export interface JudgedJob {
  /** What the test does with it. */
  readonly story: string;
  /** How its starts end: exit codes and signals, such as "3" and "SIGKILL". Further starts exit with 0. */
  readonly ends: readonly string[];
  /** What may be in force: more than one only if an edit was not answered and was refused the next time. */
  possible: readonly Asked[];
  /** Names that it had before an edit while it ran. */
  formerNames: readonly string[];
  /** When the test asked for its release; left out: it was never held. */
  releasedAtMs?: number;
  /** Its number; left out: its submit was not acknowledged. */
  number?: number;
  /** Numbers of acknowledged reruns. */
  reruns: readonly number[];
}

/** A line that a start of a job wrote when it began, and the time in the line that it wrote at its end. */
export interface Start {
  readonly job: number;
  readonly attempt: number;
  readonly tasks: number;
  readonly name: string;
  readonly beganMs: number;
  readonly endedMs?: number;
}

/** Nothing may begin between these times: a drain was acknowledged, and starts under way had begun. */
export interface Quiet {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Times of two clocks are rounded to ms. */
const ROUNDING_MS = 2;
/** docs/guide-user.md: 10 s, 20 s, 40 s and so on, up to 6 minutes. */
const LONGEST_DELAY_MS = 360_000;

/** @returns descriptions of everything that is wrong */
export function judge(
  jobs: readonly JudgedJob[],
  starts: readonly (readonly Start[])[],
  records: readonly Job[],
  quiet: readonly Quiet[],
): string[] {
  const byNumber = new Map(records.map((record) => [record.job, record]));
  const asked = new Set(jobs.flatMap(({ number, reruns }) => [number, ...reruns]));
  return [
    ...records.filter(({ job }) => !asked.has(job)).map(({ job }) => `nobody asked for job ${job}`),
    ...jobs.flatMap((job, i) =>
      judgeJob(job, starts[i], byNumber).map((what) => `${describe(job)}: ${what}`),
    ),
    ...quiet.flatMap(({ fromMs, toMs }) =>
      starts
        .flat()
        .filter(({ beganMs }) => beganMs > fromMs && beganMs < toMs)
        .map(({ job }) => `job ${job} began while the scheduler was drained`),
    ),
  ];
}

function describe({ story, number }: JudgedJob): string {
  return `job ${number} (${story})`;
}

function judgeJob(job: JudgedJob, starts: readonly Start[], records: ReadonlyMap<number, Job>): string[] {
  const { number, possible, reruns, releasedAtMs = 0 } = job;
  if (number === undefined) return ["was never acknowledged"];
  const record = records.get(number);
  if (record === undefined) return ["is lost"];
  const asked = possible.find((one) => isSame(one, record));
  if (asked === undefined) {
    return [`an edit is half done or undone: is ${json(record)}, possible is ${json(possible)}`];
  }
  const own = new Set([number, ...reruns]);
  const notBeforeMs = Math.max(asked.beginAtMs ?? 0, releasedAtMs);
  const problems = judgeRun(
    job,
    asked,
    starts.filter((one) => one.job === number),
    record,
    notBeforeMs,
  );
  for (const rerun of reruns) {
    const again = records.get(rerun);
    if (again === undefined) problems.push(`its rerun ${rerun} is lost`);
    else {
      if (again.repeats !== number) problems.push(`its rerun ${rerun} repeats ${again.repeats}`);
      const runs = starts.filter((one) => one.job === rerun);
      const found = judgeRun({ ...job, formerNames: [] }, asked, runs, again, record.endedAtMs ?? Infinity);
      problems.push(...found.map((what) => `its rerun ${rerun}: ${what}`));
    }
  }
  const others = starts.filter((one) => !own.has(one.job));
  return [...problems, ...others.map((one) => `also ran as job ${one.job}`)];
}

/** Whether a job's record has exactly these fields. Begin times do not go into reruns. */
function isSame(asked: Asked, record: Job): boolean {
  const { name, tasks, limitMs, retries = 0, retryOn = [], retryDelayMs, beginAtMs } = record;
  return (
    json({ name, tasks, limitMs, retries, retryOn, retryDelayMs, beginAtMs }) ===
    json({
      name: asked.name,
      tasks: asked.tasks,
      limitMs: asked.limitMs,
      retries: asked.retries,
      retryOn: asked.retryOn,
      retryDelayMs: asked.retryDelayMs,
      beginAtMs: asked.beginAtMs,
    })
  );
}

function judgeRun(
  { ends, formerNames }: JudgedJob,
  asked: Asked,
  starts: readonly Start[],
  record: Job,
  notBeforeMs: number,
): string[] {
  const problems: string[] = [];
  const mustStart = startsOf(asked, ends);
  const end = ends[mustStart - 1] ?? "0";
  if (starts.length !== mustStart) problems.push(`started ${starts.length} times, expected ${mustStart}`);
  if (record.attempt !== mustStart) problems.push(`says that it started ${record.attempt} times`);
  const isRight =
    record.state === (end === "0" ? "done" : "failed") && (record.signal ?? String(record.code)) === end;
  if (!isRight) problems.push(`expected its end to be ${end}, is ${json(record)}`);
  for (const [k, { attempt, tasks, name, beganMs, endedMs }] of starts.entries()) {
    const words = `start ${k + 1} (${json(starts[k])})`;
    if (attempt !== k + 1) problems.push(`${words} has another number`);
    if (endedMs === undefined) problems.push(`${words} did not reach its end`);
    const mayBeFormer = k === 0 && formerNames.includes(name);
    if (tasks !== asked.tasks || (name !== asked.name && !mayBeFormer)) {
      problems.push(`${words} does not have what was asked for: ${json(asked)}`);
    }
    const delayMs = Math.min(asked.retryDelayMs * 2 ** (k - 1), LONGEST_DELAY_MS);
    const earliestMs = k === 0 ? notBeforeMs : (starts[k - 1].endedMs ?? Infinity) + delayMs;
    if (beganMs < earliestMs - ROUNDING_MS) problems.push(`${words} began too early, before ${earliestMs}`);
  }
  return problems;
}

/** The first start, and one more after each end in `retryOn`, within the retries. */
function startsOf({ retries, retryOn }: Asked, ends: readonly string[]): number {
  let starts = 1;
  const isRetried = (end = "0") => retryOn.includes(end) || (end !== "0" && retryOn.includes("fail"));
  while (starts <= retries && isRetried(ends[starts - 1])) starts++;
  return starts;
}

/** The lines that a job's starts wrote: "b job attempt tasks name ms" and "e job attempt ms". */
export function readStarts(text: string): Start[] {
  const lines = text.split("\n").map((line) => line.split(" "));
  return lines
    .filter(([kind]) => kind === "b")
    .map(([, job, attempt, tasks, name, beganMs]) => {
      const end = lines.find(([kind, ...words]) => kind === "e" && words[0] === job && words[1] === attempt);
      return {
        job: Number(job),
        attempt: Number(attempt),
        tasks: Number(tasks),
        name,
        beganMs: Number(beganMs),
        ...(end !== undefined && { endedMs: Number(end[3]) }),
      };
    });
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
