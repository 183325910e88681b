/**
 * Measures what turns cost a program of Open MPI, on a real Slurm of 2 nodes, which it boots on this machine
 * (as root; test/slurm/slurm-test-cluster). The program computes for a while, exchanges, and again, with one
 * rank on each node and a CPU for each rank. Two such programs as two gangs of Tutti, by length of a slot,
 * are compared with one alone and then the other, and with two that share the CPUs as Linux lets them.
 *
 *   npm run bench:mpi -- [--seconds 5] [--slots 20,50,100,200,500]
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { TestCluster } from "../../test/slurm/cluster.ts";
import { compilePrograms } from "../../test/slurm/programs.ts";
import { SlurmScheduler } from "../../test/slurm/scheduler.ts";

const NODES = 2;
/** More than this machine has, so Tutti pins no gang: each rank pins itself to a CPU of its own. */
const CPUS = 4;
/** What a rank computes between two exchanges, in ms. */
const GRAINS_MS = [10, 1, 0.1];
const REFERENCE_SLOT_MS = 100;
/** What a rank does that waits for a message. */
const SHARINGS = [
  ["ranks that wait compute on", ""],
  ["ranks that wait give the CPU away", "--mca mpi_yield_when_idle 1"],
] as const;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    slots: { type: "string", default: "20,50,100,200,500" },
  },
});
const slots = values.slots.split(",").map(Number);
const lastsS = Number(values.seconds);
if (!(lastsS > 0) || slots.some((slotMs) => !(slotMs > 0))) {
  console.error(
    `Cannot use --seconds "${values.seconds}" --slots "${values.slots}": expected numbers above 0`,
  );
  process.exit(2);
}

const cluster = new TestCluster({ nodes: NODES, cpus: CPUS });
await cluster.start();
try {
  const pinned = `sh -c 'exec taskset -c $OMPI_COMM_WORLD_RANK "$0" "$@"'`;
  const grain = `${pinned} ${compilePrograms(cluster.home).grain}`;
  const mpirun = `mpirun --allow-run-as-root --map-by node -n ${NODES}`;
  /** Seconds that each of the jobs took, which are released together. */
  const run = async (scheduler: SlurmScheduler, lines: readonly string[]): Promise<number[]> => {
    const jobs: number[] = [];
    for (const line of lines)
      jobs.push(await scheduler.submit("-n", NODES * CPUS, "--hold", "--", "sh", "-c", line));
    await scheduler.tutti("release", jobs.join());
    const took: number[] = [];
    for (const job of jobs) {
      const said = readFileSync((await scheduler.done(job)).stdout, "utf8");
      const all = [...said.matchAll(/^ranks \d+ rounds \d+ wrong 0 seconds (\S+)$/gm)];
      if (all.length === 0) throw new Error(`Expected a line of the program "grain", got "${said}"`);
      took.push(...all.map(([, seconds]) => Number(seconds)));
    }
    return took;
  };
  const percent = (took: readonly number[], aloneS: number) =>
    `${((100 * Math.max(...took)) / (2 * aloneS)).toFixed(1)} %`;

  const programs: string[] = [];
  const alone: number[] = [];
  await withScheduler(REFERENCE_SLOT_MS, async (scheduler) => {
    const trial = await scheduler.submit("-n", NODES * CPUS, "--", "sh", "-c", `${mpirun} ${grain} 0 0`);
    const said = readFileSync((await scheduler.done(trial)).stdout, "utf8");
    const perMs = Number(/^steps (\d+)/m.exec(said)?.[1]) / 1000;
    for (const grainMs of GRAINS_MS) {
      const rounds = Math.round((1000 * lastsS) / grainMs);
      const program = `${grain} ${rounds} ${Math.round(perMs * grainMs)}`;
      const line = `${mpirun} ${program}`;
      const [aloneS] = await run(scheduler, [line]);
      programs.push(program);
      alone.push(aloneS);
      console.log(`${grainMs} ms between exchanges: ${rounds} rounds, alone ${aloneS.toFixed(2)} s`);
      for (const [name, option] of SHARINGS) {
        const shared = await run(scheduler, [
          `${mpirun} ${option} ${program} & ${mpirun} ${option} ${program}; wait`,
        ]);
        console.log(`  both at once, as Linux shares the CPUs, ${name}: ${percent(shared, aloneS)}`);
      }
    }
  });
  for (const slotMs of slots) {
    await withScheduler(slotMs, async (scheduler) => {
      for (const [i, program] of programs.entries()) {
        const took = await run(scheduler, [`${mpirun} ${program}`, `${mpirun} ${program}`]);
        console.log(
          `slots of ${slotMs} ms, ${GRAINS_MS[i]} ms between exchanges: ${percent(took, alone[i])}`,
        );
      }
    });
  }
} finally {
  await cluster.stop();
}

async function withScheduler(
  slotMs: number,
  use: (scheduler: SlurmScheduler) => Promise<void>,
): Promise<void> {
  const scheduler = new SlurmScheduler(cluster, { nodes: NODES, slotMs });
  try {
    await scheduler.start();
    await use(scheduler);
  } finally {
    await scheduler.down();
  }
}
