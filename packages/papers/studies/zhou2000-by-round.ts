/**
 * Studies how the numbers of zhou2000 change if the scheduler acts once per round instead of once per slot.
 */
import { pairedDifference } from "@tutti/kernel/metrics/statistics.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { nameOf, PRINTED, schemeOf, ZHOU2000_LOADS } from "../zhou2000/cells.ts";
import { simulateByRound } from "./by-round.ts";
import { mean, percentText, type Study, type StudyTable } from "./study.ts";
import { turnarounds, zhou2000Jobs } from "./zhou2000-jobs.ts";

const SHARE = 0.98;
/** Where a printed row has t_sa and the values after it. */
const TURNAROUNDS = ["t_ta", "t_sa", "t_ma", "t_la"];
const FIRST = 3;

export const zhou2000ByRound: Study = {
  key: "zhou2000-by-round",
  title: "zhou2000: a scheduler that acts once per round",
  text: [
    "In the paper, small jobs take 8 to 20 % longer than in our runs under BR and BRMMS at ρ ≥ 0.5, while the means of all jobs agree better. The paper does not say when the scheduler takes in arrivals and ends. Ours does so at every slot. In this study it does so when all rows have had their slots. The sets of jobs are those of the paper's page, at a load 2 % below the nominal one.",
    "An arrival then waits for the end of the round, on average for half as many slots as there are rows, which only small jobs notice. With this rule, the small jobs of BC, BR and BRMMS in table 1 are within 7 % of the printed values at ρ ≥ 0.5, and half or more of the deviation in table 2 is gone. So the authors' scheduler probably acted once per round. Tutti's policies keep acting at every slot, which is better for users.",
    "Under BRMS small jobs still take less time than printed in table 1 (see zhou2000-brms). In figure 4 they take longer than under BR at ρ = 0.5, 0.7 and 0.9. With a scheduler that acts once per round, the 95 % intervals of the paired differences show that at 0.5 and 0.7 and leave it open at 0.9; with ours they show it at 0.7 only (the last table, and statement 12 of the paper's page).",
  ],
  run: () => Promise.resolve([byRound(1, ZHOU2000_LOADS), byRound(2, [0.5, 0.7]), smallJobs()]),
};

/** Figure 4: by how much longer small jobs take under BRMS than under BR, set by set. */
function smallJobs(): StudyTable {
  const rows = ZHOU2000_LOADS.slice(1).map((load) => {
    const t_sa = (variant: string) =>
      Array.from(
        zhou2000Jobs(
          (at) => at.table === 1 && at.share === SHARE && at.load === load && at.variant === variant,
        ),
        ({ policy, instance }) =>
          turnarounds(instance, simulateByRound(instance, choosePolicy(policy)).endS)[1],
      );
    const { mean, half, count } = pairedDifference(t_sa("brms"), t_sa("br"));
    return [load.toFixed(2), `${mean.toFixed(2)} ± ${half.toFixed(2)} slots`, String(count)];
  });
  return {
    title: "Small jobs in table 1, each round: t_sa of BRMS minus that of BR, paired, 95 %",
    columns: ["ρ", "difference", "sets of jobs"],
    rows,
  };
}

function byRound(table: 1 | 2, loads: readonly number[]): StudyTable {
  const found = new Map<string, { slots: number[][]; rounds: number[][]; printed: readonly number[] }>();
  const isWanted = (load: number, share: number) => share === SHARE && loads.includes(load);
  for (const { place, policy, instance } of zhou2000Jobs(
    (at) => at.table === table && isWanted(at.load, at.share),
  )) {
    const choice = choosePolicy(policy);
    const key = `${nameOf(place.variant)} ${place.load.toFixed(2)}`;
    const at = ZHOU2000_LOADS.indexOf(place.load as (typeof ZHOU2000_LOADS)[number]);
    const printed = PRINTED[table].rows[schemeOf(place.variant)][at];
    const entry = found.get(key) ?? { slots: [], rounds: [], printed };
    found.set(key, entry);
    entry.slots.push(turnarounds(instance, simulate(instance, choice, { slotS: 1, switchS: 0 }).endS));
    entry.rounds.push(turnarounds(instance, simulateByRound(instance, choice).endS));
  }
  const rows = [...found].map(([label, { slots, rounds, printed }]) => [
    label,
    ...TURNAROUNDS.flatMap((_, i) => {
      const text = (sets: number[][]) => {
        const value = mean(sets.map((set) => set[i]));
        return `${value.toFixed(2)} (${percentText(value, printed[FIRST + i])})`;
      };
      return i > 1 ? [] : [printed[FIRST + i].toFixed(2), text(slots), text(rounds)];
    }),
  ]);
  return {
    title: `Table ${table}`,
    columns: [
      "scheme, ρ",
      ...["t_ta", "t_sa"].flatMap((name) => [`${name} printed`, "each slot", "each round"]),
    ],
    rows: rows.reverse(),
  };
}
