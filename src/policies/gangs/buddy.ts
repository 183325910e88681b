/**
 * Gang scheduling on buddy blocks, row by row. With slot unification, a job also runs in other rows in which
 * its block is idle. Processors are allocated as in distributed hierarchical control, whose tree of
 * controllers is not modelled.
 */

import { when } from "../../core/policy.ts";
import { extraSlotsOf, UNIFY, withExtraSlots } from "./extra-slots.ts";
import { preset } from "./preset.ts";
import { ROW_BY_ROW_GUARANTEES, ROW_BY_ROW_RULES, RowByRow } from "./row-by-row.ts";
import { BuddyFit } from "./row-fits.ts";
import { withAdmission } from "./with-admission.ts";

export const buddy = withAdmission(
  {
    name: "buddy",
    title: "Buddy, row by row",
    sharing: "time",
    summary:
      "Gang scheduling on buddy blocks, each row by itself; jobs may also run in idle slots of other rows.",
    rules: [
      "a job gets a whole buddy block (its size rounded up to a power of two), and no other job uses the rest of the block",
      "an arrival takes the leftmost free block of the first row of the round that has one; if no row has one, a row is added at the end of the round",
      ...when(
        (parameters) => !withExtraSlots("none")(parameters),
        ["an extra slot needs the job's whole block to be free in that row"],
      ),
      ...ROW_BY_ROW_RULES,
    ],
    source:
      "Zhou, Brent, Johnson and Walsh 1999, section 2 (after Feitelson and Rudolph 1990, distributed hierarchical control)",
    parameters: [UNIFY],
    guarantees: () => ROW_BY_ROW_GUARANTEES,
    make: (machine, jobs, parameters) =>
      new RowByRow(machine, jobs, extraSlotsOf(parameters), (layout) => new BuddyFit(layout)),
  },
  { parameters: true, asks: false },
);

export const bc = preset(
  buddy,
  { extraSlots: "none" },
  {
    name: "bc",
    title: "Buddy, conventional",
    summary:
      "Gang scheduling on buddy blocks, each row by itself: a job goes to the first row with a free block.",
    source: "Zhou, Walsh and Brent 2000, section 4.1, scheme BC",
  },
);
