/**
 * The front end's memory on disk: SQLite in WAL mode with full synchronisation, so that what has been committed survives a crash of
 * the machine. Everything that happens in one turn of the event loop is one transaction: `begin`, writes, `commit`.
 *
 * All calls are synchronous. A commit takes as long as the disk needs to make it durable; the conductor, a process of its own, goes
 * on turning the matrix meanwhile.
 */
import { createHash } from "node:crypto";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { InputError } from "../../core/errors.ts";
import type { AttemptEnd, AttemptKey, JobNumber } from "../protocol.ts";
import type { JobRecord } from "../record.ts";
import type { JobState } from "../service.ts";
import { migrate } from "./migrations.ts";
import {
  CHANGING,
  changingValues,
  endValues,
  eventOf,
  eventValues,
  type Row,
  recordOf,
  type StoredEvent,
  specOf,
  type Value,
} from "./rows.ts";

export interface AttemptRow extends AttemptKey {
  /** Undefined: the first release decided on it, or a conductor of the first release ran it. */
  readonly identity: string | undefined;
  readonly decidedAtMs: number;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
}

/** What is left of a job that is to be forgotten. */
export interface EndedJob {
  readonly job: JobNumber;
  readonly state: JobState;
  readonly endedAtMs: number;
  readonly environment: number;
  readonly script: number | undefined;
}

/** Names in `meta`. */
const FORGOTTEN_JOB = "forgotten job";
const FORGOTTEN_UNTIL = "forgotten until";
const MARKS = (count: number): string => Array(count).fill("?").join(", ");
const CHANGING_COUNT = CHANGING.split(",").length;
const WAL_LIMIT_BYTES = 64 * 2 ** 20;

export class Store {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Environments of the last submits by hash; most submits have one that was there just before. */
  readonly #environments = new Map<string, number>();
  /** That of the last submit. */
  #environment: { readonly environment: Readonly<Record<string, string>>; readonly id: number } | undefined;
  #script: { readonly base64: string; readonly id: number } | undefined;

  /**
   * Opens the database, makes it if there is none, brings it up to date.
   * @throws InputError when the file is no database, or one of a later version
   */
  constructor(path: string, nowMs = Date.now()) {
    this.path = path;
    try {
      this.#database = new DatabaseSync(path, { timeout: 5000 });
      this.#database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
      this.#database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
      migrate(this.#database, path, nowMs);
    } catch (error) {
      if (error instanceof InputError) throw error;
      throw new InputError(
        `Cannot open "${path}" as the store of the front end: ${messageOf(error)}; expected a database that Tutti has written, or no file. Nothing was changed`,
        { cause: error },
      );
    }
  }

  begin(): void {
    this.#database.exec("BEGIN IMMEDIATE");
  }

  /** Returns when everything since `begin` is on disk. @throws Error when it is not; then nothing of it is */
  commit(): void {
    this.#database.exec("COMMIT");
  }

  rollback(): void {
    this.#environments.clear();
    this.#environment = undefined;
    this.#script = undefined;
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
  }

  close(): void {
    this.#database.close();
  }

  meta(name: string): string | undefined {
    const row = this.#get("SELECT value FROM meta WHERE name = ?", name);
    return row === undefined ? undefined : String(row.value);
  }

  setMeta(name: string, value: string): void {
    this.#run(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      name,
      value,
    );
  }

  /** Number of an environment, which is stored if it is new. */
  environmentId(environment: Readonly<Record<string, string>>): number {
    // All jobs of an array have the very same one.
    if (this.#environment?.environment === environment) return this.#environment.id;
    const id = this.#environmentId(environment);
    this.#environment = { environment, id };
    return id;
  }

  #environmentId(environment: Readonly<Record<string, string>>): number {
    const json = JSON.stringify(environment);
    const hash = createHash("sha256").update(json).digest();
    const key = hash.toString("base64");
    const known = this.#environments.get(key);
    if (known !== undefined) return known;
    this.#statement("INSERT INTO environments (hash, json) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
      hash,
      json,
    );
    const row = this.#statement("SELECT id FROM environments WHERE hash = ?").get(hash);
    const id = Number(row?.id);
    if (this.#environments.size >= 100) this.#environments.clear();
    this.#environments.set(key, id);
    return id;
  }

  environment(id: number): Record<string, string> {
    const row = this.#get("SELECT json FROM environments WHERE id = ?", id);
    return row === undefined ? {} : JSON.parse(String(row.json));
  }

  /** Number of a script, which is stored if it is new. */
  scriptId(base64: string): number {
    // All jobs of an array have the very same one.
    if (this.#script?.base64 === base64) return this.#script.id;
    const content = Buffer.from(base64, "base64");
    const hash = createHash("sha256").update(content).digest();
    this.#statement("INSERT INTO scripts (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
      hash,
      content,
    );
    const id = Number(this.#statement("SELECT id FROM scripts WHERE hash = ?").get(hash)?.id);
    this.#script = { base64, id };
    return id;
  }

  script(id: number): Uint8Array | undefined {
    return this.#get("SELECT content FROM scripts WHERE id = ?", id)?.content as Uint8Array | undefined;
  }

  insertJob(record: JobRecord): void {
    this.#run(
      `INSERT INTO jobs (job, uid, key, environment, script, spec, ${CHANGING}) VALUES (${MARKS(6 + CHANGING_COUNT)})`,
      record.job,
      record.uid,
      record.key ?? null,
      record.environment,
      record.script ?? null,
      specOf(record),
      ...changingValues(record),
    );
  }

  /** Writes what may change in a record. */
  updateJob(record: JobRecord): void {
    this.#run(
      `UPDATE jobs SET (${CHANGING}) = (${MARKS(CHANGING_COUNT)}) WHERE job = ?`,
      ...changingValues(record),
      record.job,
    );
  }

  job(job: JobNumber): JobRecord | undefined {
    const row = this.#get("SELECT * FROM jobs WHERE job = ?", job);
    return row === undefined ? undefined : recordOf(row);
  }

  /** Jobs that have not ended, by number, with the identities of their attempts. */
  liveJobs(): JobRecord[] {
    return this.#all(
      `SELECT jobs.*, attempts.identity FROM jobs LEFT JOIN attempts USING (job, attempt)
       WHERE jobs.ended_ms IS NULL ORDER BY job`,
    ).map(recordOf);
  }

  /** The last jobs that have ended, latest first; of one user, or of all. */
  endedJobs(uid: number | undefined, states: readonly string[], last: number): JobRecord[] {
    return this.#all(
      `SELECT * FROM jobs WHERE ended_ms IS NOT NULL AND (?1 IS NULL OR uid = ?1)
       AND state IN (SELECT value FROM json_each(?2)) ORDER BY job DESC LIMIT ?3`,
      uid ?? null,
      JSON.stringify(states),
      last,
    ).map(recordOf);
  }

  /** Jobs that a user has submitted with a key, by number. */
  jobsByKey(uid: number, key: string): JobRecord[] {
    return this.#all("SELECT * FROM jobs WHERE uid = ? AND key = ? ORDER BY job", uid, key).map(recordOf);
  }

  /** The highest number that was given to a job, kept or not. */
  latestJob(): JobNumber {
    const kept = Number(this.#get("SELECT max(job) AS latest FROM jobs")?.latest ?? 0);
    return Math.max(kept, Number(this.meta(FORGOTTEN_JOB) ?? 0));
  }

  /** Every job that has ended after this Unix time is kept; undefined when none was ever forgotten. */
  keptSinceMs(): number | undefined {
    const value = this.meta(FORGOTTEN_UNTIL);
    return value === undefined ? undefined : Number(value);
  }

  /** Ended jobs, the oldest end first. */
  oldestEnded(most: number): EndedJob[] {
    return this.#all(
      `SELECT job, state, ended_ms, environment, script FROM jobs WHERE ended_ms IS NOT NULL
       ORDER BY ended_ms, job LIMIT ?`,
      most,
    ).map((row) => ({
      job: Number(row.job),
      state: row.state as JobState,
      endedAtMs: Number(row.ended_ms),
      environment: Number(row.environment),
      script: row.script === null ? undefined : Number(row.script),
    }));
  }

  /** Removes all that is known of jobs, and notes that their folders are to go. To be called between `begin` and `commit`. */
  forgetJobs(jobs: readonly EndedJob[]): void {
    let highest = this.latestJob();
    let untilMs = this.keptSinceMs() ?? Number.NEGATIVE_INFINITY;
    for (const { job, endedAtMs } of jobs) {
      for (const table of ["attempts", "forecasts", "jobs"])
        this.#run(`DELETE FROM ${table} WHERE job = ?`, job);
      this.#run("INSERT INTO leftovers (job) VALUES (?)", job);
      highest = Math.max(highest, job);
      untilMs = Math.max(untilMs, endedAtMs);
    }
    if (jobs.length === 0) return;
    this.setMeta(FORGOTTEN_JOB, String(highest));
    this.setMeta(FORGOTTEN_UNTIL, String(untilMs));
    for (const id of new Set(jobs.map(({ environment }) => environment))) {
      this.#run(
        "DELETE FROM environments WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE environment = ?1)",
        id,
      );
    }
    for (const id of new Set(jobs.flatMap(({ script }) => (script === undefined ? [] : [script])))) {
      this.#run(
        "DELETE FROM scripts WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM jobs WHERE script = ?1)",
        id,
      );
    }
    this.#environments.clear();
    this.#environment = undefined;
    this.#script = undefined;
  }

  /** Forgotten jobs after a number whose folders may still be there. */
  leftovers(after: JobNumber, most: number): JobNumber[] {
    const rows = this.#all("SELECT job FROM leftovers WHERE job > ? ORDER BY job LIMIT ?", after, most);
    return rows.map(({ job }) => Number(job));
  }

  forgetLeftovers(jobs: readonly JobNumber[]): void {
    for (const job of jobs) this.#run("DELETE FROM leftovers WHERE job = ?", job);
  }

  latestPlace(): number {
    return Number(this.#get("SELECT max(place) AS latest FROM jobs")?.latest ?? 0);
  }

  counts(): Record<string, number> {
    const rows = this.#all("SELECT state, count(*) AS count FROM jobs GROUP BY state");
    return Object.fromEntries(rows.map((row) => [String(row.state), Number(row.count)]));
  }

  /** @param identity left out: a conductor of the first release is to run it */
  insertAttempt(attempt: AttemptKey, cpus: readonly number[], decidedAtMs: number, identity?: string): void {
    this.#run(
      "INSERT INTO attempts (job, attempt, cpus, decided_ms, identity) VALUES (?, ?, ?, ?, ?)",
      attempt.job,
      attempt.attempt,
      JSON.stringify(cpus),
      decidedAtMs,
      identity ?? null,
    );
  }

  noteAttemptStart(attempt: AttemptKey, startedAtMs: number): void {
    this.#run(
      "UPDATE attempts SET started_ms = ? WHERE job = ? AND attempt = ?",
      startedAtMs,
      attempt.job,
      attempt.attempt,
    );
  }

  noteAttemptEnd(end: AttemptEnd): void {
    this.#run(
      `UPDATE attempts SET (ended_ms, ran_ms, code, signal, reason, lost, cpu_ms) = (${MARKS(7)})
       WHERE job = ? AND attempt = ?`,
      ...endValues(end),
      end.job,
      end.attempt,
    );
  }

  attempts(job: JobNumber): AttemptRow[] {
    return this.#all("SELECT * FROM attempts WHERE job = ? ORDER BY attempt", job).map((row) => ({
      job,
      attempt: Number(row.attempt),
      identity: row.identity === null ? undefined : String(row.identity),
      decidedAtMs: Number(row.decided_ms),
      startedAtMs: row.started_ms === null ? undefined : Number(row.started_ms),
      endedAtMs: row.ended_ms === null ? undefined : Number(row.ended_ms),
    }));
  }

  /** Whether this very attempt was decided on here. */
  knowsAttempt({ job, attempt }: AttemptKey, identity: string | undefined): boolean {
    const sql = "SELECT 1 FROM attempts WHERE job = ? AND attempt = ? AND identity IS ?";
    return this.#get(sql, job, attempt, identity ?? null) !== undefined;
  }

  addEvent(stored: StoredEvent): void {
    this.#run(
      `INSERT INTO events (sequence, at_ms, kind, job, uid, user, data) VALUES (${MARKS(7)})`,
      ...eventValues(stored),
    );
  }

  /**
   * The last of the first few events that may go: those before a Unix time, and those that are too many. Numbers stay without
   * gaps, and the very last event stays, since the next one gets the number after it.
   */
  lastEventToForget(beforeMs: number, kept: number, most: number): number | undefined {
    const latest = this.latestEvent();
    let last: number | undefined;
    for (const row of this.#all("SELECT sequence, at_ms FROM events ORDER BY sequence LIMIT ?", most)) {
      const sequence = Number(row.sequence);
      if (sequence === latest || (Number(row.at_ms) >= beforeMs && sequence > latest - kept)) break;
      last = sequence;
    }
    return last;
  }

  forgetEvents(last: number): void {
    this.#run("DELETE FROM events WHERE sequence <= ?", last);
  }

  latestEvent(): number {
    return Number(this.#get("SELECT max(sequence) AS latest FROM events")?.latest ?? 0);
  }

  /** Events after a number, oldest first; with a user only those of that user's jobs and of all. */
  eventsAfter(sequence: number, most: number, uid?: number): StoredEvent[] {
    return this.#all(
      "SELECT * FROM events WHERE sequence > ?1 AND (?3 IS NULL OR uid IS NULL OR uid = ?3) ORDER BY sequence LIMIT ?2",
      sequence,
      most,
      uid ?? null,
    ).map(eventOf);
  }

  /** Keeps the first forecast of a job's start, to be judged when it starts. */
  noteForecast(job: JobNumber, madeMs: number, p10Ms: number, p50Ms: number, p90Ms: number): void {
    this.#run(
      "INSERT INTO forecasts (job, made_ms, p10_ms, p50_ms, p90_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
      job,
      madeMs,
      p10Ms,
      p50Ms,
      p90Ms,
    );
  }

  noteForecastStart(job: JobNumber, startedMs: number): void {
    this.#run("UPDATE forecasts SET started_ms = ? WHERE job = ? AND started_ms IS NULL", startedMs, job);
  }

  /** How far the forecasts of the last jobs to start were off in ms: actual start minus p50. */
  judgedForecasts(last: number): { readonly errorMs: number; readonly isWithin: boolean }[] {
    return this.#all(
      `SELECT started_ms - p50_ms AS error, started_ms BETWEEN p10_ms AND p90_ms AS within
       FROM forecasts WHERE started_ms IS NOT NULL ORDER BY started_ms DESC LIMIT ?`,
      last,
    ).map((row) => ({ errorMs: Number(row.error), isWithin: Number(row.within) === 1 }));
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #run(sql: string, ...values: Value[]): void {
    this.#statement(sql).run(...values);
  }

  #get(sql: string, ...values: Value[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  #all(sql: string, ...values: Value[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
