/** Makes instances whose jobs have processes and threads, for the tests of policies with queue classes. */
import fc from "fast-check";
import type { Instance } from "../core/jobs.ts";
import { exceededLimit, type QueueClass } from "../core/queue-classes.ts";
import { instanceOf } from "./instances-for-tests.ts";

/** One job; its processors are processes × threads. */
export interface ShapedJob {
  readonly submitS: number;
  readonly runS: number;
  readonly processes: number;
  readonly threads?: number;
  readonly estimateS?: number;
  /** Index of the queue that the user chose; none by default. */
  readonly queue?: number;
}

export function shapedInstance(processors: number, jobs: readonly ShapedJob[]): Instance {
  const sorted = [...jobs].sort((a, b) => a.submitS - b.submitS);
  return {
    ...instanceOf(
      processors,
      sorted.map((job) => ({ ...job, size: job.processes * (job.threads ?? 1) })),
    ),
    shape: {
      processes: Int32Array.from(sorted, (job) => job.processes),
      threads: Int32Array.from(sorted, (job) => job.threads ?? 1),
      queue: Int32Array.from(sorted, (job) => job.queue ?? -1),
    },
  };
}

/** Queue classes of a machine of 16 processors, modelled on those of the HPC2500. */
export const SMALL_CLASSES: readonly QueueClass[] = [
  { name: "a", processors: 2, processes: 2, threads: 2, elapsedBelowS: 20 },
  { name: "b", processors: 2, processes: 2, threads: 2 },
  {
    name: "c",
    processors: 8,
    processes: 2,
    threads: 8,
    reservations: { limit: 1, threshold: 1, whenHeadBlocked: false },
  },
  {
    name: "d",
    processors: 4,
    processes: 4,
    threads: 4,
    reservations: { limit: 2, threshold: 1.5, whenHeadBlocked: false },
  },
  {
    name: "e",
    processors: 16,
    processes: 16,
    threads: 4,
    reservations: { limit: 1, threshold: 5, whenHeadBlocked: true },
  },
];

/** Jobs that at least one class admits, in queues that admit them, with many equal times. */
export function arbitraryShapedInstance(
  classes: readonly QueueClass[],
  processors: number,
  maxJobs: number,
  minJobs = 0,
): fc.Arbitrary<Instance> {
  const power = (most: number) => fc.integer({ min: 0, max: most }).map((exponent) => 2 ** exponent);
  const job = fc
    .record({
      submitS: fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 150 })),
      runS: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 })),
      slackS: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40 })),
      processes: fc.oneof(power(4), fc.integer({ min: 1, max: 16 })),
      threads: power(3),
      taste: fc.nat(99),
    })
    .map(({ submitS, runS, slackS, processes, threads, taste }) => {
      const estimateS = runS + slackS;
      const shape = { processors: processes * threads, processes, threads, estimateS };
      const open = [...classes.keys()].filter((queue) => exceededLimit(classes[queue], shape) === undefined);
      return { submitS, runS, estimateS, processes, threads, queue: open[taste % open.length] ?? -1 };
    })
    .filter((job) => job.queue >= 0);
  return fc
    .array(job, { minLength: minJobs, maxLength: maxJobs })
    .map((jobs) => shapedInstance(processors, jobs));
}
