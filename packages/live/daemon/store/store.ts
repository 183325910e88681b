/**
 * Keeps the front end's data on disk: SQLite with full synchronisation, so committed data survive a crash of
 * the machine. It is in WAL mode, except on file systems of the network, which do not share the memory that a
 * WAL needs. Each cycle of the front end is one transaction: `begin`, writes, `commit`.
 *
 * All calls are synchronous. A commit takes as long as the disk needs to make it durable. In the meantime the
 * conductor, a separate process, keeps the rows of the matrix running.
 */

import { unixMs } from "@tutti/host/clock.ts";
import { networkFileSystem, rewriteFile } from "@tutti/host/files.ts";
import { dirname } from "@tutti/host/ports/path.ts";
import { DatabaseSync } from "@tutti/host/ports/sqlite.ts";
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import type { AttemptEnd, AttemptKey, JobNumber } from "@tutti/protocol/attempts.ts";
import type { EventData } from "@tutti/protocol/events.ts";
import type { JobRecord } from "../contract/record.ts";
import { Contents } from "./contents.ts";
import { Kept } from "./kept.ts";
import { EVERYBODY, Ledger } from "./ledger.ts";
import { migrate } from "./migrations.ts";
import { NewsStore } from "./news.ts";
import {
  CHANGING,
  changingValues,
  eventOf,
  eventValues,
  recordOf,
  type StoredEvent,
  sharing,
  specOf,
} from "./rows.ts";
import { type MetaName, Statements } from "./statements.ts";
import { damagedStore, fileError, withStoreErrors } from "./store-error.ts";

const MARKS = (count: number): string => Array(count).fill("?").join(", ");
const CHANGING_COUNT = CHANGING.split(",").length;
const INSERT_JOB =
  `INSERT INTO jobs (job, uid, key, environment, script, spec, kept_bytes, ${CHANGING}) VALUES (${MARKS(7 + CHANGING_COUNT)})` as const;
const UPDATE_JOB = `UPDATE jobs SET (${CHANGING}) = (${MARKS(CHANGING_COUNT)}) WHERE job = ?`;
const END_JOB = `UPDATE jobs SET (${CHANGING}, environment, script, kept_bytes) = (${MARKS(CHANGING_COUNT + 3)}) WHERE job = ?`;
const INSERT_EVENT =
  `INSERT INTO events (sequence, at_ms, kind, job, uid, user, data, secret, secret_of) VALUES (${MARKS(9)})` as const;
const WAL_LIMIT_BYTES = 64 * 2 ** 20;
/** A store of an earlier release with at most this is copied at the start, in about a second. */
const MAX_REWRITTEN_BYTES = 2 ** 27;
/** Pages that the file may keep free for new rows. */
const SPARE_PAGES = 1024;
const EVENTS_AFTER = "SELECT * FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?";
/** Never reads events of other users, even if there are many. */
const EVENTS_OF_USER_AFTER = `
  SELECT * FROM (SELECT * FROM events WHERE uid IS NULL AND sequence > ?1 ORDER BY sequence LIMIT ?2)
  UNION ALL
  SELECT * FROM (SELECT * FROM events WHERE uid = ?3 AND sequence > ?1 ORDER BY sequence LIMIT ?2)
  ORDER BY sequence LIMIT ?2`;

/** A forecast whose job has started. */
export interface JudgedForecast {
  readonly uid: number;
  /** Actual start minus median of the forecast. */
  readonly errorMs: number;
  /** Median of the forecast minus the time at which it was made. */
  readonly expectedMs: number;
  readonly isWithin: boolean;
}

/** CPU time of a user's ended attempts, as it counts for fair share at a Unix time. */
interface ShareUsage {
  readonly uid: number;
  readonly user: string;
  readonly cpuMs: number;
  readonly atMs: number;
}

export class Store {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #sql: Statements;
  #pageBytes: number | undefined;
  /** Data of the last event, and their JSON: the events of an array share one object. */
  #lastData: EventData | undefined;
  #lastDataText: string | null = null;
  /** What each user has in the store. */
  readonly ledger: Ledger;
  /** Environments and scripts. */
  readonly contents: Contents;
  /** Ended jobs and events, and how they are forgotten. */
  readonly kept: Kept;
  /** What hooks have not received yet. */
  readonly news: NewsStore;

  /**
   * Opens or creates the database, checks it for damage, and migrates it to the current version.
   * @throws InputError if the file is not a database, is damaged, or of a later version; StorageError if the
   *   disk refuses
   * @param network name of the network file system on which the file is
   */
  constructor(path: string, nowMs = unixMs(), network = networkFileSystem(dirname(path))) {
    this.path = path;
    makeLogDurable(path);
    this.#database = withStoreErrors(path, () => new DatabaseSync(path, { timeout: 5000 }));
    try {
      withStoreErrors(path, () => this.#open(nowMs, network !== undefined));
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#sql = new Statements(path, this.#database);
    this.ledger = new Ledger(this.#sql);
    this.contents = new Contents(this.#sql);
    this.kept = new Kept(this.#sql, this.ledger);
    this.news = new NewsStore(this.#sql, this.ledger);
  }

  begin(): void {
    withStoreErrors(this.path, () => this.#database.exec("BEGIN IMMEDIATE"));
  }

  /** Returns when everything since `begin` is on disk. @throws an error if nothing of it is */
  commit(): void {
    this.ledger.write();
    withStoreErrors(this.path, () => this.#database.exec("COMMIT"));
    this.ledger.commit();
  }

  rollback(): void {
    this.contents.rollback();
    if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    this.ledger.rollback();
  }

  /**
   * Runs writes in a transaction of their own.
   * @returns true if all are on disk, false if nothing was written
   */
  tryTransaction(write: () => void): boolean {
    try {
      this.begin();
      write();
      this.commit();
      return true;
    } catch {
      this.rollback();
      return false;
    }
  }

  /** Used bytes of the database. The file may be larger, because it keeps free pages. */
  usedBytes(): number {
    const sql = this.#sql;
    this.#pageBytes ??= sql.number("PRAGMA page_size");
    return (sql.number("PRAGMA page_count") - sql.number("PRAGMA freelist_count")) * this.#pageBytes;
  }

  /**
   * Gives free pages back to the file system, at most `most`. Must be called outside of a transaction.
   * @returns whether there are more
   */
  shrink(most: number): boolean {
    const surplus = this.#sql.number("PRAGMA freelist_count") - SPARE_PAGES;
    if (surplus <= 0 || this.#sql.number("PRAGMA auto_vacuum") === 0) return false;
    try {
      this.#database.exec(`PRAGMA incremental_vacuum(${Math.min(surplus, most)})`);
    } catch {
      // The disk refuses this, too.
      return false;
    }
    return surplus > most;
  }

  /**
   * Moves the log's content into the database, so that the log's space is reused: a log that fills the disk
   * would block every cycle. Moves as much as possible without waiting. Must be called outside of a
   * transaction.
   */
  reuseLog(): void {
    try {
      this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    } catch {
      // The disk refuses this, too.
    }
  }

  close(): void {
    this.#database.close();
  }

  meta(name: string): string | undefined {
    return this.#sql.meta(name);
  }

  setMeta(name: MetaName, value: string): void {
    this.#sql.setMeta(name, value);
  }

  /**
   * @param keptBytes size of a job that has already ended, else null
   * @param spec what rarely changes, as JSON
   */
  insertJob(record: JobRecord, keptBytes: number | null = null, spec = specOf(record)): void {
    const { job, uid, key = null, environment, script = null } = record;
    const values = [job, uid, key, environment, script, spec, keptBytes, ...changingValues(record)];
    this.#sql.insert(this.ledger.charge(uid, "jobs", spec), INSERT_JOB, values);
  }

  /** Writes the fields of a record that may change. */
  updateJob(record: JobRecord): void {
    this.#sql.run(UPDATE_JOB, ...changingValues(record), record.job);
  }

  /** Writes the fields of a record that rarely change. */
  updateSpec(record: JobRecord): void {
    this.#changeSpec(record.job, () =>
      this.#sql.run("UPDATE jobs SET spec = ? WHERE job = ?", specOf(record), record.job),
    );
  }

  /** Writes an ended record. @param keptBytes its remaining size */
  endJob(record: JobRecord, keptBytes: number): void {
    const { job, environment, script = null } = record;
    this.#sql.run(END_JOB, ...changingValues(record), environment, script, keptBytes, job);
  }

  /** An ended job can no longer be run again: it has neither environment nor script. */
  loseContents(job: JobNumber): void {
    const sql = `UPDATE jobs SET environment = ?, script = NULL, spec = json_remove(spec, '$.repeat') WHERE job = ?`;
    this.#changeSpec(job, () => this.#sql.run(sql, this.contents.nothing(), job));
  }

  job(job: JobNumber): JobRecord | undefined {
    const row = this.#sql.get("SELECT * FROM jobs WHERE job = ?", job);
    return row === undefined ? undefined : recordOf(row);
  }

  /** Jobs that have not ended, by number, with the identities of their attempts. */
  liveJobs(): JobRecord[] {
    const sql = `SELECT jobs.*, attempts.identity FROM jobs LEFT JOIN attempts USING (job, attempt)
      WHERE jobs.ended_ms IS NULL ORDER BY job`;
    const records: JobRecord[] = [];
    for (const row of this.#sql.each(sql)) records.push(sharing(recordOf(row), records.at(-1)));
    return records;
  }

  /** Jobs that have not ended and belong to other users than this one, by number. */
  liveJobsOfOthers(uid: number): Pick<JobRecord, "job" | "uid" | "user">[] {
    const sql = `SELECT job, uid, spec ->> 'user' AS user FROM jobs WHERE ended_ms IS NULL AND uid <> ? ORDER BY job`;
    return this.#sql.all(sql, uid);
  }

  /**
   * The newest jobs that are done or failed, without failures in their first `earlyMs`, so that a sweep that
   * fails at once does not displace what earlier jobs tell. At most `most` jobs are looked at.
   */
  jobsThatRan(earlyMs: number, last: number, most: number): JobRecord[] {
    const sql = `SELECT jobs.* FROM (SELECT job FROM jobs WHERE ended_ms IS NOT NULL
      AND state IN ('done', 'failed') ORDER BY job DESC LIMIT ?3) JOIN jobs USING (job)
      WHERE state = 'done' OR ran_ms >= ?1 OR reason = 'time limit' ORDER BY job DESC LIMIT ?2`;
    return this.#sql.all(sql, earlyMs, last, most).map(recordOf);
  }

  /** Jobs that a user has submitted with a key, by number. */
  jobsByKey(uid: number, key: string): JobRecord[] {
    return this.#sql.all("SELECT * FROM jobs WHERE uid = ? AND key = ? ORDER BY job", uid, key).map(recordOf);
  }

  /** The highest number of a job, including forgotten jobs. */
  latestJob(): JobNumber {
    return Math.max(this.#sql.number("SELECT max(job) FROM jobs"), this.kept.latestForgotten());
  }

  insertAttempt(
    { job, attempt, uid }: AttemptKey & Pick<JobRecord, "uid">,
    nodes: readonly NodeCpus[],
    decidedAtMs: number,
    identity: string | null = null,
    units?: JobRecord["units"],
  ): void {
    const sql =
      "INSERT INTO attempts (job, attempt, nodes, decided_ms, identity, units) VALUES (?, ?, ?, ?, ?, ?)";
    const held = units === undefined ? null : JSON.stringify(units);
    const text = JSON.stringify(nodes);
    const charge = this.ledger.charge(uid, "attempts", text);
    this.#sql.insert(charge, sql, [job, attempt, text, decidedAtMs, identity, held]);
  }

  noteAttemptStart({ job, attempt }: AttemptKey, startedAtMs: number): void {
    this.#sql.run(
      "UPDATE attempts SET started_ms = ? WHERE job = ? AND attempt = ?",
      startedAtMs,
      job,
      attempt,
    );
  }

  noteAttemptEnd(end: AttemptEnd): void {
    const {
      job,
      attempt,
      reason,
      endedAtMs,
      ranMs,
      code = null,
      signal = null,
      lost = null,
      cpuMs = null,
    } = end;
    const sql = `UPDATE attempts SET (ended_ms, ran_ms, code, signal, reason, lost, cpu_ms) = (${MARKS(7)})
      WHERE job = ? AND attempt = ?`;
    this.#sql.run(sql, endedAtMs, ranMs, code, signal, reason, lost, cpuMs, job, attempt);
  }

  /** Usage of ended attempts, by user. */
  shareUsages(): ShareUsage[] {
    const sql = "SELECT uid, user, cpu_ms AS cpuMs, at_ms AS atMs FROM share_usage ORDER BY uid";
    return this.#sql.all(sql).map(({ uid, user, cpuMs, atMs }) => ({
      uid: Number(uid),
      user: String(user),
      cpuMs: Number(cpuMs),
      atMs: Number(atMs),
    }));
  }

  setShareUsage({ uid, user, cpuMs, atMs }: ShareUsage): void {
    this.#sql.set(
      `INSERT INTO share_usage (uid, user, cpu_ms, at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET (user, cpu_ms, at_ms) = (excluded.user, excluded.cpu_ms, excluded.at_ms)`,
      uid,
      user,
      cpuMs,
      atMs,
    );
  }

  /** From the decision to the start, in ms, of the last attempts that started; at most `most`. */
  launchTimes(most: number): number[] {
    const sql = `SELECT started_ms - decided_ms AS took FROM
      (SELECT started_ms, decided_ms FROM attempts ORDER BY job DESC, attempt DESC LIMIT ?)
      WHERE started_ms IS NOT NULL`;
    return this.#sql.all(sql, most).map(({ took }) => Math.max(0, Number(took)));
  }

  /** Number of the last attempt of a job that the store has; 0: none. */
  latestAttempt(job: JobNumber): number {
    return this.#sql.number("SELECT max(attempt) FROM attempts WHERE job = ?", job);
  }

  /** How an attempt ended; undefined: it has not ended, or is unknown. */
  attemptEnd({ job, attempt }: AttemptKey): AttemptEnd | undefined {
    const sql = `SELECT ended_ms, ran_ms, code, signal, reason, lost FROM attempts
      WHERE job = ? AND attempt = ? AND ended_ms IS NOT NULL`;
    const row = this.#sql.get(sql, job, attempt);
    return (
      row && {
        ...{ job, attempt, endedAtMs: Number(row.ended_ms), ranMs: Number(row.ran_ms) },
        reason: String(row.reason) as AttemptEnd["reason"],
        ...(row.code !== null && { code: Number(row.code) }),
        ...(row.signal !== null && { signal: String(row.signal) }),
        ...(row.lost !== null && { lost: String(row.lost) }),
      }
    );
  }

  /** Whether the store has exactly this attempt. */
  knowsAttempt({ job, attempt }: AttemptKey, identity: string | undefined): boolean {
    const sql = "SELECT 1 FROM attempts WHERE job = ? AND attempt = ? AND identity IS ?";
    return this.#sql.get(sql, job, attempt, identity ?? null) !== undefined;
  }

  addEvent(stored: StoredEvent): void {
    const { data } = stored.event;
    if (data !== this.#lastData) {
      this.#lastData = data;
      this.#lastDataText = data === undefined ? null : JSON.stringify(data);
    }
    const values = eventValues(stored, this.#lastDataText);
    const secret = values[7] as string | null;
    const charge = this.ledger.charge(stored.uid ?? EVERYBODY, "events", this.#lastDataText, secret);
    this.#sql.insert(charge, INSERT_EVENT, values);
  }

  latestEvent(): number {
    return this.#sql.number("SELECT max(sequence) FROM events");
  }

  /** Events after a number, oldest first. With a user: only of that user's jobs and for all users. */
  eventsAfter(sequence: number, most: number, uid?: number): StoredEvent[] {
    if (uid === undefined) return this.#sql.all(EVENTS_AFTER, sequence, most).map(eventOf);
    return this.#sql.all(EVENTS_OF_USER_AFTER, sequence, most, uid).map(eventOf);
  }

  /** Stores the first forecast of a job's start; it is compared with the start later. */
  noteForecast(
    { job, uid }: Pick<JobRecord, "job" | "uid">,
    madeMs: number,
    p10Ms: number,
    p50Ms: number,
    p90Ms: number,
  ): void {
    const sql = `INSERT INTO forecasts (job, made_ms, p10_ms, p50_ms, p90_ms) VALUES (${MARKS(5)})
      ON CONFLICT DO NOTHING` as const;
    this.#sql.insert(this.ledger.charge(uid, "forecasts"), sql, [job, madeMs, p10Ms, p50Ms, p90Ms]);
  }

  noteForecastStart(job: JobNumber, startedMs: number): void {
    this.#sql.run("UPDATE forecasts SET started_ms = ? WHERE job = ? AND started_ms IS NULL", startedMs, job);
  }

  /** The forecasts for the jobs that started last. */
  judgedForecasts(last: number): JudgedForecast[] {
    const sql = `SELECT uid, error, expected, within FROM
      (SELECT job, started_ms - p50_ms AS error, p50_ms - made_ms AS expected,
        started_ms BETWEEN p10_ms AND p90_ms AS within
        FROM forecasts WHERE started_ms IS NOT NULL ORDER BY started_ms DESC LIMIT ?) JOIN jobs USING (job)`;
    return this.#sql.all(sql, last).map(({ uid, error, expected, within }) => ({
      uid: Number(uid),
      errorMs: Number(error),
      expectedMs: Number(expected),
      isWithin: within === 1,
    }));
  }

  /** Changes the JSON of a job; its user pays for the new length. */
  #changeSpec(job: JobNumber, change: () => void): void {
    const sql = "SELECT uid, octet_length(spec) AS bytes FROM jobs WHERE job = ?";
    const before = this.#sql.get(sql, job);
    change();
    const after = this.#sql.get(sql, job);
    if (before === undefined || after === undefined) return;
    this.ledger.adjust(Number(after.uid), "jobs", Number(after.bytes) - Number(before.bytes));
  }

  /** Checks all pages, in 0.13 s for 100,000 jobs, so that damage is not found in the middle of a cycle. */
  #open(nowMs: number, isOnNetwork: boolean): void {
    const database = this.#database;
    // While it is exclusive, a WAL of an earlier start is read without shared memory.
    if (isOnNetwork) database.exec("PRAGMA locking_mode = EXCLUSIVE");
    // Before all that may write: a damaged file stays as it is.
    const [found] = Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {});
    if (found !== "ok") throw damagedStore(this.path, String(found));
    database.exec("PRAGMA synchronous = FULL");
    // Before the first table, so that the file of a new store can become smaller again.
    database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    database.exec(`PRAGMA journal_mode = ${isOnNetwork ? "TRUNCATE" : "WAL"}; PRAGMA locking_mode = NORMAL`);
    database.exec("PRAGMA foreign_keys = ON");
    database.exec(`PRAGMA journal_size_limit = ${WAL_LIMIT_BYTES}`);
    migrate(database, this.path, nowMs);
    const number = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const usedBytes = (number("page_count") - number("freelist_count")) * number("page_size");
    if (number("auto_vacuum") !== 0 || usedBytes > MAX_REWRITTEN_BYTES) return;
    try {
      // The file of an earlier release keeps all pages that it ever had, until it is copied.
      database.exec("VACUUM");
    } catch {
      // There is no room on the disk for a copy now; the next start tries again.
    }
  }
}

/**
 * A front end may have ended after the disk failed to sync entries of the log. They can be read, but a power
 * cut would take them, with all that follow in this log, while the database may have pages of them already.
 */
function makeLogDurable(path: string): void {
  try {
    rewriteFile(`${path}-wal`);
  } catch (error) {
    throw fileError(path, error);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
