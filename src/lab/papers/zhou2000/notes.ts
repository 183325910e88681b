/** How zhou2000 was read, and why our numbers differ from the printed ones. */
import type { Zhou2000Measure, Zhou2000Scheme } from "./published.ts";

export const NOTES: readonly string[] = [
  "BC gives a job its whole buddy block. Under BR, BRMS and BRMMS, a job occupies only its own processors, and other jobs fill the rest. With whole blocks, BR comes out 30 % worse than printed.",
  "While every processor has an idle slot, rows are re-packed and deleted. This happens both before and after the arrivals of an instant: a job leaves the rest of its block idle, so a row that was added for it may be one too many. The second pass shortens turnaround by 1 % at most.",
  "BRMMS decides about blocks and rows as if no job had an extra slot. If a decision needs room, the job with the most slots gives one back. Then jobs take turns, the largest first, until no idle slot fits a job.",
  "BRMS: the paper does not print which jobs get extra slots, or how many per workload change. One slot per change in all, for the largest job that can have it, gives table 2 its order. One slot for every job (BRMS:perChange=0) is nearer to table 1, but then BRMS has shorter turnaround than BR in table 2 at ρ = 0.5. No reading that we tried gives both tables.",
  "BC keeps one row when the system is empty; the other schemes keep none.",
  "n_l is the mean over replications of the largest number of rows in a run.",
  "Time is counted in slots. An arrival counts from the slot boundary at which it is noticed, so the turnaround time leaves out the half slot that a job waits on average for that boundary.",
];

const EMPTY_SYSTEM =
  "Not a mean over time: jobs arrive at random and stay for at least their run time, so in a long run some row exists for at least 1 − exp(−λ × mean run time) = 62 % of the time";
const TRANSPOSED =
  "We take it for a misprint of 1511.24: weighted by the classes' shares of the jobs, the three printed class means give about 1,600. With 1151.24, rows would also be no fuller at load 0.9 than at 0.7 (load × turnaround ÷ mean run time ÷ n_a: 67 % and 69 %; with 1511.24, it is 88 % at 0.9)";
const BC_SATURATED =
  "Whole blocks raise the load by a third (mean block ÷ mean size = 1.33), to 0.93 and above 1, so turnaround and rows grow with the length of the run and differ widely between sets of jobs";
const BC_BLOCKS =
  "Whole blocks raise the load by a third. The paper does not print how sizes are drawn and rounded, and small differences there weigh more than under the other schemes; the choice of the block within a row changes this value by at most 2 %";
const BRMS_RULE =
  "The paper does not print how many extra slots are given out per change, or to which jobs; this choice moves the value by more than the deviation (see the notes and brms:perChange=0)";
const MAX_ROWS = "A maximum over a run: it depends on the few busiest moments of each set of jobs";
const SMALL_JOBS =
  "Means over one class in a few sets of jobs. An arrival waits for the next slot and its row waits for its turn, which weighs most for jobs of few slots; the paper does not say whether it counts that";
const NEAR_SATURATION =
  "At this load the number of jobs in the system changes slowly, and five sets of jobs do not determine the mean (see the confidence interval)";
const SETS_OF_JOBS =
  "Twenty sets of 200 jobs differ widely from each other, in the paper and here (see the confidence interval)";

/** Why our value may be more than 10 % off the printed value. */
export function reasonFor(
  table: 1 | 2,
  scheme: Zhou2000Scheme,
  load: number,
  measure: Zhou2000Measure,
): string {
  if (measure === "n_a" && load === 0.2 && scheme !== "bc") return EMPTY_SYSTEM;
  if (table === 2 && scheme === "br" && load === 0.9 && measure === "t_ta") return TRANSPOSED;
  if (scheme === "brms" && load > 0.2) return BRMS_RULE;
  if (scheme === "bc" && load >= 0.7) return BC_SATURATED;
  if (measure === "n_l") return MAX_ROWS;
  if (scheme === "bc") return BC_BLOCKS;
  if (measure === "t_sa") return SMALL_JOBS;
  return table === 1 ? SETS_OF_JOBS : NEAR_SATURATION;
}
