import { judge } from "@tutti/lab/claims.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Results } from "../results.ts";
import { runCells } from "../run-cells.ts";
import { type Place, SCHEDULER_KEYS, type SchedulerKey } from "./cells.ts";
import { claims } from "./claims.ts";
import { kawanami2008 } from "./paper.ts";
import { QUEUE_NAMES, type QueuesResult } from "./run.ts";

/** A run in which every queue has the same median and longest wait. */
function flat(waitS: number): QueuesResult {
  const values = QUEUE_NAMES.map(() => waitS);
  const zeros = QUEUE_NAMES.map(() => 0);
  return {
    jobs: values,
    medianWaitS: values,
    maxWaitS: values,
    medianByShapeS: values,
    reservations: zeros,
    heldShare: [0],
    medianCpuMs: [],
  };
}

/** Waits by scheduler in one seed. */
type Seed = Readonly<Record<Exclude<SchedulerKey, "unlimited">, number>>;

function statementsOf(seeds: readonly Seed[]) {
  const cells = seeds.flatMap((seed) => {
    const waits = { ...seed, unlimited: seed.conventional };
    return SCHEDULER_KEYS.map((scheduler) => ({ place: { scheduler }, run: flat(waits[scheduler]) }));
  });
  const results = new Results<Place, QueuesResult>(
    cells,
    cells.map(({ run }) => run),
  );
  return claims(results).map(judge);
}

function verdict(seeds: readonly Seed[], statement: string) {
  return theOne(statementsOf(seeds), statement);
}

function theOne(judged: ReturnType<typeof statementsOf>, statement: string) {
  const found = judged.filter((claim) => claim.statement.startsWith(statement));
  expect(found).toHaveLength(1);
  return found[0];
}

describe("claims", () => {
  const lowest = "figure 2, d32: the median wait of proposal 1 is the lowest";
  const above = "figure 2, s8: the median wait of proposal 1 is much above";
  const about = "figure 2, all jobs: the median wait of proposal 2 is about";

  test("compares means with every rival", () => {
    expect(verdict([{ conventional: 10, proposal1: 9, proposal2: 11 }], lowest).holds).toBe(true);
    expect(verdict([{ conventional: 10, proposal1: 10, proposal2: 11 }], lowest).holds).toBe(false);
    expect(verdict([{ conventional: 10, proposal1: 9, proposal2: 8 }], lowest).holds).toBe(false);
  });

  test("much above is by half or more, about is within a quarter", () => {
    expect(verdict([{ conventional: 10, proposal1: 15, proposal2: 0 }], above).holds).toBe(true);
    expect(verdict([{ conventional: 10, proposal1: 14.9, proposal2: 0 }], above).holds).toBe(false);
    expect(verdict([{ conventional: 10, proposal1: 0, proposal2: 12.5 }], about).holds).toBe(true);
    expect(verdict([{ conventional: 10, proposal1: 0, proposal2: 8 }], about).holds).toBe(true);
    expect(verdict([{ conventional: 10, proposal1: 0, proposal2: 12.6 }], about).holds).toBe(false);
    expect(verdict([{ conventional: 10, proposal1: 0, proposal2: 7.9 }], about).holds).toBe(false);
  });

  test("a mean carried by few seeds shows nothing, and the evidence says so", () => {
    const usual = { conventional: 10, proposal1: 11, proposal2: 12 };
    const odd = { conventional: 100, proposal1: 9, proposal2: 200 };
    const { holds, evidence } = verdict([usual, odd, usual], lowest);
    expect(holds).toBe(null);
    // Differences 1, −91, 1: mean −29.67, sd 53.12; t = 4.303 with 2 degrees of freedom, so ± 131.9 s.
    expect(evidence).toContain("proposal 1 10.3 s, conventional 40 s, proposal 2 74.7 s");
    expect(evidence).toContain("minus conventional −29.7 s ± 132 s");
    expect(evidence).toContain("true in 1 of 3 seeds alone: neither shown nor refuted");
  });

  test("verdicts are those of Student's intervals of the differences, computed plainly", () => {
    // 97.5 % quantile of Student's t with 7 degrees of freedom (Abramowitz and Stegun, table 26.10).
    const QUANTILE = 2.365;
    const waits = fc.record({
      conventional: fc.integer({ min: 0, max: 30 }),
      proposal1: fc.integer({ min: 0, max: 30 }),
      proposal2: fc.integer({ min: 0, max: 30 }),
    });
    const seeds = fc.array(waits, { minLength: 8, maxLength: 8 });
    const boundsOf = (values: readonly number[]) => {
      const mean = values.reduce((sum, value) => sum + value) / 8;
      const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const half = QUANTILE * Math.sqrt(squares / 7 / 8);
      return { low: mean - half, high: mean + half };
    };
    const property = fc.property(seeds, (list) => {
      const judged = statementsOf(list);
      const minus = (a: keyof Seed, factor: number, b: keyof Seed) =>
        boundsOf(list.map((seed) => seed[a] - factor * seed[b]));
      const negative = ({ low, high }: ReturnType<typeof boundsOf>) => ({ low: -high, high: -low });
      const check = (statement: string, sides: readonly ReturnType<typeof boundsOf>[]) => {
        // The table's quantile has four digits.
        if (sides.some(({ low, high }) => Math.min(Math.abs(low), Math.abs(high)) < 0.01)) return;
        // Each interval must be below 0; one that is above 0 refutes the statement.
        const isRefuted = sides.some(({ low }) => low > 0);
        const isShown = sides.every(({ high }) => high < 0);
        expect(theOne(judged, statement).holds).toBe(isRefuted ? false : isShown ? true : null);
      };
      const toConventional = minus("proposal1", 1, "conventional");
      check(lowest, [toConventional, minus("proposal1", 1, "proposal2")]);
      check(above, [negative(minus("proposal1", 1.5, "conventional"))]);
      const ratio = "proposal2" as const;
      check(about, [minus(ratio, 1.25, "conventional"), negative(minus(ratio, 0.8, "conventional"))]);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test("a statement that does not hold gives a reason", () => {
    const worst = statementsOf([{ conventional: 10, proposal1: 30, proposal2: 20 }]);
    const best = statementsOf([{ conventional: 30, proposal1: 10, proposal2: 5 }]);
    for (const { holds, evidence } of [...worst, ...best])
      expect(/seeds alone: ./.test(evidence)).toBe(!holds);
    expect(worst.filter(({ holds }) => !holds).length).toBeGreaterThan(10);
  });
});

describe("kawanami2008", async () => {
  const cells = kawanami2008.cells(5).slice(0, 8);
  const run = () => runCells(cells.map(({ cell }) => cell) as Cell<"queues">[], { workers: 1 });
  const numbers = await run();
  const page = kawanami2008.collect(new Results(cells, numbers));

  test("tables 2 to 4 are configured as printed", () => {
    const printed = page.tables.filter(({ id }) => /^Tables? [234]/.test(id));
    expect(printed.map(({ kind }) => kind)).toEqual(["constants", "constants"]);
    expect(page.tables.find(({ id }) => id === "Table 1")!.kind).toBe("fitted");
    for (const { published, ours } of printed.flatMap(({ rows }) => rows.flatMap((row) => row.values))) {
      expect(published).not.toBeNull();
      expect(ours).toBe(published);
    }
  });

  test("a second run gives the same numbers to the last digit", async () => {
    expect(await run()).toEqual(numbers);
  });

  test("every scheduler runs the same jobs; only proposal 2 reserves, within queues that may", () => {
    const all = QUEUE_NAMES.length - 1;
    for (const [i, run] of numbers.entries()) {
      expect(run.jobs[all]).toBe(20_000);
      expect(run.jobs.slice(0, all).reduce((sum, jobs) => sum + jobs)).toBe(20_000);
      expect(run.maxWaitS[all]).toBe(Math.max(...run.maxWaitS.slice(0, all)));
      expect(run.medianCpuMs).toEqual(numbers[i - (i % SCHEDULER_KEYS.length)].medianCpuMs);
      if (SCHEDULER_KEYS[i % SCHEDULER_KEYS.length] !== "proposal2") {
        expect([run.reservations[all], run.heldShare[0]]).toEqual([0, 0]);
        continue;
      }
      expect(run.reservations.slice(0, 2)).toEqual([0, 0]);
      expect(run.reservations[all]).toBeGreaterThan(0);
      expect(run.heldShare[0]).toBeGreaterThan(0);
      expect(run.heldShare[0]).toBeLessThan(1);
    }
  });

  test("figures have a point per queue and scheduler, statements their numbers", () => {
    for (const { series } of page.figures) {
      expect(series.map(({ ours }) => ours.length)).toEqual([7, 7, 7, 7]);
    }
    expect(page.statements).toHaveLength(37);
    for (const { evidence } of page.statements) expect(evidence).toMatch(/ ± .*\d of 2 seeds alone/);
  });
});
