/**
 * Holds jobs that are waiting in the store although they were already started. This happens if the store is
 * older than the folders in `jobs/`, because a backup was restored or files were lost. No job may run twice
 * unless a user decides so. Therefore these jobs are held, with the reason. `release` starts a job again,
 * with an attempt number that was never used.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Strays } from "./strays.ts";

export class EarlierStarts {
  readonly #context: FrontEndParts;
  readonly #strays: Strays;

  constructor(context: FrontEndParts, strays: Strays) {
    this.#context = context;
    this.#strays = strays;
  }

  /**
   * The highest number of a started attempt of this job, according to its folder and to strays; 0: none was
   * started.
   */
  latestOf(job: JobNumber): number {
    const running = this.#strays.of(job).map(({ attempt }) => attempt);
    return Math.max(this.#context.launcher.latestStart(job), ...running);
  }

  /** Why a waiting job must be held; undefined if there is no reason. */
  reasonToHold({ job, attempt }: JobRecord): string | undefined {
    const latest = this.latestOf(job);
    if (latest <= attempt) return undefined;
    const state = this.#strays.of(job).length > 0 ? "is already running" : "was already started";
    return `attempt ${latest} of this job ${state}, but the store is too old to have its result; release the job to run it again, or cancel it`;
  }

  /** Holds all waiting jobs that were already started. Must be called inside a cycle. */
  holdWaiting(): void {
    const { book, feed, launcher, clock, scheduler } = this.#context;
    const suspects = new Set([...launcher.jobsWithFolders(), ...this.#strays.jobs()]);
    for (const job of suspects) {
      const record = book.live(job);
      if (record?.state !== "queued" && record?.state !== "held") continue;
      const reason = this.reasonToHold(record);
      if (reason === undefined || record.reason === reason) continue;
      if (record.state === "queued") scheduler.withdrawn(record, "is held");
      const held = book.change(record, { state: "held", reason });
      feed.add("held", clock.unixMs(), held, { because: reason });
    }
  }
}
