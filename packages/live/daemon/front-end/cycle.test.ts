import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { expect, test } from "vitest";
import { ANNA, BEN, makeBench, request } from "./front-end-for-tests.ts";

/** Each submit takes 30 ms, because entering jobs reads the clock once. */
class SlowClock extends FakeClock {
  #workedMs = 0;
  isSlow = false;

  override nowMs(): number {
    return super.nowMs() + this.#workedMs;
  }

  override unixMs(): number {
    if (this.isSlow) this.#workedMs += 30;
    return super.unixMs();
  }
}

test("users' submits are handled in turns by their cost, as many per cycle as fit into 50 ms", async () => {
  const clock = new SlowClock();
  const { frontEnd, store } = makeBench({ clock });
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
  clock.isSlow = true;
  clock.settle();
  await Promise.all(all);
  expect(jobs).toEqual(["1 anna", "2 ben", "3 anna", "4 anna", "5 anna"]);
  // 30 and 60 ms: two submits per cycle, and the last one alone.
  expect(commits).toHaveLength(3);
});

test("all pending requests are handled when the front end is stopped", async () => {
  const clock = new SlowClock();
  const { frontEnd } = makeBench({ clock });
  clock.isSlow = true;
  const all = [ANNA, ANNA, ANNA, ANNA].map((who) => frontEnd.submit(who, [request({ held: true })]));
  frontEnd.stop();
  for (const answer of await Promise.all(all)) expect(answer).not.toHaveProperty("refused");
});
