/** Tests that a queue is meant by each of its names, also by one that it had before a restart. */
import { expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { ANNA, answerOf, type Bench, makeBench, request } from "./front-end-for-tests.ts";

const OTHER = '[[queues]]\nname = "tight"\nprocessors = 1\n';
const OLD = readConfig(`[[queues]]\nname = "compute"\nprocessors = 4\n${OTHER}`, "old.toml").config;
const NEW = readConfig(
  `[[queues]]\nname = "short"\naliases = ["compute", "cpu"]\nprocessors = 4\n${OTHER}`,
  "new.toml",
).config;

async function submit({ clock, frontEnd }: Bench, queue: string) {
  const answer = await answerOf(clock, frontEnd.submit(ANNA, [request({ queue, held: true })]));
  if ("refused" in answer) throw new Error(answer.message);
  return answer.jobs[0];
}

test("a list of a queue's jobs has all of them, whichever name is asked for", async () => {
  const before = makeBench({ config: OLD });
  await submit(before, "compute");
  await submit(before, "tight");
  before.frontEnd.stop();
  const { store, clock } = before;
  const bench = makeBench({ config: NEW, store, clock });
  expect(await submit(bench, "cpu")).toMatchObject({ job: 3, queue: "short" });
  const listed = (queue: string) => bench.frontEnd.jobs(ANNA, { queue }).map(({ job }) => job);
  for (const name of ["short", "compute", "cpu"]) expect(listed(name)).toEqual([1, 3]);
  expect(listed("tight")).toEqual([2]);
  expect(listed("none")).toEqual([]);
});

test("a job that runs again stays in the queue that it named, by the queue's new name", async () => {
  const before = makeBench({ config: OLD });
  const { job } = await submit(before, "compute");
  await answerOf(before.clock, before.frontEnd.cancel(ANNA, job));
  before.frontEnd.stop();
  const { store, clock } = before;
  const { frontEnd } = makeBench({ config: NEW, store, clock });
  expect(await answerOf(clock, frontEnd.rerun(ANNA, [job]))).toMatchObject({ jobs: [{ queue: "short" }] });
});
