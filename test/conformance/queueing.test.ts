/**
 * Compares the simulator with queueing theory. Serial jobs arrive by a Poisson process; unless stated
 * otherwise, they are served first come, first served:
 *
 *   M/M/c   mean wait  C(c, λ/μ) / (cμ − λ), C by Erlang                 (Kleinrock, Queueing Systems I, 3.5)
 *   M/G/1   mean wait  λ·E[S²] / (2·(1 − ρ)), by Pollaczek and Khinchine (ibid., 5.6)
 *   M/G/1, shortest first: Cobham's formula in the limit of many classes (Kleinrock II, 3.7)
 *
 * Each case runs several replications with fixed seeds, leaves out the first tenth of the jobs, and computes
 * a 99 % interval (Student) of the mean waits.
 */

import { exp, ln } from "@tutti/kernel/core/elementary.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { describe, expect, test } from "vitest";

const REPLICATIONS = 20;
const JOBS = 40_000;

type Service = (random: Random) => number;

function serialJobs(processors: number, rate: number, service: Service, seed: number): Instance {
  const arrivals = new Random(seed, "arrivals");
  const services = new Random(seed, "services");
  const submitS = new Float64Array(JOBS);
  let nowS = 0;
  for (let job = 0; job < JOBS; job++) {
    nowS += arrivals.exponential(1 / rate);
    submitS[job] = nowS;
  }
  const runS = submitS.map(() => service(services));
  const columns = {
    id: Int32Array.from(submitS, (_, job) => job + 1),
    submitS,
    runS,
    size: new Int32Array(JOBS).fill(1),
    estimateS: runS,
  };
  const workload = {
    name: "M/G/c",
    count: JOBS,
    jobs: columns,
    processors,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
  return {
    workload,
    processors,
    rules: DEFAULT_RULES,
    count: JOBS,
    ...columns,
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** Mean waits of the replications. */
function meanWaits(policy: string, processors: number, rate: number, service: Service): number[] {
  const choice = choosePolicy(policy);
  return Array.from({ length: REPLICATIONS }, (_, seed) => {
    const instance = serialJobs(processors, rate, service, seed);
    const { startS } = simulate(instance, choice, { slotS: 1, switchS: 0 });
    const first = JOBS / 10;
    let sum = 0;
    for (let job = first; job < JOBS; job++) sum += startS[job] - instance.submitS[job];
    return sum / (JOBS - first);
  });
}

/** Expects that the interval contains the formula's value and is narrow enough to be meaningful. */
function agree(waits: readonly number[], formula: number, narrow: number): void {
  const { mean, half } = confidenceInterval(waits, 0.99);
  expect(Math.abs(mean - formula), `mean wait ${mean} ± ${half}, by the formula ${formula}`).toBeLessThan(
    half,
  );
  expect(half / formula).toBeLessThan(narrow);
}

/** Probability that an arrival has to wait: Erlang's C for c servers and an offered load of a. */
function erlangC(c: number, a: number): number {
  let term = 1;
  let sum = 1;
  for (let n = 1; n < c; n++) {
    term *= a / n;
    sum += term;
  }
  const last = (term * a) / c / (1 - a / c);
  return last / (sum + last);
}

describe("M/M/c", () => {
  test("Erlang's C as tabulated", () => {
    // One server: ρ. Two servers, ρ = ½: 1/3. Ten servers, 8 erlang: 0.409 (any table of Erlang C).
    expect(erlangC(1, 0.7)).toBeCloseTo(0.7, 12);
    expect(erlangC(2, 1)).toBeCloseTo(1 / 3, 12);
    expect(erlangC(10, 8)).toBeCloseTo(0.409, 3);
  });

  test.each([
    [1, 0.7, 0.05],
    [4, 0.8, 0.06],
    [16, 0.9, 0.12],
  ])("%i processors at load %f: mean wait by Erlang C", (c, load, narrow) => {
    const formula = erlangC(c, c * load) / (c - c * load);
    agree(
      meanWaits("fcfs", c, c * load, (random) => random.exponential(1)),
      formula,
      narrow,
    );
  });

  test("EASY with serial jobs is first come, first served", () => {
    const exponential: Service = (random) => random.exponential(1);
    expect(meanWaits("easy", 4, 3.2, exponential)).toEqual(meanWaits("fcfs", 4, 3.2, exponential));
  });
});

describe("M/G/1", () => {
  /** Log-uniform between 1/50 and 2. */
  const [low, high] = [0.02, 2];
  const span = ln(high / low);
  const logUniform: Service = (random) => low * exp(span * random.uniform());
  const cases: readonly [name: string, service: Service, mean: number, square: number][] = [
    ["exponential", (random) => random.exponential(1), 1, 2],
    ["deterministic", () => 1, 1, 1],
    ["log-uniform", logUniform, (high - low) / span, (high * high - low * low) / (2 * span)],
  ];

  test.each(cases)(
    "%s service at load 0.7: mean wait by Pollaczek and Khinchine",
    (_, service, mean, square) => {
      const rate = 0.7 / mean;
      agree(meanWaits("fcfs", 1, rate, service), (rate * square) / (2 * (1 - 0.7)), 0.05);
    },
  );

  test("log-uniform service at load 0.7, shortest first: mean wait by Cobham", () => {
    const rate = 0.7 / ((high - low) / span);
    const residualS = (rate * (high * high - low * low)) / (2 * span) / 2;
    // ∫ residual / (1 − ρ(x))² dF(x) with ρ(x) = λ·(x − low)/span the load of jobs up to x; x =
    // low·e^(span·u), by Simpson's rule.
    const at = (u: number) => residualS / (1 - (rate * low * (exp(span * u) - 1)) / span) ** 2;
    const steps = 1000;
    let sum = at(0) + at(1);
    for (let i = 1; i < steps; i++) sum += (i % 2 === 0 ? 2 : 4) * at(i / steps);
    agree(meanWaits("fcfs:order=shortest", 1, rate, logUniform), sum / (3 * steps), 0.05);
  });
});
