/**
 * Runs policies with an admission queue under the checker: every combination of limit, queue and queue order,
 * and of the limits with the policies' own choices. In `npm run soak` each runs on every workload, otherwise
 * they share the workloads.
 */

import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice, PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { inTurn, SIZES } from "@tutti/kernel/core/sizes-for-tests.ts";
import { seededInstance } from "@tutti/kernel/policies/instances-for-tests.ts";
import { makeChoice } from "@tutti/kernel/policies/parse-policy.ts";
import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { audit, auditLines } from "@tutti/lab/audit/audit.ts";
import { describe, expect, test } from "vitest";

const ADMITTED = POLICIES.filter((policy) => policy.parameters.some(({ name }) => name === "queueOrder"));
const SLOTS = { slotS: 2, switchS: 0.5 };

function withMemory(instance: Instance): Instance {
  const random = new Random(3, "memory");
  return { ...instance, memoryKB: Float64Array.from(instance.runS, () => 512 * random.below(8) - 1) };
}

const SHAPE = {
  processors: 16,
  count: 32,
  gapS: 9,
  maxRunS: 30,
  maxSize: 16,
  exactShare: 0.3,
  zeroShare: 0.1,
};
const INSTANCES: readonly Instance[] = [
  withMemory(seededInstance("overload", { ...SHAPE, seed: 2, gapS: 2 })),
  withMemory(seededInstance("moderate", { ...SHAPE, seed: 1, gapS: 14 })),
  withMemory(seededInstance("no power of two", { ...SHAPE, seed: 3, processors: 13, maxSize: 13 })),
];

function choicesOf(definition: PolicyDefinition, name: string): readonly string[] {
  const spec = definition.parameters.find((one) => one.name === name);
  return spec?.kind === "choice" ? spec.choices : [];
}

/** Combinations of a policy's own choices that can be limited. */
function ownSettings(definition: PolicyDefinition): string[][] {
  let settings: string[][] = [[]];
  for (const spec of definition.parameters) {
    if (spec.kind !== "choice" || spec.name === "queue" || spec.name === "queueOrder") continue;
    settings = settings.flatMap((before) =>
      spec.choices.map((choice) => [...before, `${spec.name}=${choice}`]),
    );
  }
  return settings;
}

function limited(definition: PolicyDefinition): PolicyChoice[] {
  const rows = ["rows=1", "rows=3"];
  const queues = choicesOf(definition, "queue").map((queue) => `queue=${queue}`);
  const orders = choicesOf(definition, "queueOrder").map((order) => `queueOrder=${order}`);
  const hasMemory = definition.parameters.some(({ name }) => name === "memory");
  const memory = ["memory=2:rows=0", "memory=2:rows=3:jobMemory=1"];
  const limits = hasMemory ? [...rows, ...memory] : rows;
  const all = limits.flatMap((limit) =>
    queues.flatMap((queue) => [
      ...orders.map((order) => [...limit.split(":"), queue, order]),
      ...ownSettings(definition).map((own) => [...limit.split(":"), queue, ...own]),
    ]),
  );
  // On a ring it is not known in advance which window a gang will get.
  const isRefused = (settings: readonly string[]) =>
    settings.includes("array=ring") &&
    (settings.includes("queue=easy") || settings.some((one) => one.startsWith("memory")));
  return all.filter((one) => !isRefused(one)).map((settings) => makeChoice(definition, settings));
}

describe("every gang policy behind an admission queue passes the checker", () => {
  expect(ADMITTED.map(({ name }) => name)).toEqual(["gang", "buddy", "bc", "br", "brms", "brmms", "wlv"]);
  for (const definition of ADMITTED) {
    const choices = limited(definition);
    test(`${definition.name}: ${choices.length} combinations`, () => {
      for (const [i, choice] of choices.entries()) {
        // Not i: the orders of the queue come in threes, too.
        const turn = i + Math.floor(i / SIZES.admittedEvery);
        for (const instance of inTurn(INSTANCES, SIZES.admittedEvery, turn)) {
          const result = audit(instance, choice, { ...SLOTS, probedInstants: SIZES.admittedInstants });
          const name = `${instance.workload.name}, ${choice.label}`;
          expect(result.ok, [name, ...auditLines(choice.label, result)].join("\n")).toBe(true);
          expect(result.checked.ends, name).toBe(instance.count);
          // With a limit of one row, which may stay when it is empty, a run may never add a row. The checker
          // does not count what users have used, so it does not know whose job is the head.
          const isChecked = choice.parameters.rows !== 1 && choice.parameters.queueOrder !== "fair-share";
          if (isChecked) expect(result.checked.queueChecks, name).toBeGreaterThan(0);
          if (choice.parameters.queue === "easy" && instance.workload.name === "overload")
            expect(result.checked.promises, name).toBeGreaterThan(0);
        }
      }
    });
  }
});
