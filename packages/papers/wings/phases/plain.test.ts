/** The simulator of phases against a plain program that knows nothing but the rules in words. */
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { expect, test } from "vitest";
import { randomPhases } from "./phases-for-tests.ts";
import { type PlainOptions, plainPhases } from "./plain-for-tests.ts";
import { PHASES_POLICIES } from "./policies/registry.ts";
import { simulatePhases } from "./simulate.ts";

const INSTANCES = 1000;
const CASES: readonly (readonly [policy: string, plain: PlainOptions, mostPools: number])[] = [
  ["phases-lock:groups=64", { policy: "lock", groups: [64] }, 2],
  ["phases-lock:groups=64:order=served", { policy: "lock", groups: [64], order: "served" }, 2],
  ["phases-lock:groups=4", { policy: "lock", groups: [4] }, 1],
  ["phases-lock:groups=4:order=served", { policy: "lock", groups: [4], order: "served" }, 1],
  ["phases-pool:split=yes", { policy: "pool" }, 2],
  ["phases-pool:split=yes:most=0", { policy: "pool", most: 0 }, 2],
  ["phases-pool:split=yes:most=2", { policy: "pool", most: 2 }, 2],
  ["phases-pool:split=yes:order=served", { policy: "pool", order: "served" }, 2],
  ["phases-pool:split=yes:order=served:most=2", { policy: "pool", most: 2, order: "served" }, 2],
  ["phases-rows:extra=no", { policy: "rows", extra: false }, 1],
  ["phases-rows", { policy: "rows", extra: true }, 1],
];

test.each(CASES)(
  `%s: turns of ${INSTANCES} random workloads, to the millisecond`,
  (name, plain, mostPools) => {
    const { definition, parameters } = chooseAmong(PHASES_POLICIES, name);
    for (let seed = 1, done = 0; done < INSTANCES; seed++) {
      const instance = randomPhases(seed, mostPools);
      // A gang that is larger than every group is refused.
      if (name.includes("groups=4") && instance.turns.units.some((units) => units > 4)) continue;
      if (name.includes("groups=4") && instance.pools[0].units % 4 !== 0) continue;
      const { gotMs, beganMs, yieldedMs, leftMs } = simulatePhases(instance, definition, parameters);
      const found = { gotMs, beganMs, yieldedMs, leftMs };
      const expected = plainPhases(instance, plain);
      for (const column of ["gotMs", "beganMs", "yieldedMs", "leftMs"] as const)
        expect([...found[column]], `${column} of seed ${seed}`).toEqual(expected[column]);
      done++;
    }
  },
);
