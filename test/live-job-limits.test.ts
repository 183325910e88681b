/**
 * Runs real jobs in a queue of which one may run at a time. Each job takes a lock, a folder, and fails if
 * another one has it. The front end is killed while jobs wait.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { QueuesAnswer, WhyAnswer } from "@tutti/protocol/schema.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LiveScheduler } from "./live-scheduler.ts";

const s = new LiveScheduler();
const lock = join(s.folder, "lock");
const go = join(s.folder, "go");
const JOB = `mkdir "${lock}" || exit 9; until [ -e "${go}" ]; do sleep 0.02; done; rmdir "${lock}"`;

beforeAll(async () => {
  const config = join(s.folder, "tutti.toml");
  const queues = '[[queues]]\nname = "one"\nrunningJobs = 1\n[[queues]]\nname = "many"\n';
  writeFileSync(config, `[limits]\nwaitingJobs = 3\n${queues}`, { mode: 0o600 });
  s.words.push("--config", config);
  await s.start();
});
afterAll(() => s.clear());

test("jobs of the queue run one by one, over a kill of the front end; others pass them", async () => {
  const jobs = [await s.submit(JOB, { queue: "one" })];
  await s.running(jobs[0]);
  for (let i = 0; i < 2; i++) jobs.push(await s.submit(JOB, { queue: "one" }));
  const other = await s.submit("true", { queue: "many" });
  await expect.poll(async () => (await s.job(other)).state).toBe("done");
  await s.killFrontEnd();
  await s.start();
  const why = await s.client.ask<WhyAnswer>(`/v1/jobs/${jobs[1]}/why`);
  expect(why.obstacles).toMatchObject([{ kind: "limit", of: "queue", name: "one", most: 1, running: 1 }]);
  const { queues, yours = [] } = await s.client.ask<QueuesAnswer>("/v1/queues");
  expect(queues[0]).toMatchObject({ running: 1, queued: 2, limits: { runningJobs: 1 } });
  expect(yours).toMatchObject([{ waitingJobs: 3, usedJobs: 1, waiting: 2 }]);
  await s.submit("true", { queue: "one" });
  await expect(s.submit("true")).rejects.toThrow(/3 wait, and at most 3 jobs of user/);
  mkdirSync(go);
  for (const job of jobs) await expect.poll(async () => (await s.job(job)).state).toBe("done");
});
