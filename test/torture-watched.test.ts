/** A life that somebody breaks: the seed and what was done give it again, and nothing goes wrong in it. */
import type { Deed, Scene } from "@tutti/torture/run/recorded.ts";
import { WatchedLife } from "@tutti/torture/run/watched.ts";
import { expect, test } from "vitest";
import { inNode } from "./torture/in-node.ts";

const SEED = 3;
const SECOND_US = 1_000_000;
/** What is done at each of these seconds; what lasts is taken back when it is done again. */
const PLAN = [
  [60, "conductor"],
  [90, "front-end"],
  [100, "power"],
  [110, "conductor"],
  [125, "power"],
  [160, "disk"],
  [165, "conductor"],
  [170, "front-end"],
  [200, "disk"],
  [230, "clock"],
  [240, "conductor"],
  [250, "clock"],
  [270, "stop"],
  [280, "front-end"],
  [295, "stop"],
  [320, "end"],
] as const;

const here = inNode();

/** On nodes of a Slurm. */
const PLAN_FOR_NODES = [
  [120, "node"],
  [150, "node-conductor"],
  [200, "node"],
  [260, "network"],
  [280, "front-end"],
  [300, "node-conductor"],
  [340, "network"],
  [420, "node-conductor"],
  [460, "end"],
] as const;

function begin(again: readonly Deed[], scene: Scene = "machine"): WatchedLife {
  const watched = new WatchedLife(SEED, again, here.parts, scene);
  here.life = watched.life;
  return watched;
}

/** Lets a life go on to its end. */
async function rest(watched: WatchedLife) {
  while (!watched.isOver) await watched.advance(watched.nowUs + 60 * SECOND_US, here.settle);
  return watched.verdict();
}

/** Does all of a plan, and goes on to the end. */
async function follow(watched: WatchedLife, plan: readonly (readonly [atS: number, name: Deed["name"]])[]) {
  for (const [atS, name] of plan) {
    // In steps of another length than those in which it is done again.
    for (const [, share] of [0.3, 1].entries())
      await watched.advance(
        Math.round(watched.nowUs + share * (atS * SECOND_US - watched.nowUs)),
        here.settle,
      );
    watched.act(name);
  }
  return rest(watched);
}

test("nothing goes wrong, whatever is done, and the same seed and deeds give the same life", async () => {
  const watched = begin([]);
  const verdict = await follow(watched, PLAN);
  expect(verdict.problems).toEqual([]);
  expect(verdict.starts).toBeGreaterThan(5);
  expect(verdict.faults).toEqual({
    "kill -9 of the conductor": 4,
    "kill -9 of the front end": 3,
    ...{ "power cut": 1, "disk full": 1, "clock one hour ahead": 1, "conductor stopped": 1 },
  });
  const done: readonly Deed[] = watched.done;
  expect(done.map(({ atUs, name }) => [atUs / SECOND_US, name])).toEqual(PLAN);
  expect(await rest(begin(done))).toEqual(verdict);
});

test("nodes are lost, and nothing goes wrong that may not", async () => {
  const watched = begin([], "nodes");
  const verdict = await follow(watched, PLAN_FOR_NODES);
  expect(verdict.problems).toEqual([]);
  expect(verdict.starts).toBeGreaterThan(5);
  expect(verdict.faults).toEqual({
    "power cut of a node": 1,
    "node without network": 1,
    "kill -9 of a node's conductor": 3,
    "kill -9 of the front end": 1,
  });
  expect(watched.may("disk")).toBe(false);
  expect(await rest(begin(watched.done, "nodes"))).toEqual(verdict);
});

test("one thing that lasts is taken back before the next one, and nothing is done after the end", async () => {
  const watched = begin([]);
  await watched.advance(SECOND_US, here.settle);
  watched.act("disk");
  watched.act("power");
  watched.act("conductor");
  expect(watched.lasting).toEqual(["disk"]);
  watched.act("end");
  watched.act("conductor");
  expect(watched.done.map(({ name }) => name)).toEqual(["disk", "conductor", "end"]);
  expect([watched.lasting, watched.may("power"), watched.may("end")]).toEqual([[], false, false]);
  expect((await rest(watched)).problems).toEqual([]);
});
