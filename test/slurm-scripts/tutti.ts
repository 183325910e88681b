/**
 * Runs the scripts under Tutti, with a scheduler of their own, and prints how their outcomes differ from
 * those of a real Slurm, in what Slurm's commands say, too.
 *
 *     node test/slurm-scripts/tutti.ts [PART-OF-A-NAME]
 *
 * Those for two nodes run on a pilot.
 */
import { join } from "node:path";
import { LiveScheduler } from "../live-scheduler.ts";
import { TestCluster } from "../slurm/cluster.ts";
import { SlurmScheduler } from "../slurm/scheduler.ts";
import { readList, type SlurmScript } from "./list.ts";
import { differencesOf } from "./outcome.ts";
import { runAll, type Site } from "./run-case.ts";
import { siteHere, siteOnNodes } from "./sites.ts";

let same = 0;

async function compare(site: Site, list: readonly SlurmScript[], folder: string): Promise<void> {
  const outcomes = await runAll(site, list, folder, 1);
  for (const one of list) {
    const differences = differencesOf(one.outcome, outcomes.get(one), one.script);
    if (differences.length === 0) same++;
    else console.log(`${differences.join("\n")}\n`);
  }
}

const [part = ""] = process.argv.slice(2);
const all = readList().filter(({ script }) => script.includes(part));
const [forOne, forTwo] = [1, 2].map((count) => all.filter(({ nodes }) => nodes === count));
if (forOne.length > 0) {
  const scheduler = new LiveScheduler();
  try {
    await compare(await siteHere(scheduler), forOne, join(scheduler.folder, "cases"));
  } finally {
    await scheduler.clear();
  }
}
if (forTwo.length > 0) {
  const cluster = new TestCluster({ nodes: 2, cpus: 2, gpus: 2 });
  const scheduler = await cluster
    .start()
    .then(() => new SlurmScheduler(cluster, { nodes: 2, words: ["--", "--gres=gpu:2"] }));
  try {
    await compare(await siteOnNodes(scheduler), forTwo, join(scheduler.folder, "cases"));
  } finally {
    await scheduler.down();
    await cluster.stop();
  }
}
console.log(`${same} of ${all.length} are as under a real Slurm`);
