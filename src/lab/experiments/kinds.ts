/** The one list of the kinds of cells. What runs a kind is loaded when the first cell of it is run. */

import type { SitesNumbers } from "../../models/sites/metrics.ts";
import type { SitesCell } from "../../models/sites/paper/run.ts";
import type { Series, TasksCell } from "../../models/tasks/paper/run.ts";
import type { WingRun } from "../../models/wing.ts";
import type { BlocksCell, BlocksResult } from "../findings/run.ts";
import type { GoldenResult } from "../golden/run.ts";
import type { QueuesResult } from "../papers/kawanami2008/run.ts";
import type { AuditedResult } from "./audited.ts";
import type { CellInputs, MachineCell } from "./cell.ts";
import type { SummaryCell, SummaryResult } from "./summary.ts";
import type { WingCell } from "./wing.ts";

interface Kinds {
  /** The numbers of a schedule, and if wanted itself. */
  summary: { cell: SummaryCell; result: SummaryResult };
  /** The policy under the checker of rules. */
  audit: { cell: MachineCell; result: AuditedResult };
  /** Sums by blocks of jobs, for ratios with an interval. */
  blocks: { cell: BlocksCell; result: BlocksResult };
  /** A row of the golden table. */
  golden: { cell: MachineCell; result: GoldenResult };
  /** A policy of a wing on its own jobs. */
  wing: { cell: WingCell; result: WingRun };
  /** Waits by queue class, for kawanami2008. */
  queues: { cell: MachineCell; result: QueuesResult };
  /** Several sites, for dimitriadou2009. */
  sites: { cell: SitesCell; result: SitesNumbers };
  /** Tasks that block, for silva1999. */
  tasks: { cell: TasksCell; result: Series };
}

export type Kind = keyof Kinds;
/** A cell of that kind, or of any. */
export type Cell<K extends Kind = Kind> = { [One in K]: Kinds[One]["cell"] & { readonly kind: One } }[K];
export type CellResult<K extends Kind = Kind> = Kinds[K]["result"];
type Run<K extends Kind> = (cell: Kinds[K]["cell"], inputs: CellInputs) => Promise<Kinds[K]["result"]>;

export const KINDS: { readonly [K in Kind]: () => Promise<Run<K>> } = {
  summary: async () => (await import("./summary.ts")).runSummary,
  audit: async () => (await import("./audited.ts")).runAudit,
  blocks: async () => (await import("../findings/run.ts")).runBlocks,
  golden: async () => (await import("../golden/run.ts")).runGolden,
  wing: async () => (await import("./wing.ts")).runWingCell,
  queues: async () => (await import("../papers/kawanami2008/run.ts")).runQueues,
  sites: async () => (await import("../../models/sites/paper/run.ts")).runSites,
  tasks: async () => (await import("../../models/tasks/paper/run.ts")).runTasks,
};
