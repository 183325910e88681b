/** Tests a front end with `pack = "whole-node"`. Which gangs share a row is worked out by hand. */
import { describe, expect, test } from "vitest";
import { changeCapacity, cluster, nodesOf, rows, submit } from "./capacity-for-tests.ts";
import { ANNA, answerOf, ROOT } from "./front-end-for-tests.ts";

test("gangs of a row do not share a node", async () => {
  const bench = cluster("gang", nodesOf(4, 4, 4), {
    config: { policy: "gang", slotMs: 100, pack: "whole-node" },
  });
  for (const tasks of [1, 5, 3]) await submit(bench, tasks);
  // 4, 8 and 4 CPUs: the third gang has no node left in the first row.
  expect(rows(bench)).toEqual([["1:n1/4", "2:n2/4+n3/4"], ["3:n1/4"]]);
  expect(await submit(bench, 12)).toMatchObject({ jobs: [{ job: 4 }] });
  changeCapacity(bench.machine, nodesOf(4, 4));
  bench.clock.settle();
  // Each node alone may have only 3 CPUs, so four tasks get both.
  const unequal = cluster("fcfs", nodesOf(4, 3), { config: { policy: "fcfs", pack: "whole-node" } });
  await submit(unequal, 4);
  expect(rows(unequal)).toEqual([["1:n1/4+n2/3"]]);
});

describe("nodes of any size are not shared", () => {
  const whole = (policy: string, ...sizes: number[]) =>
    cluster(policy, nodesOf(...sizes), { config: { policy, slotMs: 100, pack: "whole-node" } });

  test("under a buddy policy, with sizes that are no power of two", async () => {
    const bench = whole("buddy", 6, 6, 6);
    for (const tasks of [2, 7, 6]) await submit(bench, tasks);
    // Gangs of 1, 2 and 1 nodes. Two nodes begin at the first or at the third, so job 2 gets its own row.
    expect(rows(bench)).toEqual([["1:n1/6", "3:n2/6"], ["2:n1/6+n2/6"]]);
    expect(bench.frontEnd.status(ROOT)).toMatchObject({ cpus: 18, busyCpus: 12 });
    expect(bench.frontEnd.matrix().rows[0]).toMatchObject([{ job: 1, cpus: [0, 1, 2, 3, 4, 5] }, { job: 3 }]);
  });

  test("with several sizes, also after a loss and with memory", async () => {
    const bench = whole("fcfs", 2, 5, 5, 3);
    // Any two nodes have five CPUs; any one has two.
    for (const tasks of [5, 2, 3]) await submit(bench, tasks);
    expect(rows(bench)).toEqual([["1:n1/2+n2/5", "2:n3/5"]]);
    expect(await bench.frontEnd.why(ANNA, 3)).toMatchObject({
      obstacles: [{ kind: "cpus", needed: 2, free: 1, rows: 1, mostRows: 1, nodes: true }],
    });
    expect(bench.frontEnd.status(ROOT)).toMatchObject({ cpus: 15, busyCpus: 12 });
    changeCapacity(bench.machine, nodesOf(2, 5, 5));
    bench.clock.settle();
    expect(rows(bench)).toEqual([["1:n1/2+n2/5", "2:n3/5"]]);
    // All 15 CPUs, although the three widest nodes would have 13 of them.
    expect(await submit(bench, 15)).toMatchObject({ jobs: [{ job: 4 }] });
  });

  test("a policy that puts gangs on any CPUs is refused", async () => {
    const bench = whole("gang", 4, 4);
    expect(await answerOf(bench.clock, bench.frontEnd.setPolicy(ROOT, "random"))).toEqual({
      refused: "invalid",
      message:
        'Cannot use the policy random with pack = "whole-node": it may put a gang on any CPUs, so nodes would be shared; expected another policy, or pack = "cpus"',
    });
    expect(() => whole("random", 4, 4)).toThrow('with pack = "whole-node"');
  });
});
