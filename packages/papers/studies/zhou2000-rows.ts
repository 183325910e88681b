/** Studies which definition of the mean number of rows gives the values of zhou2000 at ρ = 0.2. */
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { nameOf, PRINTED, schemeOf } from "../zhou2000/cells.ts";
import { simulateByRound } from "./by-round.ts";
import { mean, type Study, type StudyTable } from "./study.ts";
import { zhou2000Jobs } from "./zhou2000-jobs.ts";

export const zhou2000Rows: Study = {
  key: "zhou2000-rows",
  title: "zhou2000: the mean number of rows at ρ = 0.2",
  text: [
    "The paper prints n_a = 0.46 and 0.45 for BR and BRMMS, and defines n_a as the mean number of rows over time. That is impossible if a row exists whenever a job does: some job is in the system for at least 1 − exp(−λ × mean run time) = 62 % of the time. Which other mean comes near the printed values?",
    "For BR, BRMMS and the BRMS of table 1, the mean that counts an empty system as −1 row comes near. For BC and the BRMS of table 2, the mean that counts it as one row does. So the authors' BR probably subtracted one row too many when the last job ended, and BC kept a row. A mean over rounds, or the share of time with two rows or more, is far from the printed values. No definition gives both values of BRMS, 0.57 and 1.20.",
  ],
  run: () => Promise.resolve([table(1), table(2)]),
};

function table(which: 1 | 2): StudyTable {
  const found = new Map<string, { printed: number; means: number[][] }>();
  for (const { place, policy, instance } of zhou2000Jobs(
    ({ table, load, share }) => table === which && load === 0.2 && share === 0.98,
  )) {
    const { rowsS } = simulateByRound(instance, choosePolicy(policy));
    const printed = PRINTED[which].rows[schemeOf(place.variant)][0][2];
    const entry = found.get(nameOf(place.variant)) ?? { printed, means: [] };
    found.set(nameOf(place.variant), entry);
    const spanS = rowsS.reduce((sum, timeS) => sum + timeS, 0);
    const sum = (of: (timeS: number, rows: number) => number) =>
      rowsS.reduce((total, timeS, rows) => total + of(timeS, rows), 0);
    const rounds = sum((timeS, rows) => timeS / Math.max(1, rows));
    entry.means.push([
      sum((timeS, rows) => timeS * rows) / spanS,
      1 - rowsS[0] / spanS,
      sum((timeS, rows) => (timeS * rows) / Math.max(1, rows)) / rounds,
      sum((timeS, rows) => timeS * (rows === 0 ? -1 : rows)) / spanS,
      sum((timeS, rows) => timeS * Math.max(1, rows)) / spanS,
      sum((timeS, rows) => (rows > 1 ? timeS : 0)) / spanS,
    ]);
  }
  return {
    title: `Table ${which}, load 2 % below nominal`,
    columns: [
      "scheme",
      "printed n_a",
      "rows, mean over time",
      "share of time with a row",
      "rows, mean over rounds",
      "empty system as −1 row",
      "empty system as one row",
      "share of time with two rows",
    ],
    rows: [...found].map(([label, { printed, means }]) => [
      label,
      printed.toFixed(2),
      ...means[0].map((_, i) => mean(means.map((set) => set[i])).toFixed(2)),
    ]),
  };
}
