import { Random } from "@tutti/kernel/core/random.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { describe, expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { KeptOutcomes } from "./kept-outcomes.ts";
import { forecast, NOW_S } from "./model.ts";
import type { ForecastTask, Scenario } from "./task.ts";
import { worldOf } from "./world-for-tests.ts";

const RUNNING = 3;
const SUBMITTED = 20;
const PROCESSORS = 8;

/** Jobs of which three run and the others wait; all numbers come from the seed. */
function taskOf(seed: number, hypothetical: number, policies: readonly string[]): ForecastTask {
  const random = new Random(seed, "task");
  const count = SUBMITTED + hypothetical;
  const size = Int32Array.from({ length: count }, (_, row) => (row < RUNNING ? 2 : 1 + random.below(6)));
  const world = worldOf(RUNNING, size, (row) => `u${row % 3}`);
  const waiting = Array.from({ length: count - RUNNING }, (_, i) => RUNNING + i);
  const scenarioOf = (policy: string, until: number): Scenario => ({
    policy,
    parameters: choosePolicy(policy).parameters,
    processors: PROCESSORS,
    size,
    waiting: Int32Array.from(waiting.filter((row) => row < until)),
  });
  return {
    queues: DEFAULT_CONFIG.queues,
    slotS: 1,
    running: RUNNING,
    world,
    hypothetical,
    estimateMs: Float64Array.from({ length: count }, () => 1000 * (1 + random.below(600))),
    ranMs: Float64Array.from({ length: count }, (_, row) => (row < RUNNING ? 500 : 0)),
    isLimited: new Uint8Array(count).fill(1),
    kind: new Int32Array(count),
    kin: [{ ratios: Float64Array.of(0.2, 0.4, 0.9), areSiblings: true }],
    history: { ratios: Float64Array.of(0.2, 0.4, 0.9), launchMs: Float64Array.of(5, 80) },
    scenarios: [
      scenarioOf("easy", SUBMITTED),
      ...policies.map((policy) => scenarioOf(policy, hypothetical > 0 ? count : SUBMITTED)),
    ],
  };
}

/** Tasks that differ from another in one thing each. */
function variantsOf(task: ForecastTask): ForecastTask[] {
  const { world, scenarios } = task;
  const changed = <Column extends Int32Array | Float64Array>(column: Column, by: number): Column => {
    const copy = column.slice() as Column;
    copy[RUNNING + 1] += by;
    return copy;
  };
  const scenario = (fields: Partial<Scenario>) => scenarios.map((one) => ({ ...one, ...fields }));
  const { jobs, shape } = world;
  const more = { threads: shape!.threads.map((threads) => 2 * threads) };
  const demand = [{ kind: "gpu", amount: changed(new Int32Array(world.count), 1) }];
  return [
    { ...task, world: { ...world, jobs: { ...jobs, submitS: changed(jobs.submitS, NOW_S) } } },
    { ...task, world: { ...world, jobs: { ...jobs, size: changed(jobs.size, 1) } } },
    { ...task, world: { ...world, shape: { ...shape!, ...more } } },
    { ...task, world: { ...world, resources: [{ name: "gpu", amount: 1 }], demand } },
    { ...task, world: { ...world, limits: { users: { u1: { runningJobs: 1 } } } } },
    { ...task, world: { ...world, notes: world.notes!.map(() => ({ user: "u0" })) } },
    { ...task, running: RUNNING - 1 },
    { ...task, slotS: 2 },
    { ...task, estimateMs: changed(task.estimateMs, 1000) },
    { ...task, ranMs: task.ranMs.map((ms) => ms / 2) },
    { ...task, kin: [{ ratios: Float64Array.of(0.3, 0.5, 0.7), areSiblings: true }] },
    { ...task, history: { ...task.history, launchMs: Float64Array.of(70) } },
    { ...task, scenarios: scenario({ processors: PROCESSORS - 1 }) },
    { ...task, scenarios: scenario({ size: changed(scenarios[0].size, -1) }) },
    { ...task, scenarios: scenario({ waiting: scenarios[0].waiting.slice().reverse() }) },
    { ...task, scenarios: scenario({ waiting: scenarios[0].waiting.subarray(0, 4) }) },
    { ...task, scenarios: scenario({ policy: "easy:order=shortest" }) },
    { ...task, scenarios: scenario({ parameters: choosePolicy("easy:order=longest").parameters }) },
  ];
}

/** A new object, as a thread gets it. */
function sent(task: ForecastTask): ForecastTask {
  return structuredClone(task);
}

describe("outcomes that are kept", () => {
  test("a forecast with them is the forecast without them, whatever changed since the last question", () => {
    const kept = new KeptOutcomes();
    const random = new Random(3, "questions");
    const policies = ["easy", "fcfs", "conservative", "first-fit", "easy:order=shortest", "gang"];
    for (let question = 0; question < 150; question++) {
      const seed = random.below(3);
      const hypothetical = random.below(3);
      const task = taskOf(seed, hypothetical, [policies[random.below(policies.length)]]);
      const variants = [task, task, ...variantsOf(task)];
      const asked = variants[random.below(variants.length)];
      // Some questions have less time than others.
      const replications = 1 + random.below(6);
      const timer = () => {
        let left = replications;
        return () => --left > 0;
      };
      expect(forecast(sent(asked), timer(), undefined, kept)).toEqual(forecast(sent(asked), timer()));
    }
  });

  test("no change of a question is answered with what was simulated before it", () => {
    const task = taskOf(1, 0, ["fcfs"]);
    for (const variant of variantsOf(task)) {
      const kept = new KeptOutcomes();
      forecast(sent(task), undefined, undefined, kept);
      expect(forecast(sent(variant), undefined, undefined, kept)).toEqual(forecast(sent(variant)));
    }
  });

  test("the next question about the same world finds the present as it was simulated", () => {
    const kept = new KeptOutcomes();
    let asked = 0;
    // Asked after each replication.
    const threeTimes = () => ++asked < 3;
    forecast(sent(taskOf(1, 1, ["easy"])), threeTimes, undefined, kept);
    // Another job is asked about: two scenarios, one of them known.
    const next = sent(taskOf(1, 1, ["easy"]));
    next.scenarios[1].size[SUBMITTED] = 1;
    kept.begin(next);
    expect(kept.of(next.scenarios[0])).toHaveLength(3);
    expect(kept.of(next.scenarios[1])).toEqual([]);
    const changed = sent(next);
    changed.world.jobs.submitS[RUNNING] += 1;
    kept.begin(changed);
    expect(kept.of(changed.scenarios[0])).toEqual([]);
  });

  test("questions about two worlds take turns, and a third world takes the place of the older one", () => {
    const kept = new KeptOutcomes();
    const [first, second, third] = [1, 2, 3].map((by) => {
      const task = sent(taskOf(1, 0, ["fcfs"]));
      task.world.jobs.submitS[RUNNING] += by;
      return task;
    });
    const ask = (task: ForecastTask) =>
      expect(forecast(sent(task), undefined, undefined, kept)).toEqual(forecast(sent(task)));
    const known = (task: ForecastTask) => {
      kept.begin(sent(task));
      return task.scenarios.map((scenario) => kept.of(scenario).length);
    };
    ask(first);
    ask(second);
    const [replications] = known(second);
    expect(replications).toBeGreaterThan(1);
    expect(known(first)).toEqual([replications, replications]);
    ask(second);
    ask(first);
    ask(third);
    expect(known(first)).toEqual([replications, replications]);
    expect(known(second)).toEqual([0, 0]);
  });
});
