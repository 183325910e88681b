/**
 * Computes the result of a cell of the kind `wing`: one of the wing's policies on the jobs of one seed. A
 * wing is a machine model with its own jobs and policies (wings/wing.ts).
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { PolicyChoice, PolicyDescription } from "@tutti/kernel/core/policy.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import type { WingFiles, WingRun } from "./wing.ts";
import { parseWing, type WingChoice } from "./wings.ts";

type AnyPolicy = PolicyDescription<unknown>;

interface WingCell {
  /** As on the command line. */
  readonly source: string;
  readonly policy: string;
  readonly seed: number;
  readonly isAudited: boolean;
  readonly files?: WingFiles | undefined;
}

export async function runWingCell({ source, policy, seed, isAudited, files }: WingCell): Promise<WingRun> {
  const choice = parseWing(source) as WingChoice;
  const run = isAudited ? auditedRun : plainRun;
  return run(choice, chooseAmong(choice.wing.policies, policy), seed, files);
}

function plainRun(
  { wing, parameters }: WingChoice,
  policy: PolicyChoice<AnyPolicy>,
  seed: number,
  files?: WingFiles,
): WingRun {
  return wing.simulate(parameters, policy, seed, false, files);
}

/**
 * A run under the checker of the wing, and a second run that must make the same decisions.
 * @throws RuleViolation at the first step that breaks a rule
 */
export function auditedRun(
  choice: WingChoice,
  policy: PolicyChoice<AnyPolicy>,
  seed: number,
  files?: WingFiles,
): WingRun {
  const run = choice.wing.simulate(choice.parameters, policy, seed, true, files);
  if (plainRun(choice, policy, seed, files).scheduleHash === run.scheduleHash) return run;
  const text = `${policy.label} decides differently in a second run with the same jobs`;
  throw new RuleViolation("not-deterministic", -1, 0, text);
}
