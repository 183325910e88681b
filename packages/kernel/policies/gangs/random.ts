/** Implements random allocation within a row, the scheme that zhou1999 argues against. */

import { integer } from "../../core/parameters.ts";
import { Random } from "../../core/random.ts";
import { extraSlotsOf, UNIFY } from "./extra-slots.ts";
import { ROW_BY_ROW_GUARANTEES, ROW_BY_ROW_RULES, RowByRow } from "./row-by-row.ts";
import { CapacityFit } from "./row-fits.ts";
import { withAdmission } from "./with-admission.ts";

export const random = withAdmission(
  {
    name: "random",
    title: "Random processors, row by row",
    sharing: "time",
    summary: "Gang scheduling on idle processors of a row, chosen at random.",
    rules: [
      "an arrival goes to the first row of the round with enough idle processors; if there is none, a row is added at the end of the round",
      "its processors are chosen at random from all idle ones of the row, adjacent or not; `seed` starts the random generator",
      ...ROW_BY_ROW_RULES,
    ],
    source: "Zhou, Brent, Johnson and Walsh 1999, section 2",
    parameters: [
      UNIFY,
      integer(
        "seed",
        { min: 0, max: Number.MAX_SAFE_INTEGER, default: 1 },
        "seed of the random generator that chooses processors",
      ),
    ],
    guarantees: () => ROW_BY_ROW_GUARANTEES,
    capabilities: { restore: true },
    make: (machine, jobs, parameters) =>
      new RowByRow(
        machine,
        jobs,
        extraSlotsOf(parameters),
        (layout) => new CapacityFit(layout, false, new Random(Number(parameters.seed), "random allocation")),
      ),
  },
  { parameters: false, asks: false },
);
