/** `--audit`: the policies under the checker, before the result is made. */
import { auditLines } from "../../lab/audit/audit.ts";
import type { Experiment } from "../../lab/experiments/run.ts";
import { runCells } from "../../lab/experiments/run-cells.ts";
import type { OpenedJobs } from "../../lab/experiments/runner.ts";
import { CheckFailed } from "../errors.ts";
import { hint } from "./text.ts";

/**
 * Says on standard error what was checked.
 * @throws CheckFailed after the first policy that breaks a rule
 */
export async function auditPolicies(
  experiment: Experiment,
  opened: OpenedJobs,
  policies: readonly string[],
): Promise<void> {
  const { window: _, parameters: __, ...machine } = experiment;
  for (const policy of policies) {
    const cell = { kind: "audit", ...machine, policy } as const;
    const [result] = await runCells([cell], { workers: 1, opened });
    for (const line of auditLines(result.label, result)) hint(line);
    if (!result.ok) throw new CheckFailed(`a rule is broken by ${result.label}`);
  }
}
