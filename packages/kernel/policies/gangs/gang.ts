/**
 * Implements conventional gang scheduling (Ousterhout 1982): row by row, first fit or best fit, no migration.
 * With place=adjacent, it is the baseline of zhou1999 (first and best fit without re-packing): a job's
 * processors are consecutive. With place=any, it is the baseline of silva1999, section 2.3: a slice needs
 * sufficient capacity, and the job gets any of its idle processors.
 */

import { choice } from "../../core/parameters.ts";
import { type Condition, when } from "../../core/policy.ts";
import { extraSlotsOf, UNIFY, withExtraSlots } from "./extra-slots.ts";
import { ROW_BY_ROW_GUARANTEES, ROW_BY_ROW_RULES, RowByRow } from "./row-by-row.ts";
import { CapacityFit, GapFit } from "./row-fits.ts";
import { withAdmission } from "./with-admission.ts";

const anywhere: Condition = ({ place }) => place === "any";
const adjacent: Condition = (parameters) => !anywhere(parameters);

export const gang = withAdmission(
  {
    name: "gang",
    title: "Gang scheduling, row by row",
    sharing: "time",
    summary:
      "Conventional gang scheduling: an arrival goes to the first (or best) row with room, and jobs never move.",
    rules: [
      ...when(adjacent, [
        "an arrival takes consecutive idle processors in one row; if no row has enough of them, a row is added at the end of the round",
      ]),
      ...when(
        (parameters) => parameters.fit === "first" && adjacent(parameters),
        [
          "fit=first: an arrival takes the leftmost gap that is wide enough in the first row of the round that has one",
        ],
      ),
      ...when(
        (parameters) => parameters.fit === "best" && adjacent(parameters),
        [
          "fit=best: an arrival takes the narrowest gap of all rows that is wide enough (ties: the first row, then the leftmost gap)",
        ],
      ),
      ...when(anywhere, [
        "place=any: an arrival takes the idle processors with the lowest numbers in one row, wherever they are; if no row has enough of them, a row is added at the end of the round",
        "place=any: the row is the first one of the round that has enough idle processors, or with fit=best the one that has fewest of them and enough (ties: the first)",
      ]),
      ...when(
        (parameters) => anywhere(parameters) && withExtraSlots("none")(parameters),
        [
          "place=any, where jobs create tasks: a job stays in its row if that has enough idle processors; otherwise it moves, on the processors that it has, to a row with room for all its tasks, chosen as for an arrival",
        ],
      ),
      ...ROW_BY_ROW_RULES,
    ],
    source:
      "Ousterhout 1982; place=any: Silva and Scherson 1999, section 2.3 (first fit and best fit by the capacity of a slice); unification: Zhou, Brent, Johnson and Walsh 1999, section 2",
    parameters: [
      choice(
        "fit",
        ["first", "best"],
        "which room an arrival takes: the first one, or the one that leaves least",
      ),
      choice(
        "place",
        ["adjacent", "any"],
        "which idle processors of a row an arrival may take: consecutive ones, or any",
      ),
      UNIFY,
    ],
    // Extra slots are on the processors that a job had when it got them.
    copesWith: (parameters) =>
      anywhere(parameters) && withExtraSlots("none")(parameters) ? ["resizing"] : [],
    guarantees: () => ROW_BY_ROW_GUARANTEES,
    capabilities: { restore: true },
    make: (machine, jobs, parameters) =>
      new RowByRow(machine, jobs, extraSlotsOf(parameters), (layout) => {
        const best = parameters.fit === "best";
        return anywhere(parameters) ? new CapacityFit(layout, best) : new GapFit(layout, best);
      }),
  },
  { parameters: true, asks: false },
);
