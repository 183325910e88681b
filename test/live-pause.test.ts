/**
 * Pauses real jobs under a real scheduler, kills front end and conductor with kill -9, and ends paused jobs
 * in every way. Space and time sharing take turns, because they keep a paused job in different places.
 */

import { existsSync } from "node:fs";
import { signal } from "@tutti/host/processes.ts";
import type { BatchAnswer, Job } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cpuTicks, until } from "./conductor/stage.ts";
import { LiveScheduler } from "./live-scheduler.ts";

/** Uses a processor, for at most twenty seconds of CPU time, until the file is there. */
const burn = (file: string) => `ulimit -t 20; while [ ! -e ${file} ]; do i=0; done; rm ${file}; echo end`;

const live = new LiveScheduler();
beforeAll(() => live.start());
afterAll(() => live.clear());

async function change(action: "pause" | "resume", job: number, release = false): Promise<Job> {
  const body = { action, jobs: String(job), ...(release && { release }) };
  const [result] = (await live.client.ask<BatchAnswer>("/v1/batch", { method: "POST", body })).results;
  if (!("job" in result)) throw new Error(result.message);
  return result.job;
}

/** Waits until the process uses no more time. */
async function stands(pid: number): Promise<void> {
  for (let same = 0, before = -1; same < 5; ) {
    const now = cpuTicks(pid);
    same = now === before ? same + 1 : 0;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function goesOn(pid: number): Promise<void> {
  const before = cpuTicks(pid);
  await until("it goes on", () => cpuTicks(pid) > before);
}

async function ended(job: number): Promise<Job> {
  for (;;) {
    const one = await live.job(job);
    if (one.endedAtMs !== undefined) return one;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test.each(["gang", "easy"])(
  "%s: a paused job stands still over kill -9 of front end and conductor, and ends after a resume",
  async (policy) => {
    await live.client.ask("/v1/policy", { method: "PUT", body: { policy } });
    const go = `${live.folder}/go-${policy}`;
    const job = await live.submit(burn(go), { limitMs: 600_000 });
    await live.running(job);
    const pid = live.pidOf(job, "job");
    await goesOn(pid);
    expect(await change("pause", job, policy === "easy")).toMatchObject({ state: "paused" });
    await stands(pid);
    const ticks = cpuTicks(pid);
    // Another job gets the processors that it does not use.
    const other = await live.submit("true");
    expect(await ended(other)).toMatchObject({ state: "done" });
    for (const victim of policy === "gang" ? ["conductor", "both"] : ["both"]) {
      if (victim === "both") await live.killFrontEnd();
      for (const one of live.leftovers.conductors()) signal(one, "SIGKILL");
      if (victim === "both") await live.start();
      await live.conductorPid();
      await ended(await live.submit("true"));
      expect(cpuTicks(pid), `after ${victim} was killed`).toBe(ticks);
    }
    const paused = await live.job(job);
    expect(paused.state).toBe("paused");
    await change("resume", job);
    await goesOn(pid);
    const resumed = await live.job(job);
    // Its limit stood still, too.
    expect(resumed.ranMs).toBeLessThan(paused.ranMs + Date.now() - (paused.pausedAtMs ?? 0));
    await live.submit(`touch ${go}`);
    expect(await ended(job)).toMatchObject({ state: "done", attempt: 1, code: 0 });
  },
);

test("a paused job is cancelled with its grace time, or killed by tutti down --kill", async () => {
  const ready = `${live.folder}/ready`;
  const trap = await live.submit(`trap 'exit 3' TERM; touch ${ready}; while :; do sleep 0.05; done`);
  await until("it has its trap", () => existsSync(ready));
  await change("pause", trap);
  await live.cancel(trap);
  expect(await ended(trap)).toMatchObject({ state: "cancelled", code: 3 });
  const other = await live.submit(burn(`${live.folder}/never`));
  await live.running(other);
  const pid = live.pidOf(other, "job");
  await change("pause", other);
  await stands(pid);
  await live.client.ask("/v1/shutdown", { method: "POST", body: { killJobs: true } });
  await until("it is gone", () => live.leftovers.ofJobs().length === 0);
});
