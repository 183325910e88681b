/** Studies readings of BRMS in zhou2000: which jobs get extra slots, and how many per workload change. */

import { runCells } from "../experiments/run-cells.ts";
import type { WorkerOptions } from "../experiments/workers.ts";
import { cells, MEASURES, ONE_PER_CHANGE } from "../papers/zhou2000/cells.ts";
import { TABLE_1, TABLE_2, ZHOU2000_LOADS, ZHOU2000_MEASURES } from "../papers/zhou2000/published.ts";
import { mean, percentText, type Study, type StudyTable } from "./study.ts";

const READINGS: Readonly<Record<string, string>> = {
  "as many as possible, smallest first": "brms",
  "as many as possible, largest first": "brms:extraOrder=largest",
  "as many as possible, oldest first": "brms:extraOrder=oldest",
  "as many as possible, newest first": "brms:extraOrder=newest",
  "one per change, largest first": ONE_PER_CHANGE,
  "one per change, smallest first": "brms:extraPerChange=1",
};
const SHOWN = ["n_a", "t_ta", "t_sa", "t_la"] as const;
const SHARE = 0.98;
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
  run: async (options) => [
    await readings(1, Object.keys(READINGS), options),
    await readings(2, ["as many as possible, smallest first", "one per change, largest first"], options),
  ],
};

async function readings(which: 1 | 2, names: readonly string[], options: WorkerOptions): Promise<StudyTable> {
  const ofScheme = cells(2000).filter(
    ({ place: { table, share, variant } }) => table === which && share === SHARE && variant === "br",
  );
  const loads = ZHOU2000_LOADS.filter((load) => which === 1 || SETS[load] > 0);
  const placed = loads.flatMap((load) =>
    names.flatMap((name) =>
      ofScheme
        .filter(({ place }) => place.load === load)
        .slice(0, which === 1 ? undefined : SETS[load])
        .map(({ cell }) => ({ load, name, cell: { ...cell, policy: READINGS[name] } })),
    ),
  );
  const results = await runCells(
    placed.map(({ cell }) => cell),
    options,
  );
  const published = which === 1 ? TABLE_1.brms : TABLE_2.brms;
  return {
    title: `Table ${which}`,
    columns: ["ρ, reading", ...SHOWN],
    rows: loads.flatMap((load) => {
      const at = ZHOU2000_LOADS.indexOf(load);
      const printed = (measure: (typeof SHOWN)[number]) => published[at][ZHOU2000_MEASURES.indexOf(measure)];
      return [
        [`${load.toFixed(2)} printed`, ...SHOWN.map((measure) => printed(measure).toFixed(2))],
        ...names.map((name) => [
          `${load.toFixed(2)} ${name}`,
          ...SHOWN.map((measure) => {
            const values = results.filter((_, i) => placed[i].load === load && placed[i].name === name);
            const value = mean(values.map(MEASURES[measure]));
            return `${value.toFixed(2)} (${percentText(value, printed(measure))})`;
          }),
        ]),
      ];
    }),
  };
}
