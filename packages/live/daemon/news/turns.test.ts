/** Tests that waiting news is read in turns and goes with its job, and what hooks of the machine get. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HookResult, HookTask } from "@tutti/protocol/news/runner.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { afterAll, expect, test, vi } from "vitest";
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

const folder = mkdtempSync(join(tmpdir(), "tutti-turns-"));
afterAll(() => rmSync(folder, { recursive: true }));

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

test("the machine's hooks take turns between users: one with many jobs does not keep out another's", async () => {
  const bench = makeBench({ cpus: 64, config: { hooks: { jobs: false, onEnd: ["/bin/ended"] } } });
  const runner = new Runner().startIn(bench);
  for (let i = 0; i < 20; i++) await submit(bench, {});
  runToEnd(bench.clock, 2000);
  await submit(bench, {}, BEN);
  runToEnd(bench.clock, 4000);
  expect(runner.tasks.map(({ data }) => data.TUTTI_USER)).toEqual(Array(4).fill("anna"));
  runner.endAll(bench);
  expect(runner.tasks.map(({ data }) => data.TUTTI_USER)).toContain("ben");
});

test("waiting news is read when its turn comes, and says what the job was then", async () => {
  const path = join(folder, "many.db");
  const first = makeBench({ path, cpus: 64, ends: () => ({ code: 4 }) });
  for (let i = 0; i < 30; i++) await submit(first, { name: "before", onStart: "s", onEnd: "e" });
  runToEnd(first.clock, 2000);
  expect(first.store.ledger.of(ANNA.uid, "news").rows).toBe(60);
  first.kill();
  const second = makeBench({ path, clock: first.clock, machine: first.machine });
  const lookUp = vi.spyOn(second.store, "job");
  const runner = new Runner().startIn(second);
  expect(lookUp.mock.calls.length).toBeLessThan(10);
  expect(runner.tasks[0].data).toMatchObject({ TUTTI_JOB_STATE: "running", TUTTI_EVENT: "start" });
  expect(runner.tasks[0].data).not.toHaveProperty("TUTTI_EXIT_CODE");
  let count = 0;
  for (; runner.tasks.length > 0; count += 4) {
    expect(runner.tasks.length).toBeLessThanOrEqual(4);
    runner.endAll(second);
  }
  expect(count).toBe(60);
  expect(jobOf(second, 30).news).toMatchObject([{ hook: "onEnd", state: "done" }, { hook: "onStart" }]);
});

test("news of a job that is forgotten is not delivered, and nobody pays for it", async () => {
  const bench = makeBench({ config: { keepJobs: 1 } });
  for (let i = 0; i < 3; i++) await submit(bench, { onEnd: "e" });
  runToEnd(bench.clock, 2000);
  while (bench.frontEnd.retention.step());
  expect(bench.store.ledger.of(ANNA.uid, "news").rows).toBe(1);
  expect(new Runner().startIn(bench).names).toEqual(["3 e"]);
});

test("what users chose steers no terminal and ends no line in a hook of the machine", async () => {
  const bench = makeBench({ config: { hooks: { jobs: true, onEnd: ["/bin/ended"] } } });
  const runner = new Runner().startIn(bench);
  const name = "a\u001b]0;pwn\u0007\nroot: ok\u202e";
  await submit(bench, { name, onEnd: "e" });
  runToEnd(bench.clock, 2000);
  const names = new Map(runner.tasks.map(({ command, data }) => [command!.at(-1), data.TUTTI_JOB_NAME]));
  expect(names.get("/bin/ended")).toBe("a?]0;pwn??root: ok?");
  // The user's own hook gets it as it is.
  expect(names.get("e")).toBe(name);
  // The name of the state folder's variable is not taken: tutti store backup in a hook finds the scheduler's.
  for (const { data } of runner.tasks) expect(data).not.toHaveProperty("TUTTI_STATE");
});
