import type { Job } from "@tutti/protocol/answers.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { forgetOldest } from "./kept-jobs.ts";

const job = (number: number, endedAtMs?: number) =>
  ({ job: number, state: endedAtMs === undefined ? "queued" : "done", endedAtMs }) as Job;

test("all jobs that have not ended stay, and the 1,000 that ended last", () => {
  const ends = fc.array(fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }), {
    minLength: 900,
    maxLength: 1500,
    size: "max",
  });
  fc.assert(
    fc.property(ends, (endedAtMs) => {
      const list = endedAtMs.map((end, i) => job(i + 1, end));
      const kept = new Map(list.map((one) => [one.job, one]));
      forgetOldest(kept);
      // The naive twin: an ended job stays unless 1,000 others ended after it.
      const ended = list.filter((one) => one.endedAtMs !== undefined);
      const isAfter = (a: Job, b: Job) =>
        a.endedAtMs! > b.endedAtMs! || (a.endedAtMs === b.endedAtMs && a.job > b.job);
      const expected = list.filter(
        (one) => one.endedAtMs === undefined || ended.filter((other) => isAfter(other, one)).length < 1000,
      );
      expect([...kept.values()]).toEqual(expected);
    }),
    { numRuns: 10 },
  );
});
