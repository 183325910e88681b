import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SitesInstance, SitesPolicyDefinition } from "./contract.ts";
import { GRID, SitesStartRule } from "./contract.ts";
import { requireSameAsNaive } from "./naive.ts";
import { acrossSites, oneSite } from "./policies.ts";
import type { RemainingRule } from "./simulate.ts";
import { simulateSites } from "./simulate.ts";
import { arbitraryInstance, sitesOf, smallInstance } from "./sites-for-tests.ts";
import { generateSites, UNIFORM_GANGS, withPredictionError } from "./workload.ts";

const G = GRID;

/** Runs a policy and compares it with the naive simulation. */
function run(
  instance: SitesInstance,
  definition: SitesPolicyDefinition,
  settings: string[] = [],
  completions = Number.POSITIVE_INFINITY,
  remaining: RemainingRule = "exact",
) {
  const parameters = parseParameters(definition.name, definition.parameters, settings);
  const schedule = simulateSites(instance, definition, parameters, { completions, remaining });
  requireSameAsNaive(instance, definition.guarantees(parameters), schedule, remaining, completions);
  return schedule;
}

describe("simulateSites() against the naive simulation", () => {
  const settings = fc.record({
    acrossSites: fc.boolean(),
    order: fc.constantFrom("largest", "oldest"),
    thresholdS: fc.constantFrom(-1, 0, 0, 1, 3),
    fastest: fc.boolean(),
    takesHeld: fc.boolean(),
    criticalAhead: fc.boolean(),
    remaining: fc.constantFrom("exact", "predicted"),
    completions: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 10),
  });

  test("every job starts and ends at the same instant, for all parameters", () => {
    const seen = new Array<number>(Object.keys(SitesStartRule).length).fill(0);
    fc.assert(
      fc.property(arbitraryInstance, settings, (instance, rules) => {
        const texts = [
          `order=${rules.order}`,
          rules.thresholdS < 0 ? "backfill=none" : `threshold=${rules.thresholdS}`,
          `idle=${rules.takesHeld ? "held" : "free"}`,
          `site=${rules.fastest ? "fastest" : "lot"}`,
          `critical=${rules.criticalAhead ? "ahead" : "ordinary"}`,
        ];
        const definition = rules.acrossSites ? acrossSites : oneSite;
        const schedule = run(instance, definition, texts, rules.completions, rules.remaining);
        for (const [rule, count] of schedule.startsByRule.entries()) seen[rule] += count;
      }),
      { numRuns: 800, seed: 2009 },
    );
    expect(Math.min(...seen)).toBeGreaterThan(50);
  });

  test("so it is on the paper's own workload with wrong predictions", () => {
    const workload = { ...PAPER, localEveryS: [0.08, 0.08], count: 1500, seed: 5, replication: 0 };
    const instance = withPredictionError(generateSites(workload), 30);
    for (const definition of [oneSite, acrossSites]) {
      const schedule = run(instance, definition, [], 1400);
      expect(schedule.startsByRule[2]).toBeGreaterThan(100);
    }
  });
});

const PAPER = {
  sites: sitesOf(16, 16),
  localEveryS: [0.1, 0.1],
  gangEveryS: 2,
  gangSizes: UNIFORM_GANGS,
  serviceS: 1,
  splitOverhead: 0.1,
  criticalShare: 0,
};

/** Erlang's formula: probability that an arrival at M/M/c has to wait, for an offered load of `erlangs`. */
function erlangC(c: number, erlangs: number): number {
  let inverse = 1; // of the blocking probability, by its recurrence
  for (let k = 1; k <= c; k++) inverse = 1 + (inverse * k) / erlangs;
  return 1 / (inverse - (erlangs / c) * (inverse - 1));
}

describe("simulateSites() against queueing theory", () => {
  const replications = Array.from({ length: 12 }, (_, replication) => replication);
  const meanResponse = (
    sites: number[],
    everyS: number[],
    count: number,
    replication: number,
    warmUp: number,
  ) => {
    const workload = {
      ...PAPER,
      sites: sitesOf(...sites),
      localEveryS: everyS,
      gangEveryS: Number.POSITIVE_INFINITY,
    };
    const { instance } = generateSites({ ...workload, count, seed: 11, replication });
    const { endS } = simulateSites(instance, oneSite, parseParameters("", oneSite.parameters, []));
    let sum = 0;
    for (let job = warmUp; job < count; job++) sum += endS[job] - instance.submitS[job];
    return sum / (count - warmUp);
  };

  test("a site of one processor is M/M/1: mean response 1/(μ − λ)", () => {
    const { mean, half } = confidenceInterval(
      replications.map((r) => meanResponse([1], [2], 20_000, r, 1000)),
      0.999,
    );
    expect(half).toBeLessThan(0.1);
    expect(Math.abs(mean - 2)).toBeLessThan(half);
  });

  test("two processors with the shortest queue lie between M/M/2 and two M/M/1", () => {
    const load = 1.4;
    const { mean, half } = confidenceInterval(
      replications.map((r) => meanResponse([2], [1 / load], 20_000, r, 1000)),
      0.999,
    );
    expect(mean - half).toBeGreaterThan(1 + erlangC(2, load) / (2 - load));
    expect(mean + half).toBeLessThan(1 / (1 - load / 2));
  });

  test("with enough processors that no job waits, the response is the service time, and a free processor is always found", () => {
    const workload = { ...PAPER, sites: sitesOf(64), localEveryS: [0.2], gangEveryS: 4, count: 20_000 };
    const { instance } = generateSites({ ...workload, seed: 3, replication: 0 });
    const { startS, startsByRule } = run(instance, oneSite);
    expect(startsByRule[0] + startsByRule[3]).toBe(20_000);
    expect(Array.from(startS)).toEqual(Array.from(instance.submitS));
  });

  test("utilisation is the offered load where the queues are stable", () => {
    const offered = (10 + 10 + 7.5 / 2) / 32;
    const { mean, half } = confidenceInterval(
      replications.map((replication) => {
        const { instance } = generateSites({ ...PAPER, count: 20_000, seed: 4, replication });
        const parameters = parseParameters("", acrossSites.parameters, []);
        const schedule = simulateSites(instance, acrossSites, parameters, { completions: 19_000 });
        return schedule.busyS.reduce((sum, busyS) => sum + busyS, 0) / (32 * schedule.stopS);
      }),
      0.999,
    );
    expect(half).toBeLessThan(0.02);
    expect(Math.abs(mean - offered)).toBeLessThan(half);
  });
});

describe("simulateSites() on cases worked by hand", () => {
  test("a gang gathers its processors; a local job that ends in time passes it, a longer one waits", () => {
    const instance = smallInstance(sitesOf(2), [
      { submitS: 0, serviceS: 10 }, // on processor 0
      { submitS: 1, serviceS: 2, size: 2, home: G }, // waits at 0 and 1 until 10
      { submitS: 2, serviceS: 8 }, // ends at 10: passes on 1
      { submitS: 3, serviceS: 8 }, // ties of 2 and 2: to 0, after the gang
      { submitS: 4, serviceS: 1 }, // to 1, after the gang
    ]);
    const { startS, endS, startsByRule } = run(instance, oneSite);
    expect(Array.from(startS)).toEqual([0, 10, 2, 12, 12]);
    expect(Array.from(endS)).toEqual([10, 12, 10, 20, 13]);
    expect(startsByRule).toEqual([1, 2, 1, 0, 1, 0]);
    expect(Array.from(run(instance, oneSite, ["backfill=none"]).startS)).toEqual([0, 10, 12, 12, 20]);
  });

  test("a prediction that is too low delays the gang; the threshold admits a longer job", () => {
    const jobs = (predictedS: number) =>
      smallInstance(sitesOf(2), [
        { submitS: 0, serviceS: 4 },
        { submitS: 1, serviceS: 1, size: 2, home: G },
        { submitS: 2, serviceS: 5, predictedS },
      ]);
    expect(Array.from(run(jobs(2), oneSite).startS)).toEqual([0, 7, 2]);
    expect(Array.from(run(jobs(5), oneSite).startS)).toEqual([0, 4, 5]);
    expect(Array.from(run(jobs(5), oneSite, ["threshold=3"]).startS)).toEqual([0, 7, 2]);
  });

  test("approach 2 splits a gang at a cost where approach 1 lets it wait", () => {
    const instance = smallInstance(sitesOf(2, 2), [
      { submitS: 0, serviceS: 9, home: 0 },
      { submitS: 0, serviceS: 9, home: 0, drawn: 0.9 },
      { submitS: 0, serviceS: 6, home: 1 },
      { submitS: 1, serviceS: 6, home: 0 }, // makes a queue on site 0
      { submitS: 2, serviceS: 4, size: 3, home: G },
      { submitS: 3, serviceS: 1, size: 2, home: G },
    ]);
    const one = run(instance, oneSite);
    expect(one.startS[4]).toBeNaN();
    expect(one.startS[5]).toBe(6);
    const split = smallInstance(sitesOf(2, 2), [
      { submitS: 0, serviceS: 9, home: 0 },
      { submitS: 0, serviceS: 2, home: 0, drawn: 0.9 },
      { submitS: 1, serviceS: 4, size: 3, home: G },
    ]);
    const two = run(split, acrossSites);
    expect([two.startS[2], two.endS[2], two.split[2]]).toEqual([2, 8, 1]); // 4 × 1.5
    expect(run(split, oneSite).startS[2]).toBeNaN();
  });

  test("the largest gang that finds room goes first, and among equals the oldest", () => {
    const instance = smallInstance(sitesOf(3), [
      { submitS: 0, serviceS: 10, size: 3, home: G },
      { submitS: 1, serviceS: 10 },
      { submitS: 1, serviceS: 10 },
      { submitS: 1, serviceS: 10 },
      { submitS: 2, serviceS: 5, size: 1, home: G },
      { submitS: 3, serviceS: 5, size: 3, home: G },
      { submitS: 4, serviceS: 5, size: 3, home: G },
    ]);
    // At 10 the local jobs start, which leaves three empty queues.
    expect(Array.from(run(instance, oneSite).startS)).toEqual([0, 10, 10, 10, 30, 20, 25]);
    expect(Array.from(run(instance, oneSite, ["order=oldest"]).startS)).toEqual([0, 10, 10, 10, 20, 25, 30]);
  });

  test("a critical gang goes ahead of waiting local jobs and of other gangs", () => {
    const instance = smallInstance(sitesOf(2), [
      { submitS: 0, serviceS: 4 },
      { submitS: 0, serviceS: 4, drawn: 0.9 },
      { submitS: 1, serviceS: 4 },
      { submitS: 1, serviceS: 4, drawn: 0.9 },
      { submitS: 2, serviceS: 1, size: 2, home: G },
      { submitS: 3, serviceS: 1, size: 2, home: G, critical: true },
    ]);
    expect(Array.from(run(instance, oneSite).startS)).toEqual([0, 0, 4, 4, 8, 9]);
    expect(Array.from(run(instance, oneSite, ["critical=ahead"]).startS)).toEqual([0, 0, 5, 5, 9, 4]);
  });

  test("the slowest site sets the pace of a split gang; a local job runs at the speed of its own", () => {
    const sites = [
      { processors: 1, speed: 2 },
      { processors: 1, speed: 0.5 },
    ];
    const instance = smallInstance(
      sites,
      [
        { submitS: 0, serviceS: 3, size: 2, home: G },
        { submitS: 20, serviceS: 3, home: 0 },
        { submitS: 20, serviceS: 3, home: 1 },
      ],
      0,
    );
    expect(Array.from(run(instance, acrossSites).endS)).toEqual([6, 21.5, 26]);
  });

  test("refuses sites and jobs that make no sense, with the numbers", () => {
    const simulate = (instance: SitesInstance) => () =>
      simulateSites(instance, oneSite, parseParameters("", oneSite.parameters, []));
    expect(simulate(smallInstance([], []))).toThrow("Cannot simulate 0 sites");
    expect(simulate(smallInstance([{ processors: 2, speed: 0 }], []))).toThrow("2 processors of speed 0");
    expect(simulate(smallInstance(sitesOf(2), [{ submitS: 0, serviceS: 1, home: 1 }]))).toThrow("home 1");
    expect(simulate(smallInstance(sitesOf(2), [{ submitS: 0, serviceS: 1, size: 2 }]))).toThrow("2 tasks");
    expect(simulate(smallInstance(sitesOf(2), [{ submitS: 0, serviceS: Number.NaN }]))).toThrow(
      "service NaN s",
    );
  });
});
