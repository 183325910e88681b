/** Merges statistics of nodes, and finds skews, against values computed by hand. */

import type { SlotStatistics } from "@tutti/protocol/attempts.ts";
import { expect, test } from "vitest";
import { MergedStatistics, SkewRecord } from "./slot-statistics.ts";

const statistics = (fields: Partial<SlotStatistics>): SlotStatistics => ({
  slots: 10,
  lateP50Ms: 0,
  lateP99Ms: 0,
  lateMaxMs: 0,
  switchP50Us: 0,
  switchP99Us: 0,
  skipped: 0,
  gangs: [],
  ...fields,
});

test("the merged statistics are those of the worst node; shares are means", () => {
  const gang = (job: number, share: number) => ({ job, share, gradeCompute: share / 2 });
  const merged = new MergedStatistics();
  merged.add(statistics({ lateP50Ms: 1, lateP99Ms: 9, lateMaxMs: 9, gangs: [gang(1, 1), gang(2, 0.5)] }));
  merged.add(
    statistics({ slots: 11, lateP50Ms: 2, lateP99Ms: 3, lateMaxMs: 30, skipped: 1, gangs: [gang(1, 0.5)] }),
  );
  expect(merged.take()).toEqual(
    statistics({
      slots: 11,
      lateP50Ms: 2,
      lateP99Ms: 9,
      lateMaxMs: 30,
      skipped: 1,
      gangs: [gang(1, 0.75), gang(2, 0.5)],
    }),
  );
  expect(merged.take()).toBeUndefined();
  // What was taken counts no longer.
  merged.add(statistics({ slots: 9, gangs: [gang(1, 0.25)] }));
  expect(merged.take()).toEqual(statistics({ slots: 9, gangs: [gang(1, 0.25)] }));
});

test("the skew of a node is how much later than the first one it began the same slots", () => {
  const skew = new SkewRecord();
  // Slot:       1    2    3    4
  // n1          0    2    1    -
  // n2          3    1    1    5
  // later n2    3    0    0    (alone in slot 4: no skew)
  skew.add(
    "n1",
    statistics({
      lateOfSlots: [
        [1, 0],
        [2, 2],
        [3, 1],
      ],
    }),
    100,
  );
  skew.add(
    "n2",
    statistics({
      lateOfSlots: [
        [1, 3],
        [2, 1],
        [3, 1],
        [4, 5],
      ],
    }),
    100,
  );
  expect(skew.of("n1")).toEqual({ skewP50Ms: 0, skewP99Ms: 1 });
  expect(skew.of("n2")).toEqual({ skewP50Ms: 0, skewP99Ms: 3 });
  expect(skew.of("n3")).toBeUndefined();
});

test("only the last minute counts: 600 slots of 100 ms", () => {
  const skew = new SkewRecord();
  skew.add("n1", statistics({ lateOfSlots: [[1, 0]] }), 100);
  skew.add("n2", statistics({ lateOfSlots: [[1, 50]] }), 100);
  expect(skew.of("n2")).toEqual({ skewP50Ms: 50, skewP99Ms: 50 });
  skew.add("n1", statistics({ lateOfSlots: [[602, 0]] }), 100);
  skew.add("n2", statistics({ lateOfSlots: [[602, 2]] }), 100);
  expect(skew.of("n2")).toEqual({ skewP50Ms: 2, skewP99Ms: 2 });
});
