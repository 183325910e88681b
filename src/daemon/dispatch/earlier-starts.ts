/**
 * Jobs that wait in the store although they were started already. That happens when the store is older than the folders in `jobs/`: a
 * backup was put back, or files were lost. Nothing may run twice without someone's word, so such a job is held, with the reason;
 * `release` starts it once more, under a number that no attempt has had.
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

  /** The highest number of an attempt of this job that was started, whoever knows of it; 0: none. */
  latestOf(job: JobNumber): number {
    const running = this.#strays.of(job).map(({ attempt }) => attempt);
    return Math.max(this.#context.launcher.latestStart(job), ...running);
  }

  /** Why a job that is to wait has to be held; undefined when it need not be. */
  reasonToHold({ job, attempt }: JobRecord): string | undefined {
    const latest = this.latestOf(job);
    if (latest <= attempt) return undefined;
    const state = this.#strays.of(job).length > 0 ? "runs" : "was started";
    return `attempt ${latest} of it ${state} already, and the store, which is older, does not know how it ended; release it to run it once more, or cancel it`;
  }

  /** Holds all waiting jobs that were started already. To be called inside a cycle. */
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
