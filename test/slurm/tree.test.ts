/**
 * 32 real conductors behind one connection: the login node has one srun, and two conductors are relays. A
 * relay and then the root are killed while a gang runs on all nodes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { conductorsOf, connectorsOf } from "./fault-targets.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const NODES = 32;
const PATIENCE_MS = 120_000;

describeWithSlurm("a tree of conductors", () => {
  test("one connection for 32 nodes; a gang survives the end of a relay and of the root", {
    timeout: 600_000,
  }, async () => {
    const cluster = new TestCluster({ nodes: NODES, cpus: 1 });
    await cluster.start();
    const scheduler = new SlurmScheduler(cluster, { nodes: NODES });
    try {
      await scheduler.start();
      expect(connectorsOf(scheduler.frontEndPid)).toHaveLength(1);
      const gang = await scheduler.submit("-n", NODES, "--tasks-run", "each", "--", "sleep", "30");
      await running(scheduler, gang);
      // n1 is the root. The first two of the others are relays.
      for (const node of ["n2", "n1"]) {
        const [before] = conductorsOf(cluster, node);
        process.kill(before, "SIGKILL");
        await until(() => conductorsOf(cluster, node).some((pid) => pid !== before));
        await allUp(scheduler);
      }
      const job = await scheduler.ended(gang);
      expect(job).toMatchObject({ state: "done", attempt: 1 });
      // Only who has lost the way through its relay twice has a connection of its own.
      expect(connectorsOf(scheduler.frontEndPid).length).toBeLessThan(NODES);
      const lost = (await scheduler.tutti("events")).split("\n").filter((line) => line.includes("node-lost"));
      expect(lost).toEqual([]);
    } finally {
      const { status, stderr } = await scheduler.down();
      await cluster.stop();
      expect(status, stderr).toBe(0);
      expect(cluster.leftovers()).toEqual([]);
    }
  });
});

async function running(scheduler: SlurmScheduler, job: number): Promise<void> {
  await until(async () => (await scheduler.job(job)).state === "running");
}

async function allUp(scheduler: SlurmScheduler): Promise<void> {
  await until(async () => {
    const { nodes = [] } = await scheduler.status();
    return nodes.length === NODES && nodes.every(({ state }) => state === "up");
  });
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > untilMs) throw new Error(`Not within ${PATIENCE_MS / 1000} s`);
    await sleep(100);
  }
}
