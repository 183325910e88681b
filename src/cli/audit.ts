/** `--audit`: the policies under the checker, before the result is made. */
import type { Instance } from "../core/jobs.ts";
import { audit, auditLines } from "../lab/audit.ts";
import { loadPolicy } from "../lab/own-policy.ts";
import { policyFailure } from "../lab/run.ts";
import { CheckFailed } from "./errors.ts";
import { hint } from "./text.ts";

/**
 * Says on standard error what was checked.
 * @throws CheckFailed after the first policy that breaks a rule
 */
export async function auditPolicies(
  instance: Instance,
  policies: readonly string[],
  times: { readonly slot: number; readonly switch: number },
): Promise<void> {
  for (const policy of policies) {
    const choice = await loadPolicy(policy);
    try {
      const result = audit(instance, choice, { slotS: times.slot, switchS: times.switch });
      for (const line of auditLines(choice.label, result)) hint(line);
      if (!result.ok) throw new CheckFailed(`a rule is broken by ${choice.label}`);
    } catch (error) {
      throw error instanceof CheckFailed ? error : policyFailure(policy, error);
    }
  }
}
