/**
 * Scripts for two nodes, as people write them for Slurm, end on a pilot of Tutti as under a real Slurm. In a
 * soak, a real Slurm also runs all scripts again, and gives what list.json says.
 */
import { join } from "node:path";
import { SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installTestTools } from "../../scripts/install-test-tools.ts";
import { type Outcome, readList, type SlurmScript } from "../slurm-scripts/list.ts";
import { differencesOf } from "../slurm-scripts/outcome.ts";
import { AT_ONCE, scriptsCluster, startSlurm } from "../slurm-scripts/record.ts";
import { runAll } from "../slurm-scripts/run-case.ts";
import { siteOnNodes } from "../slurm-scripts/sites.ts";
import { unstated } from "../slurm-scripts/stated.ts";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const list = readList();
const forTwo = list.filter(({ nodes }) => nodes === 2);

describeWithSlurm("a script for two nodes ends on a pilot as under a real Slurm", () => {
  const cluster = new TestCluster({ nodes: 2, cpus: 2, gpus: 2 });
  let scheduler: SlurmScheduler | undefined;
  let outcomes: ReadonlyMap<SlurmScript, Outcome>;

  beforeAll(async () => {
    installTestTools();
    await cluster.start();
    scheduler = new SlurmScheduler(cluster, { nodes: 2, words: ["--", "--gres=gpu:2"] });
    outcomes = await runAll(await siteOnNodes(scheduler), forTwo, join(scheduler.folder, "cases"), 1);
  });
  afterAll(async () => {
    await scheduler?.down();
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  test.each(forTwo)("$script: $covers", (one) => {
    expect(unstated(one, outcomes.get(one))).toEqual([]);
  });
});

describe.runIf(SOAK)("a real Slurm", () => {
  describeWithSlurm("gives the outcomes that are recorded", () => {
    const cluster = scriptsCluster();
    afterAll(() => cluster.stop());

    test("of all scripts", async () => {
      const outcomes = await runAll(await startSlurm(cluster), list, join(cluster.home, "again"), AT_ONCE);
      expect(list.flatMap((one) => differencesOf(one.outcome, outcomes.get(one), one.script))).toEqual([]);
    });
  });
});
