/**
 * Compares pilots of a real Slurm with those of the laboratory. It boots a Slurm of 4 nodes with 2 CPUs each
 * on this machine (as root; test/slurm/slurm-test-cluster), submits jobs of the model lublin that sleep, with
 * all times divided so that the last one comes after the given minutes, and then simulates the jobs as
 * `tutti export` wrote them: with their real submit times and run times.
 *
 *   npm run bench:pilots -- [--minutes 110] [--jobs 120] [--seed 1] [--start 3] [--log FILE]
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { lublin } from "@tutti/kernel/workload/models/lublin.ts";
import { TestCluster } from "../../test/slurm/cluster.ts";
import { SlurmScheduler } from "../../test/slurm/scheduler.ts";

const SITE = { nodes: 4, cpus: 2 };
const PROCESSORS = SITE.nodes * SITE.cpus;
const IDLE_S = 120;
const SHORTEST_S = 600;
const LONGEST_S = 3600;
/** Of `tutti serve`, and a minute in which a job begins. */
const MARGIN_S = 120;
const LOAD = 0.4;
const FACTOR = 3;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "110" },
    jobs: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    start: { type: "string", default: "3" },
    log: { type: "string" },
  },
});

interface PlannedJob {
  readonly submitS: number;
  readonly runS: number;
  readonly size: number;
  readonly limitS: number;
}

/** Jobs of the model, with all times divided by one number. */
function plannedJobs(): PlannedJob[] {
  const settings = [`jobs=${values.jobs}`, `processors=${PROCESSORS}`, `load=${LOAD}`];
  const limits = ["estimates=factor", `estimateFactor=${FACTOR}`];
  const { parameters } = makeChoice({ ...lublin, guarantees: () => ({}) }, [...settings, ...limits]);
  const { count, jobs } = lublin.generate(parameters, Number(values.seed));
  const firstS = jobs.submitS[0];
  const divisor = (jobs.submitS[count - 1] - firstS) / (60 * Number(values.minutes));
  const most = LONGEST_S - MARGIN_S;
  return Array.from({ length: count }, (_, i) => {
    const runS = Math.max(1, Math.round(jobs.runS[i] / divisor));
    const limitS = Math.max(runS + 10, Math.round(jobs.estimateS[i] / divisor));
    const submitS = (jobs.submitS[i] - firstS) / divisor;
    return { submitS, runS: Math.min(runS, most - 10), size: jobs.size[i], limitS: Math.min(limitS, most) };
  });
}

/** Of the jobs of a file that `tutti export` wrote. */
function readWaitsS(path: string): number[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith(";"))
    .map((line) => Number(line.trim().split(/\s+/)[2]));
}

const cluster = new TestCluster(SITE);
const folder = mkdtempSync(join(tmpdir(), "tutti-pilots-"));
const run = values.log ?? join(folder, "run.swf");
const jobs = plannedJobs();
const workS = jobs.reduce((sum, { size, runS }) => sum + size * runS, 0);
console.log(
  `${jobs.length} jobs in ${values.minutes} min, mean ${(workS / jobs.length).toFixed(0)} CPU seconds; pilots of 1 to ${SITE.nodes} nodes, --idle ${IDLE_S}s`,
);
await cluster.start();
// Else Slurm would give nodes of one pilot to the next, which the laboratory does not.
await cluster.slurm("scontrol", "update", "PartitionName=main", "OverSubscribe=NO");
const scheduler = new SlurmScheduler(cluster, {
  kinds: [`all: --nodes 1..${SITE.nodes} --time ${SHORTEST_S / 60}m..${LONGEST_S / 60}m`],
  idle: `${IDLE_S}s`,
  words: ["--policy", "easy", "--max-nodes", String(SITE.nodes)],
});
try {
  scheduler.serve();
  const pilots = new Set<string>();
  let isOver = false;
  const watch = (async () => {
    while (!isOver) {
      const ids = await cluster.slurm("squeue", "-h", "-t", "R", "-o", "%i");
      for (const id of ids.split("\n").filter(Boolean)) pilots.add(id);
      await sleep(5000);
    }
  })();
  while (!existsSync(scheduler.socket)) await sleep(100);
  const beginMs = performance.now();
  const numbers: number[] = [];
  for (const { submitS, runS, size, limitS } of jobs) {
    await sleep(Math.max(0, beginMs + 1000 * submitS - performance.now()));
    numbers.push(await scheduler.submit("-n", size, "--time", `${limitS}s`, "--", "sleep", runS));
    if (numbers.length % 10 === 0) console.log(`${numbers.length} submitted`);
  }
  const states = new Map<string, number>();
  for (const number of numbers) {
    const { state } = await scheduler.ended(number);
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  // The bill is read at the end of the last job, where that of a simulation ends.
  const { bill } = await scheduler.status();
  isOver = true;
  await watch;
  await scheduler.tutti("export", "-o", run);
  const waitsS = readWaitsS(run);
  const meanWaitS = waitsS.reduce((sum, waitS) => sum + waitS, 0) / waitsS.length;
  const source = `pilots:file=${run}:nodes=${SITE.nodes}:cpus=${SITE.cpus}:start=${values.start}`;
  const policy = `pilots-elastic:idle=${IDLE_S}:shortest=${SHORTEST_S}:longest=${LONGEST_S}`;
  const answer = execFileSync(
    process.execPath,
    [
      fileURLToPath(new URL("../../bin/tutti.js", import.meta.url)),
      ...["compare", source, "--policy", policy, "--json"],
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );
  console.log([...states].map(([state, count]) => `${count} ${state}`).join(", "));
  const simulated = new Map<string, number>();
  for (const { name, value } of JSON.parse(answer).policies[0].runs[0].measures) simulated.set(name, value);
  const hours = (ms = Number.NaN) => ms / 3_600_000;
  const rows = [
    ["mean wait, s", meanWaitS, "wait"],
    ["node-hours used", hours(bill?.usedNodeMs), "used"],
    ["node-hours idle", hours(bill?.idleNodeMs), "idle"],
    ["node-hours asked for", hours(bill?.askedNodeMs), "asked"],
    ["pilots, as seen every 5 s", pilots.size, "pilots"],
  ] as const;
  for (const [name, real, measure] of rows) {
    const expected = simulated.get(measure) ?? Number.NaN;
    const difference = 100 * (real / expected - 1);
    console.log(`${name}: ${real.toFixed(2)}, simulated ${expected.toFixed(2)}, ${difference.toFixed(1)} %`);
  }
} finally {
  await scheduler.down();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
