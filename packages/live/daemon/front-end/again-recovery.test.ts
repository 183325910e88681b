/**
 * Kills the front end before and after every commit of a run with retries, a begin, an update and a rerun.
 * The next front end goes on from disk: nothing is lost, nothing runs twice, nothing waits for ever.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { type Answer, isRefusal } from "@tutti/protocol/refusal.ts";
import { isEnded } from "@tutti/protocol/states.ts";
import { afterAll, expect, test } from "vitest";
import { Store } from "../store/store.ts";
import { ANNA, type Bench, makeBench, ROOT, request } from "./front-end-for-tests.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "tutti-again-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

/** A store whose process is killed at its commit number `at`, before or after that is on disk. */
class KilledStore extends Store {
  commits = 0;
  readonly #at: number;
  readonly #after: boolean;

  constructor(path: string, at: number, after: boolean) {
    super(path, 0);
    this.#at = at;
    this.#after = after;
  }

  override commit(): void {
    const dies = ++this.commits === this.#at;
    if (dies && !this.#after) throw new Error("killed before the commit");
    super.commit();
    if (dies) throw new Error("killed after the commit");
  }

  get isDead(): boolean {
    return this.commits >= this.#at;
  }
}

const STEP_MS = 250;
const END_MS = 30_000;
const OPTIONS = {
  config: { policy: "fcfs" },
  // The first two attempts of job 1 fail.
  ends: (job: number, attempt: number) => ({ code: job === 1 && attempt < 3 ? 1 : 0 }),
};

/** @returns the number of commits */
async function runKilledAt(at: number, after: boolean): Promise<number> {
  const path = join(folder, `${++files}.db`);
  const clock = new FakeClock();
  const store = new KilledStore(path, at, after);
  let bench: Bench = makeBench({ ...OPTIONS, clock, store });
  const { machine } = bench;
  let isReplaced = false;
  const look = (): void => {
    if (isReplaced || !store.isDead) return;
    isReplaced = true;
    bench.kill();
    bench = makeBench({ ...OPTIONS, clock, machine, store: new Store(path, 0) });
  };
  /** Asks until there is an answer, as the command line does. */
  const ask = async <T>(send: (bench: Bench) => Promise<Answer<T>>): Promise<void> => {
    for (let i = 0; i < 20; i++) {
      let answer: Answer<T> | undefined;
      void send(bench).then((value) => {
        answer = value;
      });
      clock.settle();
      await Promise.resolve();
      await Promise.resolve();
      const wasDead = store.isDead && !isReplaced;
      look();
      if (!wasDead && answer !== undefined && !isRefusal(answer)) return;
      clock.advanceTo(clock.nowMs() + 1);
    }
    throw new Error("no answer");
  };
  const advance = (toMs: number): void => {
    while (clock.nowMs() < toMs) {
      clock.advanceTo(Math.min(toMs, clock.nowMs() + STEP_MS));
      look();
    }
  };
  look();
  const retried = request({ retries: 2, retryOn: ["fail"], retryDelayMs: 1000 });
  await ask(({ frontEnd }) => frontEnd.submit(ANNA, [retried, request({ beginAtMs: 8000 })], "k"));
  advance(2000);
  const update = { action: "update", update: { tasks: 2, name: "late", beginAtMs: 9000 } } as const;
  await ask(({ frontEnd }) => frontEnd.change(ANNA, update, [2]));
  advance(20_000);
  await ask(({ frontEnd }) => frontEnd.rerun(ANNA, [2], "again"));
  advance(END_MS);
  const jobs = bench.frontEnd.jobs(ROOT, {});
  const when = `killed ${after ? "after" : "before"} commit ${at}`;
  expect(jobs, when).toMatchObject([
    { job: 1, state: "done", attempt: 3 },
    { job: 2, state: "done", attempt: 1, tasks: 2, name: "late" },
    { job: 3, state: "done", attempt: 1, tasks: 2, name: "late", repeats: 2 },
  ]);
  expect(jobs.every(({ state }) => isEnded(state))).toBe(true);
  expect(jobs[1].startedAtMs, when).toBeGreaterThanOrEqual(9000);
  expect([...machine.launched].sort(), when).toEqual(["1/1", "1/2", "1/3", "2/1", "3/1"]);
  bench.kill();
  return store.commits;
}

test("killed before and after every commit, it ends as it does without a kill", async () => {
  const commits = await runKilledAt(Number.POSITIVE_INFINITY, false);
  expect(commits).toBeGreaterThan(10);
  for (let at = 1; at <= commits; at++) for (const after of [false, true]) await runKilledAt(at, after);
});
