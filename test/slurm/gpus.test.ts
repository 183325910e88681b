/**
 * Jobs on nodes of Slurm have GPUs: copies of /dev/null, for which Slurm does what it does for GPUs. Each
 * part of a gang sees those of its job, also in tasks that Slurm starts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 2, cpus: 2, gpus: 2 });
let scheduler: SlurmScheduler;

describeWithSlurm("GPUs of nodes of Slurm", () => {
  beforeAll(async () => {
    await cluster.start();
    scheduler = new SlurmScheduler(cluster, { nodes: 2, words: ["--", "--gres=gpu:2"] });
    await scheduler.start();
  });
  afterAll(async () => {
    await scheduler?.down();
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  const SHOW = 'echo "$SLURMD_NODENAME [$CUDA_VISIBLE_DEVICES]"';
  /** Submits a job on all nodes and waits for what it shows. */
  async function shown(name: string, ...words: (string | number)[]): Promise<string[]> {
    const file = join(scheduler.folder, name);
    await scheduler.done(await scheduler.submit("-n", 4, "-o", file, ...words));
    return [...new Set(readFileSync(file, "utf8").trim().split("\n"))].sort();
  }

  test("are listed, and a job cannot ask for more than a node has", async () => {
    expect((await scheduler.status()).resources).toEqual([
      { name: "gpu", units: ["0", "1"], held: 0, shared: true, perNode: true },
    ]);
    expect(await scheduler.tutti("status")).toContain("2 gpu on each node");
    const { status, stderr } = await scheduler.run("submit", "--use", "gpu:3", "--", "true");
    expect(status).not.toBe(0);
    expect(stderr).toContain("Cannot provide 3 units of gpu: the scheduler has 2");
    expect((await scheduler.run("submit", "--use", "fpga", "--", "true")).stderr).toContain(
      "expected one of gpu; those of nodes, such as GPUs, come from an option of sbatch after --, such as tutti serve --on slurm … -- --gres=gpu:1; administrators name others in the setting resources",
    );
  });

  test("are seen by all parts of a gang: as many as it asks for, on each of its nodes", async () => {
    const inJob = ["--", "sh", "-c", `srun -n 4 sh -c '${SHOW}'`];
    expect(await shown("one", "--use", "gpu", ...inJob)).toEqual(["n1 [0]", "n2 [0]"]);
    expect(await shown("both", "--use", "gpu:2", ...inJob)).toEqual(["n1 [0,1]", "n2 [0,1]"]);
    expect(await shown("none", ...inJob)).toEqual(["n1 []", "n2 []"]);
    const each = ["--tasks-run", "each", "--", "sh", "-c", SHOW];
    expect(await shown("each", "--use", "gpu", ...each)).toEqual(["n1 [0]", "n2 [0]"]);
    expect(await shown("no-each", ...each)).toEqual(["n1 []", "n2 []"]);
  });

  test("a gang of another row gets those that no other job on its nodes has", async () => {
    const first = await scheduler.submit("-n", 4, "--use", "gpu", "--", "sleep", 600);
    await expect.poll(async () => (await scheduler.job(first)).state).toBe("running");
    const words = ["--use", "gpu", "--", "sh", "-c", `srun -n 4 sh -c '${SHOW}'`];
    expect(await shown("other", ...words)).toEqual(["n1 [1]", "n2 [1]"]);
    expect((await scheduler.job(first)).units).toEqual({ gpu: ["0"] });
    await scheduler.run("cancel", first);
  });
});
