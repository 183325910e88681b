import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../core/errors.ts";
import { DEFAULT_RULES, type Rules } from "../core/rules.ts";
import { prepare } from "./prepare.ts";
import { auditInstance } from "./prepare-for-tests.ts";
import { anyWorkload, workloadOf } from "./workloads-for-tests.ts";

const anyRules: fc.Arbitrary<Rules> = fc.record({
  overrun: fc.constantFrom("raise", "kill"),
  missingEstimate: fc.oneof(
    fc.constant("run" as const),
    fc.record({ seconds: fc.integer({ min: 1, max: 500 }) }),
  ),
  oversize: fc.constantFrom("drop", "clip"),
});

/**
 * Five jobs: 1 is normal, 2 runs longer than estimated, 3 has no estimate, 4 needs more than 4 processors,
 * and 5 needs more than 4 processors and has no estimate.
 */
const workload = workloadOf([
  { submitS: 0, runS: 10, size: 1, estimateS: 20 },
  { submitS: 1, runS: 30, size: 4, estimateS: 20 },
  { submitS: 2, runS: 40, size: 2, estimateS: -1 },
  { submitS: 3, runS: 50, size: 5, estimateS: 60 },
  { submitS: 4, runS: 5, size: 9, estimateS: -1 },
]);

const facts = (rules: Rules) => {
  const instance = prepare(workload, 4, rules);
  auditInstance(instance);
  return {
    id: [...instance.id],
    submitS: [...instance.submitS],
    runS: [...instance.runS],
    size: [...instance.size],
    estimateS: [...instance.estimateS],
    counts: Object.fromEntries(instance.diagnostics.map(({ code, count }) => [code, count])),
  };
};

describe("prepare()", () => {
  test("by default drops jobs larger than the machine, takes the run time for a missing estimate, raises estimates", () => {
    expect(facts(DEFAULT_RULES)).toEqual({
      id: [1, 2, 3],
      submitS: [0, 1, 2],
      runS: [10, 30, 40],
      size: [1, 4, 2],
      estimateS: [20, 30, 40],
      counts: { "oversize-dropped": 2, "estimate-missing": 1, "overrun-raised": 1 },
    });
  });

  test("kills at the estimate, clips to the machine, and gives a fixed estimate that the kill rule then applies to", () => {
    expect(facts({ overrun: "kill", missingEstimate: { seconds: 15 }, oversize: "clip" })).toEqual({
      id: [1, 2, 3, 4, 5],
      submitS: [0, 1, 2, 3, 4],
      runS: [10, 20, 15, 50, 5],
      size: [1, 4, 2, 4, 4],
      estimateS: [20, 20, 15, 60, 15],
      counts: { "oversize-clipped": 2, "estimate-missing": 2, "overrun-killed": 2 },
    });
  });

  test("names the jobs in the diagnostics", () => {
    const { diagnostics } = prepare(workload, 4, DEFAULT_RULES);
    expect(diagnostics).toMatchObject([
      {
        code: "oversize-dropped",
        action: "dropped",
        examples: [
          { job: 4, value: "5" },
          { job: 5, value: "9" },
        ],
      },
      { code: "estimate-missing", action: "repaired", examples: [{ job: 3 }] },
      { code: "overrun-raised", action: "repaired", examples: [{ job: 2, value: "20" }] },
    ]);
  });

  test("shares every column that no rule changes", () => {
    const easy = workloadOf([{ submitS: 0, runS: 10, size: 1, estimateS: 20 }]);
    const untouched = prepare(easy, 4, DEFAULT_RULES);
    for (const name of ["id", "submitS", "runS", "size", "estimateS"] as const) {
      expect(untouched[name]).toBe(easy.jobs[name]);
    }
    expect(untouched.workloadRow).toBeUndefined();
    const raised = prepare(workload, 9, DEFAULT_RULES);
    expect(raised.runS).toBe(workload.jobs.runS);
    expect(raised.estimateS).not.toBe(workload.jobs.estimateS);
    const killed = prepare(workload, 9, { ...DEFAULT_RULES, overrun: "kill" });
    expect(killed.runS).not.toBe(workload.jobs.runS);
    expect(killed.size).toBe(workload.jobs.size);
  });

  test("shares the run times as estimates where no job has one", () => {
    const blind = workloadOf([1, 2, 3].map((runS) => ({ submitS: 0, runS, size: 1, estimateS: -1 })));
    const instance = prepare(blind, 4, DEFAULT_RULES);
    expect(instance.estimateS).toBe(blind.jobs.runS);
    expect(instance.diagnostics).toMatchObject([{ code: "estimate-missing", count: 3 }]);
  });

  test("for any workload and rules passes the audit, accounts for every job, keeps runS ≤ estimateS and leaves the input alone", () => {
    fc.assert(
      fc.property(anyWorkload, fc.integer({ min: 1, max: 120 }), anyRules, (input, processors, rules) => {
        const before = structuredClone(input.jobs);
        const instance = prepare(input, processors, rules);
        auditInstance(instance);
        expect(input.jobs).toEqual(before);
        const count = (code: string) => instance.diagnostics.find((d) => d.code === code)?.count ?? 0;
        expect(instance.count + count("oversize-dropped")).toBe(input.count);
        expect(count("oversize-dropped") + count("oversize-clipped")).toBe(
          input.jobs.size.filter((s) => s > processors).length,
        );
        for (let job = 0; job < instance.count; job++) {
          expect(instance.runS[job]).toBeLessThanOrEqual(instance.estimateS[job]);
          expect(instance.size[job]).toBeLessThanOrEqual(processors);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("an instance may have no job left", () => {
    const instance = prepare(workloadOf([{ submitS: 0, runS: 1, size: 8, estimateS: 1 }]), 4, DEFAULT_RULES);
    expect(instance.count).toBe(0);
    expect(instance.diagnostics[0].count).toBe(1);
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    "refuses a machine of %d processors",
    (processors) => {
      expect(() => prepare(workload, processors, DEFAULT_RULES)).toThrow(InputError);
      expect(() => prepare(workload, processors, DEFAULT_RULES)).toThrow(
        /for a machine of .* processors: expected a whole number/,
      );
    },
  );

  test.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])(
    "refuses %d s for jobs without an estimate",
    (seconds) => {
      expect(() => prepare(workload, 4, { ...DEFAULT_RULES, missingEstimate: { seconds } })).toThrow(
        InputError,
      );
    },
  );
});

describe("auditInstance()", () => {
  test.each([
    ["a run time", "runS"],
    ["an estimate", "estimateS"],
    ["a size", "size"],
    ["a submit time", "submitS"],
    ["a job number", "id"],
  ] as const)("finds %s that was tampered with", (_, column) => {
    const instance = prepare(workload, 4, DEFAULT_RULES);
    const tampered = { ...instance, [column]: instance[column].slice() };
    tampered[column][1] += 1;
    expect(() => auditInstance(instance)).not.toThrow();
    expect(() => auditInstance(tampered)).toThrow(/Broken invariant/);
  });
});
