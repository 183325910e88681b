/** BRMMS: as BR, and jobs give extra slots back wherever that saves a row. */
import type { GangPolicyDefinition } from "../core/policy.ts";
import { BUDDY_BLOCK_RULES, buddyBlockGuarantees, onBuddyBlocks } from "./buddy-blocks.ts";
import { MIGRATE } from "./migration.ts";
import { RETURNED } from "./repacking-gang.ts";

export const brmms: GangPolicyDefinition = {
  name: "brmms",
  title: "Buddy, re-packing, multiple slots, fewest rows",
  sharing: "time",
  summary:
    "As br, and jobs also run in idle slots of their block, which they give back when a row can be saved.",
  rules: [
    ...BUDDY_BLOCK_RULES,
    "after each workload change jobs whose block has an idle slot take turns, the largest first (ties: submitted first), one more slot per turn, until no block of a job has an idle slot",
    "blocks are chosen, and rows added and deleted, as if every job had one slot: for the same arrivals and departures there are exactly as many rows as under br, where nobody migrates",
    "when an arrival or the deletion of a row needs a processor that is busy in every row, the job there that has most slots (ties: submitted last) gives back its last one in the round",
  ],
  source: "Zhou, Walsh and Brent 2000, section 4.1, scheme BRMMS",
  parameters: [MIGRATE],
  guarantees: buddyBlockGuarantees,
  make: onBuddyBlocks(() => RETURNED),
};
