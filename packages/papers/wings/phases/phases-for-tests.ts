/** Draws small instances of phases, with ties, short turns and several pools. */
import { Random } from "@tutti/kernel/core/random.ts";
import type { PhasesInstance } from "./contract.ts";

export function randomPhases(seed: number, mostPools = 2): PhasesInstance {
  const random = new Random(seed, "phases for tests");
  const between = (from: number, to: number) => from + random.below(to - from + 1);
  const pools = Array.from({ length: between(1, mostPools) }, (_, pool) => {
    const unitsPerNode = between(1, 4);
    return { name: `pool ${pool}`, unitsPerNode, units: unitsPerNode * between(1, 4) };
  });
  const resident = between(1, 3);
  const gangs = Array.from({ length: between(1, 8) }, (_, gang) => `g${gang}`);
  // Coarse times make ties.
  const stepMs = [1, 10, 100][random.below(3)];
  const time = (most: number) => stepMs * random.below(most + 1);
  const submitMs = Float64Array.from(gangs, () => time(30)).sort();
  const firstTurn = [0];
  const columns = { pool: [], units: [], holdMs: [], waitMs: [], keepMs: [], saveMs: [], restoreMs: [] } as {
    [name in keyof PhasesInstance["turns"]]: number[];
  };
  const hasCosts = random.below(3) > 0;
  for (const _ of gangs) {
    const unitsIn = pools.map(({ units }) => between(1, units));
    const [saveMs, restoreMs] = hasCosts ? [time(5), time(5)] : [0, 0];
    const count = between(1, 6);
    const pool = Array.from({ length: count }, () => random.below(pools.length));
    for (let turn = 0; turn < count; turn++) {
      const isKept = turn + 1 < count && pool[turn] < pool[turn + 1] && random.below(3) === 0;
      columns.pool.push(pool[turn]);
      columns.units.push(unitsIn[pool[turn]]);
      columns.holdMs.push(time(20));
      columns.waitMs.push(time(20));
      columns.keepMs.push(isKept ? time(5) : -1);
      columns.saveMs.push(saveMs);
      columns.restoreMs.push(restoreMs);
    }
    firstTurn.push(firstTurn.at(-1)! + count);
  }
  return {
    ...{ name: `random ${seed}`, pools, resident, gangs, submitMs },
    firstTurn: Int32Array.from(firstTurn),
    turns: {
      pool: Int32Array.from(columns.pool),
      units: Int32Array.from(columns.units),
      holdMs: Float64Array.from(columns.holdMs),
      waitMs: Float64Array.from(columns.waitMs),
      keepMs: Float64Array.from(columns.keepMs),
      saveMs: Float64Array.from(columns.saveMs),
      restoreMs: Float64Array.from(columns.restoreMs),
    },
  };
}
