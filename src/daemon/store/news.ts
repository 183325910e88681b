/**
 * Keeps news that is still to be delivered, and the last outcome of each hook, as entries of `meta`. An entry
 * is written in the transaction that makes the news true, and removed when it has been delivered. So no crash
 * loses it, but a crash during delivery delivers it again.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import { MAX_JOBS_PER_BATCH } from "../../protocol/limits.ts";
import type { NewsOutcome } from "../../protocol/news/news.ts";
import type { Statements } from "./statements.ts";

/** How the jobs of an array stand. */
export interface ArrayNews {
  readonly last: JobNumber;
  /** Jobs by state. */
  readonly states: Readonly<Record<string, number>>;
}

/** News that a hook has not received yet. */
export interface PendingNews {
  /** Grows with time. */
  readonly id: string;
  /** Whose turn it uses up: a user's, or that of the machine's own hooks. */
  readonly uid: number | "machine";
  readonly job: JobNumber;
  readonly hook: NewsOutcome["hook"];
  readonly event: NewsOutcome["event"];
  /** Variables that the hook gets. */
  readonly data: Readonly<Record<string, string>>;
  /** Name of the job's user. */
  readonly user: string;
  /** The command, or an address. Left out: a hook of the machine, as it is configured. */
  readonly target?: string;
  /** The news is about a whole array, of which `job` is the first. */
  readonly array?: ArrayNews;
  /** Failed deliveries. */
  readonly tries: number;
  /** Unix time in ms before which it is not tried again. */
  readonly notBeforeMs: number;
}

/** Keys: `news ID` and `outcome JOB HOOK`. A blank is followed by `!` in the order of keys. */
const PENDING = "news ";
const OUTCOME = "outcome ";

export class NewsStore {
  readonly #sql: Statements;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  put(news: PendingNews): void {
    this.#sql.setMeta(`${PENDING}${news.id}`, JSON.stringify(news));
  }

  find(id: string): PendingNews | undefined {
    const text = this.#sql.meta(`${PENDING}${id}`);
    return text === undefined ? undefined : JSON.parse(text);
  }

  remove(id: string): void {
    this.#sql.run("DELETE FROM meta WHERE name = ?", `${PENDING}${id}`);
  }

  /** The oldest first. */
  *pending(): Generator<PendingNews, void> {
    const sql = "SELECT value FROM meta WHERE name > ? AND name < ? ORDER BY name";
    for (const { value } of this.#sql.each(sql, PENDING, "news!")) yield JSON.parse(String(value));
  }

  putOutcome(job: JobNumber, outcome: NewsOutcome): void {
    this.#sql.setMeta(`${OUTCOME}${job} ${outcome.hook}`, JSON.stringify(outcome));
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

  outcomesOf(job: JobNumber): NewsOutcome[] {
    const sql = "SELECT value FROM meta WHERE name > ? AND name < ? ORDER BY name";
    const rows = this.#sql.all(sql, `${OUTCOME}${job} `, `${OUTCOME}${job}!`);
    return rows.map(({ value }) => JSON.parse(String(value)));
  }
}
