/** Computes the result of a cell of the kind `audit`: runs the cell's policy under the checker of rules. */
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { type AuditResult, audit } from "../audit/audit.ts";
import type { CellInputs, MachineCell } from "./cell.ts";

/** The result, with the policy's name for tables and the hash of the schedule that was checked. */
type AuditedResult = AuditResult & { readonly label: string; readonly scheduleHash: string | undefined };

export async function runAudit(cell: MachineCell, inputs: CellInputs): Promise<AuditedResult> {
  const { instance, choice } = await inputs.ready(cell);
  const { slotS, switchS } = cell;
  const result = audit(instance, choice, { slotS, switchS });
  const scheduleHash = result.ok ? hashColumns(result.schedule.startS, result.schedule.endS) : undefined;
  return { label: choice.label, scheduleHash, ...result };
}
