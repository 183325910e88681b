/**
 * Windows: times in which the whole machine is kept for the jobs that a window names, or for none. A job that
 * a window does not name starts only if it ends by its limit before the window begins, so that the machine is
 * empty then. It need not be: jobs that run at the begin continue.
 *
 *   last start          begin                 end
 *   ────┬─── its limit ───┬────────────────────┬───▶ time
 *       └─ it may not start, others may pass it ─┘
 */
import type { Window } from "@tutti/protocol/schema.ts";
import type { JobRecord } from "../contract/record.ts";

type Named = Pick<JobRecord, "user" | "queue">;

/** A window as it is kept. */
export type KeptWindow = Omit<Window, "running" | "jobs"> & {
  /** Its begin is in the event log. */
  readonly hasBegun?: true;
};

/** A time in which a job may not start, until the window's end. Unix times in ms. */
interface Closed {
  readonly window: KeptWindow;
  readonly fromMs: number;
}

/** Whether the job may run in the window. */
export function isNamed({ users, queues }: KeptWindow, { user, queue }: Named): boolean {
  return users?.includes(user) === true || queues?.includes(queue) === true;
}

export class Windows {
  /** Unix time minus monotonic time, in ms: people may set the wall clock at any time. */
  aheadMs: () => number = () => 0;
  /** Those that are not over, by their begin. */
  #list: readonly KeptWindow[] = [];

  get list(): readonly KeptWindow[] {
    return this.#list;
  }

  set(windows: readonly KeptWindow[]): void {
    this.#list = [...windows].sort((a, b) => a.fromMs - b.fromMs || a.untilMs - b.untilMs);
  }

  /**
   * When the job may not start because of the first window that concerns it. No later one keeps the job
   * waiting before this one does. A job without a limit may run forever, so it may not start from now on.
   */
  nextFor(job: Named & Pick<JobRecord, "limitMs">, nowMs: number): Closed | undefined {
    const unixMs = nowMs + this.aheadMs();
    const { limitMs = Number.POSITIVE_INFINITY } = job;
    const window = this.#list.find((one) => one.untilMs > unixMs && !isNamed(one, job));
    return window && { window, fromMs: window.fromMs - limitMs };
  }
}
