/** Computes the result of a cell of the kind `audit`: runs the cell's policy under the checker of rules. */
import { type AuditResult, audit } from "../audit/audit.ts";
import type { CellInputs, MachineCell } from "./cell.ts";

/** The result, with the policy's name for tables. */
type AuditedResult = AuditResult & { readonly label: string };

export async function runAudit(cell: MachineCell, inputs: CellInputs): Promise<AuditedResult> {
  const { instance, choice } = await inputs.ready(cell);
  const { slotS, switchS } = cell;
  return { label: choice.label, ...audit(instance, choice, { slotS, switchS }) };
}
