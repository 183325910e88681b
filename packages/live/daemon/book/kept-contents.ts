/**
 * Tracks which ended jobs still have their environment and script, so that they can be run again. Each user
 * keeps at most 8 MiB of them, so nobody takes room from others: above that, the jobs that ended first lose
 * theirs. A content that several ended jobs share counts once per user.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { StoredContent } from "../store/contents.ts";

interface OfUser {
  /** In the order of their ends. */
  readonly jobs: Map<JobNumber, readonly StoredContent[]>;
  /** Number of these jobs that have a content, by its name. */
  readonly uses: Map<string, number>;
  bytes: number;
}

const MAX_BYTES_OF_USER = 2 ** 23;

export class KeptContents {
  readonly #users = new Map<number, OfUser>();

  /** @returns the jobs of the user that must lose their contents */
  enter(uid: number, job: JobNumber, contents: readonly StoredContent[]): JobNumber[] {
    let user = this.#users.get(uid);
    if (user === undefined) {
      user = { jobs: new Map(), uses: new Map(), bytes: 0 };
      this.#users.set(uid, user);
    }
    user.jobs.set(job, contents);
    this.#count(user, contents, 1);
    const surplus: JobNumber[] = [];
    let { bytes } = user;
    if (bytes <= MAX_BYTES_OF_USER) return surplus;
    const left = new Map(user.uses);
    for (const [oldest, its] of user.jobs) {
      if (bytes <= MAX_BYTES_OF_USER) break;
      surplus.push(oldest);
      for (const content of its) if (change(left, content.name, -1) === 0) bytes -= content.bytes;
    }
    return surplus;
  }

  /** @returns the contents that the job had */
  leave(uid: number, job: JobNumber): readonly StoredContent[] {
    const user = this.#users.get(uid);
    const contents = user?.jobs.get(job);
    if (user === undefined || contents === undefined) return [];
    user.jobs.delete(job);
    this.#count(user, contents, -1);
    if (user.jobs.size === 0) this.#users.delete(uid);
    return contents;
  }

  bytesOf(uid: number): number {
    return this.#users.get(uid)?.bytes ?? 0;
  }

  /** The contents that an ended job still has. */
  of(uid: number, job: JobNumber): readonly StoredContent[] {
    return this.#users.get(uid)?.jobs.get(job) ?? [];
  }

  #count(user: OfUser, contents: readonly StoredContent[], by: 1 | -1): void {
    for (const content of contents) {
      const uses = change(user.uses, content.name, by);
      if (uses === (by === 1 ? 1 : 0)) user.bytes += by * content.bytes;
    }
  }
}

/** Changes a count and removes it at 0. */
function change(counts: Map<string, number>, name: string, by: 1 | -1): number {
  const now = (counts.get(name) ?? 0) + by;
  if (now === 0) counts.delete(name);
  else counts.set(name, now);
  return now;
}
