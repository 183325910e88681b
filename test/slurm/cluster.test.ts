/** Checks the cluster for tests: its nodes are separate, it can be harmed, and it leaves nothing. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 2, cpus: 2 });

describeWithSlurm("a cluster for tests", () => {
  beforeAll(() => cluster.start());
  afterAll(() => cluster.stop());

  test("each node has its own name, processes and monotonic clock", async () => {
    const names = await cluster.slurm("srun", "-N2", "-n2", "uname", "-n");
    expect(names.split("\n").sort()).toEqual(cluster.nodes);
    for (const node of cluster.nodes) {
      expect(cluster.processesOf(node).length).toBeGreaterThan(1);
      const words = ["-N1", "-n1", "-w", node, process.execPath, "-p", "String(process.hrtime.bigint())"];
      const thereNs = await cluster.slurm("srun", ...words);
      const aheadMs = Number(BigInt(thereNs) - process.hrtime.bigint()) / 1e6;
      expect(aheadMs).toBeLessThanOrEqual(cluster.clockAheadMs(node));
      expect(aheadMs).toBeGreaterThan(cluster.clockAheadMs(node) - 5_000);
    }
  });

  test("a crash ends all processes of a node, and it comes back", async () => {
    const step = cluster.exec("srun", "-N1", "-n1", "-w", "n2", "sleep", "1000");
    const sleeps = () => cluster.processesOf("n2").length;
    const idle = sleeps();
    while (sleeps() <= idle) await new Promise((resolve) => setTimeout(resolve, 20));
    await cluster.node("crash", "n2");
    while (sleeps() > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await cluster.node("start", "n2");
    await cluster.slurm("scancel", "--me");
    await step;
    await cluster.allUp();
    expect(await cluster.slurm("srun", "-N1", "-n1", "-w", "n2", "uname", "-n")).toBe("n2");
  });

  test("the controller is killed and started, and knows its nodes", async () => {
    await cluster.controller("kill");
    await cluster.controller("start");
    await cluster.allUp();
  });

  test("after stop no process, namespace or folder is left; before, they are found", async () => {
    const found = cluster.leftovers();
    expect(found.filter((one) => /: slurmd -D/.test(one))).toHaveLength(2);
    expect(found.filter((one) => one.startsWith("network namespace"))).toHaveLength(3);
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
    await cluster.start();
  });
});
