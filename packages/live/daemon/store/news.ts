/**
 * Keeps news that is still to be delivered, and the last outcome of each hook. An entry is written in the
 * transaction that makes the news true, and removed when it has been delivered. So no crash loses it, but a
 * crash during delivery delivers it again. It goes when its job is forgotten.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { MAX_JOBS_PER_BATCH } from "@tutti/protocol/limits.ts";
import type { NewsOutcome } from "@tutti/protocol/news/outcome.ts";
import type { Ledger } from "./ledger.ts";
import type { Row } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** How the jobs of an array stand. */
export interface ArrayNews {
  readonly last: JobNumber;
  /** Jobs by state. */
  readonly states: Readonly<Record<string, number>>;
}

/** Whose hooks wait for each other: those of a user's jobs, or those of the machine about a user's jobs. */
export interface Turn {
  /** Owner of the jobs, who pays for the news. */
  readonly uid: number;
  /** Whether the hook is one of the configuration. */
  readonly isMachines: boolean;
}

/** News that a hook has not received yet. The job has what the hook is, and what it learns. */
export interface PendingNews extends Turn {
  readonly sequence: number;
  /** The same for every try. */
  readonly id: string;
  readonly job: JobNumber;
  readonly hook: NewsOutcome["hook"];
  readonly event: NewsOutcome["event"];
  readonly attempt: number;
  /** Unix time of the event. */
  readonly atMs: number;
  /** Failed deliveries. */
  readonly tries: number;
  /** When it may be delivered, as a Unix time. */
  readonly dueMs: number;
  /** The news is about a whole array, of which this is the first job. */
  readonly array?: JobNumber;
  readonly states?: ArrayNews;
}

const COLUMNS =
  "sequence, id, uid, is_machines, job, array, hook, event, attempt, at_ms, tries, due_ms, states";

export class NewsStore {
  readonly #sql: Statements;
  readonly #ledger: Ledger;

  constructor(sql: Statements, ledger: Ledger) {
    this.#sql = sql;
    this.#ledger = ledger;
  }

  put(news: Omit<PendingNews, "sequence" | "tries">): void {
    const { id, uid, isMachines, job, array = null, hook, event, attempt, atMs, dueMs } = news;
    const states = news.states === undefined ? null : JSON.stringify(news.states);
    this.#sql.insert(
      this.#ledger.charge(uid, "news", states),
      `INSERT INTO news (id, uid, is_machines, job, array, hook, event, attempt, at_ms, tries, due_ms, states)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
      [id, uid, isMachines ? 1 : 0, job, array, hook, event, attempt, Math.trunc(atMs), dueMs, states],
    );
  }

  /** Turns that have news, the one with the oldest first. */
  turns(): Turn[] {
    const sql = "SELECT is_machines, uid FROM news GROUP BY is_machines, uid ORDER BY min(sequence)";
    return this.#sql.all(sql).map((row) => ({ uid: Number(row.uid), isMachines: row.is_machines === 1 }));
  }

  /** News of a turn that is due first, at most `most`. */
  next({ uid, isMachines }: Turn, most: number): PendingNews[] {
    const sql = `SELECT ${COLUMNS} FROM news INDEXED BY news_by_turn
      WHERE is_machines = ? AND uid = ? ORDER BY due_ms, sequence LIMIT ?`;
    return this.#sql.all(sql, isMachines ? 1 : 0, uid, most).map(newsOf);
  }

  /** It was not delivered, and is tried again. */
  postpone({ sequence }: PendingNews, tries: number, dueMs: number): void {
    this.#sql.run("UPDATE news SET tries = ?, due_ms = ? WHERE sequence = ?", tries, dueMs, sequence);
  }

  /** No news waits longer than the pause after its last try, also if the clock was set back. */
  hasten(nowMs: number, pausesMs: readonly number[]): void {
    for (const [tries, pauseMs] of [0, ...pausesMs].entries()) {
      const sql = "UPDATE news SET due_ms = ?1 WHERE tries = ?2 AND due_ms > ?1";
      this.#sql.run(sql, nowMs + pauseMs, tries);
    }
  }

  remove({ sequence, uid }: PendingNews): void {
    this.#ledger.forget("news", uid, "sequence = ?", sequence);
  }

  /** @param uid owner of the job */
  putOutcome(uid: number, job: JobNumber, sequence: number, outcome: NewsOutcome): void {
    const { hook } = outcome;
    const value = JSON.stringify(outcome);
    this.#ledger.forget("outcomes", uid, "job = ? AND hook = ?", job, hook);
    this.#sql.insert(
      this.#ledger.charge(uid, "outcomes", value),
      "INSERT INTO outcomes (job, hook, sequence, value) VALUES (?, ?, ?, ?)",
      [job, hook, sequence, value],
    );
  }

  /** Whether its hook has no news of a later event. @param about the job that shows how it was delivered */
  isLatest({ sequence, hook }: PendingNews, about: JobNumber): boolean {
    const sql = `SELECT 1 FROM outcomes WHERE job = ?1 AND hook = ?2 AND sequence > ?3
      UNION ALL SELECT 1 FROM news WHERE is_machines = 0 AND job = ?1 AND array IS NULL AND hook = ?2 AND sequence > ?3
      UNION ALL SELECT 1 FROM news WHERE is_machines = 0 AND array = ?1 AND hook = ?2 AND sequence > ?3 LIMIT 1`;
    return this.#sql.get(sql, about, hook, sequence) === undefined;
  }

  /** Whether a job of an array has not ended. The numbers of its jobs follow one another. */
  isLive(array: JobNumber): boolean {
    const sql = `SELECT spec ->> '$.array' AS array FROM jobs INDEXED BY jobs_live
      WHERE ended_ms IS NULL AND job >= ? ORDER BY job LIMIT 1`;
    return this.#sql.get(sql, array)?.array === array;
  }

  /** Without jobs that are forgotten. */
  arrayOf(array: JobNumber): ArrayNews {
    const sql = `SELECT state, count(*) AS jobs, max(job) AS last FROM jobs
      WHERE job >= ?1 AND job < ?1 + ?2 AND spec ->> '$.array' = ?1 GROUP BY state ORDER BY state`;
    const rows = this.#sql.all(sql, array, MAX_JOBS_PER_BATCH);
    return {
      last: Math.max(array, ...rows.map(({ last }) => Number(last))),
      states: Object.fromEntries(rows.map(({ state, jobs }) => [String(state), Number(jobs)])),
    };
  }

  /** The last outcome of each hook of a job. News that was not tried yet has none on disk. */
  outcomesOf(job: JobNumber): NewsOutcome[] {
    const found = new Map<string, { readonly sequence: number; readonly outcome: NewsOutcome }>();
    for (const { hook, sequence, value } of this.#sql.all(
      "SELECT hook, sequence, value FROM outcomes WHERE job = ? ORDER BY hook",
      job,
    )) {
      found.set(String(hook), { sequence: Number(sequence), outcome: JSON.parse(String(value)) });
    }
    const waiting = `SELECT ${COLUMNS} FROM news WHERE is_machines = 0 AND job = ?1 AND array IS NULL
      UNION ALL SELECT ${COLUMNS} FROM news WHERE is_machines = 0 AND array = ?1 ORDER BY sequence`;
    for (const row of this.#sql.all(waiting, job)) {
      const { sequence, id, hook, event } = newsOf(row);
      const known = found.get(hook);
      if (known !== undefined && (known.sequence > sequence || known.outcome.id === id)) continue;
      found.set(hook, { sequence, outcome: { hook, event, id, state: "waiting" } });
    }
    return [...found.keys()].sort().map((hook) => found.get(hook)!.outcome);
  }
}

function newsOf(row: Row): PendingNews {
  const { array, states } = row;
  return {
    sequence: Number(row.sequence),
    id: String(row.id),
    uid: Number(row.uid),
    isMachines: row.is_machines === 1,
    job: Number(row.job),
    hook: row.hook as PendingNews["hook"],
    event: row.event as PendingNews["event"],
    attempt: Number(row.attempt),
    atMs: Number(row.at_ms),
    tries: Number(row.tries),
    dueMs: Number(row.due_ms),
    ...(array !== null && { array: Number(array) }),
    ...(states !== null && { states: JSON.parse(String(states)) }),
  };
}
