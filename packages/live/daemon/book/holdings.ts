/**
 * Tracks what each user's live jobs take up: their number, their size in memory, and what the ledger of the
 * store does not count (store/ledger.ts): environments and scripts, and what is charged when they end. An
 * environment or a script counts once per user, however many jobs share it.
 */

import { hookCount } from "../contract/job-news.ts";
import type { JobRecord } from "../contract/record.ts";
import { retainedBytes } from "../contract/submission.ts";
import type { StoredContent } from "../store/contents.ts";

import { END_BYTES, HOOK_BYTES } from "../store/ledger.ts";

interface OfUser {
  jobs: number;
  /** In memory, with environments and scripts. */
  bytes: number;
  /** In the store, now and when the jobs have ended, besides what the ledger counts. */
  storeBytes: number;
  /** Number of the user's jobs that have a content, by its name. */
  readonly contents: Map<string, number>;
}

const NOBODY = { jobs: 0, bytes: 0, storeBytes: 0 };

export class Holdings {
  readonly #users = new Map<number, OfUser>();
  /** Number of jobs that have a content, by its name. */
  readonly #contents = new Map<string, number>();

  of(uid: number): Readonly<Omit<OfUser, "contents">> {
    return this.#users.get(uid) ?? NOBODY;
  }

  /** Whether a job of the user has this content. */
  has(uid: number, { name }: StoredContent): boolean {
    return this.#users.get(uid)?.contents.has(name) === true;
  }

  /** Whether any job has this content. */
  isUsed({ name }: StoredContent): boolean {
    return this.#contents.has(name);
  }

  enter(record: JobRecord, contents: readonly StoredContent[]): void {
    let user = this.#users.get(record.uid);
    if (user === undefined) {
      user = { ...NOBODY, contents: new Map() };
      this.#users.set(record.uid, user);
    }
    user.jobs++;
    user.bytes += retainedBytes(record);
    user.storeBytes += endBytes(record);
    for (const content of contents) {
      const { name } = content;
      if (count(user.contents, name, 1) === 1) {
        user.bytes += content.bytes;
        user.storeBytes += content.bytes;
      }
      count(this.#contents, name, 1);
    }
  }

  leave(record: JobRecord, contents: readonly StoredContent[]): void {
    const user = this.#users.get(record.uid);
    if (user === undefined) return;
    user.jobs--;
    user.bytes -= retainedBytes(record);
    user.storeBytes -= endBytes(record);
    for (const content of contents) {
      const { name } = content;
      if (count(user.contents, name, -1) === 0) {
        user.bytes -= content.bytes;
        user.storeBytes -= content.bytes;
      }
      count(this.#contents, name, -1);
    }
    if (user.jobs === 0) this.#users.delete(record.uid);
  }
}

/** What the ledger will count when a job has ended. */
export function endBytes(job: Parameters<typeof hookCount>[0]): number {
  return END_BYTES + hookCount(job) * HOOK_BYTES;
}

/** Changes a count and removes it at 0. */
function count(counts: Map<string, number>, name: string, change: 1 | -1): number {
  const now = (counts.get(name) ?? 0) + change;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
  return now;
}
