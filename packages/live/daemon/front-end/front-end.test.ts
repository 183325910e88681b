/**
 * Tests users' requests on a fake machine with 4 CPUs. Jobs run for a second unless a test says otherwise.
 */

import { readSwf } from "@tutti/kernel/workload/traces-for-tests.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { Answer } from "@tutti/protocol/refusal.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { describe, expect, test } from "vitest";
import type { Caller } from "../contract/service.ts";
import {
  ANNA,
  answerOf,
  asSent,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

async function submit(
  bench: Bench,
  fields: Partial<SubmitJob> = {},
  caller: Caller = ANNA,
  key?: string,
): Promise<Job> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)], key));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

function stateOf({ frontEnd }: Bench, job: number): string {
  const info = frontEnd.job(ROOT, job);
  return "refused" in info ? info.refused : info.state;
}

function refusal(answer: Answer<unknown>): string {
  return typeof answer === "object" && answer !== null && "refused" in answer
    ? String(answer.refused)
    : "none";
}

const fcfs = { config: { policy: "fcfs" } };

describe("FrontEnd.submit", () => {
  test("a job starts immediately on an idle machine, with its own CPUs, and ends with its exit code", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { tasks: 3, command: ["/bin/solve", "x"] });
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({
      state: "running",
      name: "solve",
      cpus: [0, 1, 2],
      attempt: 1,
      startedAtMs: 0,
    });
    runToEnd(bench.clock);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({
      state: "done",
      code: 0,
      endedAtMs: 1000,
      ranMs: 1000,
    });
  });

  test("an array is one batch of jobs that share the number of the first", async () => {
    const bench = makeBench(fcfs);
    const array = request({ array: "3,5,7", stdout: "out-%j-%a-%x", name: "a/b" });
    const answer = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [array]));
    expect(answer).toMatchObject({
      jobs: [
        { job: 1, array: 1, arrayIndex: 3, stdout: "/out-1-3-a_b" },
        { job: 2, array: 1, arrayIndex: 5, stdout: "/out-2-5-a_b" },
        { job: 3, array: 1, arrayIndex: 7, stdout: "/out-3-7-a_b" },
      ],
    });
    const launches = bench.machine.sent.filter((message) => message.type === "launch");
    expect(launches.map(({ spec }) => spec.env.TUTTI_ARRAY_INDEX)).toEqual(["3", "5", "7"]);
    expect(launches[0].spec.env).toMatchObject({ TUTTI_JOB_ID: "1", TUTTI_NTASKS: "1", TUTTI_CPUS: "0" });
  });

  test("the same key returns the same jobs to the same user, whatever else the request contains", async () => {
    const bench = makeBench(fcfs);
    const first = await submit(bench, {}, ANNA, "k");
    expect((await submit(bench, { tasks: 2 }, ANNA, "k")).job).toBe(first.job);
    expect((await submit(bench, {}, BEN, "k")).job).not.toBe(first.job);
    const both = [
      bench.frontEnd.submit(ANNA, [request()], "n"),
      bench.frontEnd.submit(ANNA, [request()], "n"),
    ];
    bench.clock.settle();
    const [a, b] = await Promise.all(both);
    expect(a).toEqual(b);
  });

  test("refuses jobs that can never run, with the reason", async () => {
    const bench = makeBench({ ...fcfs, memoryBytes: 1e9 });
    const ask = (fields: Partial<SubmitJob>) =>
      answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)])).then(refusal);
    expect(await ask({ tasks: 5 })).toBe("too-large");
    expect(await ask({ memoryBytes: 1e9 + 1 })).toBe("too-large");
    expect(await ask({ priority: 1 })).toBe("invalid");
    expect(await ask({ queue: "nowhere" })).toBe("invalid");
    expect(await ask({ after: [{ job: 77, ok: true }] })).toBe("invalid");
    expect(await ask({ script: { base64: "", word: 1 } })).toBe("invalid");
    expect(await ask({ array: "3-1" })).toBe("invalid");
    expect(await ask({ env: { B: "x".repeat(131_071) } })).toBe("too-large");
    expect(await ask({ command: Array(8).fill("x".repeat(130_000)) })).toBe("too-large");
    expect(bench.frontEnd.jobs(ROOT, {})).toEqual([]);
  });
});

describe("dependencies", () => {
  test("a job waits for others, and goes on when they have ended as asked", async () => {
    const bench = makeBench({ ...fcfs, runMs: (job) => job * 1000 });
    const first = await submit(bench);
    const after = await submit(bench, { after: [{ job: first.job, ok: true }] });
    expect(await bench.frontEnd.why(ANNA, after.job)).toMatchObject({
      obstacles: [{ kind: "dependency", jobs: [1] }],
    });
    bench.clock.advanceTo(1500);
    expect(stateOf(bench, after.job)).toBe("running");
    // A dependency that has already ended well.
    expect((await submit(bench, { after: [{ job: first.job, ok: true }] })).state).toBe("queued");
  });

  test("if a job should have ended well but did not, its dependents are cancelled, and theirs", async () => {
    const bench = makeBench(fcfs);
    const first = await submit(bench);
    const second = await submit(bench, { after: [{ job: first.job, ok: true }] });
    const third = await submit(bench, { after: [{ job: second.job, ok: true }] });
    const anyway = await submit(bench, { after: [{ job: second.job, ok: false }] });
    bench.machine.end({ job: first.job, attempt: 1 }, "none", { code: 2 });
    bench.clock.settle();
    expect([second, third].map(({ job }) => stateOf(bench, job))).toEqual(["cancelled", "cancelled"]);
    expect(stateOf(bench, anyway.job)).toBe("running");
    expect((await submit(bench, { after: [{ job: first.job, ok: true }] })).state).toBe("cancelled");
  });
});

describe("cancel, hold, release, priority, requeue", () => {
  test("cancel removes a waiting job and ends a running one", async () => {
    const bench = makeBench(fcfs);
    const running = await submit(bench, { tasks: 4 });
    const waiting = await submit(bench, { tasks: 4 });
    const last = await submit(bench, { tasks: 4 });
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, waiting.job));
    expect(stateOf(bench, waiting.job)).toBe("cancelled");
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, running.job));
    expect(stateOf(bench, running.job)).toBe("cancelled");
    expect(stateOf(bench, last.job)).toBe("running");
    expect(refusal(await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, running.job)))).toBe(
      "wrong-state",
    );
    expect(bench.machine.launched).toEqual(["1/1", "3/1"]);
  });

  test("a held job waits until it is released, and then after the others", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { tasks: 4 });
    const held = await submit(bench, { tasks: 4, held: true });
    const other = await submit(bench, { tasks: 4 });
    expect(await bench.frontEnd.why(ANNA, held.job)).toMatchObject({ obstacles: [{ kind: "held" }] });
    await answerOf(bench.clock, bench.frontEnd.release(ANNA, held.job));
    runToEnd(bench.clock);
    expect(bench.machine.launched).toEqual(["1/1", `${other.job}/1`, `${held.job}/1`]);
    expect(refusal(await answerOf(bench.clock, bench.frontEnd.hold(ANNA, held.job)))).toBe("wrong-state");
  });

  test("a job with higher priority is served before earlier jobs", async () => {
    const bench = makeBench(fcfs);
    await submit(bench, { tasks: 4 });
    const low = await submit(bench, { tasks: 4, priority: -5 });
    const usual = await submit(bench, { tasks: 4 });
    const lowest = await submit(bench, { tasks: 4 });
    await answerOf(bench.clock, bench.frontEnd.setPriority(ANNA, lowest.job, -7));
    const high = await submit(bench, { tasks: 4, priority: 3 }, ROOT);
    runToEnd(bench.clock);
    const order = [1, high.job, usual.job, low.job, lowest.job];
    expect(bench.machine.launched).toEqual(order.map((job) => `${job}/1`));
  });

  test("requeue restarts a job as often as its retries allow", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { retries: 1 });
    await answerOf(bench.clock, bench.frontEnd.requeue(ANNA, job));
    bench.clock.settle();
    expect(bench.machine.launched).toEqual(["1/1", "1/2"]);
    expect(await answerOf(bench.clock, bench.frontEnd.requeue(ANNA, job))).toMatchObject({
      refused: "wrong-state",
      message: expect.stringMatching(/started 2 times, and its retries allow 1 restart;/),
    });
    bench.machine.end({ job, attempt: 2 }, "none", { lost: "shim gone" });
    bench.clock.settle();
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "failed", reason: "lost: shim gone" });
  });

  test("a job that is lost before its command began is tried three more times, even without retries", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench);
    for (const attempt of [1, 2, 3, 4]) {
      expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "running", attempt });
      bench.machine.end({ job, attempt }, "none", { lost: "shim gone", neverBegan: true });
      bench.clock.settle();
    }
    expect(bench.machine.launched).toEqual(["1/1", "1/2", "1/3", "1/4"]);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "failed", reason: "lost: shim gone" });
  });

  test("an attempt whose command never began is no retry of a failed one, nor does it double the wait", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { retries: 1, retryOn: ["fail"], retryDelayMs: 1000 });
    for (const [attempt, neverBegan] of [[1], [2, true], [3]] as const) {
      expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "running", attempt });
      bench.machine.end({ job, attempt }, "none", { code: 1, ...(neverBegan && { neverBegan }) });
      bench.clock.advanceTo(bench.clock.nowMs() + 1000);
    }
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "failed", attempt: 3 });
  });

  test("an attempt that was lost before its command began uses up no retry", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { retries: 1 });
    const end = (attempt: number, neverBegan?: true) => {
      expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "running", attempt });
      bench.machine.end({ job, attempt }, "none", { lost: "shim gone", ...(neverBegan && { neverBegan }) });
      bench.clock.settle();
    };
    end(1, true);
    end(2);
    end(3, true);
    end(4);
    expect(bench.frontEnd.job(ANNA, job)).toMatchObject({ state: "failed", reason: "lost: shim gone" });
  });
});

describe("several users", () => {
  test("other users' jobs do not exist, except for an administrator", async () => {
    const bench = makeBench(fcfs);
    const { job } = await submit(bench, { held: true });
    const { frontEnd, clock } = bench;
    expect(frontEnd.jobs(BEN, {})).toEqual([]);
    expect(refusal(frontEnd.job(BEN, job))).toBe("not-found");
    expect(refusal(await frontEnd.why(BEN, job))).toBe("not-found");
    for (const ask of [frontEnd.cancel, frontEnd.hold, frontEnd.release, frontEnd.requeue]) {
      expect(refusal(await answerOf(clock, ask.call(frontEnd, BEN, job)))).toBe("not-found");
    }
    expect(refusal(await answerOf(clock, frontEnd.setPriority(BEN, job, -1)))).toBe("not-found");
    const behind = frontEnd.submit(BEN, [request({ after: [{ job, ok: true }] })]);
    expect(refusal(await answerOf(clock, behind))).toBe("invalid");
    expect(refusal(await answerOf(clock, frontEnd.setPolicy(BEN, "easy")))).toBe("not-yours");
    expect(stateOf(bench, job)).toBe("held");
    expect(await answerOf(clock, frontEnd.cancel(ROOT, job))).toMatchObject({ state: "cancelled" });
  });

  test("events are numbered without gaps, and users receive only those of their own jobs", async () => {
    const bench = makeBench(fcfs);
    await submit(bench);
    const heard: Record<string, DaemonEvent[]> = { anna: [], ben: [], root: [] };
    bench.frontEnd.listen(ANNA, 0, (event) => heard.anna.push(event));
    bench.frontEnd.listen(BEN, 0, (event) => heard.ben.push(event));
    bench.frontEnd.listen(ROOT, 0, (event) => heard.root.push(event));
    await submit(bench, {}, BEN);
    runToEnd(bench.clock);
    expect(heard.root.map(({ sequence }) => sequence)).toEqual(heard.root.map((_, i) => i + 1));
    expect(heard.root.filter(({ job }) => job === 1).map(({ kind }) => kind)).toEqual([
      "submitted",
      "starting",
      "started",
      "ended",
    ]);
    const expected = (job: number) =>
      heard.root.filter((event) => event.job === undefined || event.job === job);
    expect(heard.anna).toEqual(expected(1));
    expect(heard.ben).toEqual(expected(2));
    const late: DaemonEvent[] = [];
    bench.frontEnd.listen(ROOT, 3, (event) => late.push(event));
    expect(late).toEqual(heard.root.slice(3));
  });
});

describe("queues", () => {
  const classes = { processes: 99, threads: 1 };
  const queues = [
    { queueClass: { ...classes, name: "short", processors: 2, elapsedBelowS: 60 }, defaultLimitMs: 30_000 },
    { queueClass: { ...classes, name: "long", processors: 4 } },
  ];

  test("a job without a queue goes to the tightest one that admits it, with the reason", async () => {
    const bench = makeBench({ config: { policy: "fcfs", queues } });
    const short = await submit(bench, { tasks: 2, limitMs: 10_000 });
    const long = await submit(bench, { tasks: 2, limitMs: 60_000 });
    const wide = await submit(bench, { tasks: 3, limitMs: 10_000 });
    expect([short, long, wide].map(({ queue }) => queue)).toEqual(["short", "long", "long"]);
    expect(await bench.frontEnd.why(ANNA, short.job)).toMatchObject({
      queueReason: "admitted by short, long; short has the tightest limits (processors)",
    });
    const wrong = bench.frontEnd.submit(ANNA, [request({ queue: "short", tasks: 3 })]);
    expect(refusal(await answerOf(bench.clock, wrong))).toBe("too-large");
    expect(bench.frontEnd.queues().queues).toMatchObject([
      { name: "short", running: 1, mostCpus: 2, limitMs: 60_000 },
      { name: "long", mostCpus: 4 },
    ]);
  });
});

describe("why, forecast, export", () => {
  test("why names CPUs and earlier jobs; the forecast follows the estimates", async () => {
    const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 10_000 });
    await submit(bench, { tasks: 4, limitMs: 10_000 });
    const second = await submit(bench, { tasks: 3, limitMs: 10_000 });
    const third = await submit(bench, { tasks: 2, limitMs: 10_000 });
    bench.clock.advanceTo(4000);
    expect(await bench.frontEnd.why(ANNA, third.job)).toMatchObject({
      freeCpus: 0,
      queuedBefore: 1,
      waitedMs: 4000,
      obstacles: [
        { kind: "cpus", needed: 2, free: 0 },
        { kind: "order", behind: [second.job] },
      ],
      // The first job needs 6 s more, then the second 10 s.
      // Without history, by the limits at the latest.
      forecast: { p10Ms: expect.any(Number), p50Ms: 20_000, p90Ms: 20_000 },
    });
    bench.clock.advanceTo(9500);
    const foretold = async () =>
      (await bench.frontEnd.whatIf(ANNA, { policy: "fcfs" })) as {
        readonly jobs: readonly { job: number }[];
      };
    expect((await foretold()).jobs.map(({ job }) => job)).toEqual([second.job, third.job]);
    bench.clock.advanceTo(10_500);
    // The forecast is cached for two seconds, but a job that has started since is left out.
    expect((await foretold()).jobs.map(({ job }) => job)).toEqual([third.job]);
    bench.clock.advanceTo(21_000);
    const whatIf = await bench.frontEnd.whatIf(ANNA, { policy: "easy" });
    expect(whatIf).toMatchObject({ policy: "easy", jobs: [] });
    // The jobs started at the forecast times, but two starts are no record.
    expect(bench.store.judgedForecasts(9)).toMatchObject([
      { errorMs: 0, isWithin: true },
      { errorMs: 0, isWithin: true },
    ]);
    expect(whatIf).not.toHaveProperty("pastForecasts");
    // The third job started at 20 s and has its CPUs alone; the first has ended.
    const share = { slots: 1, ofSlots: 1, ranMs: 1000, elapsedMs: 1000 };
    expect(await bench.frontEnd.why(ANNA, third.job)).toMatchObject({ share });
    expect(await bench.frontEnd.why(ANNA, 1)).toMatchObject({
      share: { slots: 0, ranMs: 10_000, elapsedMs: 10_000 },
    });
  });

  test("a policy of a wing is refused, and the refusal lists the live policies", async () => {
    const { frontEnd, clock } = makeBench(fcfs);
    for (const policy of ["sites-one", "tasks-grades"]) {
      const message = expect.stringMatching(`Cannot find policy "${policy}": expected one of fcfs, `);
      const refused = { refused: "invalid", message };
      expect(await answerOf(clock, frontEnd.setPolicy(ROOT, policy))).toMatchObject(refused);
      expect(await frontEnd.whatIf(ANNA, { policy })).toMatchObject(refused);
    }
    expect(frontEnd.policy().policy).toBe("fcfs");
  });

  test("a policy that moves running gangs is refused, also at the start", async () => {
    const { frontEnd, clock } = makeBench(fcfs);
    const message = expect.stringContaining(
      'Cannot use policy "wlv:migrate=60" live: it moves running gangs to other processors, expected a policy whose gangs keep their processors',
    );
    const refused = { refused: "invalid", message };
    expect(await answerOf(clock, frontEnd.setPolicy(ROOT, "wlv:migrate=60"))).toMatchObject(refused);
    expect(await frontEnd.whatIf(ANNA, { policy: "wlv:migrate=60" })).toMatchObject(refused);
    expect(frontEnd.policy().policy).toBe("fcfs");
    expect(() => makeBench({ config: { policy: "brmms:migrate=0" }, slotted: true })).toThrow(
      'Cannot use policy "brmms:migrate=0" live',
    );
  });

  test("the simulator can read the exported SWF", async () => {
    const bench = makeBench({ ...fcfs, runMs: (job) => 500 * job });
    await submit(bench, { tasks: 4, limitMs: 2000 });
    bench.clock.advanceTo(250);
    await submit(bench, { tasks: 2, name: "b" }, BEN);
    runToEnd(bench.clock);
    const { jobs, trace, count, diagnostics } = readSwf(
      [...bench.frontEnd.exportSwf(ROOT)].join(""),
      "export",
    );
    expect(count).toBe(2);
    expect(diagnostics).toEqual([]);
    expect([...jobs.submitS]).toEqual([0, 0.25]);
    expect([...jobs.runS]).toEqual([0.5, 1]);
    expect([...jobs.size]).toEqual([4, 2]);
    expect([...jobs.estimateS]).toEqual([2, -1]);
    expect([...(trace?.waitS ?? [])]).toEqual([0, 0.25]);
    expect([...(trace?.status ?? [])]).toEqual([1, 1]);
    expect(readSwf([...bench.frontEnd.exportSwf(BEN)].join(""), "export").count).toBe(1);
  });
});

test("a switched policy survives the front end; a policy named at the start overrides it", async () => {
  const { frontEnd, clock, store, machine } = makeBench(fcfs);
  await answerOf(clock, frontEnd.setPolicy(ROOT, "easy:order=shortest"));
  frontEnd.stop();
  const again = makeBench({ ...fcfs, clock, store, machine });
  expect(again.frontEnd.policy().policy).toBe("easy:order=shortest");
  again.frontEnd.stop();
  const named = makeBench({ ...fcfs, clock, store, machine, policy: "gang" });
  expect(named.frontEnd.policy().policy).toBe("gang");
  named.frontEnd.stop();
  expect(await named.frontEnd.submit(ANNA, [request()])).toMatchObject({ refused: "unavailable" });
});

test("a conductor that has gangs and is silent for long is reported, until it reports again", async () => {
  const bench = makeBench({ config: { policy: "gang" }, slotted: true, runMs: () => 60_000 });
  const { clock, frontEnd } = bench;
  clock.advanceTo(50_000);
  // An idle conductor need not report.
  expect(asSent(frontEnd.status().conductor)).not.toHaveProperty("silentMs");
  await submit(bench, { tasks: 4 });
  clock.advanceTo(59_000);
  expect(asSent(frontEnd.status().conductor)).not.toHaveProperty("silentMs");
  expect(await frontEnd.why(ANNA, 1)).toMatchObject({ state: "running", obstacles: [] });
  await submit(bench, { held: true });
  clock.advanceTo(61_000);
  expect(frontEnd.status().conductor).toMatchObject({ connected: true, silentMs: expect.any(Number) });
  const message = expect.stringMatching(/the conductor has not answered for 1\d s$/);
  expect(await frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [{ kind: "conductor", message }] });
  expect(await frontEnd.why(ANNA, 2)).toMatchObject({
    obstacles: [{ kind: "held" }, { kind: "conductor", message }],
  });
  bench.machine.connect();
  clock.settle();
  expect(asSent(frontEnd.status().conductor)).not.toHaveProperty("silentMs");
  expect(await frontEnd.why(ANNA, 1)).toMatchObject({ obstacles: [] });
});

describe("jobs that outlive their estimates", () => {
  test.each(["easy", "conservative", "dynp", "connected-reservation"])(
    "%s goes on deciding",
    async (policy) => {
      const bench = makeBench({ config: { policy }, runMs: (job) => (job <= 2 ? 60_000 : 1000) });
      for (let i = 0; i < 8; i++) await submit(bench, { tasks: 1 + (i % 4), limitMs: 1000 * (1 + i) });
      runToEnd(bench.clock);
      expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(Array(8).fill("done"));
      expect(bench.machine.launched).toHaveLength(8);
      expect(bench.frontEnd.policy().policy).toBe(policy);
    },
  );
});
