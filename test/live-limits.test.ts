/**
 * Tests a real scheduler and real jobs when something runs out: the disk of the store, the disk of a job's
 * output, open files, memory for output. Also tests a burst of jobs.
 */
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { RefusedError } from "@tutti/live/api/client/errors.ts";
import { afterEach, describe, expect, test } from "vitest";
import { LiveScheduler } from "./live-scheduler.ts";

const FILES = 256;
const BURST = SIZES.burst;
const GIGABYTE = 1_000_000_000;

let s: LiveScheduler;

/** Writes until nothing more fits. @returns the file to remove */
function fill(folder: string): string {
  const file = join(folder, "filler");
  for (const size of [2 ** 16, 4096, 1]) {
    try {
      for (;;) writeFileSync(file, "x".repeat(size), { flag: "a" });
    } catch {
      // The disk is full.
    }
  }
  return file;
}

function residentMB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1000;
}

afterEach(() => s.clear());

/** Submits a held job over a persistent connection. @returns its number */
function submitOver(agent: Agent): Promise<number> {
  const job = { command: ["true"], cwd: "/", env: {}, held: true };
  const headers = { host: "localhost", "content-type": "application/json" };
  const options = { socketPath: s.socket, agent, path: "/v1/jobs", method: "POST", headers };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (answer) => {
      text(answer)
        .then((words) => resolve(JSON.parse(words).jobs[0].job))
        .catch(reject);
    });
    outgoing.on("error", reject).end(JSON.stringify({ jobs: [job] }));
  });
}

describe("a full disk", () => {
  test("at the output of a job: the job sees it and its exit code is reported; the scheduler and other jobs continue", async ({
    skip,
  }) => {
    s = new LiveScheduler();
    const small = join(s.folder, "small");
    if (!s.mountSmall(small, "1m")) skip("only root may mount a small disk");
    await s.start();
    const output = join(small, "out");
    const filler = await s.submit("head -c 4000000 /dev/zero; echo status $? >&2; exit 3", {
      stdout: output,
    });
    const other = await s.submit("echo fine");
    expect(await s.client.ended(filler)).toMatchObject({ state: "failed", code: 3 });
    expect(await s.client.text(`/v1/jobs/${filler}/logs/stderr`)).toMatch(/No space left[\s\S]*status 1\n$/);
    expect(statSync(output).size).toBeLessThanOrEqual(2 ** 20);
    expect(await s.client.ended(other)).toMatchObject({ state: "done" });
    // There is not even room for the file of the next job.
    const next = await s.submit("echo x; echo still", { stdout: join(small, "more"), stderr: output });
    expect(await s.client.ended(next)).toMatchObject({ state: "failed", code: 1 });
    expect((await s.status()).trouble).toBeUndefined();
    rmSync(output);
    const after = await s.submit("echo room", { stdout: join(small, "after") });
    expect((await s.client.ended(after)).state).toBe("done");
    expect(readFileSync(join(small, "after"), "utf8")).toBe("room\n");
  });

  test("at the store: submits are refused with a message, jobs end with their exit codes, and nothing acknowledged is lost, even if both are killed then", async ({
    skip,
  }) => {
    s = new LiveScheduler();
    if (!s.mountSmall(s.state, "3m")) skip("only root may mount a small disk");
    await s.start();
    const goes = join(s.folder, "goes");
    const wait = `until [ -e '${goes}' ]; do sleep 0.05; done`;
    const running = [await s.submit(`${wait}; exit 7`), await s.submit(`${wait}; kill -9 $$`)];
    for (const job of running) await s.running(job);
    const after = [{ job: running[0], ok: false }];
    for (let i = 0; i < 20; i++) await s.submit("exit 9", { name: "waiting", after });
    const filler = fill(s.state);
    let acknowledged = 20;
    const refusals: unknown[] = [];
    let trouble: string | undefined;
    // A write may fit again at any time.
    while (refusals.length < 20 || trouble === undefined) {
      try {
        await s.submit("exit 9", { name: "waiting", env: { FILL: "x".repeat(2000) }, after });
        acknowledged++;
      } catch (error) {
        refusals.push(error);
        ({ trouble } = await s.status());
      }
    }
    for (const error of refusals) {
      expect(error).toBeInstanceOf(RefusedError);
      expect(error).toHaveProperty("refused", "unavailable");
      expect(String(error)).toMatch(
        /Cannot (?:write to|use) .*(?:disk is full|no space left).*running jobs continue/s,
      );
    }
    expect(trouble).toMatch(/disk is full|no space left/);
    // They end while there is no room to record it, and then no process is left that knew it.
    writeFileSync(goes, "");
    for (const job of running) {
      while (s.leftovers.ofJobs().some((pid) => pid === s.pidOf(job, "job"))) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
    await s.killBoth();
    rmSync(filler);
    await s.start();
    expect(await s.client.ended(running[0])).toMatchObject({ state: "failed", code: 7, attempt: 1 });
    expect(await s.client.ended(running[1])).toMatchObject({
      state: "failed",
      signal: "SIGKILL",
      attempt: 1,
    });
    const { jobs } = await s.client.jobs({ last: 10_000 });
    const waiting = jobs.filter(({ name }) => name === "waiting");
    console.log(JSON.stringify({ acknowledged, refused: refusals.length, there: waiting.length }));
    expect(waiting).toHaveLength(acknowledged);
    for (const { job } of waiting) expect(await s.client.ended(job)).toMatchObject({ code: 9, attempt: 1 });
    expect((await s.status()).trouble).toBeUndefined();
  });
});

describe("a burst", () => {
  test(`${BURST} submits by 64 clients, then kill -9 of the front end: all that was acknowledged is there, once`, async () => {
    s = new LiveScheduler();
    await s.start();
    const acknowledged: number[] = [];
    let left = BURST;
    const startMs = performance.now();
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (left-- > 0) acknowledged.push(await submitOver(agent));
      agent.destroy();
    };
    await Promise.all(Array.from({ length: 64 }, client));
    const perS = Math.round((BURST / (performance.now() - startMs)) * 1000);
    await s.killFrontEnd();
    await s.start();
    const { jobs } = await s.client.jobs({ last: 20_000 });
    const there = new Set(jobs.map(({ job }) => job));
    const lost = acknowledged.filter((job) => !there.has(job)).length;
    console.log(JSON.stringify({ submitted: BURST, acknowledged: acknowledged.length, lost, perS }));
    expect(new Set(acknowledged).size).toBe(BURST);
    expect(jobs).toHaveLength(BURST);
    expect(lost).toBe(0);
    expect(jobs.every(({ state }) => state === "held")).toBe(true);
  });

  test(`with a limit of ${FILES} files 2,000 submits by 400 clients at once: what is acknowledged is there once, and the front end lives`, async () => {
    s = new LiveScheduler(FILES);
    await s.start();
    const limits = readFileSync(`/proc/${s.frontEndPid}/limits`, "utf8");
    expect(limits).toMatch(new RegExp(`Max open files +${FILES} +${FILES}`));
    const acknowledged: number[] = [];
    let cutOff = 0;
    let next = 0;
    const work = async () => {
      while (next++ < 2000) {
        try {
          // One of 50 runs meanwhile; its folder needs open files of the front end, too.
          acknowledged.push(await s.submit("exit 5", { name: "burst", held: next % 50 !== 0 }));
        } catch {
          cutOff++;
        }
      }
    };
    await Promise.all(Array.from({ length: 400 }, work));
    const { jobs } = await s.client.jobs({ last: 5000 });
    const names = jobs.filter(({ name }) => name === "burst").map(({ job }) => job);
    console.log(
      JSON.stringify({ submitted: 2000, acknowledged: acknowledged.length, cutOff, there: names.length }),
    );
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(acknowledged.filter((job) => !names.includes(job))).toEqual([]);
    const run = jobs.filter(({ name, state }) => name === "burst" && state !== "held");
    expect(run.length).toBeGreaterThan(0);
    for (const { job } of run) expect(await s.client.ended(job)).toMatchObject({ code: 5, attempt: 1 });
  });
});

describe("1 GB of output", () => {
  test("is kept to the byte and read back; front end and conductor do not grow with it", async () => {
    s = new LiveScheduler();
    await s.start();
    const pids = [s.frontEndPid, await s.conductorPid()];
    await s.client.ended(await s.submit("echo warm"));
    const before = pids.map(residentMB);
    const job = await s.submit(`head -c ${GIGABYTE - 4} /dev/zero; echo end; exit 6`);
    expect(await s.client.ended(job)).toMatchObject({ code: 6 });
    const { stdout } = await s.job(job);
    expect(statSync(stdout).size).toBe(GIGABYTE);
    let bytes = 0;
    let last: Buffer = Buffer.alloc(0);
    for await (const piece of s.client.pieces(await s.client.open(`/v1/jobs/${job}/logs/stdout`))) {
      bytes += piece.length;
      last = piece;
    }
    expect([bytes, last.subarray(-4).toString()]).toEqual([GIGABYTE, "end\n"]);
    const grown = pids.map((pid, i) => Math.round(residentMB(pid) - before[i]));
    console.log(JSON.stringify({ bytes, frontEndGrownMB: grown[0], conductorGrownMB: grown[1] }));
    expect(grown[0]).toBeLessThan(200);
    expect(grown[1]).toBeLessThan(50);
    expect(await s.conductorPid()).toBe(pids[1]);
  });
});
