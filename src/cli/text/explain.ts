/** `simulate --explain JOB`: why the job started when it did. */
import type { Instance } from "../../core/jobs.ts";
import { policyFailure } from "../../lab/experiments/run-cells.ts";
import { explain } from "../../lab/explain/explain.ts";
import { loadPolicy } from "../../own-policies/own-policy.ts";
import { explanationLines } from "../../report/text/explanation-text.ts";
import { jsonDocument } from "../../report/text/json.ts";
import type { Explanation } from "../../results/explanation.ts";
import { wrap, writeOut } from "./text.ts";

interface ExplainedJob {
  readonly policy: string;
  readonly job: number;
  readonly slot: number;
  readonly switch: number;
  readonly json: boolean;
}

/** @throws InputError when the job is not among those simulated */
export async function writeExplanation(instance: Instance, asked: ExplainedJob): Promise<void> {
  const choice = await loadPolicy(asked.policy);
  let explanation: Explanation;
  try {
    explanation = explain(instance, choice, asked.job, { slotS: asked.slot, switchS: asked.switch });
  } catch (error) {
    throw policyFailure(asked.policy, error);
  }
  if (asked.json) writeOut(jsonDocument("tutti.explanation/1", explanation));
  else
    writeOut(
      `${explanationLines(explanation)
        .map((line) => wrap(line, 2))
        .join("\n")}\n`,
    );
}
