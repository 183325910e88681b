/** BC: the conventional buddy system, one slot per job, without re-packing or balancing: buddy without slot unification. */
import type { GangPolicyDefinition } from "../core/policy.ts";
import { ROW_BY_ROW_GUARANTEES, RowByRow } from "./row-by-row.ts";
import { BuddyFit } from "./row-fits.ts";

export const bc: GangPolicyDefinition = {
  name: "bc",
  title: "Buddy, conventional",
  sharing: "time",
  summary:
    "Gang scheduling on buddy blocks, each row by itself: the first row with a free block takes the job.",
  rules: [
    "a job is given a whole buddy block, its size rounded up to a power of two; no other job uses the rest of it",
    "an arrival takes the leftmost free block of the first row, in order of the round, that has one; without one a new row is added at the end of the round",
    "a job has one slot per round and keeps its row and its processors to the end",
    "a row that becomes empty is deleted, except the last one",
  ],
  source: "Zhou, Walsh and Brent 2000, section 4.1, scheme BC",
  parameters: [],
  guarantees: () => ROW_BY_ROW_GUARANTEES,
  make: (machine, jobs) => new RowByRow(machine, jobs, "none", (layout) => new BuddyFit(layout)),
};
