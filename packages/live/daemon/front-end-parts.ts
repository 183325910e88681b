/** Defines the objects and limits that the parts of the front end share. */
import type { Clock } from "@tutti/host/clock.ts";
import type { EventFeed } from "./book/event-feed.ts";
import type { JobBook } from "./book/job-book.ts";
import type { Config } from "./config/config.ts";
import type { SubmissionLimits } from "./contract/submission.ts";
import type { Executor } from "./executor/executor.ts";
import type { Launcher } from "./executor/launcher.ts";
import type { NewsDesk } from "./news/news-desk.ts";
import type { Scheduler } from "./scheduling/scheduler.ts";
import type { LiveShares } from "./shares/live-shares.ts";
import type { Store } from "./store/store.ts";

export interface FrontEndParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Config;
  readonly launcher: Launcher;
  readonly executor: Pick<
    Executor,
    "capacity" | "capabilities" | "trouble" | "rests" | "hindrance" | "runsAs" | "nodeSource"
  >;
  readonly book: JobBook;
  readonly feed: EventFeed;
  readonly scheduler: Scheduler;
  readonly news: NewsDesk;
  readonly shares: LiveShares;
  readonly limits: SubmissionLimits;
  /** Maximum number of jobs of all users together that have not ended. */
  readonly maxJobs: number;
  /** If the store is larger, no new jobs are accepted. */
  readonly maxStoreBytes: number;
  /** Changes with every boot of the machine. */
  readonly bootId: string;
}
