/**
 * Pilots come with jobs and go without: none at first, one for a job, none after the idle time, another one
 * for the next job, and for a job that needs a lost node. A job that no pilot could hold brings none. What
 * has begun on a lost node ends everywhere.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 4, cpus: 2 });
describeWithSlurm("the need for pilots", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  test("a pilot comes with a job, goes without one, and another comes with the next job", async () => {
    const scheduler = new SlurmScheduler(cluster, { nodes: 4, time: "10m", idle: "5s" });
    const pilots = async (...words: string[]) =>
      (await cluster.slurm("squeue", "-h", "-o", "%i", ...words)).split("\n").filter(Boolean);
    const restsText = "no job waits for nodes, so there is no pilot; the next job brings one";
    const rests = () =>
      scheduler
        .status()
        .then(({ conductor }) => conductor.rests)
        .catch(String);
    try {
      scheduler.serve();
      await expect.poll(rests).toBe(restsText);
      expect(await pilots("-t", "all")).toEqual([]);
      expect(await scheduler.tutti("status")).not.toContain("trouble");
      expect(await scheduler.tutti("pilot")).toBe(`No nodes are held: ${restsText}\n`);

      // 10 min, less the 60 s before the end at which jobs are stopped.
      const tooLong = await scheduler.run("submit", "--time", "541s", "--", "true");
      expect(tooLong).toMatchObject({
        status: 4,
        stderr: expect.stringContaining("Cannot run for 9 min 1 s: CPUs are there for at most 9 min"),
      });
      expect(await pilots("-t", "all")).toEqual([]);

      await scheduler.done(await scheduler.submit("-n", 8, "--tasks-run", "each", "--", "true"));
      expect(await pilots()).toHaveLength(1);
      await expect.poll(() => pilots()).toEqual([]);
      await expect.poll(rests).toBe(restsText);
      expect(await pilots("-t", "all")).toHaveLength(1);

      const small = await scheduler.submit("-n", 1, "--time", "9m", "--", "sleep", 1000);
      await scheduler.ready();
      expect(await pilots("-t", "all")).toHaveLength(2);
      await scheduler.tutti("cancel", small);
      await expect.poll(() => pilots()).toEqual([]);
    } finally {
      await scheduler.down();
    }
  });

  test("a gang that loses a node on which its tasks have ended does not stay stopped elsewhere", async () => {
    const scheduler = new SlurmScheduler(cluster, { nodes: 3 });
    const folder = scheduler.makeFolder("part");
    const files = (begin: string) => readdirSync(folder).filter((name) => name.startsWith(begin)).length;
    try {
      await scheduler.start();
      const line = `: > begun-$SLURM_PROCID; [ $SLURMD_NODENAME = n2 ] || exec sleep 1000; : > ended-$SLURM_PROCID`;
      const words = ["-n", 5, "--tasks-run", "each", "--cwd", folder, "--", "sh", "-c", line];
      const gang = await scheduler.submit(...words);
      await expect.poll(() => [files("begun"), files("ended")]).toEqual([5, 2]);
      // The end of the tasks is known some slots later.
      const { ranMs } = await scheduler.job(gang);
      await expect.poll(async () => (await scheduler.job(gang)).ranMs).toBeGreaterThan(ranMs + 2000);
      await cluster.node("kill", "n2");
      const lost = expect.stringContaining("lost: node n2 is lost");
      expect(await scheduler.ended(gang)).toMatchObject({ state: "failed", reason: lost });
    } finally {
      await scheduler.down();
      await cluster.node("start", "n2");
      await cluster.allUp();
    }
  });

  test("a gang that has lost a node starts again on another pilot, though srun in it ends with 0", async () => {
    const scheduler = new SlurmScheduler(cluster, { nodes: 3, time: "2h", idle: "1m" });
    const folder = scheduler.makeFolder("lost");
    const pilots = async () =>
      (await cluster.slurm("squeue", "-h", "-t", "all", "-S", "i", "-o", "%i %T %N"))
        .split("\n")
        .filter(Boolean);
    try {
      scheduler.serve();
      await expect.poll(() => existsSync(scheduler.socket)).toBe(true);
      const before = (await pilots()).length;
      // Its second attempt ends at once.
      const line = `echo $TUTTI_ATTEMPT >> begun; [ $TUTTI_ATTEMPT = 2 ] || srun sleep 1000; echo $TUTTI_ATTEMPT >> ended`;
      const wide = await scheduler.submit("-n", 5, "--retries", 1, "--cwd", folder, "--", "sh", "-c", line);
      const read = (name: string) => readFileSync(join(folder, name), "utf8");
      await expect.poll(() => existsSync(join(folder, "begun"))).toBe(true);
      // Its own step, and those of keepers and connectors.
      const steps = async () => (await cluster.slurm("squeue", "-h", "-s", "-o", "%j")).match(/^sleep$/gm);
      await expect.poll(steps).toHaveLength(1);
      await cluster.node("kill", "n2");
      expect(await scheduler.done(wide)).toMatchObject({ attempt: 2, code: 0 });
      expect(read("begun")).toBe("1\n2\n");
      expect(read("ended")).toBe("2\n");
      const [lost, next] = (await pilots()).slice(before);
      expect(lost).toMatch(/CANCELLED n\[1,3\]$/);
      expect(next).toMatch(/RUNNING n\[1,3-4\]$/);
    } finally {
      await scheduler.down();
      await cluster.node("start", "n2");
      await cluster.allUp();
    }
  });
});
