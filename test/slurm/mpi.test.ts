/**
 * Two programs of Open MPI, one started once per task by Slurm and one by mpirun inside a job, exchange and
 * check messages while they take turns with a busy gang.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { readRecords, turnsOf } from "./judge/records.ts";
import { compilePrograms } from "./programs.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const SLOT_MS = 100;
const TASKS = 8;
const ROUNDS = 500;
/** In three rows of 100 ms, a gang is stopped more than 60 times. */
const LASTS_S = 20;
const LEAST_STOPS = 50;
const cluster = new TestCluster({ nodes: 4, cpus: 2 });

describeWithSlurm("Open MPI on several nodes", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  test("programs started by Slurm and by mpirun get right results while they take turns with a busy gang", async () => {
    const { busy, ring } = compilePrograms(cluster.home);
    const scheduler = new SlurmScheduler(cluster, { nodes: 4, slotMs: SLOT_MS });
    try {
      await scheduler.start();
      const folders = ["each", "mpirun", "busy"].map((name) => scheduler.makeFolder(name));
      // Waiting ranks must leave the CPU to the others: eight ranks have two CPUs of this machine.
      const polite = ["env", "OMPI_MCA_mpi_yield_when_idle=1"];
      const held = ["-n", TASKS, "--hold"];
      const each = [...held, "--tasks-run", "each"];
      const work = (folder: string) => [ring, folder, ROUNDS, LASTS_S];
      const jobs = [
        await scheduler.submit(...each, "--mpi", "pmix", "--", ...polite, ...work(folders[0])),
        await scheduler.submit(
          ...[...held, "--", ...polite, "mpirun", "--allow-run-as-root", "-n", TASKS],
          ...work(folders[1]),
        ),
        await scheduler.submit(...each, "--", busy, folders[2], LASTS_S + 3),
      ];
      await scheduler.tutti("release", jobs.join());
      const [byTask, byMpirun] = [await scheduler.done(jobs[0]), await scheduler.done(jobs[1])];
      for (const [i, job] of [byTask, byMpirun].entries()) {
        expect(job).toMatchObject({ state: "done", code: 0 });
        const said = /^ranks (\d+) rounds (\d+) wrong (\d+)$/m.exec(readFileSync(job.stdout, "utf8"));
        expect(said?.slice(1, 2).concat(said[3])).toEqual([String(TASKS), "0"]);
        expect(Number(said?.[2])).toBeGreaterThanOrEqual(ROUNDS);
        const records = readRecords(job.name, folders[i], (node) => cluster.clockAheadMs(node));
        expect(records).toHaveLength(TASKS);
        const stops = cluster.nodes.map((node) => {
          const onNode = records.filter((record) => record.node === node);
          expect(onNode, node).toHaveLength(TASKS / cluster.nodes.length);
          return turnsOf(onNode, SLOT_MS / 2).length - 1;
        });
        console.log(`${["each task", "mpirun"][i]}: ${said?.[0]}; stopped ${stops.join(", ")} times`);
        expect(Math.min(...stops)).toBeGreaterThanOrEqual(LEAST_STOPS);
      }
      await scheduler.done(jobs[2]);
    } finally {
      await scheduler.down();
    }
  });
});
