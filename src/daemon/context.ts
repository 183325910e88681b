/** What the parts of the front end share. */
import type { Clock } from "../host/clock.ts";
import type { Config } from "./config.ts";
import type { EventFeed } from "./event-feed.ts";
import type { JobBook } from "./job-book.ts";
import type { Launcher } from "./launcher.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Store } from "./store/store.ts";
import type { SubmissionLimits } from "./submission.ts";

export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly launcher: Launcher;
  readonly book: JobBook;
  readonly feed: EventFeed;
  readonly scheduler: Scheduler;
  readonly limits: SubmissionLimits;
  /** Most jobs that have not ended. */
  readonly mostJobs: number;
  /** A store that has grown beyond takes no new jobs. */
  readonly mostStoreBytes: number;
  readonly bootId: string;
}
