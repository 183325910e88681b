/** A cell whose policy runs under the checker of rules. */
import { type AuditResult, audit } from "../audit/audit.ts";
import type { Bench, MachineCell } from "./cell.ts";

/** With the policy's name for tables. */
export type AuditedResult = AuditResult & { readonly label: string };

export async function runAudit(cell: MachineCell, bench: Bench): Promise<AuditedResult> {
  const { instance, choice } = await bench.ready(cell);
  const { slotS, switchS } = cell;
  return { label: choice.label, ...audit(instance, choice, { slotS, switchS }) };
}
