/** Studies readings of BRMS in zhou2000: which jobs get extra slots, and how many per workload change. */

import { ONE_PER_CHANGE } from "../zhou2000/cells.ts";
import type { Study } from "./study.ts";
import { runReadings } from "./zhou2000-readings.ts";

const READINGS: Readonly<Record<string, string>> = {
  "as many as possible, smallest first": "brms",
  "as many as possible, largest first": "brms:extraOrder=largest",
  "as many as possible, oldest first": "brms:extraOrder=oldest",
  "as many as possible, newest first": "brms:extraOrder=newest",
  "one per change, largest first": ONE_PER_CHANGE,
  "one per change, smallest first": "brms:extraPerChange=1",
};
/** The readings of table 2. */
const OF_TABLE_2 = ["as many as possible, smallest first", "one per change, largest first"];
const COMMON = { scheme: "brms", shown: ["n_a", "t_ta", "t_sa", "t_la"] } as const;
/** Sets of jobs in table 2, by load. At ρ = 0.9 the literal reading takes minutes for a set. */
const SETS: Readonly<Record<number, number>> = { 0.2: 5, 0.5: 5, 0.7: 2, 0.9: 0 };

export const zhou2000Brms: Study = {
  key: "zhou2000-brms",
  title: "zhou2000: readings of BRMS",
  text: [
    'BRMS lets jobs run in more slots "whenever possible" and keep them. The paper does not print which job comes first. In table 1, all orders of the literal reading give the printed number of rows within 16 % at ρ ≥ 0.5, and one slot per change, for all jobs together, gives half of that. In table 2 the literal reading gives two to five times the printed rows, and one slot per change is nearer. No reading gives both tables, or both the rows and the turnaround of table 2. So the two tables cannot come from one program.',
    "In table 1 small jobs take less time than printed in every reading. A scheduler that acts once per round (zhou2000-by-round) explains a part of this; we do not know what explains the rest.",
    "The load is 2 % below the nominal one, with the sets of jobs of the paper's page: 20 in table 1; in table 2 five at ρ = 0.2 and 0.5 and two at 0.7. At ρ = 0.9 of table 2 the literal reading has up to 3,000 rows, and the paper prints 357; we left it out because a set of jobs takes minutes.",
  ],
  run: async (options) => {
    const policies = Object.fromEntries(OF_TABLE_2.map((name) => [name, READINGS[name]]));
    return [
      (await runReadings({ ...COMMON, table: 1, policies: READINGS }, options)).table,
      (await runReadings({ ...COMMON, table: 2, policies, sets: SETS }, options)).table,
    ];
  },
};
