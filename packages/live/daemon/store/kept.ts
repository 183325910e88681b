/** Reads and forgets the ended jobs and events of the store, between `begin` and `commit`. */
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobState } from "@tutti/protocol/states.ts";
import { EVERYBODY, type Ledger } from "./ledger.ts";
import type { MetaName, Statements } from "./statements.ts";

/** Data of a job that indexes contain, so its row need not be read. */
export interface JobKey {
  readonly job: JobNumber;
  readonly uid: number;
  readonly state: JobState;
}

/** Data of an ended job that we need in order to forget it. */
export interface EndedJob extends JobKey {
  /** False: it was cancelled before its first start. */
  readonly wasStarted: boolean;
  readonly endedAtMs: number;
  /** Approximate size of command, paths and so on. */
  readonly bytes: number;
}

/** When and where an ended job ran last. */
export interface EndedRun extends Pick<JobKey, "job" | "uid"> {
  readonly nodes: readonly NodeCpus[];
  /** Undefined: it was never started. */
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number;
}

/** What all attempts of an ended job had and used. Durations are in ms. */
export interface EndedUsage extends Pick<JobKey, "job" | "uid"> {
  readonly state: "done" | "failed" | "cancelled";
  readonly endedAtMs: number;
  readonly user: string;
  readonly queue: string;
  /** The submit, or the begin that was asked for if that is later. */
  readonly mayStartAtMs: number;
  /** First start of all; undefined: it was never started. */
  readonly startedAtMs: number | undefined;
  /** Running time times CPUs. */
  readonly heldMs: number;
  /** The same, of attempts whose CPU time is known. */
  readonly countedMs: number;
  /** CPU time. */
  readonly cpuMs: number;
}

/** Number of jobs of one user in one state; for ended jobs, also their size. */
export interface JobCount extends Pick<EndedJob, "uid" | "state" | "wasStarted" | "bytes"> {
  readonly jobs: number;
}

/** Number of events of one user's jobs; undefined: of events for all users. */
export interface EventCount {
  readonly uid: number | undefined;
  readonly events: number;
}

/** Keys in `meta`. */
const FORGOTTEN_JOB = "forgotten job";
const FORGOTTEN_UNTIL = "forgotten until";
/** The uid in `forgotten` that stands for any user. */
const ANY_USER = -1;
const ENDED_JOB = `SELECT job, uid, state, attempt > 0 AS wasStarted, ended_ms AS endedAtMs,
  ifnull(kept_bytes, 0) AS bytes FROM jobs`;
const USAGES = `SELECT job, uid, state, ended_ms, spec,
    (SELECT min(started_ms) FROM attempts WHERE attempts.job = jobs.job) AS started_ms,
    (SELECT json_array(total(ran_ms * cpus), total(ran_ms * cpus) FILTER (WHERE cpu_ms IS NOT NULL), total(cpu_ms)) FROM
      (SELECT ran_ms, cpu_ms, (SELECT total(json_array_length(value, '$.cpus')) FROM json_each(nodes)) AS cpus
        FROM attempts WHERE attempts.job = jobs.job)) AS sums
  FROM jobs INDEXED BY jobs_ended
  WHERE ended_ms IS NOT NULL AND (ended_ms, job) > (?, ?) AND ended_ms < ? ORDER BY ended_ms, job LIMIT ?`;
/** Read only from indexes: a thousand take half a millisecond, whatever the sizes of jobs and table. */
const NUMBERS_OF_ALL = "FROM jobs INDEXED BY jobs_ended_by_number WHERE ended_ms IS NOT NULL";
const NUMBERS_OF_USER = "FROM jobs INDEXED BY jobs_ended_by_user WHERE ended_ms IS NOT NULL AND uid = ?4";

export class Kept {
  readonly #sql: Statements;

  readonly #ledger: Ledger;

  constructor(sql: Statements, ledger: Ledger) {
    this.#sql = sql;
    this.#ledger = ledger;
  }

  counts(): JobCount[] {
    const sql = `SELECT uid, state, attempt > 0 AS wasStarted, count(*) AS jobs, total(kept_bytes) AS bytes
        FROM jobs INDEXED BY jobs_ended WHERE ended_ms IS NOT NULL GROUP BY uid, state, attempt > 0
      UNION ALL SELECT uid, state, attempt > 0 AS wasStarted, count(*) AS jobs, 0 AS bytes
        FROM jobs INDEXED BY jobs_live WHERE ended_ms IS NULL GROUP BY uid, state, attempt > 0`;
    return this.#sql.all<JobCount>(sql).map(withBoolean);
  }

  /** The first ended jobs from `first` to `last` by number, at most `most`; of one user, or of all. */
  endedFrom(uid: number | undefined, first: JobNumber, last: JobNumber, most: number): JobKey[] {
    return this.#numbers("job", uid, first, last, most);
  }

  /** The last ended jobs up to `last` by number, in descending order. */
  endedUpTo(uid: number | undefined, last: JobNumber, most: number): JobKey[] {
    return this.#numbers("job DESC", uid, 1, last, most);
  }

  /** Ended jobs that still have an environment or a script, in the order of their ends. */
  withContents(nothing: number) {
    const sql = `SELECT job, uid, environment, script FROM jobs INDEXED BY jobs_ended
      WHERE ended_ms IS NOT NULL AND (environment <> ? OR script IS NOT NULL) ORDER BY ended_ms, job`;
    return this.#sql.all(sql, nothing).map(({ job, uid, environment, script }) => ({
      job: Number(job),
      uid: Number(uid),
      environment: Number(environment),
      script: script === null ? undefined : Number(script),
    }));
  }

  /** Jobs that ended before a Unix time, the oldest end first. */
  endedBefore(beforeMs: number, most: number): EndedJob[] {
    const sql = `${ENDED_JOB} WHERE ended_ms IS NOT NULL AND ended_ms < ? ORDER BY ended_ms, job LIMIT ?`;
    return this.#sql.all<EndedJob>(sql, beforeMs, most).map(withBoolean);
  }

  /**
   * Runs that ended at a Unix time or later, the last end first, at most `most`.
   * @param before only those after this one in this order
   */
  endedRuns(
    fromMs: number,
    before: Pick<EndedRun, "endedAtMs" | "job"> | undefined,
    most: number,
  ): EndedRun[] {
    const sql = `SELECT job, uid, nodes, started_ms, ended_ms FROM jobs INDEXED BY jobs_ended
      WHERE ended_ms IS NOT NULL AND ended_ms >= ? AND (ended_ms, job) < (?, ?)
      ORDER BY ended_ms DESC, job DESC LIMIT ?`;
    const { endedAtMs = Number.MAX_VALUE, job = 0 } = before ?? {};
    return this.#sql.all(sql, fromMs, endedAtMs, job, most).map((row) => ({
      job: Number(row.job),
      uid: Number(row.uid),
      nodes: JSON.parse(String(row.nodes)),
      startedAtMs: row.started_ms === null ? undefined : Number(row.started_ms),
      endedAtMs: Number(row.ended_ms),
    }));
  }

  /**
   * Jobs that ended from one Unix time until before another, the first end first, at most `most`.
   * @param after only those after this one in this order
   */
  endedUsages(
    fromMs: number,
    toMs: number,
    after: Pick<EndedUsage, "endedAtMs" | "job"> | undefined,
    most: number,
  ): EndedUsage[] {
    const { endedAtMs = fromMs, job = 0 } = after ?? {};
    return this.#sql.all(USAGES, endedAtMs, job, toMs, most).map((row) => {
      const { user, queue, submittedAtMs, beginAtMs = 0 } = JSON.parse(String(row.spec));
      const [heldMs, countedMs, cpuMs] = JSON.parse(String(row.sums));
      return {
        job: Number(row.job),
        uid: Number(row.uid),
        state: row.state as EndedUsage["state"],
        endedAtMs: Number(row.ended_ms),
        user,
        queue,
        mayStartAtMs: Math.max(submittedAtMs, beginAtMs),
        startedAtMs: row.started_ms === null ? undefined : Number(row.started_ms),
        heldMs,
        countedMs,
        cpuMs,
      };
    });
  }

  /**
   * Ended jobs of a user, the oldest end first.
   * @param wasStarted selects jobs that were started, or were not; left out: both, those that were not
   *   started first
   */
  endedOf(uid: number, most: number, wasStarted?: boolean): EndedJob[] {
    // Both orders are that of the index, so that only the requested rows are read.
    const [which, order] =
      wasStarted === undefined
        ? ["", "attempt > 0, ended_ms, job"]
        : [`AND (attempt > 0) = ${wasStarted ? 1 : 0}`, "ended_ms, job"];
    const sql = `${ENDED_JOB} WHERE uid = ? ${which} AND ended_ms IS NOT NULL ORDER BY ${order} LIMIT ?`;
    return this.#sql.all<EndedJob>(sql, uid, most).map(withBoolean);
  }

  /** Removes all data about jobs, and notes that their folders must be removed. */
  forgetJobs(jobs: readonly EndedJob[]): void {
    if (jobs.length === 0) return;
    const sql = this.#sql;
    let highest = this.latestForgotten();
    let untilMs = this.sinceMs() ?? Number.NEGATIVE_INFINITY;
    const untilMsOf = new Map<number, number>();
    for (const { job, uid, endedAtMs } of jobs) {
      for (const table of ["attempts", "forecasts", "news", "outcomes", "jobs"] as const)
        this.#ledger.forget(table, uid, "job = ?", job);
      const leftover = this.#ledger.charge(uid, "leftovers");
      sql.insert(leftover, "INSERT INTO leftovers (job, uid) VALUES (?, ?)", [job, uid]);
      highest = Math.max(highest, job);
      untilMs = Math.max(untilMs, endedAtMs);
      untilMsOf.set(uid, Math.max(untilMsOf.get(uid) ?? endedAtMs, endedAtMs));
    }
    sql.setMeta(FORGOTTEN_JOB, String(highest));
    sql.setMeta(FORGOTTEN_UNTIL, String(untilMs));
    for (const [uid, ms] of untilMsOf) {
      sql.set(
        `INSERT INTO forgotten (uid, until_ms) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)`,
        uid,
        ms,
      );
    }
  }

  /** The highest number of a forgotten job; 0: no job was forgotten. */
  latestForgotten(): JobNumber {
    return this.#meta(FORGOTTEN_JOB) ?? 0;
  }

  /** All jobs (of one user, or of all) that ended after this Unix time are kept; undefined: all jobs ever. */
  sinceMs(uid?: number): number | undefined {
    if (uid === undefined) return this.#meta(FORGOTTEN_UNTIL);
    const sql = "SELECT max(until_ms) AS until FROM forgotten WHERE uid IN (?, ?)";
    const until = this.#sql.get(sql, uid, ANY_USER)?.until ?? undefined;
    return until === undefined ? undefined : Number(until);
  }

  /** Forgotten jobs after a number whose folders may still exist. */
  leftovers(after: JobNumber, most: number): JobNumber[] {
    const sql = "SELECT job FROM leftovers WHERE job > ? ORDER BY job LIMIT ?";
    return this.#sql.all(sql, after, most).map(({ job }) => Number(job));
  }

  forgetLeftovers(jobs: readonly JobNumber[]): void {
    for (const job of jobs) this.#ledger.forget("leftovers", "uid", "job = ?", job);
  }

  /**
   * Forgets the first events from before a Unix time, at most `most` at a time. Always keeps the last event,
   * because the next event's number follows from it.
   */
  forgetEventsBefore(beforeMs: number, most: number): boolean {
    // Stops at the first event that is younger: clocks are set back, so later events may have earlier times.
    const sql = `SELECT coalesce(min(sequence) FILTER (WHERE at_ms >= ?1), max(sequence) + 1) AS beyond
      FROM (SELECT sequence, at_ms FROM events WHERE sequence < (SELECT max(sequence) FROM events) ORDER BY sequence LIMIT ?2)`;
    const beyond = this.#sql.number(sql, beforeMs, most);
    return this.#ledger.forget("events", "uid", "sequence < ?", beyond) > 0;
  }

  /** Forgets the oldest events of one user's jobs; undefined: of the events for all users. */
  forgetEventsOf(uid: number | undefined, count: number): void {
    this.#ledger.forget(
      "events",
      uid ?? EVERYBODY,
      "sequence IN (SELECT sequence FROM events WHERE uid IS ? ORDER BY sequence LIMIT ?)",
      uid ?? null,
      count,
    );
  }

  #numbers(order: string, uid: number | undefined, ...range: number[]): JobKey[] {
    const from = uid === undefined ? NUMBERS_OF_ALL : NUMBERS_OF_USER;
    const sql = `SELECT job, uid, state ${from} AND job BETWEEN ?1 AND ?2 ORDER BY ${order} LIMIT ?3`;
    return this.#sql.all<JobKey>(sql, ...range, ...(uid === undefined ? [] : [uid]));
  }

  #meta(name: MetaName): number | undefined {
    const text = this.#sql.meta(name);
    return text === undefined ? undefined : Number(text);
  }
}

/** SQLite has no booleans. */
function withBoolean<Found extends { readonly wasStarted: boolean }>(row: Found): Found {
  return { ...row, wasStarted: Boolean(row.wasStarted) };
}
