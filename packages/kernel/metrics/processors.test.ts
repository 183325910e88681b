import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dealProcessors } from "./processors.ts";
import type { HandMade } from "./schedules-for-tests.ts";
import { firstComeFirstServed, handMade } from "./schedules-for-tests.ts";

/** Returns the processor numbers of each job as text, such as "0 1 4". */
function pictures({ instance, schedule }: HandMade): string[] {
  const runs = dealProcessors(instance, schedule);
  return Array.from({ length: instance.count }, (_, job) => {
    const held: number[] = [];
    for (let run = runs.offset[job]; run < runs.offset[job + 1]; run++) {
      for (let i = 0; i < runs.size[run]; i++) held.push(runs.first[run] + i);
    }
    return held.join(" ");
  });
}

/** The same rule with one Boolean per processor: the lowest free ones first; run time 0 leaves no trace. */
function naivePictures({ instance, schedule }: HandMade): string[] {
  const { startS, endS } = schedule;
  const held = Array.from({ length: instance.count }, () => [] as number[]);
  const times = [...new Set([...startS, ...endS])].filter((t) => !Number.isNaN(t)).sort((a, b) => a - b);
  const busy = new Array<boolean>(instance.processors).fill(false);
  for (const nowS of times) {
    for (let job = 0; job < instance.count; job++) {
      if (endS[job] === nowS && startS[job] < nowS) for (const p of held[job]) busy[p] = false;
    }
    for (const instantaneous of [true, false]) {
      for (let job = 0; job < instance.count; job++) {
        if (startS[job] !== nowS || (endS[job] === nowS) !== instantaneous) continue;
        for (let p = 0; held[job].length < instance.size[job]; p++) if (!busy[p]) held[job].push(p);
        if (!instantaneous) for (const p of held[job]) busy[p] = true;
      }
    }
  }
  return held.map((list) => list.join(" "));
}

describe("dealProcessors()", () => {
  test("hand-worked: a wide job takes what is free around a running one", () => {
    const made = handMade(5, [
      { submitS: 0, runS: 2, size: 2, startS: 0 }, // 0 1
      { submitS: 0, runS: 9, size: 1, startS: 0 }, // 2
      { submitS: 0, runS: 4, size: 4, startS: 2 }, // 0 1 around 2, then 3 4
      { submitS: 1, runS: 0, size: 2, startS: 1 }, // 3 4 for an instant
      { submitS: 1, runS: 1, size: 1, startS: Number.NaN },
    ]);
    expect(pictures(made)).toEqual(["0 1", "2", "0 1 3 4", "3 4", ""]);
    const runs = dealProcessors(made.instance, made.schedule);
    expect(runs.offset[3] - runs.offset[2]).toBe(2);
  });

  test("gives every job the lowest free processors, as a plain array does", () => {
    const job = fc.record({
      submitS: fc.integer({ min: 0, max: 40 }),
      runS: fc.integer({ min: 0, max: 12 }),
      size: fc.integer({ min: 1, max: 7 }),
    });
    fc.assert(
      fc.property(fc.array(job, { minLength: 1, maxLength: 60 }), (list) => {
        const made = firstComeFirstServed(7, list);
        expect(pictures(made)).toEqual(naivePictures(made));
      }),
    );
  });

  test("notices a schedule that gives processors twice", () => {
    const made = handMade(2, [
      { submitS: 0, runS: 5, size: 2, startS: 0 },
      { submitS: 0, runS: 5, size: 1, startS: 1 },
    ]);
    expect(() => dealProcessors(made.instance, made.schedule)).toThrow("not free");
  });
});
