/**
 * Makes small instances for the tests of policies, checker and explanation: by hand, by fast-check, or from a
 * seed.
 */
import fc from "fast-check";
import type { Instance } from "../core/jobs.ts";
import { Random } from "../core/random.ts";
import { DEFAULT_RULES } from "../core/rules.ts";

/** One job. The default estimate is the run time; by default, jobs are numbered from 1. */
export interface TestJob {
  readonly submitS: number;
  readonly runS: number;
  readonly size: number;
  readonly estimateS?: number;
  readonly id?: number;
}

/** An instance of the jobs, sorted by submit time. */
export function instanceOf(processors: number, jobs: readonly TestJob[], name = "by hand"): Instance {
  const sorted = [...jobs].sort((a, b) => a.submitS - b.submitS);
  const columns = {
    id: Int32Array.from(sorted, (job, row) => job.id ?? row + 1),
    submitS: Float64Array.from(sorted, (job) => job.submitS),
    runS: Float64Array.from(sorted, (job) => job.runS),
    size: Int32Array.from(sorted, (job) => job.size),
    estimateS: Float64Array.from(sorted, (job) => job.estimateS ?? job.runS),
  };
  for (let job = 0; job < sorted.length; job++) {
    if (
      !(
        columns.runS[job] <= columns.estimateS[job] &&
        columns.size[job] <= processors &&
        columns.size[job] >= 1
      )
    ) {
      throw new Error(
        `Cannot make an instance: job ${columns.id[job]} runs past its estimate or does not fit`,
      );
    }
  }
  return {
    workload: {
      name,
      count: sorted.length,
      jobs: columns,
      processors,
      trace: undefined,
      header: [],
      diagnostics: [],
    },
    processors,
    rules: DEFAULT_RULES,
    count: sorted.length,
    ...columns,
    workloadRow: undefined,
    diagnostics: [],
  };
}

/** Instances with many ties: a few instants, a few lengths, zero run times, sizes up to the machine. */
export function arbitraryInstance(maxJobs: number): fc.Arbitrary<Instance> {
  const job = fc.record({
    submitS: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 200 })),
    runS: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 60 })),
    slackS: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 80 })),
    size: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 16 })),
  });
  return fc
    .record({ processors: fc.integer({ min: 1, max: 16 }), jobs: fc.array(job, { maxLength: maxJobs }) })
    .map(({ processors, jobs }) =>
      instanceOf(
        processors,
        jobs.map(({ submitS, runS, slackS, size }) => ({
          submitS,
          runS,
          estimateS: runS + slackS,
          size: Math.min(size, processors),
        })),
      ),
    );
}

/** Parameters of a seeded instance; times in seconds. */
export interface SeededShape {
  readonly seed: number;
  readonly processors: number;
  readonly count: number;
  /** Mean time between submits; 0 submits all at once. */
  readonly gapS: number;
  readonly maxRunS: number;
  readonly maxSize: number;
  /** Share of jobs whose estimate is the run time; the others have up to ten times as much. */
  readonly exactShare: number;
  readonly zeroShare: number;
}

/** Makes the same jobs for the same shape, in whole seconds, so that instants coincide. */
export function seededInstance(name: string, shape: SeededShape): Instance {
  const random = new Random(shape.seed, name);
  let submitS = 0;
  const jobs: TestJob[] = [];
  for (let i = 0; i < shape.count; i++) {
    if (shape.gapS > 0) submitS += Math.floor(random.exponential(shape.gapS));
    const runS = random.uniform() < shape.zeroShare ? 0 : 1 + random.below(shape.maxRunS);
    const estimateS = random.uniform() < shape.exactShare ? runS : runS + random.below(9 * runS + 2);
    jobs.push({
      submitS,
      runS,
      estimateS,
      size: 1 + random.below(random.below(shape.maxSize) + 1),
      id: 1000 + 3 * i,
    });
  }
  return instanceOf(shape.processors, jobs, name);
}

/** The workloads that every policy must pass. */
export function conformanceInstances(): Instance[] {
  const usual = {
    seed: 1,
    processors: 16,
    count: 400,
    gapS: 12,
    maxRunS: 60,
    maxSize: 16,
    exactShare: 0.3,
    zeroShare: 0.05,
  };
  const shapes: Record<string, Partial<SeededShape>> = {
    "wrong estimates": {},
    "exact estimates": { exactShare: 1 },
    "many ties": { gapS: 3, maxRunS: 4, count: 300, maxSize: 8 },
    "zero run times": { zeroShare: 0.6, maxRunS: 10, gapS: 2 },
    "one processor": { processors: 1, maxSize: 1, gapS: 35, count: 150 },
    "all at once": { gapS: 0, count: 150 },
    "full machine": { maxSize: 32, count: 150, gapS: 40 },
    "no power of two": { processors: 13, maxSize: 13, gapS: 16 },
    overload: { gapS: 4, count: 300 },
  };
  const made = Object.entries(shapes).map(([name, shape]) => {
    const full = { ...usual, ...shape };
    if (name === "full machine") return fullMachine(name, full);
    return seededInstance(name, full);
  });
  return [
    ...made,
    instanceOf(4, [], "no jobs"),
    instanceOf(4, [{ submitS: 7, runS: 3, size: 4 }], "one job"),
  ];
}

/** Every third job takes the whole machine. */
function fullMachine(name: string, shape: SeededShape): Instance {
  const drawn = seededInstance(name, { ...shape, maxSize: shape.processors });
  const size = drawn.size.map((own, job) => (job % 3 === 0 ? shape.processors : own));
  return { ...drawn, size, workload: { ...drawn.workload, jobs: { ...drawn.workload.jobs, size } } };
}
