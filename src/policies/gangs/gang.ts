/**
 * Implements conventional gang scheduling (Ousterhout 1982): row by row, first fit or best fit, no migration.
 * It is the baseline of silva1999 ("first fit without thread migration", section 4) and of zhou1999 (first
 * and best fit without re-packing). silva1999 only requires that a slice has enough idle processors; here, a
 * job's processors must also be consecutive.
 */

import { choice } from "../../core/parameters.ts";
import { when } from "../../core/policy.ts";
import { extraSlotsOf, UNIFY } from "./extra-slots.ts";
import { ROW_BY_ROW_GUARANTEES, ROW_BY_ROW_RULES, RowByRow } from "./row-by-row.ts";
import { GapFit } from "./row-fits.ts";
import { withAdmission } from "./with-admission.ts";

export const gang = withAdmission(
  {
    name: "gang",
    title: "Gang scheduling, row by row",
    sharing: "time",
    summary:
      "Conventional gang scheduling: an arrival goes to the first (or best) row with room, and jobs never move.",
    rules: [
      "an arrival takes consecutive idle processors in one row; if no row has enough of them, a row is added at the end of the round",
      ...when(
        ({ fit }) => fit === "first",
        [
          "fit=first: an arrival takes the leftmost gap that is wide enough in the first row of the round that has one",
        ],
      ),
      ...when(
        ({ fit }) => fit === "best",
        [
          "fit=best: an arrival takes the narrowest gap of all rows that is wide enough (ties: the first row, then the leftmost gap)",
        ],
      ),
      ...ROW_BY_ROW_RULES,
    ],
    source:
      "Ousterhout 1982; Silva and Scherson 1999, section 4 (first fit without thread migration); unification: Zhou, Brent, Johnson and Walsh 1999, section 2",
    parameters: [
      choice("fit", ["first", "best"], "which gap an arrival takes: the first one, or the narrowest"),
      UNIFY,
    ],
    guarantees: () => ROW_BY_ROW_GUARANTEES,
    capabilities: { restore: true },
    make: (machine, jobs, parameters) =>
      new RowByRow(
        machine,
        jobs,
        extraSlotsOf(parameters),
        (layout) => new GapFit(layout, parameters.fit === "best"),
      ),
  },
  { parameters: true, asks: false },
);
