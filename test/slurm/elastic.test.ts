/**
 * Pilots follow the queue: several at once, of different sizes and time limits, each given back by itself; a
 * front end that starts again finds all of them; and a job that needs a lost node gets another pilot while
 * others run on the first one. Each job writes its begin and its end itself.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 4, cpus: 2 });
const MARGINS = ["--drain", "20s", "--stop-before", "10s"];

describeWithSlurm("elastic pilots", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  /** Nodes and minutes of the pilots that run, the oldest first. */
  const pilots = async () =>
    (await cluster.slurm("squeue", "-h", "-t", "R", "-S", "i", "-o", "%D %l")).split("\n").filter(Boolean);

  /** A job that says when it begins, and ends when its file `go` is there. */
  async function waitingJob(scheduler: SlurmScheduler, folder: string, name: string, ...words: string[]) {
    const line = `echo begin ${name} $TUTTI_ATTEMPT >> log; until [ -e go-${name} ]; do sleep 0.2; done; echo end ${name} $TUTTI_ATTEMPT >> log`;
    return scheduler.submit(...words, "--cwd", folder, "--", "sh", "-c", line);
  }
  const go = (folder: string, name: string) => writeFileSync(join(folder, `go-${name}`), "");
  const log = (folder: string) =>
    existsSync(join(folder, "log")) ? readFileSync(join(folder, "log"), "utf8").trim().split("\n") : [];

  test("two kinds of pilots serve two jobs at once, a front end that starts again finds both, and each goes back", async () => {
    const kinds = ["short: --nodes 1..2 --time 2m..5m", "long: --nodes 1..3 --time 10m..30m"];
    const scheduler = new SlurmScheduler(cluster, { kinds, idle: "5s", words: MARGINS });
    const folder = scheduler.makeFolder("elastic");
    try {
      scheduler.serve();
      await expect.poll(() => existsSync(scheduler.socket)).toBe(true);
      const wide = await waitingJob(scheduler, folder, "wide", "-n", "4", "--time", "3m");
      const long = await waitingJob(scheduler, folder, "long", "-n", "1", "--time", "20m");
      await expect.poll(() => log(folder).sort()).toEqual(["begin long 1", "begin wide 1"]);
      // By hand: 3 min and 20 min, 10 s before the stop and a minute to begin, in whole minutes.
      expect((await pilots()).sort()).toEqual(["1 22:00", "2 5:00"]);
      const placed = [(await scheduler.job(wide)).nodes, (await scheduler.job(long)).nodes];
      expect(placed.map((nodes) => nodes?.length)).toEqual([2, 1]);
      const shown = await scheduler.tutti("allocations");
      expect(shown).toMatch(/\d+ +short +RUNNING +n\d, n\d +\d+:/);
      expect(shown).toMatch(/\d+ +long +RUNNING +n\d +\d+:/);

      await scheduler.killFrontEnd();
      scheduler.serve();
      await scheduler.ready(6);
      const after = [await scheduler.job(wide), await scheduler.job(long)];
      expect(after.map(({ state, attempt }) => [state, attempt])).toEqual([
        ["running", 1],
        ["running", 1],
      ]);

      go(folder, "wide");
      await scheduler.done(wide);
      await expect.poll(pilots).toEqual(["1 22:00"]);
      expect((await scheduler.job(long)).state).toBe("running");
      go(folder, "long");
      await scheduler.done(long);
      await expect.poll(pilots).toEqual([]);
      expect(log(folder).sort()).toEqual(["begin long 1", "begin wide 1", "end long 1", "end wide 1"]);
      const { bill } = await scheduler.status();
      // 2 nodes for 5 min, and 1 for 22 min, at most: the limits are asked for in seconds.
      expect(bill!.askedNodeMs).toBeLessThanOrEqual((10 + 22) * 60_000);
      expect(bill!.askedNodeMs).toBeGreaterThan((2 * 4 + 21) * 60_000);
      expect(bill!.usedNodeMs).toBeGreaterThan(3 * 5000);
      expect(bill!.usedNodeMs).toBeLessThan(bill!.askedNodeMs);
      // Each node was idle for 5 s before it went back.
      expect(bill!.idleNodeMs).toBeGreaterThan(3 * 4000);
      expect(await scheduler.tutti("status")).toMatch(/bill {6}0\.\d+ node-hours asked for, 0\.\d+ used/);
    } finally {
      await scheduler.down();
    }
  });

  test("a job that needs a lost node gets another pilot, while a job on the first one goes on", async () => {
    const kinds = ["pair: --nodes 2 --time 30m"];
    const words = [...MARGINS, "--max-nodes", "4"];
    const scheduler = new SlurmScheduler(cluster, { kinds, idle: "5s", words });
    const folder = scheduler.makeFolder("lost");
    const nodesOf = async (job: number) => (await scheduler.job(job)).nodes?.map(({ node }) => node);
    try {
      scheduler.serve();
      await expect.poll(() => existsSync(scheduler.socket)).toBe(true);
      const stays = await waitingJob(scheduler, folder, "stays", "-n", "1", "--time", "20m");
      await expect.poll(() => log(folder)).toEqual(["begin stays 1"]);
      const wide = await waitingJob(scheduler, folder, "wide", "-n", "3", "--time", "20m", "--retries", "1");
      await expect.poll(() => log(folder)).toContain("begin wide 1");
      expect([await nodesOf(stays), await nodesOf(wide)]).toEqual([["n1"], ["n1", "n2"]]);
      await cluster.node("kill", "n2");
      await expect.poll(() => log(folder)).toContain("begin wide 2");
      expect(await nodesOf(wide)).toEqual(["n3", "n4"]);
      expect(await scheduler.job(stays)).toMatchObject({ state: "running", attempt: 1 });
      for (const name of ["wide", "stays"]) go(folder, name);
      await scheduler.done(wide);
      await scheduler.done(stays);
      await expect.poll(pilots).toEqual([]);
      expect(log(folder).filter((line) => line.includes("stays"))).toEqual(["begin stays 1", "end stays 1"]);
    } finally {
      await scheduler.down();
      await cluster.node("start", "n2");
      await cluster.allUp();
    }
  });

  test.each([
    { of: "a range", kinds: ["all: --nodes 1..4 --time 30m"] },
    { of: "two kinds", kinds: ["one: --nodes 1..2 --time 5m..30m", "other: --nodes 1..4 --time 10m..1h"] },
  ])(
    "a pilot of $of that somebody cancels while a job runs has no successor until somebody asks",
    async ({ kinds }) => {
      const scheduler = new SlurmScheduler(cluster, { kinds, idle: "5s", words: MARGINS });
      const folder = scheduler.makeFolder("cancelled");
      const all = async () => (await cluster.slurm("squeue", "-h", "-t", "all", "-o", "%i")).split("\n");
      try {
        scheduler.serve();
        await expect.poll(() => existsSync(scheduler.socket)).toBe(true);
        const before = (await all()).length;
        const job = await waitingJob(scheduler, folder, "again", "-n", "2", "--time", "4m", "--retries", "1");
        await expect.poll(() => log(folder)).toEqual(["begin again 1"]);
        await cluster.slurm("scancel", await cluster.slurm("squeue", "-h", "-t", "R", "-o", "%i"));
        const events = () => scheduler.tutti("events");
        await expect.poll(events).toMatch(/pilots-halted .*was cancelled by somebody else/);
        expect(await scheduler.job(job)).toMatchObject({ state: "queued", attempt: 1 });
        expect(await scheduler.tutti("why", job)).toContain('"tutti allocations start" asks for another one');
        expect(await pilots()).toEqual([]);
        expect(await all()).toHaveLength(before + 1);

        await scheduler.tutti("allocations", "start");
        await expect.poll(() => log(folder)).toContain("begin again 2");
        go(folder, "again");
        await scheduler.done(job);
        await expect.poll(pilots).toEqual([]);
      } finally {
        await scheduler.down();
      }
    },
  );
});
