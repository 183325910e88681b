/** Runs the conformance suite of executors on a real Slurm with four nodes. */
import { executorConformance } from "../executor-conformance.ts";
import { openLiveStage } from "../executor-stage-local.ts";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const SHAPE = { nodes: 4, cpus: 2 };

describeWithSlurm("Slurm", () => {
  executorConformance("Slurm", async (options) => {
    const cluster = new TestCluster(SHAPE);
    await cluster.start();
    const scheduler = new SlurmScheduler(cluster, { nodes: SHAPE.nodes, slotMs: options.slotMs });
    const close = async () => {
      const { status, stderr } = await scheduler.down();
      await cluster.stop();
      const words = status === 0 ? [] : [`tutti down ended with ${status}: ${stderr}`];
      return [...words, ...cluster.leftovers()];
    };
    const refusalOf = async (capability: string) => {
      const [option, value] = capability.split(" ");
      const other = new SlurmScheduler(cluster, {
        nodes: SHAPE.nodes,
        words: [`--${option}`, value],
      });
      return (await other.refusal()).stderr;
    };
    const memoryBytes = async () =>
      SHAPE.nodes * Number(await cluster.slurm("sinfo", "-h", "-o", "%m")) * 2 ** 20;
    const lacks = new Set(["mode concurrent"] as const);
    const processors = SHAPE.nodes * SHAPE.cpus;
    try {
      return await openLiveStage({ scheduler, processors, memoryBytes, lacks, refusalOf, close }, options);
    } catch (error) {
      await close();
      throw error;
    }
  });
});
