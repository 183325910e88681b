import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { expect, test } from "vitest";
import { ANNA, BEN, makeBench, request } from "./front-end-for-tests.ts";

/** Each submit takes 30 ms, in which its job is written. */
function makeSlow() {
  const clock = new FakeClock();
  let workedMs = 0;
  const nowMs = clock.nowMs.bind(clock);
  clock.nowMs = () => nowMs() + workedMs;
  const bench = makeBench({ clock });
  const insertJob = bench.store.insertJob.bind(bench.store);
  bench.store.insertJob = (...given) => {
    workedMs += 30;
    insertJob(...given);
  };
  return bench;
}

test("users' submits are handled in turns by their cost, as many per cycle as fit into 50 ms", async () => {
  const { clock, frontEnd, store } = makeSlow();
  const commits: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = () => {
    commits.push(jobs.length);
    commit();
  };
  const jobs: string[] = [];
  const submit = async (who: typeof ANNA) => {
    const answer = await frontEnd.submit(who, [request({ held: true })]);
    if ("refused" in answer) throw new Error(answer.message);
    jobs.push(`${answer.jobs[0].job} ${who.user}`);
  };
  const all = [ANNA, ANNA, ANNA, ANNA, BEN].map(submit);
  clock.settle();
  await Promise.all(all);
  expect(jobs).toEqual(["1 anna", "2 ben", "3 anna", "4 anna", "5 anna"]);
  // 30 and 60 ms: two submits per cycle, and the last one alone.
  expect(commits).toHaveLength(3);
});

test("a request about many jobs has a cycle of its own, so answers to others need not wait for it", async () => {
  const bench = makeBench();
  const { clock, frontEnd, store } = bench;
  let jobs = 0;
  const insertJob = store.insertJob.bind(store);
  store.insertJob = (...given) => {
    jobs++;
    insertJob(...given);
  };
  const ofCycles: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = () => {
    ofCycles.push(jobs);
    jobs = 0;
    commit();
  };
  const one = request({ held: true });
  const many = request({ held: true, array: "1-101" });
  const all = [
    [BEN, one],
    [ANNA, many],
    [BEN, one],
    [BEN, { ...one, array: "1-100" }],
    [ANNA, one],
  ] as const;
  const answers = all.map(([who, job]) => frontEnd.submit(who, [job]));
  clock.settle();
  for (const answer of await Promise.all(answers)) expect(answer).not.toHaveProperty("refused");
  expect(ofCycles.filter((count) => count > 0)).toEqual([1, 101, 102]);
});

test("all pending requests are handled when the front end is stopped", async () => {
  const { frontEnd } = makeSlow();
  const all = [ANNA, ANNA, ANNA, ANNA].map((who) => frontEnd.submit(who, [request({ held: true })]));
  frontEnd.stop();
  for (const answer of await Promise.all(all)) expect(answer).not.toHaveProperty("refused");
});
