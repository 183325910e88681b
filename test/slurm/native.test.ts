/**
 * Jobs that are jobs of Slurm, on a real cluster: what the policy decides, and what Slurm does on its own.
 * The order of the decisions is worked out by hand; the starts are those that Slurm says.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 4, cpus: 4 });
let scheduler: SlurmScheduler;

/** Slurm's view of the jobs of our comments: job of Tutti, id, state and start in Unix seconds. */
async function inSlurm() {
  const lines = await cluster.slurm("squeue", "-h", "-t", "all", "-O", "JobID:|,State:|,Comment:");
  const jobs = lines.split("\n").flatMap((line) => {
    const [id, state, comment = ""] = line.split("|");
    const [, job, attempt] = /^tutti:[0-9a-f]{16}:native:(\d+)\.(\d+)\./.exec(comment) ?? [];
    return job === undefined ? [] : [{ job: Number(job), attempt: Number(attempt), id, state }];
  });
  return Promise.all(
    jobs.map(async (one) => {
      const text = await cluster.slurm("scontrol", "show", "job", one.id);
      const start = /StartTime=(\S+)/.exec(text)![1];
      return { ...one, startS: new Date(start).getTime() / 1000 };
    }),
  );
}

async function until(what: string, holds: () => Promise<boolean>, maxMs = 60_000): Promise<void> {
  const endMs = performance.now() + maxMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${maxMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Waits until the job has ended. */
const ended = (job: number) => scheduler.client.ended(job);

/** The same. @throws if it did not end well */
async function done(job: number) {
  const one = await ended(job);
  expect([one.state, one.reason], `job ${job}`).toEqual(["done", "exit code 0"]);
  return one;
}

async function jobOf(job: number) {
  return (await scheduler.client.job(job)).job;
}

/** Jobs in the order in which the policy started them, and when. */
async function decisions(): Promise<{ readonly job: number; readonly atMs: number }[]> {
  const text = await scheduler.tutti("events", "--json");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === "starting")
    .map(({ job, atMs }) => ({ job, atMs }));
}

/** Slurm's starts must follow the decisions: in the same order of submission, and none before its own. */
async function expectStartsAfterDecisions(jobs: readonly number[]): Promise<void> {
  const decided = (await decisions()).filter(({ job }) => jobs.includes(job));
  const starts = (await inSlurm()).filter(({ job }) => jobs.includes(job));
  starts.sort((a, b) => Number(a.id) - Number(b.id));
  expect(starts.map(({ job }) => job)).toEqual(decided.map(({ job }) => job));
  for (const { job, startS } of starts) {
    const { atMs } = decided.find((one) => one.job === job)!;
    expect(startS, `job ${job}`).toBeGreaterThanOrEqual(Math.floor(atMs / 1000));
    expect((await jobOf(job)).startedAtMs).toBe(startS * 1000);
  }
}

describeWithSlurm("tutti serve --on slurm --native", () => {
  beforeAll(async () => {
    await cluster.start();
    const words = ["--policy", "easy"];
    scheduler = new SlurmScheduler(cluster, { nodes: 4, native: true, words });
    await scheduler.start();
  });
  afterAll(async () => {
    await scheduler?.down();
    await cluster.stop();
  });

  test("jobs start in the order of EASY, and of queue selection, and none before", async () => {
    // On 16 processors: 1 runs, 2 has the reservation, 3 ends before it and passes, 4 would delay it.
    const jobs: number[] = [];
    for (const [tasks, limit, seconds] of [
      [12, "2m", 8],
      [16, "1m", 1],
      [4, "1m", 1],
      [4, "5m", 1],
      // None of these can pass another: all are of one size.
      ...Array.from({ length: 6 }, (_, i) => [8, "1m", 1 + (i % 2)] as const),
    ] as const) {
      jobs.push(await scheduler.submit("-n", tasks, "--time", limit, "--", "sleep", seconds));
    }
    for (const job of jobs) await done(job);
    const order = (await decisions()).map(({ job }) => job);
    expect(order.slice(0, 2)).toEqual([jobs[0], jobs[2]]);
    expect(order[2]).toBe(jobs[1]);
    // After the reservation, they are in the order of their submits.
    expect(order.slice(3)).toEqual(jobs.slice(3));
    await expectStartsAfterDecisions(jobs);

    await scheduler.tutti("policy", "connected-reservation");
    const more: number[] = [];
    for (let i = 0; i < 10; i++) {
      const tasks = [8, 16, 4, 4, 12, 2, 2, 16, 4, 8][i];
      more.push(await scheduler.submit("-n", tasks, "--time", "1m", "--", "sleep", 1));
    }
    for (const job of more) await done(job);
    await expectStartsAfterDecisions(more);
    await scheduler.tutti("policy", "easy");
  });

  test("exit codes, output and hosts are those of the job, and why says what Slurm does", async () => {
    const go = join(scheduler.folder, "go");
    const waits = `until [ -e ${go} ]; do sleep 0.1; done`;
    const command = `cat "$TUTTI_HOSTFILE"; echo "$TUTTI_JOB_ID $SLURM_NTASKS"; ${waits}; exit 7`;
    const job = await scheduler.submit("-n", 6, "--time", "2m", "--", "sh", "-c", command);
    await until("it runs", async () => (await jobOf(job)).state === "running");
    const [{ id }] = (await inSlurm()).filter((one) => one.job === job);
    const why = (await scheduler.tutti("why", job)).replace(/\s+/g, " ");
    expect(why).toMatch(new RegExp(`It runs as Slurm's job ${id} on n`));
    writeFileSync(go, "");
    expect(await ended(job)).toMatchObject({ state: "failed", code: 7 });
    const output = (await scheduler.tutti("logs", job)).trim().split("\n");
    expect(output.at(-1)).toBe(`${job} 6`);
    const slots = output.slice(0, -1).map((line) => Number(/^n\d slots=(\d)$/.exec(line)?.[1]));
    expect(slots.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  test("a cancel and a requeue from outside are seen", async () => {
    const cancelled = await scheduler.submit("-n", 2, "--time", "5m", "--", "sleep", 1000);
    const requeued = await scheduler.submit("-n", 2, "--time", "5m", "--retries", 1, "--", "sleep", 1000);
    for (const job of [cancelled, requeued])
      await until("it runs", async () => (await jobOf(job)).state === "running");
    const idOf = async (job: number) => (await inSlurm()).findLast((one) => one.job === job)!.id;
    await cluster.slurm("scancel", await idOf(cancelled));
    expect(await ended(cancelled)).toMatchObject({ state: "cancelled" });
    const first = await idOf(requeued);
    await cluster.slurm("scontrol", "requeue", first);
    await until("it runs again", async () => {
      const { state, attempt } = await jobOf(requeued);
      return state === "running" && attempt === 2;
    });
    // Slurm would have started its own job after two minutes; it has ended.
    expect(await cluster.slurm("squeue", "-h", "-t", "all", "-j", first, "-o", "%T")).toBe("CANCELLED");
    expect(await idOf(requeued)).not.toBe(first);
    await scheduler.tutti("cancel", requeued);
    expect(await ended(requeued)).toMatchObject({ state: "cancelled" });
    const events = await scheduler.tutti("events");
    expect(events).toContain("was cancelled outside of Tutti");
    expect(events).toContain("has queued its job");
  });

  test("a front end that was killed finds its jobs, and those that have ended", async () => {
    const running = await scheduler.submit("-n", 2, "--time", "5m", "--", "sleep", 15);
    const ending = await scheduler.submit("-n", 2, "--time", "5m", "--", "sh", "-c", "sleep 3; exit 5");
    for (const job of [running, ending])
      await until("it runs", async () => (await jobOf(job)).state === "running");
    await scheduler.killFrontEnd();
    await new Promise((resolve) => setTimeout(resolve, 4000));
    await scheduler.start();
    expect(await ended(ending)).toMatchObject({ state: "failed", code: 5, attempt: 1 });
    expect(await done(running)).toMatchObject({ attempt: 1 });
  });

  test("policies whose gangs take turns are refused", async () => {
    const { status, stderr } = await scheduler.run("policy", "br");
    expect([status, stderr]).toEqual([4, expect.stringContaining('Cannot use policy "br" here')]);
    const words = ["--policy", "br"];
    const other = new SlurmScheduler(cluster, { nodes: 4, native: true, words });
    expect(await other.refusal()).toMatchObject({
      status: 66,
      stderr: expect.stringContaining("take turns"),
    });
  });

  test("nothing is left in Slurm after down", async () => {
    await scheduler.submit("-n", 2, "--time", "5m", "--", "sleep", 1000);
    const job = await scheduler.submit("-n", 16, "--time", "5m", "--", "sleep", 1000);
    await until("why says what is missing", async () =>
      (await scheduler.tutti("why", job)).includes("14 are free"),
    );
    await scheduler.down();
    await until("Slurm is idle", async () => (await cluster.slurm("squeue", "-h")) === "");
  });
});
