/**
 * Runs all scripts on a real Slurm, twice, and writes the outcomes that are the same into list.json. It
 * takes about ten minutes: a job that is put back into the queue waits there for two. Then run
 * `npx biome check --write test/slurm-scripts`.
 *
 *     node test/slurm-scripts/record.ts [PART-OF-A-NAME]
 */
import { join } from "node:path";
import { resultOf, TestCluster } from "../slurm/cluster.ts";
import { readList, type SlurmScript, writeList } from "./list.ts";
import { differencesOf } from "./outcome.ts";
import { loginWords, makeHome, runAll, type Site } from "./run-case.ts";

/** How many scripts run at a time. Most only wait. */
export const AT_ONCE = 6;
/** No other number in a script is so large, so a number of a job is never mistaken for another. */
const FIRST_JOB = 500_000;

/** What the scripts need of a cluster. */
export function scriptsCluster(): TestCluster {
  return new TestCluster({ nodes: 4, cpus: 16, gpus: "a100:2", accounting: true, firstJob: FIRST_JOB });
}

/** Starts the cluster, and prepares it and a home on it. */
export async function startSlurm(cluster: TestCluster): Promise<Site> {
  await cluster.start();
  for (const node of cluster.nodes) {
    const features = `${node},haswell`;
    await cluster.slurm(
      "scontrol",
      "update",
      `NodeName=${node}`,
      `AvailableFeatures=${features}`,
      `ActiveFeatures=${features}`,
    );
  }
  const home = join(cluster.home, "user");
  makeHome(home);
  return {
    home,
    nodes: cluster.nodes,
    script: /\S*\/spool\/n\d+\/job\d+\/slurm_script/g,
    run: (words, folder) =>
      resultOf(
        cluster.spawn([...loginWords(home, words, `SLURM_CONF=${cluster.folder}/slurm.conf`)], {
          cwd: folder,
          stdio: ["ignore", "pipe", "pipe"],
        }),
      ),
  };
}

if (import.meta.main) {
  const [part = ""] = process.argv.slice(2);
  const list = readList();
  const chosen = list.filter(({ script }) => script.includes(part));
  const cluster = scriptsCluster();
  try {
    const site = await startSlurm(cluster);
    const first = await runAll(site, chosen, join(cluster.home, "first"), AT_ONCE);
    const second = await runAll(site, chosen, join(cluster.home, "second"), AT_ONCE);
    const differing = chosen.flatMap((one) => differencesOf(first.get(one), second.get(one), one.script));
    for (const line of differing) console.error(line);
    const isSame = (one: SlurmScript) => differencesOf(first.get(one), second.get(one)).length === 0;
    if (differing.length > 0) process.exitCode = 1;
    writeList(
      list.map((one) => ({ ...one, outcome: isSame(one) ? (first.get(one) ?? one.outcome) : one.outcome })),
    );
  } finally {
    await cluster.stop();
  }
}
