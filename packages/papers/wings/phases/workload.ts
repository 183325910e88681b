/**
 * Makes gangs with phases from a few numbers: sizes, hold, wait, spread, rounds and arrivals. Each attribute
 * has its own random stream, so changing one leaves the others as they are (common random numbers).
 */
import { exp, ln } from "@tutti/kernel/core/elementary.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { PhasesInstance } from "./contract.ts";

export interface PhasesModel {
  readonly units: number;
  readonly unitsPerNode: number;
  readonly resident: number;
  readonly gangs: number;
  /** Sizes, equally likely. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  /** Means of what a turn takes and of the time until the next one is wanted. */
  readonly holdS: number;
  readonly waitS: number;
  /** Standard deviation of both, as a share of the mean; log-normal. */
  readonly spread: number;
  /** Mean of the exponential times between arrivals; 0: all come at once. */
  readonly interarrivalS: number;
  readonly saveS: number;
  readonly restoreS: number;
  readonly seed: number;
}

export function makePhases(model: PhasesModel): PhasesInstance {
  const { gangs, rounds, sizes, seed } = model;
  const stream = (name: string) => new Random(seed, `phases/${name}`);
  const [arrivals, size, hold, wait] = ["arrivals", "size", "hold", "wait"].map(stream);
  const count = gangs * rounds;
  const holdMs = new Float64Array(count);
  const waitMs = new Float64Array(count);
  const units = new Int32Array(count);
  const submitMs = new Float64Array(gangs);
  let nowS = 0;
  for (let gang = 0; gang < gangs; gang++) {
    submitMs[gang] = Math.round(nowS * 1000);
    if (model.interarrivalS > 0) nowS += arrivals.exponential(model.interarrivalS);
    const drawn = sizes[size.below(sizes.length)];
    for (let turn = gang * rounds; turn < (gang + 1) * rounds; turn++) {
      units[turn] = drawn;
      holdMs[turn] = Math.round(1000 * logNormal(hold, model.holdS, model.spread));
      waitMs[turn] = Math.round(1000 * logNormal(wait, model.waitS, model.spread));
    }
  }
  const constant = (value: number) => new Float64Array(count).fill(value);
  return {
    name: "phases",
    pools: [{ name: "units", units: model.units, unitsPerNode: model.unitsPerNode }],
    resident: model.resident,
    gangs: Array.from({ length: gangs }, (_, gang) => String(gang + 1)),
    submitMs,
    firstTurn: Int32Array.from({ length: gangs + 1 }, (_, gang) => gang * rounds),
    turns: {
      ...{ pool: new Int32Array(count), units, holdMs, waitMs, keepMs: constant(-1) },
      saveMs: constant(Math.round(1000 * model.saveS)),
      restoreMs: constant(Math.round(1000 * model.restoreS)),
    },
  };
}

/** A number with this mean and this standard deviation ÷ mean. */
function logNormal(random: Random, mean: number, spread: number): number {
  const variance = ln(1 + spread * spread);
  return mean * exp(Math.sqrt(variance) * random.normal() - variance / 2);
}
