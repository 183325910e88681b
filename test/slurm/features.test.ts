/**
 * What works on one machine works on pilots of Slurm, each by a real job: limits, memory, pauses, windows,
 * fair share, dependencies, arrays, retries, hooks and webhooks. Signals, input and GPUs have files of their
 * own.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const CONFIG = `
[limits]
runningJobs = 20
[[queues]]
name = "small"
runningJobs = 1
[[queues]]
name = "default"
`;
/** Says what webhooks send, until its input ends. */
const RECEIVER = `
const server = require("node:http").createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const { event, job, code } = JSON.parse(Buffer.concat(parts));
  console.log(event, job, code);
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log("port", server.address().port));
process.stdin.resume().on("end", () => process.exit());
`;
const cluster = new TestCluster({ nodes: 2, cpus: 2 });
let scheduler: SlurmScheduler;

describeWithSlurm("on a cluster", () => {
  beforeAll(async () => {
    await cluster.start();
    const config = join(cluster.home, "tutti.toml");
    writeFileSync(config, CONFIG);
    scheduler = new SlurmScheduler(cluster, { nodes: 2, words: ["--config", config] });
    await scheduler.start();
  });
  afterAll(async () => {
    await scheduler?.down();
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  /** Submits a job to the queue without limits. */
  const submit = (...words: readonly (string | number)[]) => scheduler.submit("--queue", "default", ...words);
  const stateOf = async (job: number) => (await scheduler.job(job)).state;
  const why = (job: number) => scheduler.tutti("why", job);
  const file = (name: string) => join(scheduler.folder, name);

  test("a time limit ends a gang on all nodes", async () => {
    const job = await submit("-n", 4, "--tasks-run", "each", "-t", "1s", "--", "sleep", 600);
    expect(await scheduler.ended(job)).toMatchObject({ state: "failed", reason: "time limit" });
  });

  test("a memory limit ends a gang whose parts have more together, and leaves one that has less", async () => {
    const write = (name: string, mib: number) => {
      const bytes = mib << 20;
      const read = `1 while ($n = length $x) < ${bytes} and sysread STDIN, $x, ${bytes} - $n, $n`;
      writeFileSync(file(name), `exec perl -e '${read}; sleep 5' < /dev/zero`);
      return file(name);
    };
    // Two tasks, one on each node: neither alone has too much.
    const words = ["-n", 2, "-c", 2, "--mem", "100M"];
    const much = write("much", 70);
    const byStep = await submit(...words, "--", "srun", "-n", 2, "sh", much);
    const each = await submit(...words, "--tasks-run", "each", "--", "sh", much);
    const less = await submit(...words, "--", "srun", "-n", 2, "sh", write("less", 20));
    for (const job of [byStep, each]) {
      expect(await scheduler.ended(job)).toMatchObject({ state: "failed", reason: "memory limit" });
    }
    await scheduler.done(less);
  });

  test("a job is paused, runs no further, and goes on where it was", async () => {
    const ticks = file("ticks");
    const loop = `while :; do echo >> ${ticks}; sleep 0.05; done`;
    const job = await submit("-n", 4, "--", "sh", "-c", loop);
    await expect.poll(() => existsSync(ticks)).toBe(true);
    await scheduler.tutti("pause", job);
    await expect.poll(() => stateOf(job)).toBe("paused");
    await scheduler.done(await submit("-n", 4, "--", "true"));
    const before = readFileSync(ticks).length;
    await scheduler.done(await submit("-n", 4, "--", "sleep", 1));
    expect(readFileSync(ticks).length).toBe(before);
    await scheduler.tutti("resume", job);
    await expect.poll(() => readFileSync(ticks).length).toBeGreaterThan(before);
    await scheduler.tutti("cancel", job);
    expect(await scheduler.ended(job)).toMatchObject({ state: "cancelled" });
  });

  test("nothing starts in a window of maintenance", async () => {
    await scheduler.tutti("window", "add", "upgrade", "--for", "10m");
    const job = await submit("--", "true");
    await expect.poll(() => why(job)).toContain("upgrade");
    expect(await stateOf(job)).toBe("queued");
    await scheduler.tutti("window", "remove", "upgrade");
    await scheduler.done(job);
  });

  test("a limit on the jobs of a queue keeps one waiting that would fit", async () => {
    const first = await scheduler.submit("--queue", "small", "--", "sleep", 600);
    await expect.poll(() => stateOf(first)).toBe("running");
    const second = await scheduler.submit("--queue", "small", "--", "true");
    await expect.poll(() => why(second)).toContain("small");
    expect(await stateOf(second)).toBe("queued");
    await scheduler.tutti("cancel", first);
    await scheduler.done(second);
  });

  test("dependencies hold, arrays run, and retries start again", async () => {
    const failing = await submit("--", "false");
    const afterAny = await submit("--after", `any:${failing}`, "--", "true");
    await scheduler.done(afterAny);
    const { jobs } = JSON.parse(
      await scheduler.tutti(
        "submit",
        "--json",
        "-a",
        "1-4%2",
        "-o",
        file("of-%a"),
        "--",
        "printenv",
        "TUTTI_ARRAY_INDEX",
      ),
    );
    for (const { job } of jobs) await scheduler.done(job);
    expect([1, 2, 3, 4].map((i) => readFileSync(file(`of-${i}`), "utf8"))).toEqual([
      "1\n",
      "2\n",
      "3\n",
      "4\n",
    ]);
    const again = `[ -e ${file("tried")} ] || { touch ${file("tried")}; exit 75; }`;
    const words = ["--retries", 1, "--retry-on", 75, "--retry-delay", "1s"];
    expect(await scheduler.done(await submit(...words, "--", "sh", "-c", again))).toMatchObject({
      attempt: 2,
    });
  });

  test("hooks and webhooks say how a job has ended", async () => {
    // On the login node, which has a network of its own.
    const server = cluster.spawn([process.execPath, "-e", RECEIVER], { stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    server.stdout?.on("data", (piece) => {
      said += piece;
    });
    try {
      await expect.poll(() => said).toMatch(/^port \d+\n/);
      const port = /\d+/.exec(said)?.[0];
      const news = ["--webhook", `http://127.0.0.1:${port}/`, "--on-end", `echo hooked > ${file("hook")}`];
      const job = await submit("-n", 4, ...news, "--", "sh", "-c", "exit 3");
      expect(await scheduler.ended(job)).toMatchObject({ code: 3 });
      await expect.poll(() => said).toBe(`port ${port}\nend ${job} 3\n`);
      await expect
        .poll(() => existsSync(file("hook")) && readFileSync(file("hook"), "utf8"))
        .toBe("hooked\n");
    } finally {
      server.stdin?.end();
    }
  });

  test("fair share counts what a gang has had on all nodes", async () => {
    const usedCpuMs = async () =>
      JSON.parse(await scheduler.tutti("usage", "--shares", "--json")).users[0].usedCpuMs;
    const before = await usedCpuMs();
    await scheduler.done(await submit("-n", 4, "--tasks-run", "each", "--", "sleep", 2));
    // Four CPUs for two seconds; what was used before counts a little less by now.
    await expect.poll(usedCpuMs).toBeGreaterThan(before + 4 * 1900);
  });
});
