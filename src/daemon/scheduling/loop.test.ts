/**
 * Tests that the front end, driven by a fake clock and fake processes, decides exactly as the simulator, bit
 * for bit, for every policy of the registry with every value of every choice among its parameters.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance } from "../../core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "../../core/policy.ts";
import { arbitraryInstance, instanceOf, seededInstance } from "../../policies/instances-for-tests.ts";
import { choosePolicy, makeChoice } from "../../policies/parse-policy.ts";
import { POLICIES } from "../../policies/registry.ts";
import { simulate } from "../../simulator/simulate.ts";
import { type Bench, makeBench, ROOT, runInstance } from "../front-end/front-end-for-tests.ts";
import { DecisionLog } from "./decision-log-for-tests.ts";

/** Live jobs have limits above 0. */
function withLimits(instance: Instance): Instance {
  return { ...instance, estimateS: instance.estimateS.map((estimateS) => Math.max(1, estimateS)) };
}

const usual = {
  seed: 7,
  processors: 16,
  count: 150,
  gapS: 10,
  maxRunS: 60,
  maxSize: 16,
  exactShare: 0.3,
  zeroShare: 0.05,
};
const INSTANCES = [
  seededInstance("usual", usual),
  seededInstance("all at once", { ...usual, gapS: 0, count: 60 }),
  seededInstance("crowded", { ...usual, gapS: 4, processors: 24, maxSize: 24, exactShare: 1 }),
  // Fractions that are exact in binary floating point.
  instanceOf(4, [
    { submitS: 0.125, runS: 2.5, size: 3 },
    { submitS: 0.125, runS: 0.25, estimateS: 8, size: 2 },
    { submitS: 1.375, runS: 4, size: 4 },
    { submitS: 2.625, runS: 0.125, size: 1 },
  ]),
].map(withLimits);

function choicesOf(definition: PolicyDefinition): PolicyChoice[] {
  const choices = [makeChoice(definition)];
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice") continue;
    for (const value of spec.choices) {
      if (value !== spec.default) choices.push(makeChoice(definition, [`${spec.name}=${value}`]));
    }
  }
  // The admission queue, if there is one.
  if (definition.parameters.some(({ name }) => name === "rows")) {
    choices.push(makeChoice(definition, ["rows=2"]), makeChoice(definition, ["rows=3", "queue=easy"]));
  }
  return choices;
}

function expectSameDecisions(
  instance: Instance,
  choice: PolicyChoice,
  slotMs: number,
  disturb?: (bench: Bench) => void,
): void {
  const simulated = new DecisionLog();
  const schedule = simulate(instance, choice, { slotS: slotMs / 1000, switchS: 0, observer: simulated });
  const live = new DecisionLog();
  const bench = makeBench({
    cpus: instance.processors,
    config: { policy: choice.label, slotMs },
    slotted: choice.definition.sharing === "time",
    runMs: (job) => instance.runS[job - 1] * 1000,
    observer: live,
  });
  disturb?.(bench);
  runInstance(bench, instance);
  expect(live.lines).toEqual(simulated.lines);
  if (disturb !== undefined) return;
  const jobs = bench.frontEnd.jobs(ROOT, {});
  expect(jobs.map(({ startedAtMs }) => startedAtMs)).toEqual([...schedule.startS].map((s) => s * 1000));
  expect(jobs.map(({ endedAtMs }) => endedAtMs)).toEqual([...schedule.endS].map((s) => s * 1000));
  expect(jobs.every(({ state, attempt }) => state === "done" && attempt === 1)).toBe(true);
}

describe("front end and simulator take the same decisions", () => {
  expect(POLICIES.length).toBeGreaterThan(10);
  for (const definition of POLICIES) {
    for (const [i, choice] of choicesOf(definition).entries()) {
      test(choice.label, () => {
        // Each variant on one workload, in turn; the default parameters on all.
        const instances = i === 0 ? INSTANCES : [INSTANCES[i % INSTANCES.length]];
        for (const instance of instances) expectSameDecisions(instance, choice, 1000);
      });
    }
  }

  test.each(["easy:order=wfp", "fpmpfs:waitLimit=60", "conservative", "gang"])(
    "%s, while the wall clock is set forth and back by an hour",
    (text) => {
      expectSameDecisions(INSTANCES[0], choosePolicy(text), 1000, (bench) => {
        for (let i = 1; i < 20; i++) {
          bench.clock.at(i * 70_000, () => {
            bench.clock.unixOffsetMs = i % 3 === 0 ? 0 : i % 3 === 1 ? 3_600_000 : -3_600_000;
          });
        }
      });
    },
  );

  test("on drawn workloads with many ties, slots of 1 s and of 250 ms", () => {
    const any = fc.constantFrom(...POLICIES.map((definition) => makeChoice(definition)));
    fc.assert(
      fc.property(arbitraryInstance(12), any, fc.constantFrom(1000, 250), (instance, choice, slotMs) => {
        expectSameDecisions(withLimits(instance), choice, slotMs);
      }),
      { numRuns: 150 },
    );
  });
});
