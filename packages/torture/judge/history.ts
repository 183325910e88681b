/** What a run of the kill loop leaves for the judge: what was asked for, done, and written by the jobs. */
import type { Job } from "@tutti/protocol/schema.ts";

/** What a job asks for. An edit replaces all of it at once. */
export interface Asked {
  readonly name: string;
  readonly tasks: number;
  readonly limitMs?: number;
  readonly retries: number;
  readonly retryOn: readonly string[];
  readonly retryDelayMs?: number;
  readonly beginAtMs?: number;
}

export const LIMIT = "time limit";

export interface JudgedJob {
  readonly kind: string;
  /** Its file of starts and of hooks. */
  readonly index: number;
  readonly user: string;
  /**
   * How its starts end if nobody interferes: exit codes, signals such as "SIGKILL", and "time limit". Further
   * starts exit with 0.
   */
  readonly ends: readonly string[];
  /** Whether each start gets a signal before its limit, and how long before its end at most. */
  readonly signalMs?: number;
  readonly hooks: readonly ("onStart" | "onEnd" | "onFail" | "webhook")[];
  /** Its array runs at most this many jobs at once. */
  readonly most?: number;
  /** The job of the same submit that it waits for. */
  readonly after?: { readonly job: JudgedJob; readonly kind: "ok" | "notok" | "any" };
  /** What may be in force: more than one only if an edit was not answered and was refused the next time. */
  possible: readonly Asked[];
  /** Names that it had before an edit while it ran. */
  formerNames: readonly string[];
  /** When it was submitted first. */
  submittedAtMs: number;
  /** When the test asked for its release; left out: it was never held. */
  releasedAtMs?: number;
  /** Its numbers, several in an array. Empty: its submit was not acknowledged. */
  numbers: readonly number[];
  /** Its submit had no key and was cut off, so it may exist or not. */
  isUnheard?: boolean;
  /** Numbers of acknowledged reruns. */
  reruns: readonly number[];
  /** Its cancel was acknowledged: before it could start, or while it ran. */
  cancelled?: "waiting" | "running";
  /** Its requeue was acknowledged. */
  isRequeued?: boolean;
  /** Its CPUs were given to others while it was paused. */
  isReleased?: boolean;
}

/** A line that a start of a job wrote when it began, and the time in the line that it wrote at its end. */
export interface Start {
  readonly job: number;
  readonly attempt: number;
  readonly tasks: number;
  readonly name: string;
  readonly units: readonly string[];
  readonly beganMs: number;
  readonly endedMs?: number;
  /** Times of signals before the limit. */
  readonly signals: readonly number[];
}

/** What a hook or a webhook got. */
export interface Report {
  readonly hook: "onStart" | "onEnd" | "onFail" | "webhook";
  readonly event: string;
  readonly job: number;
  readonly attempt: number;
  readonly id: string;
  readonly state: string;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface History {
  readonly jobs: readonly JudgedJob[];
  readonly starts: readonly Start[];
  readonly reports: readonly Report[];
  /** What the scheduler says. */
  readonly records: readonly Job[];
  /** Starts that its events name, as job.attempt. */
  readonly noted: ReadonlySet<string>;
  /** Jobs that its exports have. */
  readonly exported: ReadonlySet<number>;
  /** Attempts whose shim was killed, as job.attempt. */
  readonly lost: ReadonlySet<string>;
  /** Of these, attempts whose start nobody can know: the power was cut just then. */
  readonly unseen?: ReadonlySet<string>;
  /** Attempts whose nodes may have been taken away, as job.attempt. Left out: it is one machine. */
  readonly evicted?: ReadonlySet<string>;
  /** Jobs that were cancelled because, after a restore, the store did not know that they had started. */
  readonly forgotten: ReadonlySet<number>;
  /** Whether the state folder was moved away: what could not begin then was tried again. */
  readonly wasAway: boolean;
  /** When the disk refused writes. */
  readonly spoilt?: readonly Span[];
  /** When conductors were killed; left out: that is not known. */
  readonly deaths?: readonly number[];
  /** Times of restores. */
  readonly restores: readonly number[];
  /** How far the scheduler's clock was from the machine's, ms. */
  readonly clocks: readonly (Span & { readonly offsetMs: number })[];
  /** Nothing may begin in these: a drain or a window was acknowledged, and starts under way had begun. */
  readonly quiet: readonly Span[];
  /** Jobs of a user that may run at a time. */
  readonly mostJobs: number;
}

export function nameOf({ job, attempt }: Pick<Start, "job" | "attempt">): string {
  return `${job}.${attempt}`;
}

/**
 * The lines of a job's starts: "b job attempt tasks ms units name" when it begins, "s job attempt ms" for a
 * signal before its limit, "e job attempt ms" at its end. Units are separated by commas.
 */
export function readStarts(text: string): Start[] {
  const lines = text.split("\n").map((line) => line.split(" "));
  return lines
    .filter(([kind]) => kind === "b")
    .map(([, job, attempt, tasks, beganMs, units, ...name]) => {
      const own = lines.filter(([, ...words]) => words[0] === job && words[1] === attempt);
      const end = own.find(([kind]) => kind === "e");
      return {
        job: Number(job),
        attempt: Number(attempt),
        tasks: Number(tasks),
        name: name.join(" "),
        units: (units ?? "").split(",").filter(Boolean),
        beganMs: Number(beganMs),
        ...(end !== undefined && { endedMs: Number(end[3]) }),
        signals: own.filter(([kind]) => kind === "s").map(([, , , atMs]) => Number(atMs)),
      };
    });
}

/** The lines of hooks: "hook event job attempt id state". */
export function readReports(text: string): Report[] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" "))
    .map(([hook, event, job, attempt, id, state]) => ({
      hook: hook as Report["hook"],
      ...{ event, job: Number(job), attempt: Number(attempt), id, state },
    }));
}
