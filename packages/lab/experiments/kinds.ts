/** Lists the kinds of cells. The code of a kind is loaded when its first cell runs. */
import type { CellInputs } from "./cell.ts";

/** A package that has kinds of its own declares them here, by a declaration of this module, and adds them. */
export interface Runs {
  /** The summary of a schedule, and on request the schedule itself. */
  readonly summary: typeof import("./summary.ts").runSummary;
  /** The policy under the checker of rules. */
  readonly audit: typeof import("./audited.ts").runAudit;
  /** Sums by blocks of jobs, for ratios with an interval. */
  readonly blocks: typeof import("../findings/run.ts").runBlocks;
  /** A row of the golden table. */
  readonly golden: typeof import("../golden/run.ts").runGolden;
}

export type Kind = keyof Runs;
/** A cell of one kind, or of any. */
export type Cell<K extends Kind = Kind> = {
  [One in K]: Parameters<Runs[One]>[0] & { readonly kind: One };
}[K];
export type CellResult<K extends Kind = Kind> = Awaited<ReturnType<Runs[K]>>;
type Run<K extends Kind> = (cell: Parameters<Runs[K]>[0], inputs: CellInputs) => Promise<CellResult<K>>;
type Loads = { readonly [K in Kind]: () => Promise<Runs[K]> };

const OWN = {
  summary: async () => (await import("./summary.ts")).runSummary,
  audit: async () => (await import("./audited.ts")).runAudit,
  blocks: async () => (await import("../findings/run.ts")).runBlocks,
  golden: async () => (await import("../golden/run.ts")).runGolden,
} satisfies Partial<Loads>;
const loads: Partial<Loads> = { ...OWN };

export function addKinds(more: Partial<Loads>): void {
  Object.assign(loads, more);
}

/** The code that runs cells of a kind. */
export async function loadKind<K extends Kind>(kind: K): Promise<Run<K>> {
  const load = loads[kind];
  if (load === undefined) throw new Error(`Cannot run cells of the kind "${kind}": it was not added`);
  return (await load()) as unknown as Run<K>;
}
