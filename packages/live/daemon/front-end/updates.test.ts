/** Tests jobs that change while they wait: as if they had been submitted like that, in their place. */

import { Random } from "@tutti/kernel/core/random.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { Job, SubmitJob, UpdateBody } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

const fcfs = { config: { policy: "fcfs" } };

async function submit(bench: Bench, fields: Partial<SubmitJob>, caller = ANNA): Promise<Job> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

async function update(bench: Bench, job: number, fields: UpdateBody, caller: Caller = ANNA) {
  const change = { action: "update", update: fields } as const;
  const answer = await answerOf(bench.clock, bench.frontEnd.change(caller, change, [job]));
  return "refused" in answer ? answer : answer[0];
}

const starts = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ startedAtMs }) => startedAtMs);

describe("a waiting job that is updated", () => {
  test("has the new values, keeps its place, and an event says what changed and who changed it", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { tasks: 4 });
    await submit(bench, { tasks: 4, limitMs: 5000, name: "old" });
    await submit(bench, { tasks: 4 });
    const events: DaemonEvent[] = [];
    bench.frontEnd.listen(ANNA, bench.frontEnd.latestEvent(), (event) => events.push(event));
    const fields = { name: "new", tasks: 3, limitMs: 7000, retries: 2, retryOn: ["fail"] };
    expect(await update(bench, 2, fields)).toMatchObject({ job: 2, state: "queued", ...fields });
    expect(events).toMatchObject([
      {
        kind: "updated",
        job: 2,
        data: {
          by: "anna",
          name: "new",
          tasks: 3,
          limitMs: 7000,
          retries: 2,
          retryOn: "fail",
          before: "tasks=4 limitMs=5000 retries=0 name=old",
          was: { tasks: 4, limitMs: 5000, retries: 0, name: "old" },
        },
      },
    ]);
    // The same again changes nothing.
    await update(bench, 2, fields);
    expect(events).toHaveLength(1);
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 1000, 2000]);
    expect(bench.frontEnd.job(ANNA, 2)).toMatchObject(fields);
  });

  test("may get and lose a begin; it then joins the queue as a job does whose begin has come", async () => {
    const bench = makeBench({ ...fcfs, cpus: 1 });
    for (let i = 0; i < 3; i++) await submit(bench, {});
    await update(bench, 2, { beginAtMs: 10_000 });
    await update(bench, 3, { beginAtMs: 10_000 });
    expect(bench.frontEnd.job(ANNA, 2)).toMatchObject({ notBeforeMs: 10_000, beginAtMs: 10_000 });
    bench.clock.advanceTo(4000);
    await update(bench, 3, { beginAtMs: 4000 });
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 10_000, 4000]);
  });

  test("is refused what a submit would be refused, and then stays as it is", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { tasks: 4 });
    const { job } = await submit(bench, { tasks: 2 });
    for (const [fields, refused] of [
      [{ tasks: 5 }, "too-large"],
      [{ queue: "nowhere" }, "invalid"],
      [{ priority: 3 }, "invalid"],
      [{ retryOn: ["fail"] }, "invalid"],
      [{ beginAtMs: 1.8e15 }, "invalid"],
    ] as const) {
      expect(await update(bench, job, fields), JSON.stringify(fields)).toMatchObject({ refused });
    }
    expect(await update(bench, job, { name: "x" }, BEN)).toMatchObject({ refused: "not-found" });
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ tasks: 2, state: "queued" });
    runToEnd(bench.clock);
    expect(starts(bench)).toEqual([0, 1000]);
  });

  test("keeps a priority that an administrator gave, and a queue that was chosen follows its size", async () => {
    const queues = [
      { queueClass: { name: "small", processors: 1, processes: 1, threads: 1 }, defaultLimitMs: 1000 },
      { queueClass: { name: "large", processors: 4, processes: 4, threads: 1 } },
    ];
    const bench = makeBench({ config: { policy: "fcfs", queues: queues as never } });
    const { job, queue } = await submit(bench, { held: true });
    expect(queue).toBe("small");
    await answerOf(bench.clock, bench.frontEnd.setPriority(ROOT, job, 7));
    expect(await update(bench, job, { tasks: 3, name: "big" })).toMatchObject({
      queue: "large",
      priority: 7,
    });
    expect(await update(bench, job, { queue: "small" })).toMatchObject({ refused: "too-large" });
    // Named now, so it stays.
    const { job: other } = await submit(bench, { held: true, queue: "large" });
    expect(await update(bench, other, { limitMs: 5000 })).toMatchObject({ queue: "large" });
  });
});

test("of a job that has started, only its name and its retries can change; of an ended one, nothing", async () => {
  const bench = makeBench({ ...fcfs, ends: (_, attempt) => ({ code: attempt === 1 ? 1 : 0 }) });
  const { job } = await submit(bench, { tasks: 2 });
  expect(await update(bench, job, { limitMs: 5, name: "x" })).toMatchObject({
    refused: "wrong-state",
    message: expect.stringContaining(
      "its limit cannot change once it has started; only its name and its retries can",
    ),
  });
  expect(await update(bench, job, { name: "x", retries: 1, retryOn: ["fail"] })).toMatchObject({ name: "x" });
  runToEnd(bench.clock);
  expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "done", attempt: 2, name: "x" });
  expect(await update(bench, job, { name: "y" })).toMatchObject({
    refused: "wrong-state",
    message:
      "Cannot change job 1: it has ended (done), expected a job that waits or runs; tutti rerun 1 runs it again",
  });
});

test("a singleton waits for a job that gets its name, and no longer for one that loses it", async () => {
  const bench = makeBench({ ...fcfs, cpus: 1, runMs: () => 3000 });
  await submit(bench, { name: "first" });
  await submit(bench, { name: "other" });
  await submit(bench, { name: "s", singleton: true });
  await update(bench, 2, { name: "s" });
  await answerOf(bench.clock, bench.frontEnd.hold(ANNA, 2));
  bench.clock.advanceTo(4000);
  expect(bench.frontEnd.job(ANNA, 3)).toMatchObject({ state: "queued", reason: "waits for job 2" });
  await update(bench, 2, { name: "other" });
  expect(bench.frontEnd.job(ANNA, 3)).toMatchObject({ state: "running" });
});

describe("every policy decides as if the jobs had been submitted with their new values", () => {
  const CPUS = 8;
  const JOBS = 25;
  const random = new Random(11, "updates");
  const drawn = () => ({ tasks: 1 + random.below(CPUS), limitMs: 1000 * (1 + random.below(60)) });
  const before = Array.from({ length: JOBS }, drawn);
  const after = before.map((job, i) => (i % 2 === 0 ? job : drawn()));
  const runMs = Array.from({ length: JOBS + 1 }, (_, i) =>
    i === 0 ? 100_000 : 500 * (1 + random.below(100)),
  );

  /** All jobs wait behind one that has all CPUs; the only row is its. */
  async function startsUnder(policy: string, isUpdated: boolean): Promise<(number | undefined)[]> {
    const isShared = POLICIES.find(({ name }) => name === policy)!.sharing === "time";
    const bench = makeBench({
      cpus: CPUS,
      config: { policy, maxRows: 1, slotMs: 500 },
      slotted: isShared,
      runMs: (job) => runMs[job - 1],
    });
    await submit(bench, { tasks: CPUS, limitMs: 100_000 });
    for (let i = 0; i < JOBS; i++) {
      bench.clock.advanceTo(1000 * i);
      await submit(bench, isUpdated ? before[i] : after[i]);
    }
    for (let i = JOBS - 1; isUpdated && i >= 0; i--) {
      bench.clock.advanceTo(30_000 + 1000 * (JOBS - i));
      await update(bench, i + 2, after[i]);
    }
    runToEnd(bench.clock);
    return starts(bench);
  }

  test.each(POLICIES.map(({ name }) => name))("%s", async (policy) => {
    expect(await startsUnder(policy, true)).toEqual(await startsUnder(policy, false));
  });
});
