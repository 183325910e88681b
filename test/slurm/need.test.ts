/**
 * Pilots come with jobs and go without: none at first, one for a job, none after the idle time, another one
 * for the next job. A job that no pilot could hold brings none.
 */
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

  test("a pilot comes with a job, goes without one, and another comes with the next job", {
    timeout: 300_000,
  }, async () => {
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
      await expect.poll(rests, { timeout: 60_000 }).toBe(restsText);
      expect(await pilots("-t", "all")).toEqual([]);
      expect(await scheduler.tutti("status")).not.toContain("trouble");
      expect(await scheduler.tutti("pilot")).toBe(`There is no pilot: ${restsText}\n`);

      // 10 min, less the 60 s before the end at which jobs are stopped.
      const tooLong = await scheduler.run("submit", "--time", "541s", "--", "true");
      expect(tooLong).toMatchObject({
        status: 4,
        stderr: expect.stringContaining("Cannot run for 541 s: CPUs are there for at most 540 s"),
      });
      expect(await pilots("-t", "all")).toEqual([]);

      await scheduler.done(await scheduler.submit("-n", 8, "--tasks-run", "each", "--", "true"));
      expect(await pilots()).toHaveLength(1);
      await expect.poll(() => pilots(), { timeout: 60_000 }).toEqual([]);
      await expect.poll(rests).toBe(restsText);
      expect(await pilots("-t", "all")).toHaveLength(1);

      const small = await scheduler.submit("-n", 1, "--time", "9m", "--", "sleep", 1000);
      await scheduler.ready();
      expect(await pilots("-t", "all")).toHaveLength(2);
      await scheduler.tutti("cancel", small);
      await expect.poll(() => pilots(), { timeout: 60_000 }).toEqual([]);
    } finally {
      await scheduler.down();
    }
  });
});
