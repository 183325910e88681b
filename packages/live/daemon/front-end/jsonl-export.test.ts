/** Tests the workload file that the front end exports. scheduling/loop.test.ts simulates such files. */

import { JsonlReader } from "@tutti/kernel/workload/traces/jsonl.ts";
import { describe, expect, test } from "vitest";
import { ANNA, BEN, type Bench, makeBench, ROOT, request, runToEnd } from "./front-end-for-tests.ts";

const linesOf = ({ frontEnd }: Bench, caller = ROOT) =>
  [...frontEnd.exportJsonl(caller)]
    .join("")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Does something at an instant of the bench, in ms. */
const at = ({ clock }: Bench, atMs: number, act: () => unknown) => clock.at(atMs, () => void act());

describe("exportJsonl()", () => {
  test("has the machine, each job with what it asked for and what became of it, and the events", () => {
    const bench = makeBench({
      cpus: 4,
      config: { policy: "easy", slotMs: 250 },
      runMs: (job) => (job === 1 ? 5000 : 2000),
    });
    const { frontEnd } = bench;
    const asked = { tasks: 3, limitMs: 9000, name: "big", priority: -2, retries: 1, memoryBytes: 4096 };
    at(bench, 1000, () => frontEnd.submit(ANNA, [request(asked)]));
    at(bench, 2000, () => frontEnd.submit(ANNA, [request({ held: true, after: [{ job: 1, ok: true }] })]));
    at(bench, 3000, () => frontEnd.release(ANNA, 2));
    at(bench, 3500, () => frontEnd.setDrain(ROOT, { reason: "new disk" }));
    at(bench, 8000, () => frontEnd.setDrain(ROOT, undefined));
    runToEnd(bench.clock);
    const startedAt = new Date(frontEnd.jobs(ROOT, {})[0].submittedAtMs).toISOString();
    expect(linesOf(bench)).toEqual([
      {
        schema: "tutti.workload-file/1",
        name: "Tutti",
        processors: 4,
        startedAt,
        policy: "easy",
        slotS: 0.25,
      },
      {
        job: 1,
        submitS: 0,
        tasks: 3,
        runS: 5,
        limitS: 9,
        memoryBytes: 4096,
        user: "anna",
        queue: "default",
        name: "big",
        state: "done",
        startS: 0,
        endS: 5,
        priority: -2,
        retries: 1,
        attempt: 1,
        code: 0,
      },
      expect.objectContaining({
        job: 2,
        submitS: 1,
        runS: 2,
        user: "anna",
        after: [{ job: 1, ok: true }],
        startS: 7,
        endS: 9,
      }),
      { event: "hold", atS: 1, job: 2 },
      { event: "release", atS: 2, job: 2 },
      { event: "drain", atS: 2.5 },
      { event: "undrain", atS: 7 },
    ]);
  });

  test("an updated job has the values of its submit, and an event for each update", () => {
    const queues = [
      { queueClass: { name: "small", processors: 2, processes: 2, threads: 1 }, defaultLimitMs: 5000 },
      { queueClass: { name: "large", processors: 4, processes: 4, threads: 1 } },
    ];
    const resources = [{ name: "gpu", units: ["0", "1"], isShared: false, variables: [] }];
    const bench = makeBench({ cpus: 4, config: { queues: queues as never, resources } });
    const { frontEnd } = bench;
    const update = (atMs: number, job: number, fields: object) =>
      at(bench, atMs, () => frontEnd.change(ANNA, { action: "update", update: fields }, [job]));
    // The name looks like a field of the text in which an event has the old values.
    const asked = { tasks: 2, use: { gpu: 2 }, name: "two tasks=9", beginAtMs: 20_000 };
    at(bench, 0, () => frontEnd.submit(ANNA, [request({ tasks: 4 }), request(asked)]));
    update(200, 2, { tasks: 3, limitMs: 9000, use: { gpu: 1 }, name: "three" });
    update(300, 2, { tasks: 4, beginAtMs: 8000 });
    runToEnd(bench.clock);
    const [, , second, ...events] = linesOf(bench);
    expect(second).toMatchObject({ ...{ tasks: 2, use: { gpu: 2 }, name: "two tasks=9" }, queue: "small" });
    // 20 s after the first submit, and the estimate of jobs without a limit in its queue.
    expect(second).toMatchObject({ submitS: 0, beginS: 20, estimateS: 5, startS: 8, endS: 9 });
    expect(second).not.toHaveProperty("limitS");
    const first = { tasks: 3, limitS: 9, use: { gpu: 1 }, name: "three", queue: "large" };
    expect(events).toEqual([
      { event: "edit", atS: 0.2, job: 2, set: first },
      { event: "edit", atS: 0.3, job: 2, set: { tasks: 4, beginS: 8 } },
    ]);
  });

  test("an instant is the same number in the line of a job and in an event", () => {
    const bench = makeBench({ cpus: 1 });
    const { frontEnd } = bench;
    at(bench, 0, () => frontEnd.submit(ANNA, [request({ beginAtMs: 90_000 }), request({ beginAtMs: 300 })]));
    at(bench, 100, () => frontEnd.change(ANNA, { action: "update", update: { beginAtMs: 300 } }, [1]));
    runToEnd(bench.clock);
    const lines = linesOf(bench);
    expect(lines.find(({ job }) => job === 2)).toMatchObject({ beginS: 0.3 });
    expect(lines.at(-1)).toEqual({ event: "edit", atS: 0.1, job: 1, set: { beginS: 0.3 } });
  });

  test("a job has the priority of its submit, and an event for each change", () => {
    const bench = makeBench({ cpus: 1, config: { policy: "fcfs" } });
    const { frontEnd } = bench;
    const set = (atMs: number, priority: number) =>
      at(bench, atMs, () => frontEnd.change(ANNA, { action: "priority", priority }, [2]));
    at(bench, 0, () => frontEnd.submit(ANNA, [request(), request({ priority: -2 })]));
    at(bench, 100, () => frontEnd.change(ANNA, { action: "update", update: { priority: -7 } }, [2]));
    set(200, -5);
    set(300, 0);
    runToEnd(bench.clock);
    const [, first, second, ...events] = linesOf(bench);
    expect(first).not.toHaveProperty("priority");
    expect(second).toMatchObject({ job: 2, priority: -2, startS: 1 });
    expect(events).toEqual([
      { event: "edit", atS: 0.1, job: 2, set: { priority: -7 } },
      { event: "edit", atS: 0.2, job: 2, set: { priority: -5 } },
      { event: "edit", atS: 0.3, job: 2, set: { priority: 0 } },
    ]);
  });

  test("each attempt of a retried job is a line, which begins when the attempt joined the queue", () => {
    const bench = makeBench({
      cpus: 1,
      runMs: (_, attempt) => attempt * 1000,
      ends: (_, attempt) => ({ code: attempt < 3 ? 7 : 0 }),
    });
    const { frontEnd } = bench;
    const asked = { retries: 2, retryOn: ["fail"], retryDelayMs: 10_000, limitMs: 60_000 };
    at(bench, 500, () => frontEnd.submit(ANNA, [request({ ...asked, beginAtMs: 4500 }), request()]));
    runToEnd(bench.clock);
    // Job 2 has the machine for its 1 s first. Job 1 runs for 1 s from 4 s on, waits for 10 s, runs for 2 s,
    // waits for 20 s, and runs for 3 s. Times count from the submit.
    const lines = linesOf(bench).filter(({ job }) => job === 1);
    expect(
      lines.map(({ attempt, beginS, startS, endS, runS, state, code }) => [
        ...[attempt, beginS, startS, endS],
        ...[runS, state, code],
      ]),
    ).toEqual([
      [1, 4, 4, 5, 1, "failed", 7],
      [2, 15, 15, 17, 2, "failed", 7],
      [3, 37, 37, 40, 3, "done", 0],
    ]);
    expect(lines.every(({ submitS }) => submitS === 0)).toBe(true);
  });

  test("an attempt that a signal ended does not have the exit code of the last one", () => {
    const bench = makeBench({
      cpus: 1,
      ends: (_, attempt) => (attempt < 2 ? { signal: "SIGBUS" } : { code: 0 }),
    });
    at(bench, 0, () => bench.frontEnd.submit(ANNA, [request({ retries: 1, retryOn: ["SIGBUS"] })]));
    runToEnd(bench.clock);
    const [, first, second] = linesOf(bench);
    expect([first.signal, first.code, second.signal, second.code]).toEqual([
      ...["SIGBUS", undefined],
      ...[undefined, 0],
    ]);
  });

  test("an attempt has the values that the job had when it joined the queue", () => {
    const bench = makeBench({ cpus: 4, ends: (_, attempt) => ({ code: attempt < 3 ? 7 : 0 }) });
    const { frontEnd } = bench;
    const asked = { retries: 2, retryOn: ["fail"], retryDelayMs: 10_000 };
    const update = (tasks: number) => frontEnd.change(ANNA, { action: "update", update: { tasks } }, [1]);
    at(bench, 0, () => frontEnd.submit(ANNA, [request({ ...asked, tasks: 1, beginAtMs: 5000 })]));
    // The attempts run for 1 s, from 5, 16 and 37 s on.
    for (const [i, atS] of [2, 8, 20].entries()) at(bench, atS * 1000, () => update(2 + i));
    runToEnd(bench.clock);
    const lines = linesOf(bench);
    const jobs = lines.filter(({ job, event }) => job !== undefined && event === undefined);
    expect(jobs.map(({ attempt, beginS, tasks }) => [attempt, beginS, tasks])).toEqual([
      [1, 5, 1],
      [2, 16, 3],
      [3, 37, 4],
    ]);
    expect(lines.filter(({ event }) => event === "edit").map(({ atS }) => atS)).toEqual([2, 8, 20]);
  });

  test("a drain that began before the first submit begins with the file; a new reason is no event", () => {
    const bench = makeBench({ cpus: 1 });
    const { frontEnd } = bench;
    at(bench, 0, () => frontEnd.setDrain(ROOT, {}));
    at(bench, 100, () => frontEnd.setDrain(ROOT, undefined));
    at(bench, 200, () => frontEnd.setDrain(ROOT, { reason: "disks" }));
    at(bench, 1200, () => frontEnd.submit(ANNA, [request()]));
    at(bench, 2200, () => frontEnd.setDrain(ROOT, { reason: "more disks" }));
    at(bench, 3200, () => frontEnd.setDrain(ROOT, undefined));
    runToEnd(bench.clock);
    expect(linesOf(bench).slice(2)).toEqual([
      { event: "drain", atS: 0 },
      { event: "undrain", atS: 2 },
    ]);
  });

  test("an event from before the first submit, after the clock was set back, does not move a drain", () => {
    const bench = makeBench({ cpus: 1 });
    const { frontEnd, clock } = bench;
    at(bench, 1000, () => frontEnd.submit(ANNA, [request({ held: true })]));
    at(bench, 2000, () => frontEnd.setDrain(ROOT, {}));
    at(bench, 3000, () => {
      clock.unixOffsetMs -= 60_000;
      frontEnd.release(ANNA, 1);
    });
    at(bench, 4000, () => {
      clock.unixOffsetMs += 60_000;
      frontEnd.setDrain(ROOT, undefined);
    });
    runToEnd(bench.clock);
    expect(linesOf(bench).slice(2)).toEqual([
      { event: "drain", atS: 1 },
      { event: "undrain", atS: 3 },
    ]);
  });

  test("a user's file has no jobs of others, and no events of their jobs", () => {
    const bench = makeBench({ cpus: 1 });
    at(bench, 0, () => bench.frontEnd.submit(ANNA, [request({ name: "of-anna", held: true })]));
    at(bench, 100, () => bench.frontEnd.submit(BEN, [request()]));
    at(bench, 200, () => bench.frontEnd.release(ANNA, 1));
    runToEnd(bench.clock);
    expect(linesOf(bench, BEN).map(({ job, event }) => [job, event])).toEqual([
      [undefined, undefined],
      [2, undefined],
    ]);
    expect(linesOf(bench, ANNA).map(({ event }) => event)).toEqual([undefined, undefined, "hold", "release"]);
  });

  test("a job that has not ended has no run time, and the reader says so", () => {
    const bench = makeBench({ cpus: 1, runMs: () => 1e6 });
    at(bench, 0, () => bench.frontEnd.submit(ANNA, [request(), request()]));
    runToEnd(bench.clock, 5000);
    const reader = new JsonlReader("export");
    reader.push(new TextEncoder().encode([...bench.frontEnd.exportJsonl(ANNA)].join("")));
    const { count, diagnostics } = reader.end();
    expect(count).toBe(0);
    expect(diagnostics.map((one) => [one.code, one.count])).toEqual([["not-ended", 2]]);
  });

  test("without jobs, there is a first line", () => {
    expect(linesOf(makeBench({ cpus: 2 }))).toEqual([expect.objectContaining({ processors: 2 })]);
  });
});
