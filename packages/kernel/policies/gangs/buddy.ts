/**
 * Gang scheduling on buddy blocks, row by row. With slot unification, a job also runs in other rows in which
 * its block is idle. Processors are allocated as in distributed hierarchical control, whose tree of
 * controllers is not modelled.
 */

import { choice } from "../../core/parameters.ts";
import { type Condition, when } from "../../core/policy.ts";
import { extraSlotsOf, UNIFY, withExtraSlots } from "./extra-slots.ts";
import { preset } from "./preset.ts";
import { ROW_BY_ROW_GUARANTEES, ROW_BY_ROW_RULES, RowByRow } from "./row-by-row.ts";
import { BuddyFit } from "./row-fits.ts";
import { withAdmission } from "./with-admission.ts";

/**
 * Own: a block is free if all its processors are idle (zhou2000, section 1), so other jobs fill what a job
 * leaves of its block. Exclusive: the conventional buddy system, in which nobody uses the rest.
 */
const BLOCK = choice(
  "block",
  ["own", "exclusive"],
  "what a job takes of its block: its own processors, or the whole block",
);
const isExclusive: Condition = ({ block }) => block === "exclusive";

export const buddy = withAdmission(
  {
    name: "buddy",
    title: "Buddy, row by row",
    sharing: "time",
    summary:
      "Gang scheduling in which each row has its own buddy blocks; jobs may also run in idle slots of other rows.",
    rules: [
      "a job's block is an aligned group of processors, as many as its size rounded up to a power of two; if the machine's size is not a power of two, a block that the end of the machine cuts off still takes a job that fits in the part that is there",
      "an arrival takes the leftmost free block of the first row of the round that has one; if no row has one, a row is added at the end of the round",
      "a block is free in a row if all its processors are idle there",
      ...when(
        (parameters) => !isExclusive(parameters),
        ["block=own: a job occupies the leftmost processors of its block, and other jobs may use the rest"],
      ),
      ...when(isExclusive, [
        "block=exclusive: a job occupies its whole block, and no other job uses the rest",
      ]),
      ...when(
        (parameters) => isExclusive(parameters) && !withExtraSlots("none")(parameters),
        ["block=exclusive: an extra slot needs the job's whole block to be free in that row"],
      ),
      ...ROW_BY_ROW_RULES,
    ],
    source:
      "Zhou, Brent, Johnson and Walsh 1999, section 2 (after Feitelson and Rudolph 1990, distributed hierarchical control)",
    parameters: [UNIFY, BLOCK],
    guarantees: () => ROW_BY_ROW_GUARANTEES,
    make: (machine, jobs, parameters) =>
      new RowByRow(
        machine,
        jobs,
        extraSlotsOf(parameters),
        (layout) => new BuddyFit(layout, isExclusive(parameters)),
      ),
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
      "Gang scheduling in which each row has its own buddy blocks: a job goes to the first row with a free block.",
    source:
      "Zhou, Walsh and Brent 2000, sections 1 and 4.1, scheme BC; exclusive blocks: Peterson and Norman 1977",
  },
);
