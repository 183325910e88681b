/**
 * Runs the scripts for one node under Tutti, by Slurm's names and with a scheduler of their own, and prints
 * how their outcomes differ from those of a real Slurm.
 *
 *     node test/slurm-scripts/tutti.ts [PART-OF-A-NAME]
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { startTutti } from "../live-command.ts";
import { LiveScheduler } from "../live-scheduler.ts";
import { resultOf } from "../slurm/cluster.ts";
import { readList } from "./list.ts";
import { differencesOf } from "./outcome.ts";
import { loginWords, makeHome, runAll, type Site } from "./run-case.ts";

const CONFIG = `cpus = [0, 1]
resources = { gpu = ["0", "1"] }
[[queues]]
name = "main"
processors = 2
`;
/** Jobs that are cancelled at once, so that no other number in a script is as large as those of its jobs. */
const FIRST_JOBS = "sbatch --hold --array=0-999 -J first --wrap true > /dev/null";

async function startSite(scheduler: LiveScheduler): Promise<Site> {
  const config = join(scheduler.folder, "tutti.toml");
  writeFileSync(config, CONFIG);
  scheduler.words.push("--config", config);
  await scheduler.start();
  const names = join(scheduler.folder, "names");
  const { status, stderr } = await startTutti(scheduler.socket, ["slurm-names", names]).result;
  if (status !== 0) throw new Error(`tutti slurm-names ended with ${status}: ${stderr}`);
  const home = join(scheduler.folder, "user");
  makeHome(home, [`export TUTTI_SOCKET=${scheduler.socket}`, `PATH=${names}:$PATH`]);
  const site: Site = {
    home,
    nodes: [hostname().split(".")[0]],
    script: new RegExp(`${scheduler.state}/jobs/\\d+/\\S+?(?=:| |$)`, "gm"),
    run(words, folder) {
      const [program, ...rest] = loginWords(home, words);
      return resultOf(spawn(program, rest, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }));
    },
  };
  for (let i = 0; i < 3; i++) await site.run(["bash", "-l", "-c", FIRST_JOBS], home);
  await site.run(["bash", "-l", "-c", "scancel -n first"], home);
  return site;
}

const [part = ""] = process.argv.slice(2);
const scheduler = new LiveScheduler();
try {
  const site = await startSite(scheduler);
  const list = readList().filter(({ script, nodes }) => nodes === 1 && script.includes(part));
  const outcomes = await runAll(site, list, join(scheduler.folder, "cases"), 1);
  let same = 0;
  for (const one of list) {
    const differences = differencesOf(one.outcome, outcomes.get(one), one.script);
    if (differences.length === 0) same++;
    else console.log(`${differences.join("\n")}\n`);
  }
  console.log(`${same} of ${list.length} are as under a real Slurm`);
} finally {
  await scheduler.clear();
}
