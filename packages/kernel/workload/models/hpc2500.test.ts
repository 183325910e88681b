import { describe, expect, test } from "vitest";
import { parseParameters } from "../../core/parameters.ts";
import { exceededLimit, HPC2500_CLASSES } from "../../core/queue-classes.ts";
import { HPC2500_JOBS, hpc2500 } from "./hpc2500.ts";

function generate(seed: number, ...settings: string[]) {
  const workload = hpc2500.generate(parseParameters("model", hpc2500.parameters, settings), seed);
  return { ...workload, shape: workload.shape! };
}

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1];

describe("hpc2500", () => {
  const { jobs, shape, count, processors } = generate(1, "jobs=200000");

  test("shares of the degrees of parallelism sum to 1 and are met", () => {
    expect(HPC2500_JOBS.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
    // Batches make the count of a size vary: with b batches of mean length m, its standard error is about
    // √2/√b of it.
    for (const { processors: size, share } of HPC2500_JOBS) {
      const found = jobs.size.filter((other) => other === size).length / count;
      const batches = (share * count) / Math.max(1, 512 / size);
      expect(Math.abs(found / share - 1)).toBeLessThan((4 * Math.SQRT2) / Math.sqrt(batches));
    }
  });

  test("median CPU times are those of table 1", () => {
    for (const { processors: size, medianCpuMs } of HPC2500_JOBS) {
      const cpuMs: number[] = [];
      for (let job = 0; job < count; job++)
        if (jobs.size[job] === size) cpuMs.push(jobs.runS[job] * size * 1000);
      // The median of n draws has a standard error of 1.25·σ/√n in the logarithm; σ = 1.5. The cut at seven
      // days lowers the median of the largest jobs by up to 4 %, rounding to seconds moves that of the
      // smallest by as much.
      const tolerance = (4 * 1.25 * 1.5) / Math.sqrt(cpuMs.length) + 0.04;
      expect(Math.abs(median(cpuMs) / medianCpuMs - 1)).toBeLessThan(tolerance);
    }
  });

  test("processes × threads are the processors, and the chosen queue admits the job", () => {
    for (let job = 0; job < count; job++) {
      const [processes, threads] = [shape.processes[job], shape.threads[job]];
      if (processes * threads !== jobs.size[job]) expect.fail(`job ${job} has ${processes} × ${threads}`);
      const estimateS = jobs.estimateS[job];
      const asked = { processors: jobs.size[job], processes, threads, estimateS };
      const exceeded = exceededLimit(HPC2500_CLASSES[shape.queue[job]], asked);
      if (exceeded !== undefined) expect.fail(`job ${job} exceeds ${exceeded} of its queue`);
      if (estimateS < jobs.runS[job]) expect.fail(`job ${job} runs past its estimate`);
    }
    expect(new Set(shape.queue)).toEqual(new Set(HPC2500_CLASSES.keys()));
  });

  test("the offered load is the one asked for", () => {
    let area = 0;
    for (let job = 0; job < count; job++) area += jobs.size[job] * jobs.runS[job];
    // Batches arrive as a Poisson process: 4 standard errors of the mean gap.
    const batches = new Set(jobs.submitS).size;
    const load = area / (processors! * jobs.submitS[count - 1]);
    expect(Math.abs(load / 1.1 - 1)).toBeLessThan(4 / Math.sqrt(batches));
  });

  test("jobs of a batch are alike and batches have the mean length asked for", () => {
    const lengths = new Map<number, number[]>();
    for (let from = 0; from < count; ) {
      let to = from;
      for (; to < count && jobs.submitS[to] === jobs.submitS[from]; to++) {
        if (jobs.size[to] !== jobs.size[from] || shape.threads[to] !== shape.threads[from]) {
          expect.fail(`job ${to} differs from job ${from}`);
        }
      }
      lengths.set(jobs.size[from], [...(lengths.get(jobs.size[from]) ?? []), to - from]);
      from = to;
    }
    for (const [size, found] of lengths) {
      const mean = found.reduce((sum, length) => sum + length, 0) / found.length;
      const expected = Math.max(1, 512 / size);
      expect(Math.abs(mean / expected - 1)).toBeLessThan(4 / Math.sqrt(found.length) + 1e-9);
    }
  });

  test("careful=1 takes the smallest queue that admits the job, careful=0 all that do", () => {
    const careful = generate(2, "careful=1", "jobs=5000");
    for (let job = 0; job < careful.count; job++) {
      const chosen = HPC2500_CLASSES[careful.shape.queue[job]].processors;
      const expected = [8, 32, 128, 512].find((most) => most >= careful.jobs.size[job])!;
      // Only jobs with more than 32 threads may not enter d32, and none of those has 32 processors or fewer.
      expect(chosen).toBe(expected);
    }
    const careless = generate(2, "careful=0", "jobs=50000");
    const queuesOfOne = new Set<number>();
    for (let job = 0; job < careless.count; job++) {
      if (careless.jobs.size[job] === 1) queuesOfOne.add(careless.shape.queue[job]);
    }
    expect([...queuesOfOne].sort()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("the same seed gives the same jobs, and who chooses changes nothing else", () => {
    const once = generate(3, "jobs=2000");
    expect(generate(3, "jobs=2000")).toEqual(once);
    expect(generate(4, "jobs=2000").jobs).not.toEqual(once.jobs);
    const other = generate(3, "jobs=2000", "careful=0");
    expect(other.jobs).toEqual(once.jobs);
    expect(other.shape.threads).toEqual(once.shape.threads);
  });
});
