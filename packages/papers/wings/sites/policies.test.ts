import { NO_JOB } from "@tutti/kernel/core/jobs.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SitesJobsView } from "./contract.ts";
import { GangQueue } from "./gangs.ts";
import { acrossSites, oneSite } from "./policies.ts";

const LARGEST = 5;

describe("GangQueue", () => {
  test("largest(), oldest(), add() and removeFirst() agree with a plain list", () => {
    const step = fc.record({
      act: fc.constantFrom("add", "largest", "oldest"),
      limit: fc.integer({ min: 0, max: 7 }),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: LARGEST }), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(sizes, fc.array(step, { maxLength: 60, size: "max" }), (size, steps) => {
        const queue = new GangQueue({ count: size.length, size } as unknown as SitesJobsView, LARGEST);
        let list: number[] = [];
        let next = 0;
        for (const { act, limit } of steps) {
          if (act === "add") {
            queue.add(next);
            list.push(next++);
          } else {
            const order = list
              .filter((gang) => size[gang] <= limit)
              .sort((a, b) => size[b] - size[a] || a - b);
            const expected = (act === "largest" ? order[0] : list[0]) ?? NO_JOB;
            const gang = act === "largest" ? queue.largest(limit) : queue.oldest();
            expect(gang).toBe(expected);
            if (gang !== NO_JOB) queue.removeFirst(gang);
            list = list.filter((other) => other !== gang);
          }
          expect(queue.length).toBe(list.length);
        }
      }),
    );
  });
});

describe("oneSite and acrossSites", () => {
  test("have rules in words and guarantee what their parameters say", () => {
    for (const { name, parameters, rules, guarantees } of [oneSite, acrossSites]) {
      expect(rules.length).toBeGreaterThan(3);
      const guaranteed = (...settings: string[]) => guarantees(parseParameters(name, parameters, settings));
      expect(guaranteed()).toEqual({
        acrossSites: name === "sites-across",
        order: "largest",
        thresholdS: 0,
        fastest: false,
        takesHeld: false,
        criticalAhead: false,
      });
      expect(guaranteed("threshold=2").thresholdS).toBe(2);
      expect(guaranteed("threshold=2", "backfill=none").thresholdS).toBe(-1);
      expect(guaranteed("order=oldest").order).toBe("oldest");
      expect(() => guaranteed("threshold=-1")).toThrow("from 0");
    }
  });
});
