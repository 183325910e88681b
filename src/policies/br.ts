/** BR: buddy blocks with re-packing and a workload tree, one slot per job. */
import type { GangPolicyDefinition } from "../core/policy.ts";
import { BUDDY_BLOCK_RULES, buddyBlockGuarantees, onBuddyBlocks } from "./buddy-blocks.ts";
import { MIGRATE } from "./migration.ts";

export const br: GangPolicyDefinition = {
  name: "br",
  title: "Buddy, re-packing",
  sharing: "time",
  summary:
    "Gang scheduling on buddy blocks: least loaded block first, rows saved by re-packing, one slot per job.",
  rules: [...BUDDY_BLOCK_RULES, "a job has one slot per round"],
  source: "Zhou, Walsh and Brent 2000, sections 3 and 4.1, scheme BR",
  parameters: [MIGRATE],
  guarantees: buddyBlockGuarantees,
  make: onBuddyBlocks(() => undefined),
};
