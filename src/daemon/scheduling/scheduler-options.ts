/** What a scheduler is made with. */
import type { QueueClass } from "../../core/queue-classes.ts";
import type { Observer } from "../../core/schedule.ts";
import type { OwnersShares } from "./live-driver.ts";
import type { LiveMachine } from "./live-machine.ts";

export interface SchedulerOptions {
  /** Policies see only the number and order of processors. */
  readonly machine: LiveMachine;
  readonly slotMs: number;
  /** Maximum number of rows, if the policy's parameters name no limit. */
  readonly maxRows: number;
  readonly queueClasses: readonly QueueClass[];
  /** The monotonic instant that policies see as time 0, unless jobs are older. */
  readonly originMs: number;
  /** Converts a Unix time of the past to monotonic time. */
  readonly monotonicOf: (unixMs: number) => number;
  readonly shares?: OwnersShares | undefined;
  readonly observer?: Observer | undefined;
}
