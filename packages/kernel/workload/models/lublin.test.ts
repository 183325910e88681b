import { describe, expect, test } from "vitest";
import { parseParameters } from "../../core/parameters.ts";
import { Random } from "../../core/random.ts";
import { describeWorkload } from "../describe.ts";
import { hashWorkload } from "../hash.ts";
import { readTrace, traceFile } from "../traces-for-tests.ts";
import { drawGamma, gammaCdf } from "./gamma.ts";
import { dailyWeights, fitToMachine, LUBLIN_CLASSES, type LublinClass, lublin } from "./lublin.ts";

const generate = (seed: number, ...settings: string[]) =>
  lublin.generate(parseParameters("model", lublin.parameters, settings), seed);

/** Computes P(size) for sizes 1 … processors directly from the model's description. */
function sizeProbabilities(values: LublinClass, processors: number): number[] {
  const { uLow, uMed, uHi, uProb, serial, powerOfTwo } = fitToMachine(values, processors);
  const part = (u: number, from: number, to: number) => Math.min(1, Math.max(0, (u - from) / (to - from)));
  const below = (u: number) => uProb * part(u, uLow, uMed) + (1 - uProb) * part(u, uMed, uHi);
  const p = new Array<number>(processors + 1).fill(0);
  p[1] = serial;
  const most = Math.floor(Math.log2(processors));
  for (let k = 0; k <= most + 1; k++) {
    p[2 ** Math.min(k, most)] += powerOfTwo * (below(k + 0.5) - below(k - 0.5));
  }
  for (let n = 1; n <= processors + 1; n++) {
    const share = below(Math.log2(n + 0.5)) - below(Math.log2(n - 0.5));
    p[Math.min(n, processors)] += (1 - serial - powerOfTwo) * share;
  }
  return p;
}

/** P(run time ≥ t) for a size. */
function runTail(values: LublinClass, size: number): (t: number) => number {
  const { a1, b1, a2, b2, pa, pb } = values;
  const p = Math.min(1, Math.max(0, pa * size + pb));
  const below = (x: number) => p * gammaCdf(x, a1, b1) + (1 - p) * gammaCdf(x, a2, b2);
  const all = below(12);
  return (t) => 1 - below(Math.min(12, Math.log(t))) / all;
}

/**
 * E ln(run time) and its standard deviation for a size: Σ over whole seconds of the increase of the logarithm
 * × P(at least that long).
 */
function lnRunMoments(values: LublinClass, size: number): { mean: number; sd: number } {
  const tail = runTail(values, size);
  let mean = 0;
  let square = 0;
  for (let t = 2; t <= Math.exp(12); t++) {
    const p = tail(t);
    mean += (Math.log(t) - Math.log(t - 1)) * p;
    square += (Math.log(t) ** 2 - Math.log(t - 1) ** 2) * p;
  }
  return { mean, sd: Math.sqrt(square - mean * mean) };
}

/** The weights by integrating the density with Simpson's rule. */
function naiveWeights({ anum, bnum }: LublinClass): number[] {
  const density = (x: number) => x ** (anum - 1) * Math.exp(-x / bnum);
  const weights = new Array<number>(48).fill(0);
  for (let i = 11; i < 59; i++) {
    let sum = 0;
    for (let k = 0; k < 100; k++) {
      const x = i - 0.5 + k / 100;
      sum += (density(x) + 4 * density(x + 0.005) + density(x + 0.01)) / 600;
    }
    weights[(i - 1) % 48] = sum;
  }
  const mean = weights.reduce((total, weight) => total + weight, 0) / 48;
  return weights.map((weight) => weight / mean);
}

describe("lublin sizes", () => {
  test.each([
    ["one", 128],
    ["batch", 128],
    ["interactive", 128],
    ["one", 256],
    ["one", 100],
    ["one", 5],
  ] as const)(
    "classes=%s on %d processors come as often as the model says (chi square)",
    (name, processors) => {
      const n = 100_000;
      const expected = sizeProbabilities(LUBLIN_CLASSES[name], processors);
      expect(expected.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
      const { jobs } = generate(3, `jobs=${n}`, `classes=${name}`, `processors=${processors}`);
      const counts = new Array<number>(processors + 1).fill(0);
      for (const size of jobs.size) counts[size]++;
      let chi = 0;
      let degrees = -1;
      for (let size = 0; size <= processors; size++) {
        if (expected[size] === 0) expect(counts[size]).toBe(0);
        if (expected[size] * n < 5) continue;
        chi += (counts[size] - n * expected[size]) ** 2 / (n * expected[size]);
        degrees++;
      }
      expect(degrees).toBeGreaterThan(2);
      expect(Math.abs(chi - degrees)).toBeLessThan(4 * Math.sqrt(2 * degrees));
    },
  );

  test("the published shares: serial 24.4 %, powers of two at least 57.6 % of all jobs, not of the parallel ones", () => {
    const { serialShare, powerOfTwoShare } = describeWorkload(generate(4, "jobs=100000"));
    const error = 4 * Math.sqrt(0.25 / 100_000);
    expect(Math.abs(serialShare! - 0.244)).toBeLessThan(error);
    const p = sizeProbabilities(LUBLIN_CLASSES.one, 128);
    const powers = [2, 4, 8, 16, 32, 64, 128].reduce((sum, size) => sum + p[size], 0);
    expect(powers).toBeGreaterThan(0.576);
    expect(powers).toBeLessThan(0.576 + 0.18 / 3); // the other 18 % hit a power of two now and then
    expect(Math.abs(powerOfTwoShare! - powers)).toBeLessThan(error);
  });

  test.skipIf(traceFile("lublin_256") === undefined)(
    "the authors' own 10,000 jobs for 256 processors, 24.9 % serial and 61.2 % powers of two, are within 4 standard errors",
    () => {
      const trace = readTrace("lublin_256");
      const { serialShare, powerOfTwoShare } = describeWorkload(trace);
      expect(serialShare).toBeCloseTo(0.249, 3);
      expect(powerOfTwoShare).toBeCloseTo(0.612, 3);
      const p = sizeProbabilities(LUBLIN_CLASSES.one, 256);
      const powers = [2, 4, 8, 16, 32, 64, 128, 256].reduce((sum, size) => sum + p[size], 0);
      const error = (share: number) => 4 * Math.sqrt((share * (1 - share)) / trace.count);
      expect(Math.abs(serialShare! - p[1])).toBeLessThan(error(p[1]));
      expect(Math.abs(powerOfTwoShare! - powers)).toBeLessThan(error(powers));
      const meanSize = p.reduce((sum, share, size) => sum + share * size, 0);
      const sd = Math.sqrt(p.reduce((sum, share, size) => sum + share * (size - meanSize) ** 2, 0));
      const traceMean = describeWorkload(trace).size!.mean;
      expect(Math.abs(traceMean - meanSize)).toBeLessThan((4 * sd) / Math.sqrt(trace.count));
      const serialRuns = trace.jobs.runS.filter((_, row) => trace.jobs.size[row] === 1).map(Math.log);
      const moments = lnRunMoments(LUBLIN_CLASSES.one, 1);
      const mean = serialRuns.reduce((sum, x) => sum + x, 0) / serialRuns.length;
      expect(Math.abs(mean - moments.mean)).toBeLessThan((4 * moments.sd) / Math.sqrt(serialRuns.length));
    },
  );
});

describe("lublin run times", () => {
  test.each(["one", "batch", "interactive"] as const)(
    "classes=%s: mean logarithm by size within 4 standard errors, distribution by chi square",
    (name) => {
      const values = LUBLIN_CLASSES[name];
      const { jobs } = generate(5, "jobs=200000", `classes=${name}`);
      const means: number[] = [];
      for (const size of [1, 8, 32]) {
        const runs = [...jobs.runS.filter((_, row) => jobs.size[row] === size)];
        expect(runs.length).toBeGreaterThan(1000);
        const { mean, sd } = lnRunMoments(values, size);
        const drawn = runs.reduce((sum, run) => sum + Math.log(run), 0) / runs.length;
        expect(Math.abs(drawn - mean)).toBeLessThan((4 * sd) / Math.sqrt(runs.length));
        means.push(mean);
        const tail = runTail(values, size);
        const cuts = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, Number.POSITIVE_INFINITY];
        let chi = 0;
        for (let i = 0; i + 1 < cuts.length; i++) {
          const expected = runs.length * (tail(cuts[i]) - tail(cuts[i + 1]));
          const count = runs.filter((run) => run >= cuts[i] && run < cuts[i + 1]).length;
          if (expected > 5) chi += (count - expected) ** 2 / expected;
        }
        expect(chi).toBeLessThan(31.3); // at most 10 degrees of freedom: 0.05 %
      }
      expect(means[0]).toBeLessThan(means[1]);
      expect(means[1]).toBeLessThan(means[2]); // larger jobs run longer
    },
  );

  test("are whole seconds from 1 to the program's largest, e^12 = 162754", () => {
    const { jobs } = generate(6, "jobs=50000");
    expect(jobs.runS.every((run) => Number.isInteger(run) && run >= 1 && run <= 162_754)).toBe(true);
  });
});

describe("lublin arrivals", () => {
  test("dailyWeights() are the gamma distribution's shares of the half hours, mean 1, most in the afternoon", () => {
    for (const values of Object.values(LUBLIN_CLASSES)) {
      const weights = dailyWeights(values);
      const expected = naiveWeights(values);
      for (let i = 0; i < 48; i++) expect(Math.abs(weights[i] - expected[i])).toBeLessThan(1e-7);
      const peak = weights.indexOf(Math.max(...weights));
      expect(peak).toBeGreaterThan(24);
      expect(peak).toBeLessThan(32);
      expect(weights.indexOf(Math.min(...weights))).toBeGreaterThan(6);
      expect(weights.indexOf(Math.min(...weights))).toBeLessThan(12);
    }
  });

  test("points are carried over half hours: each submit is where the sum of all gaps runs out", () => {
    const values = LUBLIN_CLASSES.one;
    const { jobs } = generate(7, "jobs=2000");
    const random = new Random(7, "one arrivals");
    const weights = naiveWeights(values);
    const day = 48;
    let points = 0;
    for (let row = 0; row < 2000; row++) {
      let g = 14;
      while (g > 13) g = drawGamma(values.aarr * values.arar, values.barr, random);
      points += Math.exp(g) / 1800;
      let halfHour = Math.floor(points / day) * day; // a day costs 48 points
      let left = points - halfHour;
      while (left > weights[halfHour % day]) left -= weights[halfHour++ % day];
      const at = (halfHour + left / weights[halfHour % day]) * 1800;
      expect(Math.abs(jobs.submitS[row] - at)).toBeLessThan(2);
    }
  });

  test("each hour has its weight's share of the jobs, within a tenth of the mean share", () => {
    for (const name of ["one", "batch", "interactive"] as const) {
      const n = 200_000;
      const { jobs } = generate(8, `jobs=${n}`, `classes=${name}`);
      const weights = naiveWeights(LUBLIN_CLASSES[name]);
      const counts = new Array<number>(24).fill(0);
      for (const at of jobs.submitS) counts[Math.floor((at % 86_400) / 3600)]++;
      for (let hour = 0; hour < 24; hour++) {
        const expected = (weights[2 * hour] + weights[2 * hour + 1]) / 48;
        expect(Math.abs(counts[hour] / n - expected)).toBeLessThan(0.1 / 24);
      }
    }
  });

  test("the mean gap is that of e^g below e^13 s, within 4 standard errors", () => {
    const { aarr, arar, barr } = LUBLIN_CLASSES.one;
    const density = (g: number) => g ** (aarr * arar - 1) * Math.exp(-g / barr);
    let [mass, mean, square] = [0, 0, 0];
    for (let k = 0; k < 13_000; k++) {
      const g = (k + 0.5) / 1000;
      mass += density(g);
      mean += density(g) * Math.exp(g);
      square += density(g) * Math.exp(2 * g);
    }
    mean /= mass;
    const sd = Math.sqrt(square / mass - mean * mean);
    const n = 200_000;
    const { jobs } = generate(9, `jobs=${n}`);
    // Up to a day's points may be spent in advance or in arrears.
    expect(Math.abs(jobs.submitS[n - 1] / n - mean)).toBeLessThan((4 * sd) / Math.sqrt(n) + 86_400 / n);
  });
});

describe("lublin.generate()", () => {
  test("classes=both: two clocks, the earlier first; interactive jobs in queue 0, batch jobs in queue 1, each by its own values", () => {
    const { jobs, trace, count } = generate(10, "jobs=100000", "classes=both");
    expect([...jobs.submitS].every((at, row) => row === 0 || at >= jobs.submitS[row - 1])).toBe(true);
    const of = (queue: number) => jobs.size.filter((_, row) => trace!.queue[row] === queue);
    expect(of(0).length + of(1).length).toBe(count);
    expect(Math.max(...of(0))).toBeLessThanOrEqual(45); // 2^5.5, rounded
    expect(Math.max(...of(1))).toBe(128);
    for (const [queue, name] of [
      [0, "interactive"],
      [1, "batch"],
    ] as const) {
      const sizes = of(queue);
      const alone = generate(10, "jobs=100", `classes=${name}`);
      const first = jobs.submitS.filter((_, row) => trace!.queue[row] === queue).slice(0, 50);
      expect([...first]).toEqual([...alone.jobs.submitS.slice(0, 50)]);
      const serial = sizes.filter((size) => size === 1).length / sizes.length;
      expect(Math.abs(serial - LUBLIN_CLASSES[name].serial)).toBeLessThan(4 * Math.sqrt(0.25 / sizes.length));
    }
  });

  test("load scales the submit times to the offered load exactly and changes nothing else", () => {
    const as = generate(11);
    const scaled = generate(11, "load=0.85");
    expect(describeWorkload(scaled).offeredLoad).toBeCloseTo(0.85, 12);
    expect(scaled.jobs.runS).toEqual(as.jobs.runS);
    expect(scaled.jobs.size).toEqual(as.jobs.size);
    const factor = describeWorkload(as).offeredLoad! / 0.85;
    const [first] = as.jobs.submitS;
    for (const row of [0, 1, 5000, 9999]) {
      expect(scaled.jobs.submitS[row]).toBeCloseTo(first + (as.jobs.submitS[row] - first) * factor, 6);
    }
  });

  test("the same parameters and seed give the same jobs, another seed others; estimates have a stream of their own", () => {
    expect(hashWorkload(generate(12))).toBe(hashWorkload(generate(12)));
    expect(hashWorkload(generate(12))).not.toBe(hashWorkload(generate(13)));
    const guessed = generate(12, "estimates=tsafrir");
    expect(guessed.jobs.runS).toEqual(generate(12).jobs.runS);
    expect(guessed.jobs.estimateS).not.toEqual(guessed.jobs.runS);
    expect(guessed.name).toBe("lublin:estimates=tsafrir, seed 12");
  });
});
