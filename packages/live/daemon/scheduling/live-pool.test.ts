/** Tests starts that come later than the decision, as on Slurm: estimates count from the real start. */

import { UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import type { SpacePolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { expect, test } from "vitest";
import { LivePool } from "./live-pool.ts";

test("a job that begins 3 s after its decision runs, and exceeds its estimate, from there on", () => {
  const { definition, parameters } = choosePolicy("easy");
  const pool = new LivePool(
    { definition: definition as SpacePolicyDefinition, parameters, processors: 4, originMs: 0 },
    2,
  );
  const job = { submitMs: 0, size: 3, estimateMs: 10_000, memoryBytes: undefined, queueClass: UNKNOWN };
  pool.arrive({ ...job, job: 1 }, 0);
  expect(pool.decide(0).starts).toMatchObject([{ job: 1 }]);
  expect([pool.ranMs(1, 5000), pool.hasOverrun(10_000)]).toEqual([5000, true]);
  pool.beganAt(1, 3000);
  expect([pool.ranMs(1, 5000), pool.hasOverrun(12_999), pool.hasOverrun(13_000)]).toEqual([
    2000,
    false,
    true,
  ]);
  // A job that does not run has nothing to correct.
  pool.beganAt(2, 3000);
  expect(pool.ranMs(2, 5000)).toBe(0);
});
