/** What the store keeps of jobs that have ended and of events, and how it is forgotten. All changes are to be made between `begin` and `commit`. */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobState } from "../../protocol/states.ts";
import type { Row } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** What is left of a job that is to be forgotten. */
export interface EndedJob {
  readonly job: JobNumber;
  readonly uid: number;
  readonly state: JobState;
  /** Else it was cancelled before. */
  readonly wasStarted: boolean;
  readonly endedAtMs: number;
  /** What it takes: command, paths and the like. */
  readonly bytes: number;
}

/** Jobs of one user in one state; of those that have ended, what they take. */
export interface JobCount {
  readonly uid: number;
  readonly state: JobState;
  readonly wasStarted: boolean;
  readonly jobs: number;
  readonly bytes: number;
}

/** Events of one user's jobs, or of all. */
export interface EventCount {
  readonly uid: number | undefined;
  readonly events: number;
}

/** Names in `meta`. */
const FORGOTTEN_JOB = "forgotten job";
const FORGOTTEN_UNTIL = "forgotten until";
/** In `forgotten`. */
const ANY_USER = -1;
const ENDED_JOB = "SELECT job, uid, state, attempt > 0 AS started, ended_ms, kept_bytes FROM jobs";

export class Kept {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  counts(): JobCount[] {
    return this.#statements
      .all(
        `SELECT uid, state, attempt > 0 AS started, count(*) AS jobs, total(kept_bytes) AS bytes
         FROM jobs GROUP BY uid, state, attempt > 0`,
      )
      .map((row) => ({
        uid: Number(row.uid),
        state: row.state as JobState,
        wasStarted: row.started === 1,
        jobs: Number(row.jobs),
        bytes: Number(row.bytes),
      }));
  }

  eventCounts(): EventCount[] {
    const rows = this.#statements.all("SELECT uid, count(*) AS events FROM events GROUP BY uid");
    return rows.map(eventCountOf);
  }

  /** Jobs that ended before a Unix time, the oldest end first. */
  endedBefore(beforeMs: number, most: number): EndedJob[] {
    const sql = `${ENDED_JOB} WHERE ended_ms IS NOT NULL AND ended_ms < ? ORDER BY ended_ms, job LIMIT ?`;
    return this.#statements.all(sql, beforeMs, most).map(endedJobOf);
  }

  /**
   * Ended jobs of a user, the oldest end first.
   * @param wasStarted only those that were, or were not; left out: those that were not come first
   */
  endedOf(uid: number, most: number, wasStarted?: boolean): EndedJob[] {
    // In the order of the index in both cases, so that no more rows are looked at than are asked for.
    const [which, order] =
      wasStarted === undefined
        ? ["", "attempt > 0, ended_ms, job"]
        : [`AND (attempt > 0) = ${wasStarted ? 1 : 0}`, "ended_ms, job"];
    const sql = `${ENDED_JOB} WHERE uid = ? ${which} AND ended_ms IS NOT NULL ORDER BY ${order} LIMIT ?`;
    return this.#statements.all(sql, uid, most).map(endedJobOf);
  }

  /** Removes all that is known of jobs, and notes that their folders are to go. */
  forgetJobs(jobs: readonly EndedJob[]): void {
    if (jobs.length === 0) return;
    const sql = this.#statements;
    let highest = this.latestForgotten();
    let untilMs = this.sinceMs() ?? Number.NEGATIVE_INFINITY;
    const untilMsOf = new Map<number, number>();
    for (const { job, uid, endedAtMs } of jobs) {
      for (const table of ["attempts", "forecasts", "jobs"])
        sql.run(`DELETE FROM ${table} WHERE job = ?`, job);
      sql.run("INSERT INTO leftovers (job) VALUES (?)", job);
      highest = Math.max(highest, job);
      untilMs = Math.max(untilMs, endedAtMs);
      untilMsOf.set(uid, Math.max(untilMsOf.get(uid) ?? endedAtMs, endedAtMs));
    }
    this.#setMeta(FORGOTTEN_JOB, highest);
    this.#setMeta(FORGOTTEN_UNTIL, untilMs);
    for (const [uid, ms] of untilMsOf) {
      sql.run(
        `INSERT INTO forgotten (uid, until_ms) VALUES (?, ?)
         ON CONFLICT DO UPDATE SET until_ms = max(until_ms, excluded.until_ms)`,
        uid,
        ms,
      );
    }
  }

  /** The highest number of a job that is forgotten; 0 when none is. */
  latestForgotten(): JobNumber {
    return this.#meta(FORGOTTEN_JOB) ?? 0;
  }

  /** Every job, or every job of one user, that has ended after this Unix time is kept; undefined when none was ever forgotten. */
  sinceMs(uid?: number): number | undefined {
    if (uid === undefined) return this.#meta(FORGOTTEN_UNTIL);
    const sql = "SELECT max(until_ms) AS until FROM forgotten WHERE uid IN (?, ?)";
    const until = this.#statements.get(sql, uid, ANY_USER)?.until;
    return until === null || until === undefined ? undefined : Number(until);
  }

  /** Forgotten jobs after a number whose folders may still be there. */
  leftovers(after: JobNumber, most: number): JobNumber[] {
    const sql = "SELECT job FROM leftovers WHERE job > ? ORDER BY job LIMIT ?";
    return this.#statements.all(sql, after, most).map(({ job }) => Number(job));
  }

  forgetLeftovers(jobs: readonly JobNumber[]): void {
    for (const job of jobs) this.#statements.run("DELETE FROM leftovers WHERE job = ?", job);
  }

  /** Forgets the first events from before a Unix time, some at a time, never the very last one: the next gets the number after it. */
  forgetEventsBefore(beforeMs: number, most: number): EventCount[] {
    // What is behind one that is younger waits for it: clocks are set.
    const sql = `SELECT coalesce(min(sequence) FILTER (WHERE at_ms >= ?1), max(sequence) + 1) AS beyond
      FROM (SELECT sequence, at_ms FROM events WHERE sequence < (SELECT max(sequence) FROM events) ORDER BY sequence LIMIT ?2)`;
    const beyond = Number(this.#statements.get(sql, beforeMs, most)?.beyond ?? 0);
    const counts = this.#statements
      // Else all events would be gone through by user, for the sake of the order.
      .all("SELECT uid, count(*) AS events FROM events NOT INDEXED WHERE sequence < ? GROUP BY uid", beyond)
      .map(eventCountOf);
    if (counts.length > 0) this.#statements.run("DELETE FROM events WHERE sequence < ?", beyond);
    return counts;
  }

  /** Forgets the oldest events of a user's jobs, or of those of all. */
  forgetEventsOf(uid: number | undefined, count: number): void {
    this.#statements.run(
      "DELETE FROM events WHERE sequence IN (SELECT sequence FROM events WHERE uid IS ? ORDER BY sequence LIMIT ?)",
      uid ?? null,
      count,
    );
  }

  #meta(name: string): number | undefined {
    const row = this.#statements.get("SELECT value FROM meta WHERE name = ?", name);
    return row === undefined ? undefined : Number(row.value);
  }

  #setMeta(name: string, value: number): void {
    this.#statements.run(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      String(value),
    );
  }
}

function endedJobOf(row: Row): EndedJob {
  return {
    job: Number(row.job),
    uid: Number(row.uid),
    state: row.state as JobState,
    wasStarted: row.started === 1,
    endedAtMs: Number(row.ended_ms),
    bytes: Number(row.kept_bytes ?? 0),
  };
}

function eventCountOf(row: Row): EventCount {
  return { uid: row.uid === null ? undefined : Number(row.uid), events: Number(row.events) };
}
