/**
 * Keeps news that is still to be delivered, and the last outcome of each hook, as entries of `meta`. An entry
 * is written in the transaction that makes the news true, and removed when it has been delivered. So no crash
 * loses it, but a crash during delivery delivers it again.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { NewsOutcome } from "../../protocol/news/news.ts";
import type { Statements } from "./statements.ts";

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
  /** The command, or the address of the webhook. Left out: a hook of the machine, as it is configured. */
  readonly target?: string;
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

  outcomesOf(job: JobNumber): NewsOutcome[] {
    const sql = "SELECT value FROM meta WHERE name > ? AND name < ? ORDER BY name";
    const rows = this.#sql.all(sql, `${OUTCOME}${job} `, `${OUTCOME}${job}!`);
    return rows.map(({ value }) => JSON.parse(String(value)));
  }
}
