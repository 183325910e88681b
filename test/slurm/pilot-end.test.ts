/**
 * Pilots of one minute follow each other while jobs arrive: all end well, and Slurm never has to kill one.
 * And a pilot ends while no front end is there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "@tutti/kernel/core/random.ts";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { parseBeats } from "./judge/beats.ts";
import { compilePrograms } from "./programs.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const JOBS = SIZES.pilotJobs;
const ARRIVAL_MS = 3300;
/** A pilot takes new jobs for 40 s at most. */
const LEAST_PILOTS = Math.ceil((JOBS * ARRIVAL_MS) / 40_000);
const cluster = new TestCluster({ nodes: 4, cpus: 2 });

describeWithSlurm("the end of a pilot", () => {
  beforeAll(() => cluster.start());
  afterAll(async () => {
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  test("the jobs of a pilot that was cancelled while no front end was there end at the next start", async () => {
    const scheduler = new SlurmScheduler(cluster, { nodes: 4 });
    try {
      await scheduler.start();
      const [job, again] = [
        await scheduler.submit("-n", 4, "--", "sleep", 600),
        await scheduler.submit("-n", 4, "--retries", 1, "--", "sleep", 600),
      ];
      for (const one of [job, again])
        await expect.poll(async () => (await scheduler.job(one)).state).toBe("running");
      await scheduler.killFrontEnd();
      const pilot = await cluster.slurm("squeue", "-h", "-o", "%i");
      await cluster.slurm("scancel", pilot);
      const isLeft = () => cluster.slurm("squeue", "-h", "-o", "%i");
      await expect.poll(isLeft).toBe("");
      scheduler.serve();
      const status = () => scheduler.status().catch(() => undefined);
      await expect.poll(status).toMatchObject({ cpus: 0 });
      const lost = "the allocation has ended";
      expect(await scheduler.ended(job)).toMatchObject({
        state: "failed",
        reason: expect.stringContaining(lost),
      });
      await expect.poll(() => scheduler.job(again)).toMatchObject({ state: "queued", attempt: 1 });
      // Somebody else has cancelled the pilot, so nobody asks for another one.
      expect(await isLeft()).toBe("");
    } finally {
      await scheduler.down();
    }
  });

  test("a job that saves its state at the signal before its end goes on in the next pilot, on all nodes", async () => {
    const words = ["--drain", "12s", "--stop-before", "5s"];
    const scheduler = new SlurmScheduler(cluster, { nodes: 4, time: "1m", words });
    try {
      await scheduler.start();
      const folder = scheduler.makeFolder("states");
      // Each task counts tenths of seconds, continues where its file says, and writes it only at the signal.
      const task = `file=${folder}/$SLURM_PROCID; n=$(cat $file 2> /dev/null || echo 0); first=$n
        trap 'echo $n > $file; echo "$first $n" >> $file.log' USR1
        while [ $n -lt 700 ]; do sleep 0.1; n=$((n + 1)); done; echo "$first $n" >> $file.log`;
      writeFileSync(join(folder, "task"), task);
      const options = ["-n", 4, "--tasks-run", "each", "--retries", 5, "--signal", "B:USR1@10"];
      const job = await scheduler.submit(...options, "--", "sh", join(folder, "task"));
      expect(await scheduler.done(job)).toMatchObject({ state: "done", code: 0 });
      const { attempt } = await scheduler.job(job);
      expect(attempt).toBeGreaterThan(1);
      for (const rank of [0, 1, 2, 3]) {
        const parts = readFileSync(join(folder, `${rank}.log`), "utf8")
          .trim()
          .split("\n");
        // Each attempt began where the one before had saved, and only the last one came to the end.
        expect(parts).toHaveLength(attempt);
        const [firsts, lasts] = [0, 1].map((i) => parts.map((line) => Number(line.split(" ")[i])));
        expect(firsts).toEqual([0, ...lasts.slice(0, -1)]);
        expect(lasts.at(-1)).toBe(700);
      }
    } finally {
      await scheduler.down();
    }
  });

  test(`${JOBS} jobs of 1 to 8 s run over at least ${LEAST_PILOTS} pilots of a minute, and all end well`, async () => {
    const { beat } = compilePrograms(cluster.home);
    const words = ["--drain", "20s", "--stop-before", "10s"];
    const scheduler = new SlurmScheduler(cluster, { nodes: 4, time: "1m", words });
    const random = new Random(3, "pilot-end");
    try {
      await scheduler.start();
      const folder = scheduler.makeFolder("beats");
      const jobs: number[] = [];
      for (let i = 0; i < JOBS; i++) {
        const tasks = 1 + random.below(8);
        const lastsS = 1 + random.below(8);
        // Jobs with a limit may start while a pilot drains.
        const limit = random.below(2) === 0 ? [] : ["--time", `${2 * lastsS}s`];
        const command = [beat, join(folder, String(i)), 10 * lastsS, 0];
        jobs.push(await scheduler.submit("-n", tasks, ...limit, "--", ...command));
        await sleep(ARRIVAL_MS);
      }
      let requeued = 0;
      for (const [i, number] of jobs.entries()) {
        const job = await scheduler.done(number);
        expect(job).toMatchObject({ state: "done", code: 0 });
        const beats = parseBeats(readFileSync(join(folder, String(i)), "utf8"));
        const of = (kind: string) => beats.filter((one) => one.kind === kind).map(({ attempt }) => attempt);
        // Each attempt that began did so once, and only the last one came to its end.
        expect(of("begin")).toEqual([...new Set(of("begin"))].sort((a, b) => a - b));
        expect(of("end")).toEqual([job.attempt]);
        requeued += of("begin").length - 1;
      }
      const pilots = (await cluster.slurm("squeue", "-t", "all", "-h", "-o", "%i %T")).split("\n");
      console.log(`${pilots.join(", ")}; ${requeued} times, a job was queued again at the end of a pilot`);
      expect(pilots.length).toBeGreaterThanOrEqual(LEAST_PILOTS);
      expect(pilots.filter((pilot) => /TIMEOUT|FAIL/.test(pilot))).toEqual([]);
      expect(await scheduler.tutti("events", "--json")).not.toMatch(/lost: /);
    } finally {
      await scheduler.down();
    }
  });
});
