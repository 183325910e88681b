/**
 * Tests a store that is older than running attempts and folders in `jobs/`: nothing is killed, claimed or run
 * twice.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, describe, expect, test } from "vitest";
import { FakeMachine, type FakeMachineOptions } from "../front-end/fake-machine-for-tests.ts";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  type BenchOptions,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-strays-"));
afterAll(() => rmSync(folder, { recursive: true }));
let names = 0;
const newName = (): string => join(folder, String(++names));

const LONG_MS = 10_000;

/** A scheduler on a machine that outlives it. */
class Lives {
  readonly clock = new FakeClock();
  readonly machine: FakeMachine;
  jobsFolder = newName();
  path = newName();

  constructor(options: Partial<FakeMachineOptions> = {}) {
    this.machine = new FakeMachine({ clock: this.clock, runMs: () => LONG_MS, ...options });
  }

  start(options: BenchOptions = {}): Bench {
    const { clock, machine, path, jobsFolder } = this;
    return makeBench({ config: { policy: "fcfs" }, clock, machine, path, jobsFolder, ...options });
  }

  /** The content of a backup at this moment; the front end must have ended. */
  backup(): string {
    const copy = newName();
    for (const name of readdirSync(folder).filter((one) => join(folder, one).startsWith(`${this.path}`))) {
      copyFileSync(join(folder, name), join(folder, name).replace(this.path, copy));
    }
    return copy;
  }
}

async function submit({ clock, frontEnd }: Bench, fields: Partial<SubmitJob> = {}): Promise<number> {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request({ cwd: "/tmp", ...fields })]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

const stateOf = ({ frontEnd }: Bench, job: number) => frontEnd.job(ROOT, job);
const stops = ({ sent }: FakeMachine) => sent.filter(({ type }) => type === "stop");

function eventsOf({ frontEnd }: Bench, kind: DaemonEvent["kind"], caller = ROOT): DaemonEvent[] {
  const events: DaemonEvent[] = [];
  frontEnd.listen(caller, 0, (event) => {
    if (event.kind === kind) events.push(event);
  })();
  return events;
}

describe("attempts that run and that the store does not know", () => {
  /** Anna's jobs 1 and 2 run, and the store was removed. */
  async function withoutStore(options: Partial<FakeMachineOptions> = {}) {
    const lives = new Lives(options);
    const before = lives.start();
    await submit(before, { command: ["sleep", "5000"] });
    await submit(before);
    before.kill();
    lives.path = newName();
    return lives;
  }

  test("hold no units: the store does not know what they had, so other jobs get it", async () => {
    const resources = [{ name: "gpu", units: ["0"], isShared: false, variables: [] }];
    const lives = new Lives();
    const before = lives.start({ config: { policy: "easy", resources } });
    await submit(before, { use: { gpu: 1 } });
    before.kill();
    lives.path = newName();
    const bench = lives.start({ config: { policy: "easy", resources } });
    expect(bench.frontEnd.strays(ROOT)).toHaveLength(1);
    expect(bench.frontEnd.status(ROOT)).toMatchObject({ resources: [{ name: "gpu", held: 0 }] });
    const job = await submit(bench, { use: { gpu: 1 } });
    expect(stateOf(bench, job)).toMatchObject({ state: "running", units: { gpu: ["0"] } });
  });

  test("are kept, and shown to their owner and to administrators", async () => {
    const lives = await withoutStore();
    const bench = lives.start();
    expect(lives.machine.attempts.size).toBe(2);
    expect(stops(lives.machine)).toEqual([]);
    const kept = lives.machine.sent.filter(({ type }) => type === "keep");
    expect(kept).toMatchObject([
      { attempt: { job: 1, attempt: 1 }, identity: expect.stringMatching(/^[0-9a-f]{32}$/) },
      { attempt: { job: 2, attempt: 1 } },
    ]);
    expect(bench.frontEnd.strays(ROOT)).toMatchObject([
      { job: 1, attempt: 1, uid: ANNA.uid, state: "running", command: ["sleep", "5000"], cwd: "/tmp" },
      { job: 2 },
    ]);
    expect(bench.frontEnd.strays(ANNA)).toHaveLength(2);
    expect(bench.frontEnd.strays(BEN)).toEqual([]);
    expect(eventsOf(bench, "recovered", BEN)).toEqual([]);
    expect(eventsOf(bench, "recovered", ANNA)).toMatchObject([
      { job: 1, data: { stray: true, command: "sleep 5000" } },
      { job: 2 },
    ]);
    // Like jobs, they keep the scheduler from ending.
    expect(bench.frontEnd.runningCount()).toBe(2);
  });

  test("keep running when the conductor connects again, and are reported once", async () => {
    const lives = await withoutStore();
    const bench = lives.start();
    lives.machine.disconnect();
    lives.machine.connect();
    bench.clock.settle();
    expect(bench.frontEnd.strays(ROOT)).toHaveLength(2);
    expect(eventsOf(bench, "recovered", ANNA)).toHaveLength(2);
    expect(lives.machine.sent.filter(({ type }) => type === "keep")).toHaveLength(4);
  });

  test("end with an event, after which they are forgotten", async () => {
    const lives = await withoutStore();
    const bench = lives.start();
    lives.machine.end({ job: 1, attempt: 1 }, "none", { code: 3 });
    bench.clock.settle();
    expect([...lives.machine.attempts.keys()]).toEqual(["2/1"]);
    expect(eventsOf(bench, "ended")).toMatchObject([
      { job: 1, user: expect.any(String), data: { attempt: 1, stray: true, code: 3, reason: "exit code 3" } },
    ]);
    expect(eventsOf(bench, "ended", BEN)).toEqual([]);
    expect(bench.frontEnd.strays(ROOT)).toMatchObject([{ job: 2 }]);
  });

  test("that ended while no front end was connected are reported, too", async () => {
    const lives = await withoutStore();
    lives.machine.end({ job: 2, attempt: 1 }, "none", { signal: "SIGSEGV" });
    const bench = lives.start();
    expect(eventsOf(bench, "ended")).toMatchObject([{ job: 2, data: { reason: "ended by SIGSEGV" } }]);
    expect([...lives.machine.attempts.keys()]).toEqual(["1/1"]);
  });

  test("can be cancelled only by their owner or an administrator", async () => {
    const lives = await withoutStore();
    const { clock, frontEnd } = lives.start();
    expect(await answerOf(clock, frontEnd.cancel(BEN, 1))).toMatchObject({ refused: "not-found" });
    expect(stops(lives.machine)).toEqual([]);
    const answer = await answerOf(clock, frontEnd.cancel(ANNA, 1));
    expect(answer).toMatchObject({ job: 1, state: "ending", command: ["sleep", "5000"] });
    expect(stops(lives.machine)).toMatchObject([
      { attempt: { job: 1, attempt: 1 }, identity: expect.any(String), kill: false },
    ]);
    await answerOf(clock, frontEnd.cancel(ROOT, 2));
    expect(frontEnd.strays(ROOT)).toEqual([]);
    expect(lives.machine.attempts.size).toBe(0);
  });

  test("do not affect a job that has their number", async () => {
    const lives = await withoutStore();
    // Their folders are gone, too.
    lives.jobsFolder = newName();
    const bench = lives.start({ connected: false });
    // The conductor is not connected yet, so the front end does not know that the number is in use.
    expect(await submit(bench, { command: ["new"] })).toBe(1);
    lives.machine.connect();
    bench.clock.settle();
    expect(stateOf(bench, 1)).toMatchObject({ state: "held", attempt: 0, command: ["new"] });
    expect(stateOf(bench, 1)).toMatchObject({
      reason: expect.stringMatching(/attempt 1 of this job is already running/),
    });
    lives.machine.end({ job: 1, attempt: 1 }, "none", { code: 0 });
    bench.clock.settle();
    expect(stateOf(bench, 1)).toMatchObject({ state: "held", attempt: 0 });
  });
});

describe("a report about an attempt with another identity", () => {
  test("is ignored", async () => {
    const lives = new Lives();
    const bench = lives.start();
    const job = await submit(bench);
    const before = stateOf(bench, job);
    const [{ spec }] = [...lives.machine.attempts.values()];
    for (const identity of [undefined, "0".repeat(32)]) {
      const end = { job, attempt: 1, ...(identity && { identity }), reason: "none", code: 0 } as const;
      lives.machine.report({ type: "ended", end: { ...end, endedAtMs: 1, ranMs: 1 } });
      bench.clock.settle();
      expect(stateOf(bench, job)).toEqual(before);
      // The right attempt is not forgotten because of it.
      const forgets = lives.machine.sent.filter(({ type }) => type === "forget");
      expect(forgets.at(-1)).toEqual({
        type: "forget",
        attempt: { job, attempt: 1 },
        ...(identity && { identity }),
      });
    }
    expect(spec.identity).toMatch(/^[0-9a-f]{32}$/);
    lives.machine.end({ job, attempt: 1 }, "none", { code: 0 });
    bench.clock.settle();
    expect(stateOf(bench, job)).toMatchObject({ state: "done" });
  });

  test("the identity survives the front end, and every launch of the attempt has it", async () => {
    const lives = new Lives();
    const before = lives.start();
    const job = await submit(before);
    before.kill();
    lives.machine.reboot();
    lives.machine.launched.length = 0;
    const bench = lives.start();
    const launches = lives.machine.sent.filter((message) => message.type === "launch");
    expect(launches).toHaveLength(2);
    expect(launches[1].spec.identity).toBe(launches[0].spec.identity);
    runToEnd(bench.clock);
    expect(stateOf(bench, job)).toMatchObject({ state: "done" });
  });
});

describe("jobs that wait in the store and were started already", () => {
  /** Job 2 was started after the backup was made, and the backup is restored. */
  async function putBack(retries = 0) {
    const lives = new Lives();
    const first = lives.start();
    await submit(first, { tasks: 4, retries });
    await submit(first, { tasks: 4, retries });
    first.kill();
    const backup = lives.backup();
    const second = lives.start();
    lives.machine.end({ job: 1, attempt: 1 }, "none", { code: 0 });
    second.clock.settle();
    lives.machine.claim({ job: 2, attempt: 1 });
    return { lives, backup, second };
  }

  test("are held with the reason if they have ended since; release starts them again with another number", async () => {
    const { lives, backup, second } = await putBack();
    lives.machine.end({ job: 2, attempt: 1 }, "none", { code: 0 });
    second.clock.settle();
    second.kill();
    lives.path = backup;
    const bench = lives.start();
    runToEnd(bench.clock);
    expect(stateOf(bench, 2)).toMatchObject({
      state: "held",
      reason: expect.stringMatching(/^attempt 1 of this job was already started, .* release the job/),
    });
    expect(await bench.frontEnd.why(ANNA, 2)).toMatchObject({
      obstacles: [{ kind: "held", reason: expect.stringContaining("was already started") }],
    });
    expect(lives.machine.launched).toEqual(["1/1", "2/1"]);
    expect(await answerOf(bench.clock, bench.frontEnd.release(ANNA, 2))).toMatchObject({ attempt: 1 });
    runToEnd(bench.clock);
    expect(stateOf(bench, 2)).toMatchObject({ state: "done", attempt: 2, reason: "exit code 0" });
    expect(lives.machine.launched).toEqual(["1/1", "2/1", "2/2"]);
  });

  test("are held while they run, too, and stay held over restarts", async () => {
    const { lives, backup, second } = await putBack();
    second.kill();
    lives.path = backup;
    const again = lives.start();
    expect(stateOf(again, 2)).toMatchObject({ state: "held" });
    expect(again.frontEnd.strays(ROOT)).toMatchObject([{ job: 2 }]);
    again.kill();
    const bench = lives.start();
    expect(eventsOf(bench, "held")).toHaveLength(1);
    // Cancel applies to both the job and its running attempt.
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 2));
    expect(stateOf(bench, 2)).toMatchObject({ state: "cancelled" });
    expect(lives.machine.attempts.size).toBe(0);
  });

  test("a released one is not held again at the next start", async () => {
    const { lives, backup, second } = await putBack();
    second.kill();
    lives.path = backup;
    const again = lives.start({ connected: true });
    lives.machine.disconnect();
    await answerOf(again.clock, again.frontEnd.release(ANNA, 2));
    again.kill();
    const bench = lives.start();
    runToEnd(bench.clock);
    expect(stateOf(bench, 2)).toMatchObject({ state: "done", attempt: 2 });
  });

  test("a job that should be restarted is held if a later attempt was there", async () => {
    const lives = new Lives();
    const first = lives.start();
    await submit(first, { retries: 5 });
    first.kill();
    const backup = lives.backup();
    const second = lives.start();
    await answerOf(second.clock, second.frontEnd.requeue(ANNA, 1));
    second.clock.settle();
    lives.machine.claim({ job: 1, attempt: 2 });
    second.kill();
    lives.path = backup;
    const bench = lives.start();
    // The conductor reports that attempt 1 is gone; attempt 2 runs.
    expect(stateOf(bench, 1)).toMatchObject({ state: "held", attempt: 1 });
    expect(bench.frontEnd.strays(ROOT)).toMatchObject([{ job: 1, attempt: 2, state: "running" }]);
    expect(lives.machine.launched).toEqual(["1/1", "1/2"]);
  });

  test("a folder that a killed front end left before its commit does not count as a start", async () => {
    const lives = new Lives();
    const first = lives.start({ connected: false });
    await submit(first);
    first.kill();
    const backup = lives.backup();
    const second = lives.start();
    expect(readdirSync(join(lives.jobsFolder, "1", "1"))).toEqual(["hosts"]);
    second.kill();
    lives.machine.reboot();
    lives.path = backup;
    lives.machine.launched.length = 0;
    const bench = lives.start();
    runToEnd(bench.clock);
    expect(stateOf(bench, 1)).toMatchObject({ state: "done", attempt: 1 });
  });
});

test("an attempt whose folder was removed is lost and does not run twice", async () => {
  const lives = new Lives();
  const first = lives.start();
  await submit(first);
  first.kill();
  lives.machine.reboot();
  rmSync(lives.jobsFolder, { recursive: true });
  const bench = lives.start();
  expect(stateOf(bench, 1)).toMatchObject({ state: "failed", reason: expect.stringMatching(/^lost: /) });
  expect(lives.machine.launched).toEqual(["1/1"]);
});
