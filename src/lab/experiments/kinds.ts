/** The one list of the kinds of cells. What runs a kind is loaded when the first cell of it is run. */

import type { WingRun } from "../../models/wing.ts";
import type { BlocksCell, BlocksResult } from "../findings/findings.ts";
import type { GoldenResult } from "../golden/cells.ts";
import type { PaperCell } from "../papers/run-paper.ts";
import type { AuditedResult } from "./audited.ts";
import type { Bench, MachineCell } from "./cell.ts";
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
  /** A part of a paper. */
  paper: { cell: PaperCell; result: unknown };
  /** A policy of a wing on its own jobs. */
  wing: { cell: WingCell; result: WingRun };
}

export type Kind = keyof Kinds;
/** A cell of that kind, or of any. */
export type Cell<K extends Kind = Kind> = { [One in K]: Kinds[One]["cell"] & { readonly kind: One } }[K];
export type CellResult<K extends Kind = Kind> = Kinds[K]["result"];
type Run<K extends Kind> = (cell: Kinds[K]["cell"], bench: Bench) => Promise<Kinds[K]["result"]>;

export const KINDS: { readonly [K in Kind]: () => Promise<Run<K>> } = {
  summary: async () => (await import("./summary.ts")).runSummary,
  audit: async () => (await import("./audited.ts")).runAudit,
  blocks: async () => (await import("../findings/findings.ts")).runBlocks,
  golden: async () => (await import("../golden/cells.ts")).runGolden,
  paper: async () => (await import("../papers/run-paper.ts")).runPaper,
  wing: async () => (await import("./wing.ts")).runWingCell,
};
