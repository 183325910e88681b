/** How zhou2000 was read, and why our numbers differ from the printed ones. */
import { EXCLUSIVE, ONE_PER_CHANGE, type Place } from "./cells.ts";
import type { Zhou2000Measure } from "./published.ts";

export const NOTES: readonly string[] = [
  "In every scheme, BC included, a job occupies only its own processors, at the left end of its block, and a block is free in a row if all its processors are idle there. So other jobs fill what a job leaves of its block. With exclusive blocks, the conventional buddy system, BC comes out 19 % too slow in table 2 at ρ = 0.5 and 49 % at 0.7 (table 2, other readings), and BR 30 %.",
  "The load. The printed active ratios of BR and BRMMS in table 2 are 0.49, 0.69 and 0.85 at ρ = 0.5, 0.7 and 0.9: about 2 % below the nominal load, as if sizes or run times were cut off after the arrival rate was computed from them. So both tables are computed twice, at the nominal load and 2 % below it. Statements and figures are judged at the nominal load.",
  "While every processor has an idle slot, rows are re-packed and deleted. This happens both before and after the arrivals of an instant: a job leaves the rest of its block idle, so a row that was added for it may be one too many. The second pass shortens turnaround by 1 % at most.",
  "BRMMS decides about blocks and rows as if no job had an extra slot. If a decision needs room, the job with the most slots gives one back. Then jobs take turns, the largest first, until no idle slot fits a job. The paper prints neither the order nor which slots are given back. Eight readings differ by 11 % in mean turnaround at ρ = 0.7 and by 23 % at 0.9. Smallest first is nearest to table 1 at ρ ≥ 0.7 and to table 2 at 0.5 and 0.7, taking all slots back is nearest to table 2 at 0.9, and none is nearest everywhere (docs/studies/zhou2000-brmms.md).",
  "BRMS lets jobs run in more slots whenever possible. The literal reading gives out slots until no job can get one, the smallest job first in each turn, and is nearest to table 1. Table 2 is nearest to one slot per change in all, for the largest job that can have it. Tables 1 and 2 cannot come from one program: at ρ = 0.2 they print n_a 0.57 and 1.20 for BRMS, and no reading gives the rows of both (docs/studies/zhou2000-brms.md). So each table is compared with the reading that is nearest to it, and table 1 has the other one below.",
  "BC keeps one row when the system is empty; the other schemes keep none.",
  "How statements are decided: all schemes get the same sets of jobs, and a statement holds if the 95 % intervals of the paired differences lie on its side. If one contains the limit, the statement is open. The intervals are not corrected for their number.",
  "Statements that are open or do not hold. Small jobs take longer under BRMS than under BR at ρ = 0.7 of figure 4; at 0.5 and 0.9 that is open. If the scheduler acts once per round, as the authors' probably did, it is open at 0.9 only (docs/studies/zhou2000-by-round.md). The active ratio of BRMS in figure 5 is above BC's at ρ = 0.9, by 0.02; no reading of BRMS gives the printed numbers (docs/studies/zhou2000-brms.md). BRMMS is no worse than any other scheme in 22 of 28 cells of table 1 and in 27 of 28 of table 2; the others are open, and none shows it to be worse.",
  "n_l is the mean over replications of the largest number of rows in a run. The paper prints whole numbers.",
  "Time is counted in slots. An arrival counts from the slot boundary at which it is noticed, so the turnaround time leaves out the half slot that a job waits on average for that boundary.",
  "Each set of jobs has its own seed, drawn from the page's seed and the set's table, load and number. So pages with different seeds share no set. Three such groups are in docs/studies/zhou2000-seeds.md.",
];

const EMPTY_SYSTEM =
  "Not a mean over time: some row exists for at least 1 − exp(−λ × mean run time) = 62 % of the time. The printed values agree with ours if an empty system counts as −1 row (docs/studies/zhou2000-rows.md)";
const TRANSPOSED =
  "We take it for a misprint of 1511.24: the weighted mean of the three printed class means is about 1,600, and n_a with the arrival rate requires a similar value; three groups of sets of jobs give 1,457 at a load 2 % below nominal (docs/studies/zhou2000-seeds.md)";
const TWO_PROGRAMS =
  "Tables 1 and 2 cannot come from one BRMS: one prints twice the rows of the other at ρ = 0.2, and no order and number of extra slots that we tried gives both (docs/studies/zhou2000-brms.md)";
const BRMS_SMALL_JOBS =
  "Not explained. Small jobs take less time than printed in all orders of extra slots that we tried (docs/studies/zhou2000-brms.md); a scheduler that acts once per round explains a quarter of it (docs/studies/zhou2000-by-round.md)";
const EXCLUSIVE_BLOCKS =
  "Exclusive blocks raise the load by a third (mean block ÷ mean size = 1.33). The reading in which jobs leave the rest of their blocks to others, above, is within 10 % or within chance";
const BY_ROUND =
  "The paper's scheduler probably acts once per round: then small jobs wait half a round longer, which removes half or more of this deviation (docs/studies/zhou2000-by-round.md)";
const BRMMS_SMALL_JOBS = `${BY_ROUND}. The paper does not print which job is offered an extra slot first either: with the smallest first, the deviation at ρ = 0.7 of table 2 is −14 % instead of −20 % (docs/studies/zhou2000-brmms.md)`;
const WHOLE_NUMBERS =
  "Printed as a whole number, although a mean of 20 or 5 maxima has decimals: the paper rounds or cuts them off, which is up to a third of so small a value";
const LOAD =
  "The paper's load was about 2 % below the nominal one: table 2 at that load, below, is nearer, and three groups of sets of jobs there give means within 12 % (docs/studies/zhou2000-seeds.md)";
const FEW_SETS =
  "Sets of jobs differ widely at this load: at 2 % below nominal, single groups of five sets are up to 28 % from the printed value and the mean of three groups is within 12 % (docs/studies/zhou2000-seeds.md)";

/** Why our value may be more than 10 % off the printed value, and more than by chance. */
export function reasonFor({ table, variant, load, share }: Place, measure: Zhou2000Measure): string {
  if (variant === EXCLUSIVE) return EXCLUSIVE_BLOCKS;
  if (measure === "n_a" && load === 0.2 && !(table === 2 && variant === ONE_PER_CHANGE)) return EMPTY_SYSTEM;
  if (table === 2 && variant === "br" && load === 0.9 && measure === "t_ta") return TRANSPOSED;
  if (variant === "brms" && measure === "t_sa") return BRMS_SMALL_JOBS;
  if (variant === "brms" || variant === ONE_PER_CHANGE) return TWO_PROGRAMS;
  if (measure === "n_l" && load === 0.2) return WHOLE_NUMBERS;
  if (measure === "t_sa") return variant === "brmms" ? BRMMS_SMALL_JOBS : BY_ROUND;
  return share === 1 ? LOAD : FEW_SETS;
}
