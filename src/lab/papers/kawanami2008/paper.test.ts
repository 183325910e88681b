import { describe, expect, test } from "vitest";
import { QUEUE_NAMES, type RunNumbers, type SchedulerKey, type SeedNumbers } from "./cells.ts";
import { judgeStatements } from "./claims.ts";
import { kawanami2008 } from "./paper.ts";

/** A run in which every queue has the same median and longest wait. */
function flat(waitS: number): RunNumbers {
  const values = QUEUE_NAMES.map(() => waitS);
  const zeros = QUEUE_NAMES.map(() => 0);
  return {
    jobs: values,
    medianWaitS: values,
    maxWaitS: values,
    medianByShapeS: values,
    reservations: zeros,
    heldShare: [0],
  };
}

function seedOf(waitS: Record<Exclude<SchedulerKey, "unlimited">, number>): SeedNumbers {
  const { conventional, proposal1, proposal2 } = waitS;
  return {
    runs: {
      conventional: flat(conventional),
      unlimited: flat(conventional),
      proposal1: flat(proposal1),
      proposal2: flat(proposal2),
    },
    medianCpuMs: [],
  };
}

function verdict(seeds: readonly SeedNumbers[], statement: string) {
  const found = judgeStatements(seeds).filter((one) => one.statement.startsWith(statement));
  expect(found).toHaveLength(1);
  return found[0];
}

describe("judgeStatements()", () => {
  const lowest = "figure 2, d32: the median wait of proposal 1 is the lowest";
  const above = "figure 2, s8: the median wait of proposal 1 is much above";
  const about = "figure 2, all jobs: the median wait of proposal 2 is about";

  test("compares means with every rival", () => {
    expect(verdict([seedOf({ conventional: 10, proposal1: 9, proposal2: 11 })], lowest).holds).toBe(true);
    expect(verdict([seedOf({ conventional: 10, proposal1: 10, proposal2: 11 })], lowest).holds).toBe(false);
    expect(verdict([seedOf({ conventional: 10, proposal1: 9, proposal2: 8 })], lowest).holds).toBe(false);
  });

  test("much above is by half or more, about is within a quarter", () => {
    expect(verdict([seedOf({ conventional: 10, proposal1: 15, proposal2: 0 })], above).holds).toBe(true);
    expect(verdict([seedOf({ conventional: 10, proposal1: 14.9, proposal2: 0 })], above).holds).toBe(false);
    expect(verdict([seedOf({ conventional: 10, proposal1: 0, proposal2: 12.5 })], about).holds).toBe(true);
    expect(verdict([seedOf({ conventional: 10, proposal1: 0, proposal2: 8 })], about).holds).toBe(true);
    expect(verdict([seedOf({ conventional: 10, proposal1: 0, proposal2: 12.6 })], about).holds).toBe(false);
    expect(verdict([seedOf({ conventional: 10, proposal1: 0, proposal2: 7.9 })], about).holds).toBe(false);
  });

  test("a mean carried by few seeds does not make a statement hold, and the evidence says so", () => {
    const usual = seedOf({ conventional: 10, proposal1: 11, proposal2: 12 });
    const odd = seedOf({ conventional: 100, proposal1: 9, proposal2: 200 });
    const { holds, evidence } = verdict([usual, odd, usual], lowest);
    expect(holds).toBe(false);
    expect(evidence).toContain("proposal 1 10 s, conventional 40 s, proposal 2 75 s; so in 1 of 3 seeds");
    expect(evidence).toContain("true of the means, not of most seeds");
  });

  test("a statement that does not hold gives a reason", () => {
    const worst = judgeStatements([seedOf({ conventional: 10, proposal1: 30, proposal2: 20 })]);
    const best = judgeStatements([seedOf({ conventional: 30, proposal1: 10, proposal2: 5 })]);
    for (const { holds, evidence } of [...worst, ...best]) expect(/seeds: ./.test(evidence)).toBe(!holds);
    expect(worst.filter(({ holds }) => !holds).length).toBeGreaterThan(10);
  });
});

describe("kawanami2008", () => {
  const cells = kawanami2008.cells({ seed: 5 }).slice(0, 2);
  const numbers = cells.map((cell) => kawanami2008.runCell(cell));
  const page = kawanami2008.collect(cells, numbers, { seed: 5 });

  test("tables 2 to 4 are configured as printed", () => {
    const printed = page.tables.filter(({ id }) => /^Tables? [234]/.test(id));
    expect(printed).toHaveLength(2);
    for (const { published, ours } of printed.flatMap(({ rows }) => rows.flatMap((row) => row.values))) {
      expect(published).not.toBeNull();
      expect(ours).toBe(published);
    }
  });

  test("a second run gives the same numbers to the last digit", () => {
    expect(kawanami2008.runCell(cells[0])).toEqual(numbers[0]);
  });

  test("every scheduler runs the same jobs; only proposal 2 reserves, within queues that may", () => {
    for (const { runs } of numbers) {
      const all = QUEUE_NAMES.length - 1;
      for (const run of Object.values(runs)) {
        expect(run.jobs[all]).toBe(20_000);
        expect(run.jobs.slice(0, all).reduce((sum, jobs) => sum + jobs)).toBe(20_000);
        expect(run.maxWaitS[all]).toBe(Math.max(...run.maxWaitS.slice(0, all)));
      }
      const { conventional, unlimited, proposal1, proposal2 } = runs;
      for (const run of [conventional, unlimited, proposal1]) {
        expect([run.reservations[all], run.heldShare[0]]).toEqual([0, 0]);
      }
      expect(proposal2.reservations.slice(0, 2)).toEqual([0, 0]);
      expect(proposal2.reservations[all]).toBeGreaterThan(0);
      expect(proposal2.heldShare[0]).toBeGreaterThan(0);
      expect(proposal2.heldShare[0]).toBeLessThan(1);
    }
  });

  test("figures have a point per queue and scheduler, statements their numbers", () => {
    for (const { series } of page.figures) {
      expect(series.map(({ ours }) => ours.length)).toEqual([7, 7, 7, 7]);
    }
    expect(page.statements).toHaveLength(37);
    for (const { evidence } of page.statements) expect(evidence).toMatch(/\d s, .*\d of 2 seeds/);
  });
});
