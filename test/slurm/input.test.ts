/**
 * Jobs on nodes of Slurm read what a client sends, and have terminals. The nodes share files and a kernel, so
 * that a client could write into a job's pipe itself: nothing here does.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { shows, startShell, type } from "../live-shell.ts";
import { TestCluster } from "./cluster.ts";
import { SlurmScheduler } from "./scheduler.ts";
import { describeWithSlurm } from "./with-slurm.ts";

const cluster = new TestCluster({ nodes: 2, cpus: 2 });
let scheduler: SlurmScheduler;
const isConductor = (pid: number) =>
  readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("tutti-conductor");

describeWithSlurm("input of jobs on Slurm", () => {
  beforeAll(async () => {
    await cluster.start();
    scheduler = new SlurmScheduler(cluster, { nodes: 2 });
    await scheduler.start();
  });
  afterAll(async () => {
    await scheduler?.down();
    await cluster.stop();
    expect(cluster.leftovers()).toEqual([]);
  });

  const shell = (line: string, isTerminal = false) =>
    startShell(line, { socket: scheduler.socket, cwd: scheduler.folder, isTerminal });

  /** Takes the node's turns away and gives them back: a gang of all CPUs. */
  const busyGang = () => scheduler.submit("-n", 4, "--tasks-run", "each", "--", "sleep", 600);

  describe("standard input", () => {
    test("reaches the job, with its end, from a pipe and from a file", async () => {
      const run = shell("echo hello | tutti run -- cat; printf 'a\\0b' > file; tutti run -- wc -c < file");
      expect(await run.exit).toBe(0);
      expect(run.shown()).toBe("hello\n3\n");
    });

    test("is read by the command of a gang of several nodes", async () => {
      const run = shell("echo hello | tutti run -n 4 -- sh -c 'cat; srun -n 4 --input=none true'");
      expect(await run.exit).toBe(0);
      expect(run.shown()).toBe("hello\n");
    });

    test("of 10 MB arrives unchanged between turns of another gang, over kill -9 of front end and conductor", async () => {
      const other = await busyGang();
      await expect.poll(async () => (await scheduler.job(other)).state).toBe("running");
      const bytes = 10_000_000;
      const sum = createHash("sha256").update(Buffer.alloc(bytes, "tutti\n")).digest("hex");
      const slow = String.raw`perl -e "while (sysread STDIN, \$_, 65536) { print; select undef, undef, undef, 0.02 }"`;
      const run = shell(`yes tutti | head -c ${bytes} | tutti run -- sh -c '${slow} | sha256sum'`);
      const begun = async () =>
        (await scheduler.client.jobs({ states: ["running"] })).jobs.find(({ input }) => input === "pipe");
      await expect.poll(begun).toBeDefined();
      await scheduler.killFrontEnd();
      scheduler.serve();
      await scheduler.ready();
      const [place] = (await begun())?.nodes ?? [];
      const conductors = cluster.processesOf(place?.node ?? "").filter(isConductor);
      expect(conductors).toHaveLength(1);
      process.kill(conductors[0], "SIGKILL");
      expect(await run.exit).toBe(0);
      expect(run.shown().trim().split("\n").at(-1)).toBe(`${sum}  -`);
      await scheduler.run("cancel", other);
    });

    test("ends as a local pipe: SIGPIPE when the job stops reading, whether it has ended or not", async () => {
      const line = (job: string) => `(yes; echo yes $? >&2) | tutti run -- ${job}; echo \${PIPESTATUS[1]}`;
      const early = shell(line("head -n 1"));
      const closing = shell(line("sh -c 'head -n 1; exec <&-; sleep 1; echo end'"));
      await Promise.all([early.exit, closing.exit]);
      expect(early.shown().split("\n").sort()).toEqual(["", "0", "y", "yes 141"]);
      expect(closing.shown().split("\n").sort()).toEqual(["", "0", "end", "y", "yes 141"]);
    });

    test("cannot be that of tasks that run each, and says so", async () => {
      const run = shell("echo a | tutti run -n 2 --tasks-run each -- cat");
      expect(await run.exit).not.toBe(0);
      expect(run.shown()).toContain("Cannot give standard input to tasks that run each");
    });
  });

  describe("a terminal", () => {
    test("of a shell takes what is typed, lives on without its client, and is attached to again", async () => {
      const other = await busyGang();
      const first = shell("tutti run --pty -- sh", true);
      await shows(first, "this is job");
      const job = Number(/this is job (\d+)/.exec(first.shown())?.[1]);
      type(first, "stty size; echo $((40 + 2))\r");
      await shows(first, "30 100");
      await shows(first, "42");
      type(first, "\x1d\x1d\x1d");
      expect(await first.exit).toBe(0);
      const second = shell(`tutti attach ${job}`, true);
      await shows(second, `attached to job ${job}`);
      // The shell has the detaching keys, too: takes them away.
      type(second, "\x15echo $((50 + 5))\r");
      await shows(second, "55");
      type(second, "exit 7\r");
      expect(await second.exit).toBe(7);
      expect(await scheduler.ended(job)).toMatchObject({ state: "failed", code: 7 });
      await scheduler.run("cancel", other);
    });
  });
});
