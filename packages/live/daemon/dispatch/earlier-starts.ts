/**
 * Holds jobs that are waiting in the store although they were already started. This happens if the store is
 * older than the folders in `jobs/`, because a backup was restored or files were lost. No job may run twice
 * unless a user decides so. Therefore these jobs are held, with the reason. `release` starts a job again,
 * with an attempt number that was never used.
 */
import type { AttemptEnd, JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { outcomeOf } from "./outcome.ts";
import type { Stray, Strays } from "./strays.ts";

export class EarlierStarts {
  readonly #context: FrontEndParts;
  readonly #strays: Strays;

  constructor(context: FrontEndParts, strays: Strays) {
    this.#context = context;
    this.#strays = strays;
  }

  /**
   * The highest number of a started attempt of this job, according to its folder, to strays, and to the
   * store, which has the ends of strays; 0: none was started.
   */
  latestOf(job: JobNumber): number {
    const running = this.#strays.of(job).map(({ attempt }) => attempt);
    const { launcher, store } = this.#context;
    return Math.max(launcher.latestStart(job), store.latestAttempt(job), ...running);
  }

  /** Why a waiting job must be held; undefined if there is no reason. */
  reasonToHold(record: JobRecord): string | undefined {
    const { job, attempt } = record;
    const latest = this.latestOf(job);
    if (latest <= attempt) return undefined;
    const advice = "release the job to run it again, or cancel it";
    const end = this.#context.store.attemptEnd({ job, attempt: latest });
    if (end !== undefined) {
      const result = outcomeOf(record, end).reason;
      return `attempt ${latest} of this job, which the store was too old to know, has ended: ${result}; ${advice}`;
    }
    const state = this.#strays.of(job).length > 0 ? "is already running" : "was already started";
    return `attempt ${latest} of this job ${state}, but the store is too old to have its result; ${advice}`;
  }

  /** A stray has ended. If it is a later attempt of the job with its number, the job says its result. */
  noteEnd(stray: Stray, end: AttemptEnd): void {
    const { book, store, launcher } = this.#context;
    const record = book.live(end.job);
    if (record === undefined || record.attempt >= end.attempt) return;
    // An older store may have given the number to another job.
    const isIts =
      stray.uid === record.uid &&
      JSON.stringify(stray.command) === JSON.stringify(launcher.commandOf(record));
    if (isIts && !store.knowsAttempt(end, end.identity)) {
      store.insertAttempt({ ...end, uid: record.uid }, [], end.startedAtMs ?? end.endedAtMs, end.identity);
      if (end.startedAtMs !== undefined) store.noteAttemptStart(end, end.startedAtMs);
      store.noteAttemptEnd(end);
    }
    this.#holdIfWaiting(record);
  }

  /** Holds all waiting jobs that were already started. Must be called inside a cycle. */
  holdWaiting(): void {
    const { book, launcher } = this.#context;
    const suspects = new Set([...launcher.jobsWithFolders(), ...this.#strays.jobs()]);
    for (const job of suspects) {
      const record = book.live(job);
      if (record !== undefined) this.#holdIfWaiting(record);
    }
  }

  #holdIfWaiting(record: JobRecord): void {
    const { book, feed, clock, scheduler } = this.#context;
    if (record.state !== "queued" && record.state !== "held") return;
    const reason = this.reasonToHold(record);
    if (reason === undefined || record.reason === reason) return;
    if (record.state === "queued") scheduler.withdrawn(record, "is held");
    const held = book.change(record, { state: "held", reason });
    feed.add("held", clock.unixMs(), held, { because: reason });
  }
}
