/** Runs cells of every kind, one after the other. */
import { RunInputs } from "./inputs.ts";
import { type Cell, type CellResult, type Kind, loadKind } from "./kinds.ts";

export class CellRunner extends RunInputs {
  /** @throws InputError for input that cannot be used, RuleViolation if the policy breaks a rule */
  async run<K extends Kind>(cell: Cell<K>): Promise<CellResult<K>> {
    const run = await loadKind(cell.kind as K);
    return run(cell, this);
  }
}
