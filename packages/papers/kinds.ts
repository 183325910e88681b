/** Adds the kinds of cells that only papers need. */
import { addKinds } from "@tutti/lab/experiments/kinds.ts";

declare module "@tutti/lab/experiments/kinds.ts" {
  interface Runs {
    /** A policy of a wing on its own jobs. */
    readonly wing: typeof import("./wings/run-cell.ts").runWingCell;
    /** Waits by queue class, for kawanami2008. */
    readonly queues: typeof import("./kawanami2008/run.ts").runQueues;
    /** Several sites, for dimitriadou2009. */
    readonly sites: typeof import("./dimitriadou2009/run.ts").runSites;
    /** Tasks that block, for silva1999. */
    readonly tasks: typeof import("./silva1999/run.ts").runTasks;
  }
}

addKinds({
  wing: async () => (await import("./wings/run-cell.ts")).runWingCell,
  queues: async () => (await import("./kawanami2008/run.ts")).runQueues,
  sites: async () => (await import("./dimitriadou2009/run.ts")).runSites,
  tasks: async () => (await import("./silva1999/run.ts")).runTasks,
});
