/**
 * Studies readings of BRMMS in zhou2000: which jobs are offered extra slots first, and how slots are given
 * back.
 */
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import { cellInSlots, MEASURES, ZHOU2000_LOADS } from "../zhou2000/cells.ts";
import { mean, resultsOf, type Study, type StudyTable } from "./study.ts";
import { runReadings } from "./zhou2000-readings.ts";

const ORDERS = ["largest", "smallest", "oldest", "newest"] as const;
const OURS = "largest first, single slots back";
const READINGS: Readonly<Record<string, string>> = Object.fromEntries(
  ["single", "all"].flatMap((back) =>
    ORDERS.map((order) => [
      `${order} first, ${back === "all" ? "all slots" : "single slots"} back`,
      `brmms:extraOrder=${order}:extraReturn=${back}`,
    ]),
  ),
);
const NAMES = Object.keys(READINGS);

const LOADS = [0.1, 0.3, 0.5, 0.7, 0.9];
const JOBS = 4000;
const SEEDS = Array.from({ length: 20 }, (_, i) => 3001 + i);
/** As in the paper's own runs. */
const SHARE = 0.98;
const COMMON = { scheme: "brmms", policies: READINGS, shown: ["n_a", "t_ta", "t_sa", "t_la"] } as const;
const TURNAROUNDS = ["t_ta", "t_sa", "t_ma", "t_la"] as const;

export const zhou2000Brmms: Study = {
  key: "zhou2000-brmms",
  title: "zhou2000: readings of BRMMS",
  text: [
    'BRMMS gives extra slots out and takes them back "if a new arrival cannot fit into the existing time slots, or if a time slot in the system can be deleted". The paper does not print which job is offered a slot first, nor which slots are given back. Ours offers them to the largest job first, and the job with the most slots on a processor gives single ones back when that processor is needed (`brmms`). This study tries four orders (`extraOrder`), each with single slots and with all extra slots of all jobs taken back at every arrival and before a row is deleted, and then offered again (`extraReturn=all`).',
    "How much the readings weigh: nothing up to ρ = 0.3, 2 % between the best and the worst at 0.5, 11 % at 0.7 and 23 % at 0.9. Offering slots to the smallest job first costs 9 % at 0.7 and 16 % at 0.9. Taking all slots back saves 2 % at 0.7 and 7 % at 0.9: an early receiver then does not keep an advantage over a job that could use the slot in its place.",
    "Which reading is nearest to the paper depends on the load. At ρ = 0.2 all are alike. Smallest first with single slots back is nearest in table 1 at 0.7 and 0.9 and in table 2 at 0.5 and 0.7: the mean distance from the printed turnarounds is 3.2 to 4.4 %, with ours 4.4 to 11.4 %. At 0.9 of table 2, t_ta of the same reading is 35 % too long; there, all slots back with the oldest or the largest first is nearest (5 %, ours 7 %). Five sets of jobs differ widely at that load (zhou2000-seeds). So the paper does not decide the reading, and the default stays ours. Small jobs take less time than printed in nearly all readings, and least when all slots are taken back; the scheduler that acts once per round (zhou2000-by-round) explains most of that.",
    "Every set of jobs runs under all readings, at a load 2 % below the nominal one. The first table has sets of its own, on which ratios to our reading are taken set by set; the others have those of the paper's page, 20 sets of 200 jobs in table 1 and 5 of 20,000 in table 2.",
  ],
  run: async (options) => {
    const paired = await differences(options);
    const first = await runReadings({ ...COMMON, table: 1 }, options);
    const second = await runReadings({ ...COMMON, table: 2 }, options);
    const distances: StudyTable = {
      title: "Mean distance of t_ta, t_sa, t_ma and t_la from the printed values",
      columns: [
        "reading",
        ...[1, 2].flatMap((table) => ZHOU2000_LOADS.map((load) => `table ${table}, ${load.toFixed(2)}`)),
      ],
      rows: NAMES.map((name) => [
        name,
        ...[first, second].flatMap(({ values }) =>
          ZHOU2000_LOADS.map((load) => {
            const shares = TURNAROUNDS.map((measure) => {
              const { ours, printed } = values(load, name, measure);
              return Math.abs(ours / printed - 1);
            });
            return `${(100 * mean(shares)).toFixed(1)} %`;
          }),
        ),
      ]),
    };
    return [paired, distances, first.table, second.table];
  },
};

/** Mean turnaround of each reading relative to ours, on the same jobs. */
async function differences(options: WorkerOptions): Promise<StudyTable> {
  const results = await resultsOf(
    LOADS.flatMap((load) =>
      SEEDS.flatMap((seed) =>
        NAMES.map((name) => {
          const settings = `jobs=${JOBS}:load=${(SHARE * load).toFixed(3)}`;
          return { place: { load, name }, cell: cellInSlots(READINGS[name], settings, { seed }) };
        }),
      ),
    ),
    options,
  );
  const turnarounds = (load: number, name: string) => results.values({ load, name }, MEASURES.t_ta);
  return {
    title: `Mean turnaround relative to ours, ${SEEDS.length} sets of ${JOBS.toLocaleString("en-US")} jobs, paired, 95 %`,
    columns: ["reading", ...LOADS.map((load) => `ρ = ${load}`)],
    rows: NAMES.map((name) => [
      name,
      ...LOADS.map((load) => {
        const own = turnarounds(load, OURS);
        if (name === OURS) return `${mean(own).toFixed(2)} slots`;
        const shares = turnarounds(load, name).map((value, set) => 100 * (value / own[set] - 1));
        const { mean: percent, half } = confidenceInterval(shares);
        const sign = percent < 0 ? "−" : "+";
        return `${sign}${Math.abs(percent).toFixed(1)} ± ${half.toFixed(1)} %`;
      }),
    ]),
  };
}
