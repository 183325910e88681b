import { describe, expect, test } from "vitest";
import { RuleViolation } from "../core/errors.ts";
import type { Instance } from "../core/jobs.ts";
import { type Pool, type SpacePolicyDefinition, StartRule } from "../core/policy.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { simulatePool } from "./pool.ts";

/** Makes jobs from [submit time, run time, size] for a machine of 4 processors. */
function jobs(...rows: [number, number, number][]): Instance {
  const runS = Float64Array.from(rows, (row) => row[1]);
  const columns = {
    id: Int32Array.from(rows, (_, i) => i + 1),
    submitS: Float64Array.from(rows, (row) => row[0]),
    runS,
    size: Int32Array.from(rows, (row) => row[2]),
    estimateS: runS,
  };
  const count = rows.length;
  const workload = {
    name: "test",
    count,
    jobs: columns,
    processors: 4,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
  return {
    workload,
    processors: 4,
    rules: DEFAULT_RULES,
    count,
    ...columns,
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** A policy whose decision is the given function. */
function deciding(decide: (pool: Pool) => void): SpacePolicyDefinition {
  return {
    name: "test",
    title: "test",
    sharing: "space",
    summary: "",
    rules: [],
    source: "",
    parameters: [],
    guarantees: () => ({ headNeverFits: false, workConserving: false, keepsPromises: false }),
    make: (pool) => ({ depart() {}, decide: () => decide(pool) }),
  };
}

function violation(instance: Instance, decide: (pool: Pool) => void): string {
  try {
    simulatePool(instance, deciding(decide), {});
  } catch (error) {
    if (error instanceof RuleViolation) return error.rule;
    throw error;
  }
  return "none";
}

describe("simulatePool()", () => {
  test("at every instant: departures, then one decision with the arrivals", () => {
    const calls: string[] = [];
    const definition = deciding(() => {});
    const instance = jobs([0, 5, 4], [5, 1, 1], [5, 1, 1]);
    simulatePool(
      instance,
      {
        ...definition,
        make: (pool) => ({
          depart: (job) => void calls.push(`${pool.nowS} departs ${job}`),
          decide: (arrived) => {
            calls.push(`${pool.nowS} decides [${arrived}]`);
            if (pool.nowS === 0) pool.start(0, StartRule.head);
          },
        }),
      },
      {},
    );
    expect(calls).toEqual(["0 decides [0]", "5 departs 0", "5 decides [1,2]"]);
  });

  test("decides an instant again when a job of run time 0 has ended in it", () => {
    let decisions = 0;
    const schedule = simulatePool(
      jobs([3, 0, 4], [3, 0, 4]),
      deciding((pool) => {
        if (decisions < 2) pool.start(decisions, StartRule.head);
        decisions++;
      }),
      {},
    );
    expect([...schedule.startS, ...schedule.endS, decisions]).toEqual([3, 3, 3, 3, 3]);
  });

  test("refuses a start before arrival, a second start, a job too large and a row that does not exist", () => {
    const instance = jobs([0, 5, 3], [1, 5, 3]);
    expect(violation(instance, (pool) => pool.start(1, StartRule.head))).toBe("start-before-arrival");
    expect(violation(instance, (pool) => [0, 0].forEach((job) => void pool.start(job, StartRule.head)))).toBe(
      "started-twice",
    );
    expect(violation(instance, (pool) => pool.start(pool.nowS, StartRule.head))).toBe("processor-twice");
    for (const row of [-1, 2, 0.5, Number.NaN]) {
      expect(violation(instance, (pool) => pool.start(row, StartRule.head))).toBe("unknown-job");
    }
  });

  test("refuses a wake in the past, and wakes without end", () => {
    const instance = jobs([0, 5, 3]);
    expect(violation(instance, (pool) => pool.wakeAt(pool.nowS - 1))).toBe("wake-in-the-past");
    expect(violation(instance, (pool) => pool.wakeAt(pool.nowS + 1))).toBe("wakes-for-ever");
  });
});
