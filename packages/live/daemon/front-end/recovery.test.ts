/**
 * Kills the front end before and after every commit of a run, and lets the next one continue from disk. The
 * conductor also goes away, comes back, or is restarted with the machine. No accepted job may be lost, and
 * none may run twice.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { NodeCpus } from "@tutti/kernel/core/machine.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { Store } from "../store/store.ts";
import { FakeMachine } from "./fake-machine-for-tests.ts";
import {
  ANNA,
  answerOf,
  asSent,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "./front-end-for-tests.ts";

// In memory if possible: the test makes thousands of commits and need not survive a power failure.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-recovery-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const newPath = (): string => join(folder, `${++files}.db`);

class Crash extends Error {}

/** A store that is killed at its commit number `at`, before or after it is on disk. */
class CrashingStore extends Store {
  #commits = 0;
  readonly #at: number;
  readonly #after: boolean;

  constructor(path: string, at: number, after: boolean) {
    super(path, 0);
    this.#at = at;
    this.#after = after;
  }

  override commit(): void {
    const dies = ++this.#commits === this.#at;
    if (dies && !this.#after) throw new Crash("before the commit");
    super.commit();
    if (dies) throw new Crash("after the commit");
  }

  get hasCrashed(): boolean {
    return this.#commits >= this.#at;
  }
}

const WORK: readonly Partial<SubmitJob>[] = [
  { tasks: 2, limitMs: 900 },
  { tasks: 3, limitMs: 2000 },
  { tasks: 1, after: [{ job: 1, ok: true }] },
  { tasks: 4, limitMs: 700 },
  { tasks: 1, held: true },
];

/** Submits jobs one by one with keys, as a client does that repeats a request until it is answered. */
async function submitAll(bench: Bench, from: Map<string, number>): Promise<void> {
  for (const [i, fields] of WORK.entries()) {
    const key = `job ${i}`;
    if (from.has(key)) continue;
    const answer = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request(fields)], key));
    if ("refused" in answer) return;
    from.set(key, answer.jobs[0].job);
    bench.clock.advanceTo(bench.clock.nowMs() + 125);
  }
}

describe.each(["fcfs", "conservative", "gang", "brms"])(
  "a front end that dies at any commit under %s",
  (policy) => {
    const slotted = policy === "gang" || policy === "brms";
    const options: BenchOptions = { config: { policy }, slotted, runMs: (job) => 250 * job };

    test.each([false, true])("after the commit: %s", async (after) => {
      let crashes = 0;
      for (let at = 1; at < 200; at++) {
        const path = newPath();
        const store = new CrashingStore(path, at, after);
        const first = makeBench({ ...options, store });
        const accepted = new Map<string, number>();
        await submitAll(first, accepted);
        runToEnd(first.clock, 3000);
        first.kill();
        if (store.hasCrashed) crashes++;
        const second = makeBench({ ...options, path, clock: first.clock, machine: first.machine });
        await submitAll(second, accepted);
        await answerOf(second.clock, second.frontEnd.release(ANNA, accepted.get("job 4")!));
        runToEnd(second.clock);
        const jobs = second.frontEnd.jobs(ROOT, {});
        expect(jobs.map(({ state }) => state)).toEqual(WORK.map(() => "done"));
        expect([...accepted.values()].sort()).toEqual(jobs.map(({ job }) => job));
        expect(new Set(first.machine.launched).size).toBe(WORK.length);
        expect(first.machine.launched).toHaveLength(WORK.length);
        second.kill();
        if (!store.hasCrashed) break;
      }
      expect(crashes).toBeGreaterThan(8);
    });
  },
);

/** A front end that was killed after it had started jobs. */
async function runningThenGone(
  retries = 0,
): Promise<{ clock: FakeClock; machine: FakeMachine; path: string }> {
  const path = newPath();
  const bench = makeBench({ config: { policy: "fcfs" }, runMs: () => 10_000, path });
  for (const tasks of [1, 3, 2]) {
    await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks, retries })]));
  }
  bench.clock.advanceTo(1000);
  bench.kill();
  return { clock: bench.clock, machine: bench.machine, path };
}

const states = ({ frontEnd }: Bench) => frontEnd.jobs(ROOT, {}).map(({ state }) => state);

describe("what the conductor tells the next front end", () => {
  const config = { policy: "fcfs" };

  test("running jobs continue with their CPUs and running times", async () => {
    const past = await runningThenGone();
    const bench = makeBench({ ...past, config, connected: false });
    expect(states(bench)).toEqual(["running", "running", "queued"]);
    expect(await bench.frontEnd.why(ANNA, 3)).toMatchObject({ obstacles: [{ kind: "conductor" }] });
    past.machine.connect();
    bench.clock.settle();
    expect(bench.frontEnd.jobs(ROOT, {}).map(({ cpus }) => cpus)).toEqual([[0], [1, 2, 3], []]);
    expect(past.machine.matrix?.rows).toEqual([
      [
        { job: 1, attempt: 1, nodes: [{ node: "localhost", cpus: [0] }] },
        { job: 2, attempt: 1, nodes: [{ node: "localhost", cpus: [1, 2, 3] }] },
      ],
    ]);
    runToEnd(bench.clock);
    expect(states(bench)).toEqual(["done", "done", "done"]);
    expect(past.machine.launched).toEqual(["1/1", "2/1", "3/1"]);
  });

  test("jobs that ended in the meantime get their exit codes", async () => {
    const past = await runningThenGone();
    past.machine.end({ job: 1, attempt: 1 }, "none", { code: 7 });
    past.machine.end({ job: 2, attempt: 1 }, "none", { code: 0 });
    const bench = makeBench({ ...past, config });
    expect(bench.frontEnd.job(ROOT, 1)).toMatchObject({ state: "failed", code: 7, reason: "exit code 7" });
    expect(states(bench)).toEqual(["failed", "done", "running"]);
    // The executor keeps no ended attempt that the store has.
    expect([...past.machine.attempts.keys()]).toEqual(["3/1"]);
  });

  test.each([0, 1])("after a reboot they are lost, and restarted %i times", async (retries) => {
    const past = await runningThenGone(retries);
    past.machine.reboot();
    const bench = makeBench({ ...past, config, bootId: "another" });
    expect(states(bench)).toEqual(
      retries === 0 ? ["failed", "failed", "running"] : ["running", "running", "queued"],
    );
    runToEnd(bench.clock);
    expect(past.machine.launched).toEqual(
      retries === 0 ? ["1/1", "2/1", "3/1"] : ["1/1", "2/1", "1/2", "2/2", "3/1"],
    );
  });

  test("a conductor that has forgotten its attempts is asked to launch them again, which runs nothing twice", async () => {
    const past = await runningThenGone();
    past.machine.reboot();
    const bench = makeBench({ ...past, config });
    runToEnd(bench.clock);
    expect(past.machine.launched).toEqual(["1/1", "2/1", "3/1"]);
    expect(states(bench)).toEqual(["failed", "failed", "done"]);
  });

  test("a cancel request survives the front end and the connection", async () => {
    const past = await runningThenGone();
    const bench = makeBench({ ...past, config });
    past.machine.disconnect();
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
    expect(states(bench)[0]).toBe("ending");
    bench.kill();
    const next = makeBench({ ...past, config });
    expect(states(next)[0]).toBe("cancelled");
  });
});

describe("a disk that refuses", () => {
  class FullStore extends Store {
    isFull = false;
    override commit(): void {
      if (this.isFull) throw new Error("database or disk is full");
      super.commit();
    }
  }

  test.each(["fcfs", "gang"])(
    "requests are refused and jobs go on, until there is room again (%s)",
    async (policy) => {
      const store = new FullStore(":memory:", 0);
      const bench = makeBench({ config: { policy }, slotted: policy === "gang", runMs: () => 2000, store });
      for (let i = 0; i < 3; i++)
        await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request({ tasks: 4 })]));
      bench.clock.advanceTo(500);
      const before = bench.frontEnd.jobs(ROOT, {});
      store.isFull = true;
      const refused = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request()]));
      expect(refused).toMatchObject({ refused: "unavailable" });
      const cancelled = await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 3));
      expect(cancelled).toMatchObject({ refused: "unavailable" });
      expect(bench.frontEnd.status()).toMatchObject({ trouble: "database or disk is full" });
      bench.clock.advanceTo(8000);
      expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(
        before.map(({ state }) => state),
      );
      store.isFull = false;
      runToEnd(bench.clock);
      expect(bench.frontEnd.jobs(ROOT, {}).map(({ state }) => state)).toEqual(["done", "done", "done"]);
      expect(bench.machine.launched).toEqual(["1/1", "2/1", "3/1"]);
      expect(asSent(bench.frontEnd.status())).not.toHaveProperty("trouble");
      expect(bench.frontEnd.status().counts).toMatchObject({ done: 3, queued: 0, running: 0, cancelled: 0 });
      // Numbers that were refused are given again.
      const next = await answerOf(bench.clock, bench.frontEnd.submit(ANNA, [request()]));
      expect(next).toMatchObject({ jobs: [{ job: 4 }] });
    },
  );
});

describe("anything, in any order", () => {
  type Step =
    | { readonly kind: "submit"; readonly fields: Partial<SubmitJob> }
    | { readonly kind: "cancel" | "hold" | "release" | "requeue" | "priority"; readonly job: number }
    | { readonly kind: "policy"; readonly policy: string }
    | { readonly kind: "pass"; readonly ms: number }
    | { readonly kind: "kill" | "disconnect" | "connect" };

  const job = fc.integer({ min: 1, max: 12 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant("submit" as const),
        fields: fc.record({
          tasks: fc.integer({ min: 1, max: 4 }),
          limitMs: fc.integer({ min: 1, max: 20 }).map((n) => n * 125),
          retries: fc.integer({ min: 0, max: 2 }),
          priority: fc.integer({ min: -2, max: 0 }),
          memoryBytes: fc.integer({ min: 1, max: 1000 }),
        }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          "cancel" as const,
          "hold" as const,
          "release" as const,
          "requeue" as const,
          "priority" as const,
        ),
        job,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("policy" as const),
        policy: fc.constantFrom(
          "fcfs",
          "easy",
          "conservative",
          "connected-reservation",
          "gang",
          "gang:unify=returned",
          "br",
          "brmms",
          "random",
          "buddy",
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 1500 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom("kill" as const, "disconnect" as const, "connect" as const),
      }),
    },
  );

  test("every accepted job ends, no attempt runs twice, no CPU is given twice in a row", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const clock = new FakeClock();
        const options: BenchOptions = {
          config: { policy: "gang", slotMs: 125, maxRows: 3 },
          clock,
          machine: new FakeMachine({ clock, runMs: (number) => 125 * (number % 7), slotMs: 125 }),
          path: newPath(),
          memoryBytes: 1500,
        };
        let bench = makeBench(options);
        let accepted = 0;
        for (const one of steps) {
          const { frontEnd } = bench;
          if (one.kind === "submit") {
            const answer = await answerOf(clock, frontEnd.submit(ROOT, [request(one.fields)]));
            if (!("refused" in answer)) accepted++;
          } else if (one.kind === "policy") await answerOf(clock, frontEnd.setPolicy(ROOT, one.policy));
          else if (one.kind === "pass") clock.advanceTo(clock.nowMs() + one.ms);
          else if (one.kind === "connect") bench.machine.connect();
          else if (one.kind === "disconnect") bench.machine.disconnect();
          else if (one.kind === "kill") {
            bench.kill();
            bench = makeBench(options);
          } else if (one.kind === "priority") await answerOf(clock, frontEnd.setPriority(ROOT, one.job, 1));
          else if ("job" in one) await answerOf(clock, frontEnd[one.kind](ROOT, one.job));
          clock.settle();
          checkMatrix(bench);
        }
        bench.machine.connect();
        for (let number = 1; number <= accepted; number++) {
          await answerOf(clock, bench.frontEnd.release(ROOT, number));
        }
        for (let i = 0; i < 400 && clock.nextMs() < Number.POSITIVE_INFINITY; i++) {
          clock.advanceTo(clock.nextMs());
          checkMatrix(bench);
        }
        const jobs = bench.frontEnd.jobs(ROOT, {});
        expect(jobs.map((info) => info.job)).toEqual(Array.from({ length: accepted }, (_, i) => i + 1));
        expect(jobs.filter(({ state }) => !isEnded(state))).toEqual([]);
        const { launched } = bench.machine;
        expect(new Set(launched).size).toBe(launched.length);
        const started = jobs.flatMap((info) =>
          Array.from({ length: info.attempt }, (_, i) => `${info.job}/${i + 1}`),
        );
        expect([...launched].sort()).toEqual(started.sort());
        bench.kill();
      }),
      { numRuns: 150 },
    );
  });
});

function checkMatrix({ frontEnd, machine }: Bench): void {
  const cpusOf = new Map<number, string>();
  for (const row of machine.matrix?.rows ?? []) {
    const taken = row.flatMap(({ nodes }) => cpuNames(nodes));
    expect(new Set(taken).size).toBe(taken.length);
    for (const { job, nodes } of row) {
      const cpus = cpuNames(nodes);
      expect(cpusOf.get(job) ?? String(cpus)).toBe(String(cpus));
      cpusOf.set(job, String(cpus));
      const info = frontEnd.job(ROOT, job);
      if (machine.connected && !("refused" in info) && !isEnded(info.state)) {
        expect(cpus.length).toBeGreaterThanOrEqual(info.tasks);
      }
    }
  }
}

function cpuNames(nodes: readonly NodeCpus[]): string[] {
  return nodes.flatMap(({ node, cpus }) => cpus.map((cpu) => `${node}/${cpu}`));
}
