/** Explains a job under any policy; a user's own runs in a process of its own. */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import { explain } from "../explain/explain.ts";
import type { Explanation } from "../results/explanation.ts";
import { runApart } from "./apart.ts";

interface Explained {
  /** As on the command line. */
  readonly policy: string;
  readonly slotS: number;
  readonly switchS: number;
}

/** @throws InputError when the job is not among those of the instance */
export async function explainAnywhere(
  instance: Instance,
  { policy, slotS, switchS }: Explained,
  job: number,
): Promise<Explanation> {
  if (!isPolicyFile(policy.split(":")[0]))
    return explain(instance, choosePolicy(policy), job, { slotS, switchS });
  return runApart("explain", policy, { instance, policy, slotS, switchS, job });
}
