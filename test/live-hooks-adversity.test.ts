/**
 * Kills the runner of hooks, the conductor and the whole scheduler at bad moments, and runs hooks that flood
 * and that ignore signals: every event is reported, and a job gets its signal before the limit once.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allPids, readStat, signal } from "@tutti/host/processes.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { SIZES, SOAK } from "@tutti/kernel/core/sizes-for-tests.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LiveScheduler } from "./live-scheduler.ts";

const HOOKS_PER_KILL = 2;
const LONG_MS = SOAK ? 900_000 : 120_000;
/** Running time after which the job gets its signal. */
const SIGNAL_AFTER_MS = SOAK ? 20_000 : 3000;
const LIMIT_MS = 1_000_000;

const pause = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}

let scheduler: LiveScheduler;
beforeAll(async () => {
  scheduler = new LiveScheduler();
  await scheduler.start();
});
afterAll(() => scheduler.clear());

const linesOf = (name: string) => {
  const path = join(scheduler.folder, name);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
};
const hasRun = ({ news = [] }: Job) => news.length > 0 && news.every(({ state }) => state !== "waiting");

async function told(job: number): Promise<Job> {
  await until(async () => hasRun(await scheduler.job(job)));
  return scheduler.job(job);
}

/** Processes with this word in their command lines; not those of the test. */
function processesWith(word: string, threads = 1): number[] {
  return allPids().filter((pid) => {
    const stat = readStat(pid);
    if (pid === process.pid || stat === undefined || stat.state === "Z" || stat.threads < threads)
      return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(word);
    } catch {
      return false;
    }
  });
}

/** A child that has not become its program yet has the command line of its parent, but one thread. */
const runners = () => processesWith(join(scheduler.state, "hooks"), 2);

test(
  `every hook runs to its end at least once over ${SIZES.runnerKills} kills of the runner`,
  async () => {
    const random = new Random(15);
    const jobs: number[] = [];
    const report =
      'echo "$TUTTI_JOB $TUTTI_EVENT_ID begin"; sleep 0.4; echo "$TUTTI_JOB $TUTTI_EVENT_ID end"';
    const onEnd = `exec >> runner.log; ${report}`;
    for (let kill = 0; kill < SIZES.runnerKills; kill++) {
      for (let i = 0; i < HOOKS_PER_KILL; i++) jobs.push(await scheduler.submit("true", { onEnd }));
      await until(() => runners().length > 0);
      await pause(random.below(600));
      for (const pid of runners()) signal(pid, "SIGKILL");
    }
    for (const job of jobs) {
      const { news } = await told(job);
      expect(news).toMatchObject([{ hook: "onEnd", state: "done", text: "exit code 0" }]);
      const own = linesOf("runner.log").filter((line) => line.startsWith(`${job} `));
      expect(new Set(own.map((line) => line.split(" ")[1]))).toEqual(new Set([news![0].id]));
      // What a killed runner has left is killed before it begins again, so none ends after another has begun.
      // A hook that has ended begins again if its runner was killed before it said so.
      expect(own.map((line) => line.split(" ")[2]).join(" ")).toMatch(/^((begin )*begin end ?)+$/);
    }
    await until(() => runners().length === 1);
  },
  LONG_MS,
);

test("a result of which a power cut has left only a part does not keep other hooks from running", async () => {
  const results = join(scheduler.state, "hooks", "results");
  await told(await scheduler.submit("true", { onEnd: "true" }));
  await scheduler.killFrontEnd();
  await until(() => runners().length === 0);
  writeFileSync(join(results, "0123-abcd"), "");
  await scheduler.start();
  const { news } = await told(await scheduler.submit("true", { onEnd: "true" }));
  expect(news).toMatchObject([{ state: "done", text: "exit code 0" }]);
  expect(readdirSync(results)).toEqual([]);
});

test("of a hook that floods, the first 64 kB are kept, and it ends as usual", async () => {
  const { job, news } = await told(
    await scheduler.submit("true", { onEnd: "head -c 300000 /dev/zero | tr '\\0' x; exit 4" }),
  );
  const output = join(scheduler.state, "jobs", String(job), "onEnd.log");
  expect(news).toMatchObject([{ state: "failed", text: "exit code 4", output }]);
  expect(readFileSync(output, "utf8")).toBe("x".repeat(64 * 1024));
});

test(
  `a signal before the limit comes once over ${SIZES.conductorKills} kills of the conductor before and after it`,
  async () => {
    const random = new Random(16);
    const limitSignal = { name: "SIGUSR1", beforeMs: LIMIT_MS - SIGNAL_AFTER_MS, batchOnly: true } as const;
    const script = 'trap "echo signal >> signals" USR1; while :; do sleep 0.05; done';
    const job = await scheduler.submit(script, { limitMs: LIMIT_MS, limitSignal });
    // The neighbour has a signal of its own, far away.
    const other = await scheduler.submit('trap "echo wrong >> signals" USR1; while :; do sleep 0.05; done', {
      limitMs: LIMIT_MS,
      limitSignal: { ...limitSignal, beforeMs: 1000 },
    });
    await scheduler.running(job);
    const killConductor = async () => {
      const before = await scheduler.conductorPid();
      signal(before, "SIGKILL");
      await until(async () => (await scheduler.conductorPid()) !== before);
    };
    for (let kill = 0; kill < SIZES.conductorKills; kill++) {
      await pause(random.below(300));
      await killConductor();
    }
    // Nobody is there to send it for a while.
    await scheduler.killBoth();
    await pause(500);
    await scheduler.start();
    await until(() => linesOf("signals").length > 0);
    // Not before its time, whatever was killed. The file says when: the running time that the scheduler
    // knows is as old as the conductor's last report.
    const { startedAtMs = 0 } = await scheduler.job(job);
    expect(statSync(join(scheduler.folder, "signals")).mtimeMs - startedAtMs).toBeGreaterThan(
      SIGNAL_AFTER_MS - 200,
    );
    for (let kill = 0; kill < SIZES.conductorKills; kill++) {
      const { ranMs } = await scheduler.job(job);
      await killConductor();
      await until(async () => (await scheduler.job(job)).ranMs > ranMs + 100);
    }
    await Promise.all([scheduler.cancel(job), scheduler.cancel(other)]);
    expect(linesOf("signals")).toEqual(["signal"]);
  },
  LONG_MS,
);

test.runIf(SOAK)(
  "a hook that ignores signals and starts daemons is killed after 30 s, with all that it started",
  async () => {
    const daemons = "setsid -f sleep 76541; setsid -f env -i /usr/bin/setsid -f /bin/sleep 76542";
    const onEnd = `trap '' TERM HUP INT; ${daemons}; while :; do sleep 76543; done`;
    const startMs = performance.now();
    const hanging = await scheduler.submit("true", { onEnd });
    await until(() => processesWith("7654").length >= 3);
    const quick = await told(await scheduler.submit("true", { onEnd: "true" }));
    expect(quick.news).toMatchObject([{ state: "done" }]);
    expect(hasRun(await scheduler.job(hanging))).toBe(false);
    expect((await told(hanging)).news).toMatchObject([{ state: "failed", text: "killed after 30 s" }]);
    expect(performance.now() - startMs).toBeGreaterThan(30_000);
    // Without control groups, a process that clears its environment and leaves its session is not found.
    const isGrouped = (await scheduler.status()).conductor.freezer !== "signals";
    const left = processesWith(isGrouped ? "7654" : "76541");
    for (const pid of processesWith("7654")) signal(pid, "SIGKILL");
    expect(left).toEqual([]);
  },
  LONG_MS,
);
