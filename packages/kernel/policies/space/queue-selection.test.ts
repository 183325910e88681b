import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkQueueClasses,
  exceededLimit,
  HPC2500_CLASSES,
  type JobShape,
  NO_QUEUE,
  type QueueClass,
} from "../../core/queue-classes.ts";
import { explainQueue, selectQueue } from "./queue-selection.ts";

const shape = (processes: number, threads: number, estimateS = 60): JobShape => ({
  processors: processes * threads,
  processes,
  threads,
  estimateS,
});

/** Applies the six sentences of section 3.1 in order. Returns undefined if no sentence covers the shape. */
function bySentence({ processors, processes, threads, estimateS }: JobShape): string | undefined {
  if (processors <= 8) return estimateS < 7200 ? "ss8" : "s8";
  if (threads > 32) return "s128";
  if (processes > 8 && processors <= 32) return "d32";
  if (processes > 8 && processors > 32 && processors <= 128) return "d128";
  if (processes > 128) return "d512";
  return undefined;
}

const anyShape = fc
  .record({
    processes: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 520 })),
    threads: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 130 })),
    estimateS: fc.constantFrom(0, 60, 7199, 7200, 1e6),
  })
  .map(({ processes, threads, estimateS }) => shape(processes, threads, estimateS));

const anyClasses = fc
  .array(
    fc.record({
      processors: fc.constantFrom(4, 8, 16),
      processes: fc.constantFrom(2, 8, 16),
      threads: fc.constantFrom(2, 8),
      elapsedBelowS: fc.constantFrom(undefined, 60, 100),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((drawn): readonly QueueClass[] => drawn.map((one, i) => ({ ...one, name: `q${i}` })));

const smallShape = fc
  .tuple(fc.integer({ min: 1, max: 17 }), fc.integer({ min: 1, max: 9 }), fc.constantFrom(1, 60, 99, 100))
  .map(([processes, threads, estimateS]) => shape(processes, threads, estimateS));

describe("selectQueue()", () => {
  test("agrees with every sentence of the paper's section 3.1 that covers the shape", () => {
    let covered = 0;
    fc.assert(
      fc.property(anyShape, (job) => {
        const queue = selectQueue(HPC2500_CLASSES, job);
        const expected = bySentence(job);
        const isAdmissible = HPC2500_CLASSES.some((one) => exceededLimit(one, job) === undefined);
        if (expected === undefined || !isAdmissible) return;
        covered++;
        expect(HPC2500_CLASSES[queue].name).toBe(expected);
      }),
      { numRuns: 5000 },
    );
    expect(covered).toBeGreaterThan(500);
  });

  test("every admissible shape gets one class, which admits it; others get none", () => {
    fc.assert(fc.property(fc.constantFrom(HPC2500_CLASSES), anyShape, oneAdmittingClass), { numRuns: 3000 });
    fc.assert(fc.property(anyClasses, smallShape, oneAdmittingClass), { numRuns: 3000 });
  });

  test("shapes that no sentence covers go to the tightest class that admits them", () => {
    const cases: [JobShape, string][] = [
      [shape(2, 16), "d32"], // 32 processors, few processes, few threads
      [shape(1, 9), "d32"],
      [shape(2, 24), "s128"], // s128 and d128 allow 128 processors; s128 fewer processes
      [shape(4, 32), "s128"],
      [shape(8, 32), "d512"], // 256 processors
      [shape(16, 16), "d512"],
    ];
    for (const [job, name] of cases) {
      expect(bySentence(job)).toBeUndefined();
      expect(HPC2500_CLASSES[selectQueue(HPC2500_CLASSES, job)].name).toBe(name);
    }
  });
});

function oneAdmittingClass(classes: readonly QueueClass[], job: JobShape) {
  checkQueueClasses(classes);
  const queue = selectQueue(classes, job);
  const admitting = [...classes.keys()].filter((i) => exceededLimit(classes[i], job) === undefined);
  expect(admitting.includes(queue)).toBe(admitting.length > 0);
  if (admitting.length === 0) expect(queue).toBe(NO_QUEUE);
  // No other class that admits the job allows fewer processors.
  for (const other of admitting)
    expect(classes[queue].processors).toBeLessThanOrEqual(classes[other].processors);
}

describe("explainQueue()", () => {
  test("sorts all classes into chosen, passed over and ruled out, with what decided", () => {
    expect(explainQueue(HPC2500_CLASSES, shape(4, 16))).toEqual({
      queue: 2,
      rule: "processes", // d128 allows as many processors, d512 more
      ruledOut: [
        { queue: 0, limit: "processors", asked: 64, allowed: 8 },
        { queue: 1, limit: "processors", asked: 64, allowed: 8 },
        { queue: 3, limit: "processors", asked: 64, allowed: 32 },
      ],
      passedOver: [4, 5],
    });
    expect(explainQueue(HPC2500_CLASSES, shape(1, 1, 7200))).toMatchObject({
      queue: 1,
      rule: "processors",
      ruledOut: [{ queue: 0, limit: "elapsed", asked: 7200, allowed: 7200 }],
    });
    expect(explainQueue(HPC2500_CLASSES, shape(1, 1))).toMatchObject({
      queue: 0,
      rule: "elapsed",
      ruledOut: [],
    });
    expect(explainQueue(HPC2500_CLASSES, shape(1, 64))).toMatchObject({ queue: 2, rule: "only" });
    expect(explainQueue(HPC2500_CLASSES, shape(600, 1))).toMatchObject({ queue: NO_QUEUE, rule: "none" });
    const twins = [HPC2500_CLASSES[1], { ...HPC2500_CLASSES[1], name: "twin" }];
    expect(explainQueue(twins, shape(1, 1))).toMatchObject({ queue: 0, rule: "order", passedOver: [1] });
  });

  test("names the limit without which the choice would not be made", () => {
    fc.assert(
      fc.property(anyClasses, smallShape, (classes, job) => {
        const { queue, rule, ruledOut, passedOver } = explainQueue(classes, job);
        expect(
          [queue, ...passedOver, ...ruledOut.map((one) => one.queue)].filter((i) => i >= 0).sort(),
        ).toEqual([...classes.keys()]);
        for (const { queue: other, limit } of ruledOut)
          expect(exceededLimit(classes[other], job)).toBe(limit);
        if (rule === "none" || rule === "only" || rule === "order") return;
        // Without the deciding limit some class passed over would be as tight up to it.
        const value = (i: number, limit: typeof rule) =>
          limit === "elapsed" ? (classes[i].elapsedBelowS ?? Number.POSITIVE_INFINITY) : classes[i][limit];
        expect(passedOver.some((other) => value(other, rule) > value(queue, rule))).toBe(true);
        expect(passedOver.every((other) => classes[other].processors >= classes[queue].processors)).toBe(
          true,
        );
      }),
    );
  });
});
