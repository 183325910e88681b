/**
 * Judges a run with faults by what the commands of the jobs have written themselves
 * (test/slurm/tasks/beat.c): which attempts began, on which node, and when each was last alive. Times are
 * Unix times in ms.
 */
import type { Job } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";

export interface Beat {
  readonly kind: "begin" | "beat" | "end";
  readonly job: number;
  readonly attempt: number;
  readonly node: string;
  /** Empty: the command runs once and has no rank. */
  readonly rank: string;
  readonly atMs: number;
}

/** What was submitted, and what came of it. */
export interface JobRun {
  readonly name: string;
  /** How many commands begin: the tasks of a job whose command runs once per task, otherwise 1. */
  readonly commands: number;
  readonly retries: number;
  /** How often it was queued again because its pilot ended: that is not charged to its retries. */
  readonly requeued: number;
  readonly code?: number;
  readonly signal?: string;
  /** Number that the scheduler acknowledged; left out: it did not. */
  readonly acknowledged?: number;
  /** The job as the scheduler knows it in the end. */
  readonly job?: Job;
  readonly beats: readonly Beat[];
}

/** A time in which a node was away for others, so that nobody could end what ran there. */
export interface Absence {
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Judgement {
  readonly acknowledged: number;
  /** Acknowledged, and unknown in the end, or not ended. */
  readonly lost: number;
  /** Ended as its command does. */
  readonly finished: number;
  /** Ended otherwise, with a reason. */
  readonly failed: number;
  /** Begun more than once without the right to it. */
  readonly ranTwice: number;
  /** Two attempts were alive at once on nodes that were up. */
  readonly aliveTwice: number;
  /** Begun again by the right of its retries, or because its pilot had ended. */
  readonly ranAgain: number;
  /** Each reason of a failed job with its count. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** Reads the lines of a file; a last line that is not complete is left out. */
export function parseBeats(text: string): Beat[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [kind, job, attempt, node, rank, atMs] = line.split(" ");
      if ((kind !== "begin" && kind !== "beat" && kind !== "end") || atMs === undefined) {
        throw new Error(`Cannot read the beat ${JSON.stringify(line)}`);
      }
      return {
        kind,
        job: Number(job),
        attempt: Number(attempt),
        node,
        rank: rank === "-" ? "" : rank,
        atMs: Number(atMs),
      };
    });
}

export function judgeJobs(runs: readonly JobRun[], absences: readonly Absence[]): Judgement {
  const counts = {
    acknowledged: 0,
    lost: 0,
    finished: 0,
    failed: 0,
    ranTwice: 0,
    aliveTwice: 0,
    ranAgain: 0,
  };
  const reasons = new Map<string, number>();
  const problems: string[] = [];
  for (const run of runs) {
    const { name, acknowledged, job, beats } = run;
    // The end of a pilot counts as a start, but a job without retries may start again once after it.
    const allowed = 1 + Math.max(run.retries, Math.min(1, run.requeued));
    const tell = (what: string) =>
      problems.push(
        `${name} (job ${job?.job ?? acknowledged}): ${what}; ${JSON.stringify(job?.reason ?? "")}`,
      );
    if (acknowledged !== undefined) counts.acknowledged++;
    if (acknowledged !== undefined && (job?.job !== acknowledged || !isEnded(job.state))) {
      counts.lost++;
      tell(job === undefined ? "is unknown" : `is job ${job.job} in state ${job.state}`);
      continue;
    }
    if (job === undefined) {
      if (beats.length > 0) tell("was not accepted, and ran");
      continue;
    }
    if (beats.some((beat) => beat.job !== job.job)) tell("ran under another number");
    const attempts = [...Map.groupBy(beats, ({ attempt }) => attempt)].sort(([a], [b]) => a - b);
    const twice = attempts.flatMap(([attempt, ofAttempt]) =>
      repeated(ofAttempt.filter(({ kind }) => kind === "begin")).map((rank) => `${attempt}, rank "${rank}"`),
    );
    for (const one of twice) tell(`its command began twice in attempt ${one}`);
    if (attempts.length > allowed)
      tell(`began in attempts ${attempts.map(([n]) => n)} and may begin ${allowed} times`);
    if (twice.length > 0 || attempts.length > allowed) counts.ranTwice++;
    else if (attempts.length > 1) counts.ranAgain++;
    const overlaps = overlapsOf(attempts, absences);
    if (overlaps.length > 0) counts.aliveTwice++;
    for (const overlap of overlaps) tell(overlap);
    if (endedItself(run, job)) {
      counts.finished++;
      const last = beats.filter(({ attempt }) => attempt === job.attempt);
      const number = (kind: Beat["kind"]) => last.filter((beat) => beat.kind === kind).length;
      if (number("begin") !== run.commands || number("end") !== run.commands) {
        tell(
          `is ${job.state}, and ${number("begin")} of ${run.commands} commands began, ${number("end")} ended`,
        );
      }
      continue;
    }
    counts.failed++;
    const reason = job.reason ?? "";
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    if (reason === "" || job.state === "done")
      tell(`is ${job.state} with code ${job.code}, signal ${job.signal}`);
    else if (
      !reason.startsWith("lost: ") &&
      !(job.attempt > Math.max(run.retries, 1) && reason.startsWith("the allocation ended again"))
    )
      tell(`is ${job.state}: expected ${run.code ?? run.signal} or a loss`);
  }
  return { ...counts, reasons, problems };
}

function endedItself({ code, signal }: JobRun, job: Job): boolean {
  return job.code === code && job.signal === signal && job.state === (code === 0 ? "done" : "failed");
}

/** Ranks that are in a list more than once. */
function repeated(begins: readonly Beat[]): string[] {
  return [...Map.groupBy(begins, ({ rank }) => rank)]
    .filter(([, all]) => all.length > 1)
    .map(([rank]) => rank);
}

/** Signs of life of an attempt after a later one began, on nodes that were up. */
function overlapsOf(
  attempts: readonly (readonly [number, readonly Beat[]])[],
  absences: readonly Absence[],
): string[] {
  const isAway = ({ node, atMs }: Beat) =>
    absences.some((away) => away.node === node && away.fromMs <= atMs && atMs <= away.toMs);
  return attempts.slice(1).flatMap(([attempt, ofAttempt], i) => {
    const beganMs = Math.min(...ofAttempt.map(({ atMs }) => atMs));
    const earlier = attempts.slice(0, i + 1).flatMap(([, beats]) => beats);
    const late = earlier.filter((beat) => beat.atMs > beganMs && !isAway(beat));
    if (late.length === 0) return [];
    const { attempt: old, node, atMs } = late[0];
    return [`attempt ${old} was alive on ${node} ${atMs - beganMs} ms after attempt ${attempt} began`];
  });
}
