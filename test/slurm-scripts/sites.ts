/** Tutti as a site for the scripts: on this machine, and on the nodes of a Slurm. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { startTutti } from "../live-command.ts";
import type { LiveScheduler } from "../live-scheduler.ts";
import { resultOf } from "../slurm/cluster.ts";
import type { SlurmScheduler } from "../slurm/scheduler.ts";
import { loginWords, makeHome, type Site } from "./run-case.ts";

const QUEUE = `[[queues]]
name = "main"
`;
const MACHINE = `cpus = [0, 1]
resources = { gpu = ["0", "1"] }
${QUEUE}processors = 2
`;
const NODES = `features = ["haswell"]
${QUEUE}processors = 4
`;
/** Jobs that are cancelled at once, so that no other number in a script is as large as those of its jobs. */
const FIRST_JOBS = "sbatch --hold --array=0-999 -J first --wrap true > /dev/null";

/** Starts the scheduler, and gives logins Slurm's names. */
export async function siteHere(scheduler: LiveScheduler): Promise<Site> {
  const config = join(scheduler.folder, "tutti.toml");
  writeFileSync(config, MACHINE);
  scheduler.words.push("--config", config);
  await scheduler.start();
  const names = join(scheduler.folder, "names");
  const { status, stderr } = await startTutti(scheduler.socket, ["slurm-names", names]).result;
  if (status !== 0) throw new Error(`tutti slurm-names ended with ${status}: ${stderr}`);
  const home = join(scheduler.folder, "user");
  makeHome(home, [`export TUTTI_SOCKET=${scheduler.socket}`, `PATH=${names}:$PATH`]);
  return withFirstJobs({
    home,
    nodes: [hostname().split(".")[0]],
    script: scriptsIn(scheduler.state),
    run(words, folder) {
      const [program, ...rest] = loginWords(home, words);
      return resultOf(spawn(program, rest, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }));
    },
  });
}

/** Starts a scheduler with a pilot, and gives logins Slurm's names. In jobs, a real srun is on the PATH. */
export async function siteOnNodes(scheduler: SlurmScheduler): Promise<Site> {
  const { cluster } = scheduler;
  const config = join(scheduler.folder, "tutti.toml");
  writeFileSync(config, NODES);
  scheduler.words.unshift("--config", config);
  await scheduler.start();
  const names = join(scheduler.folder, "names");
  await scheduler.tutti("slurm-names", names);
  const home = join(scheduler.folder, "user");
  makeHome(home, [
    `export TUTTI_SOCKET=${scheduler.socket} SLURM_CONF=${cluster.folder}/slurm.conf`,
    `PATH=${names}:$PATH`,
  ]);
  return withFirstJobs({
    home,
    nodes: cluster.nodes,
    script: scriptsIn(scheduler.state),
    run: (words, folder) =>
      resultOf(cluster.spawn(loginWords(home, words), { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })),
  });
}

function scriptsIn(state: string): RegExp {
  return new RegExp(`${state}/jobs/\\d+/\\S+?(?=:| |$)`, "gm");
}

async function withFirstJobs(site: Site): Promise<Site> {
  for (let i = 0; i < 3; i++) await site.run(["bash", "-l", "-c", FIRST_JOBS], site.home);
  await site.run(["bash", "-l", "-c", "scancel -n first"], site.home);
  return site;
}
