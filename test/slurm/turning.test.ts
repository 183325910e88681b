/**
 * Three gangs of eight processes take turns on 4 nodes with 2 CPUs each: judged by the processes' own
 * records. The skew between nodes is printed; `npm run bench:slurm` measures it.
 */

import { SIZES, SOAK, TRIES } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { StatusAnswer } from "@tutti/protocol/answers.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { NOBODY } from "./scheduler.ts";
import { type MeasuredTurning, measureTutti, togetherPer100Ms } from "./turning-table.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const SLOT_MS = 100;
/** Turns of each of the three gangs; fewer on a busy machine. */
const TURNS = (SIZES.turningS * 1000) / SLOT_MS / 3;
const cluster = new TestCluster({ nodes: 4, cpus: 2 });

function report(name: string, turning: MeasuredTurning): void {
  const { shares, nodes, ...rest } = turning;
  console.log(
    JSON.stringify({ name, shares: [...shares], ...rest, together: togetherPer100Ms(turning), nodes }),
  );
}

function expectFair({ shares }: MeasuredTurning): void {
  expect(shares.size).toBe(3);
  for (const [gang, share] of shares)
    expect(Math.abs(3 * share - 1), `share of gang ${gang}`).toBeLessThan(0.02);
}

/** The speed of a shared machine changes by more than this within seconds, so only the soak judges it. */
function expectWork({ lostWork }: MeasuredTurning): void {
  if (SOAK) expect(Math.abs(lostWork)).toBeLessThan(0.03);
}

describeWithSlurm("turning", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  test("as root: equal shares, never two gangs at once, whole gangs, no work lost", TRIES, async () => {
    let health: NonNullable<StatusAnswer["nodes"]> = [];
    const turning = await measureTutti(
      cluster,
      { lastsS: SIZES.turningS, slotMs: SLOT_MS },
      async (scheduler) => {
        health = (await scheduler.status()).nodes ?? [];
      },
    );
    report("root", turning);
    // The login node has the clock of this machine.
    expect(health.map(({ node }) => node).sort()).toEqual(cluster.nodes);
    for (const { node, offsetMs = Number.NaN, uncertaintyMs = 0 } of health) {
      const wrongMs = Math.abs(offsetMs - cluster.clockAheadMs(node));
      // On a busy machine, lines take longer, and the scheduler says so.
      expect(wrongMs, `offset of ${node}`).toBeLessThanOrEqual(SOAK ? 0.5 : uncertaintyMs);
    }
    expectFair(turning);
    expect(togetherPer100Ms(turning)).toBeLessThanOrEqual(1);
    expect(turning.isPrompt).toBe(true);
    expect(turning.partial).toBe(0);
    if (SOAK) expect(turning.skewP99Ms).toBeLessThan(SLOT_MS / 2);
    expectWork(turning);
    for (const { turns } of turning.nodes)
      for (const count of turns.values()) expect(count).toBeGreaterThan(0.75 * TURNS);
  });

  test("as a user without rights: the same", TRIES, async () => {
    const turning = await measureTutti(cluster, { lastsS: 20, slotMs: SLOT_MS, uid: NOBODY });
    report("user", turning);
    expectFair(turning);
    expect(togetherPer100Ms(turning)).toBeLessThanOrEqual(1);
    expectWork(turning);
  });
});
