/** BRMS: as BR, and jobs keep the extra slots that they are given. */
import type { GangPolicyDefinition } from "../core/policy.ts";
import { BUDDY_BLOCK_RULES, buddyBlockGuarantees, onBuddyBlocks } from "./buddy-blocks.ts";
import { MIGRATE } from "./migration.ts";
import { type ExtraOrder, KEPT } from "./repacking-gang.ts";

export const brms: GangPolicyDefinition = {
  name: "brms",
  title: "Buddy, re-packing, multiple slots",
  sharing: "time",
  summary: "As br, and jobs also run in idle slots of their block, which they keep to the end.",
  rules: [
    ...BUDDY_BLOCK_RULES,
    "after each workload change jobs whose block has an idle slot are offered one more slot each, in the given order, until perChange slots are given out",
    "a job keeps its extra slots to the end; they count as busy for all decisions",
  ],
  source:
    "Zhou, Walsh and Brent 2000, section 4.1, scheme BRMS; order and number of extra slots are not printed there",
  parameters: [
    {
      name: "order",
      kind: "choice",
      choices: ["largest", "smallest", "oldest", "newest"],
      default: "largest",
      description: "which job is offered an extra slot first; ties: submitted first",
    },
    {
      name: "perChange",
      kind: "integer",
      min: 0,
      max: 1_000_000,
      default: 1,
      description: "extra slots given out per workload change, all jobs together; 0 for one to every job",
    },
    MIGRATE,
  ],
  guarantees: buddyBlockGuarantees,
  make: onBuddyBlocks((parameters) => ({
    ...KEPT,
    order: parameters.order as ExtraOrder,
    perChange: Number(parameters.perChange) || Number.POSITIVE_INFINITY,
  })),
};
