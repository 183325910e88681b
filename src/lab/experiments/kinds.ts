/** Lists all kinds of cells. The code of a kind is loaded when its first cell runs. */
import type { CellInputs } from "./cell.ts";

const RUNS = {
  /** The summary of a schedule, and on request the schedule itself. */
  summary: async () => (await import("./summary.ts")).runSummary,
  /** The policy under the checker of rules. */
  audit: async () => (await import("./audited.ts")).runAudit,
  /** Sums by blocks of jobs, for ratios with an interval. */
  blocks: async () => (await import("../findings/run.ts")).runBlocks,
  /** A row of the golden table. */
  golden: async () => (await import("../golden/run.ts")).runGolden,
  /** A policy of a wing on its own jobs. */
  wing: async () => (await import("../../wings/run-cell.ts")).runWingCell,
  /** Waits by queue class, for kawanami2008. */
  queues: async () => (await import("../papers/kawanami2008/run.ts")).runQueues,
  /** Several sites, for dimitriadou2009. */
  sites: async () => (await import("../papers/dimitriadou2009/run.ts")).runSites,
  /** Tasks that block, for silva1999. */
  tasks: async () => (await import("../papers/silva1999/run.ts")).runTasks,
};

export type Kind = keyof typeof RUNS;
type Runs = { [K in Kind]: Awaited<ReturnType<(typeof RUNS)[K]>> };
/** A cell of one kind, or of any. */
export type Cell<K extends Kind = Kind> = {
  [One in K]: Parameters<Runs[One]>[0] & { readonly kind: One };
}[K];
export type CellResult<K extends Kind = Kind> = Awaited<ReturnType<Runs[K]>>;
type Run<K extends Kind> = (cell: Parameters<Runs[K]>[0], inputs: CellInputs) => Promise<CellResult<K>>;

export const KINDS: { readonly [K in Kind]: () => Promise<Run<K>> } = RUNS;
