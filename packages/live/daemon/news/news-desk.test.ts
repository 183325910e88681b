/** Tests when hooks run, how many at a time, what is tried again, and that no kill loses news. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HookResult, HookTask } from "@tutti/protocol/news/runner.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  ANNA,
  answerOf,
  BEN,
  type Bench,
  makeBench,
  ROOT,
  request,
  runToEnd,
} from "../front-end/front-end-for-tests.ts";
import { Store } from "../store/store.ts";
import { findSendmail } from "./sendmail.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-news-"));
afterAll(() => rmSync(folder, { recursive: true }));
const hasSendmail = findSendmail() !== undefined;

/** Takes tasks, and ends them when the test says so. */
class Runner {
  tasks: HookTask[] = [];
  #onResult: (result: HookResult) => void = () => {};

  startIn({ frontEnd, clock }: Bench): this {
    frontEnd.news.start((onResult) => {
      this.#onResult = onResult;
      return { run: (task) => this.tasks.push(task), close: () => {} };
    });
    clock.settle();
    return this;
  }

  /** What the tasks would run, as words. */
  get names(): string[] {
    return this.tasks.map(
      ({ data, command, url, mail }) => `${data.TUTTI_JOB} ${url ?? mail?.sendmail ?? command!.at(-1)}`,
    );
  }

  endAll({ clock }: Bench, result: Partial<HookResult> = {}): void {
    for (const { id } of this.tasks.splice(0))
      this.#onResult({ id, state: "done", text: "exit code 0", ...result });
    clock.settle();
  }
}

async function submit(bench: Bench, fields: Partial<SubmitJob>, caller = ANNA): Promise<number> {
  const answer = await answerOf(bench.clock, bench.frontEnd.submit(caller, [request(fields)]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0].job;
}

function jobOf({ frontEnd }: Bench, job: number): Job {
  const info = frontEnd.job(ROOT, job);
  if ("refused" in info) throw new Error(info.message);
  return info;
}

const ALL = { onStart: "s", onEnd: "e", onFail: "f" } as const;

describe("which hooks run", () => {
  test.each([
    [{ code: 0 }, ["1 s", "1 e"]],
    [{ code: 3 }, ["1 s", "1 e", "1 f"]],
    [{ signal: "SIGSEGV" }, ["1 s", "1 e", "1 f"]],
  ])("a job that ends with %j", async (end, names) => {
    const bench = makeBench({ ends: () => end });
    const runner = new Runner().startIn(bench);
    await submit(bench, ALL);
    runToEnd(bench.clock, 2000);
    expect(runner.names).toEqual(names);
  });

  test("a job that is cancelled while it waits has ended, and never began", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { ...ALL, held: true });
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, job));
    expect(runner.names).toEqual(["1 e"]);
    expect(runner.tasks[0].data).toMatchObject({ TUTTI_JOB_STATE: "cancelled", TUTTI_EVENT: "end" });
  });

  test("each attempt begins, and the job ends once", async () => {
    const bench = makeBench({ ends: (_, attempt) => ({ code: attempt === 1 ? 7 : 0 }) });
    const runner = new Runner().startIn(bench);
    await submit(bench, { ...ALL, retries: 1, retryOn: ["fail"] });
    runToEnd(bench.clock, 60_000);
    expect(runner.names).toEqual(["1 s", "1 s", "1 e"]);
    expect(runner.tasks.map(({ data }) => data.TUTTI_ATTEMPT)).toEqual(["1", "2", "2"]);
  });

  test("what users chose is data, never part of a command", async () => {
    const bench = makeBench({ ends: () => ({ code: 9 }) });
    const runner = new Runner().startIn(bench);
    const name = "$(touch pwned); `touch pwned`\n-";
    await submit(bench, { onFail: "report", name });
    runToEnd(bench.clock, 2000);
    const [{ command, data, account }] = runner.tasks;
    expect(command).toEqual(["/bin/sh", "-c", "report"]);
    expect(account?.user).toBe("anna");
    expect(data).toMatchObject({
      TUTTI_JOB: "1",
      TUTTI_JOB_NAME: name,
      TUTTI_EVENT: "fail",
      TUTTI_EXIT_CODE: "9",
      TUTTI_JOB_STATE: "failed",
    });
  });

  test("a webhook gets the events in notify, by default the end", async () => {
    const bench = makeBench({ ends: () => ({ code: 1 }) });
    const runner = new Runner().startIn(bench);
    await submit(bench, { webhook: "http://h/1" });
    await submit(bench, { webhook: "http://h/2", notify: ["start", "fail"] });
    runToEnd(bench.clock, 2000);
    expect(runner.tasks.map(({ data }) => `${data.TUTTI_JOB} ${data.TUTTI_EVENT}`).sort()).toEqual([
      "1 end",
      "2 fail",
      "2 start",
    ]);
  });

  test("hooks of the machine run without an account, for jobs of all users", async () => {
    const hooks = { jobs: false, onEnd: ["/bin/ended", "-v"] };
    const bench = makeBench({ config: { hooks } });
    const runner = new Runner().startIn(bench);
    await submit(bench, {});
    await submit(bench, {}, BEN);
    runToEnd(bench.clock, 2000);
    expect(runner.tasks.map(({ command, account }) => [command, account])).toEqual([
      [hooks.onEnd, undefined],
      [hooks.onEnd, undefined],
    ]);
  });

  test("administrators turn hooks of jobs off, also those of jobs that wait", async () => {
    const path = join(folder, "off.db");
    const before = makeBench({ path });
    await submit(before, { onEnd: "e", held: true });
    before.kill();
    const bench = makeBench({ path, config: { hooks: { jobs: false } } });
    const runner = new Runner().startIn(bench);
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, 1));
    expect(runner.tasks).toEqual([]);
    await expect(submit(bench, { onEnd: "e" })).rejects.toThrow("the administrator has turned them off");
    await expect(submit(bench, { webhook: "http://h/" })).rejects.toThrow("turned them off");
  });
});

describe("delivery", () => {
  test("at most four of a user run at a time; another user's do not wait for them", async () => {
    const bench = makeBench({ cpus: 16 });
    const runner = new Runner().startIn(bench);
    for (let i = 0; i < 6; i++) await submit(bench, { onEnd: "hangs" });
    for (let i = 0; i < 2; i++) await submit(bench, { onEnd: "quick" }, BEN);
    runToEnd(bench.clock, 2000);
    expect(runner.names.filter((name) => name.endsWith("hangs"))).toHaveLength(4);
    expect(runner.names.filter((name) => name.endsWith("quick"))).toHaveLength(2);
    runner.endAll(bench);
    expect(runner.names).toHaveLength(2);
  });

  test("a webhook that is not reached is tried again after 5 s, 30 s, 2 min, 10 min and 1 h", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { webhook: "http://h/" });
    runToEnd(bench.clock, 1001);
    const ids = new Set<string>();
    let atMs = bench.clock.nowMs();
    for (const waitMs of [5_000, 30_000, 120_000, 600_000, 3_600_000]) {
      expect(runner.tasks).toHaveLength(1);
      ids.add(runner.tasks[0].id);
      runner.endAll(bench, { state: "failed", text: "refused" });
      expect(jobOf(bench, job).news).toMatchObject([{ state: "waiting" }]);
      atMs += waitMs;
      bench.clock.advanceTo(atMs - 1);
      expect(runner.tasks).toHaveLength(0);
      bench.clock.advanceTo(atMs + 1);
      atMs = bench.clock.nowMs();
    }
    expect([...ids]).toEqual([runner.tasks[0].id]);
    runner.endAll(bench, { state: "failed", text: "refused" });
    expect(jobOf(bench, job).news).toMatchObject([{ state: "failed", text: "refused" }]);
    runToEnd(bench.clock, atMs + 100_000_000);
    expect(runner.tasks).toHaveLength(0);
  });

  test("neither a command nor a refused address is tried again", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    await submit(bench, { onEnd: "e" });
    await submit(bench, { webhook: "http://h/" });
    runToEnd(bench.clock, 2000);
    runner.endAll(bench, { state: "failed", text: "no", isFinal: true });
    runToEnd(bench.clock, 10_000_000);
    expect(runner.tasks).toHaveLength(0);
    expect(jobOf(bench, 1).news).toMatchObject([{ hook: "onEnd", state: "failed", text: "no" }]);
  });

  test("a kill before the outcome is noted runs the hook again, with the same id; after it, not", async () => {
    const path = join(folder, "killed.db");
    const first = makeBench({ path });
    const before = new Runner().startIn(first);
    await submit(first, { onEnd: "e" });
    runToEnd(first.clock, 2000);
    const [{ id }] = before.tasks;
    first.kill();
    const second = makeBench({ path, clock: first.clock, machine: first.machine });
    const between = new Runner().startIn(second);
    expect(between.tasks.map((task) => task.id)).toEqual([id]);
    between.endAll(second);
    second.kill();
    const third = makeBench({ path, clock: first.clock, machine: first.machine });
    expect(new Runner().startIn(third).tasks).toEqual([]);
    expect(jobOf(third, 1).news).toMatchObject([{ hook: "onEnd", id, state: "done", text: "exit code 0" }]);
  });

  test("a cycle that is rolled back tells nobody", async () => {
    const store = new Store(":memory:", 0);
    const bench = makeBench({ store });
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { onEnd: "e", held: true });
    const { commit } = store;
    let refusals = 0;
    store.commit = () => {
      if (refusals++ === 0) throw new Error("the disk is full");
      commit.call(store);
    };
    const answer = await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, job));
    expect(answer).toMatchObject({ refused: "unavailable" });
    runToEnd(bench.clock, 5000);
    expect(runner.tasks).toEqual([]);
    await answerOf(bench.clock, bench.frontEnd.cancel(ANNA, job));
    expect(runner.names).toEqual([`${job} e`]);
  });

  test("an outcome that the disk refuses is noted later, and the hook does not run again", async () => {
    const store = new Store(":memory:", 0);
    const bench = makeBench({ store });
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { onEnd: "e" });
    runToEnd(bench.clock, 2000);
    const { tryTransaction } = store;
    let refusals = 0;
    store.tryTransaction = (write) => refusals++ > 0 && tryTransaction.call(store, write);
    runner.endAll(bench);
    expect(jobOf(bench, job).news).toMatchObject([{ state: "waiting" }]);
    runToEnd(bench.clock, bench.clock.nowMs() + 5000);
    expect(jobOf(bench, job).news).toMatchObject([{ state: "done" }]);
    expect(runner.tasks).toEqual([]);
  });

  test("a job that is forgotten leaves no outcome", async () => {
    const bench = makeBench({ config: { keepJobs: 1 } });
    const runner = new Runner().startIn(bench);
    for (let i = 0; i < 3; i++) await submit(bench, { onEnd: "e" });
    runToEnd(bench.clock, 2000);
    runner.endAll(bench);
    while (bench.frontEnd.retention.step());
    expect([1, 2, 3].map((job) => bench.store.news.outcomesOf(job).length)).toEqual([0, 0, 1]);
    expect(bench.store.news.turns()).toEqual([]);
  });
});

describe("mail", () => {
  const sendmail = join(folder, "sendmail");
  const { PATH } = process.env;
  beforeEach(() => {
    writeFileSync(sendmail, "#!/bin/sh\n", { mode: 0o755 });
    process.env.PATH = `relative:${folder}`;
  });
  afterEach(() => {
    process.env.PATH = PATH;
  });
  const subjects = ({ tasks }: Runner) => tasks.map(({ mail }) => /^Subject: (.*)$/m.exec(mail!.message)![1]);

  test("a job that fails gets one mail about its end, with the account and the id of the event", async () => {
    const bench = makeBench({ ends: () => ({ code: 2 }) });
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { name: "a", mail: "anna,b@c", notify: ["start", "end", "fail"] });
    runToEnd(bench.clock, 2000);
    expect(subjects(runner)).toEqual([
      "Tutti: job 1 (a) has started",
      "Tutti: job 1 (a) has failed: exit code 2",
    ]);
    const { id, account, mail } = runner.tasks[1];
    expect(account?.user).toBe("anna");
    expect(mail).toMatchObject({ sendmail, message: expect.stringContaining(`Tutti-Event-Id: ${id}\n`) });
    runner.endAll(bench);
    expect(jobOf(bench, job).news).toMatchObject([{ hook: "mail", event: "end", id, state: "done" }]);
  });

  test("how the mail about the start was sent does not hide that the one about the end waits", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { mail: "anna", notify: ["start", "end"] });
    runToEnd(bench.clock, 2000);
    const [start, end] = runner.tasks;
    runner.tasks = [start];
    runner.endAll(bench);
    expect(jobOf(bench, job).news).toMatchObject([{ event: "end", id: end.id, state: "waiting" }]);
    runner.tasks = [end];
    runner.endAll(bench, { text: "sent" });
    expect(jobOf(bench, job).news).toMatchObject([{ event: "end", state: "done", text: "sent" }]);
  });

  test("default: the end; fail alone: only a job that failed", async () => {
    const bench = makeBench({ ends: (job) => ({ code: job === 3 ? 1 : 0 }) });
    const runner = new Runner().startIn(bench);
    await submit(bench, { name: "a", mail: "anna" });
    await submit(bench, { name: "b", mail: "anna", notify: ["fail"] });
    await submit(bench, { name: "c", mail: "anna", notify: ["fail"] });
    runToEnd(bench.clock, 2000);
    expect(subjects(runner).sort()).toEqual([
      "Tutti: job 1 (a) is done",
      "Tutti: job 3 (c) has failed: exit code 1",
    ]);
  });

  test("an array sends one mail at its first start, and one after its last end, with counts", async () => {
    const bench = makeBench({ runMs: (job) => 1000 * job, ends: (job) => ({ code: job === 3 ? 1 : 0 }) });
    const runner = new Runner().startIn(bench);
    const first = await submit(bench, {
      name: "a",
      array: "5-9",
      mail: "anna",
      notify: ["start", "end", "fail"],
    });
    await submit(bench, { name: "other", mail: "anna", held: true });
    runToEnd(bench.clock, 1500);
    expect(subjects(runner)).toEqual(["Tutti: array 1 (a) has started"]);
    runner.endAll(bench);
    runToEnd(bench.clock, 60_000);
    expect(subjects(runner)).toEqual(["Tutti: array 1 (a) has ended: 4 done, 1 failed"]);
    expect(runner.tasks[0].mail?.message).toContain("tutti jobs 1-5 lists");
    runner.endAll(bench);
    expect(jobOf(bench, first).news).toMatchObject([{ hook: "mail", event: "end", state: "done" }]);
  });

  test("the jobs of an array are counted for a mail alone, not at each start", async () => {
    const bench = makeBench();
    new Runner().startIn(bench);
    const counted = vi.spyOn(bench.store.news, "arrayOf");
    await submit(bench, { array: "1-20", mail: "anna" });
    runToEnd(bench.clock, 60_000);
    expect(counted).toHaveBeenCalledOnce();
  });

  test("an array whose first job is forgotten sends no further mail about its start", async () => {
    const DAY_MS = 86_400_000;
    const bench = makeBench({ config: { policy: "fcfs", keepDays: 1 }, cpus: 1, runMs: () => 2 * DAY_MS });
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { name: "a", array: "1-3", mail: "anna", notify: ["start", "end"] });
    runToEnd(bench.clock, 3 * DAY_MS);
    bench.clock.advanceTo(3.5 * DAY_MS);
    while (bench.frontEnd.retention.step());
    runToEnd(bench.clock, 5 * DAY_MS);
    expect(jobOf(bench, job + 2).state).toBe("running");
    expect(bench.frontEnd.job(ROOT, job)).toHaveProperty("refused");
    expect(subjects(runner)).toEqual(["Tutti: array 1 (a) has started"]);
  });

  test("fail alone: an array sends a mail only if one of its jobs failed", async () => {
    const bench = makeBench({ ends: (job) => ({ code: job === 4 ? 1 : 0 }) });
    const runner = new Runner().startIn(bench);
    await submit(bench, { name: "a", array: "1-2", mail: "anna", notify: ["fail"] });
    await submit(bench, { name: "b", array: "1-2", mail: "anna", notify: ["fail"] });
    runToEnd(bench.clock, 60_000);
    expect(subjects(runner)).toEqual(["Tutti: array 3 (b) has ended: 1 done, 1 failed"]);
  });

  test("an array that is cancelled when it is submitted, or all at once, sends one mail", async () => {
    const bench = makeBench({ ends: () => ({ code: 1 }) });
    const runner = new Runner().startIn(bench);
    const failed = await submit(bench, {});
    runToEnd(bench.clock, 2000);
    await submit(bench, { name: "a", array: "1-3", mail: "anna", after: [{ job: failed, ok: true }] });
    expect(subjects(runner)).toEqual(["Tutti: array 2 (a) has ended: 3 cancelled"]);
    runner.endAll(bench);
    const held = await submit(bench, { name: "b", array: "1-3", mail: "anna", held: true });
    await answerOf(
      bench.clock,
      bench.frontEnd.change(ANNA, { action: "cancel" }, [held, held + 1, held + 2]),
    );
    expect(subjects(runner)).toEqual(["Tutti: array 5 (b) has ended: 3 cancelled"]);
  });

  test("a mail that is not taken is tried again with the same text; a refused one is not", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    const job = await submit(bench, { mail: "anna" });
    runToEnd(bench.clock, 2000);
    const [{ mail }] = runner.tasks;
    runner.endAll(bench, { state: "failed", text: "exit code 75: later" });
    expect(jobOf(bench, job).news).toMatchObject([
      { state: "waiting", text: "exit code 75: later; try 2 of 6 follows" },
    ]);
    runToEnd(bench.clock, bench.clock.nowMs() + 6000);
    expect(runner.tasks.map((task) => task.mail)).toEqual([mail]);
    runner.endAll(bench, { state: "failed", text: "exit code 67: no such user", isFinal: true });
    runToEnd(bench.clock, 10_000_000);
    expect(runner.tasks).toEqual([]);
    expect(jobOf(bench, job).news).toMatchObject([{ state: "failed", text: "exit code 67: no such user" }]);
  });

  test("with hooks turned off, the job runs, and its mail has failed", async () => {
    const off = makeBench({ config: { hooks: { jobs: false } } });
    const offRunner = new Runner().startIn(off);
    expect(off.frontEnd.status(ROOT)).not.toHaveProperty("sendsMail");
    await submit(off, { mail: "anna" });
    runToEnd(off.clock, 2000);
    expect(jobOf(off, 1).news).toMatchObject([{ state: "failed", text: expect.stringContaining("turned") }]);
    expect(offRunner.tasks).toEqual([]);
  });

  // It may have one in a folder that is always tried.
  test.skipIf(hasSendmail)("without sendmail, the job runs, and its mail has failed", async () => {
    const bench = makeBench();
    const runner = new Runner().startIn(bench);
    expect(bench.frontEnd.status(ROOT)).toMatchObject({ sendsMail: true });
    chmodSync(sendmail, 0o644);
    expect(bench.frontEnd.status(ROOT)).not.toHaveProperty("sendsMail");
    await submit(bench, { mail: "anna" });
    runToEnd(bench.clock, 2000);
    expect(jobOf(bench, 1)).toMatchObject({
      state: "done",
      news: [{ state: "failed", text: "the machine of the scheduler has no program sendmail" }],
    });
    expect(runner.tasks).toEqual([]);
  });
});

describe("refused", () => {
  test.each([
    [{ limitSignal: { name: "SIGUSR1", beforeMs: 1000 } }, "it has none"],
    [{ limitMs: 1000, limitSignal: { name: "SIGUSR1", beforeMs: 1000 } }, "its limit is 1 s"],
    [{ notify: ["end"] }, "Cannot use notify (--notify) alone"],
  ] satisfies [Partial<SubmitJob>, string][])("%j", async (fields, message) => {
    await expect(submit(makeBench(), fields)).rejects.toThrow(message);
  });
});
