import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { GangPolicyDefinition, ParameterValues } from "../../core/policy.ts";
import { gangInstance, stepRounds } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";
import { conformanceInstances } from "../instances-for-tests.ts";
import { bc, buddy } from "./buddy.ts";
import { gang } from "./gang.ts";
import { arbitraryStory, gangBench, type Story } from "./gang-bench-for-tests.ts";
import { random } from "./random.ts";

const SCHEMES: readonly (readonly [GangPolicyDefinition, ParameterValues])[] = [
  [gang, { fit: "first" }],
  [gang, { fit: "best" }],
  [gang, { fit: "first", place: "any" }],
  [gang, { fit: "best", place: "any" }],
  [buddy, { block: "own" }],
  [buddy, { block: "exclusive" }],
  [random, { seed: 7 }],
];

const letter = (job: number) => String.fromCharCode(65 + job);
/** Lists the processors that a job has in each row. */
function standings(rows: readonly string[], job: number): string[] {
  const own = (row: string) =>
    [...row].map((cell, at) => (cell === letter(job) ? at : -1)).filter((at) => at >= 0);
  return rows.filter((row) => row.includes(letter(job))).map((row) => own(row).join());
}

/** Runs a story with two settings, step by step. */
function together(
  story: Story,
  [definition, parameters]: (typeof SCHEMES)[number],
  extraSlots: string,
  look: (plain: string[], unified: string[], present: ReadonlySet<number>) => void,
) {
  const plain = gangBench(definition, parameters, story.processors, story.sizes);
  const unified = gangBench(definition, { ...parameters, extraSlots }, story.processors, story.sizes);
  const present = new Set<number>();
  for (const { ends, arrive } of story.steps) {
    for (const job of ends) present.delete(job);
    for (const job of arrive) present.add(job);
    look(plain.step(ends, arrive), unified.step(ends, arrive), present);
  }
  return unified.machine;
}

describe("slot unification, row by row", () => {
  test("by hand: when D and F end, the largest jobs that can get second slots, and give them back to an arrival", () => {
    const sizes = [2, 3, 3, 4, 2, 2, 3, 3, 2, 4];
    const { machine, step } = gangBench(gang, { fit: "first", extraSlots: "returned" }, 8, sizes);
    expect(step([], [0, 1, 2, 3, 4, 5, 6, 7, 8])).toEqual(["AABBBCCC", "DDDDEEFF", "GGGHHHII"]);
    // The largest first: G (3) is before A (2), so D's room goes to G; the 2 processors of F are I's.
    expect(step([3, 5], [])).toEqual(["AABBBCCC", "GGG.EEII", "GGGHHHII"]);
    expect(machine.slotsOf(6)).toBe(2);
    expect(step([], [9])).toEqual(["AABBBCCC", "JJJJEEII", "GGGHHHII"]);
    expect(machine.slotsOf(6)).toBe(1);
  });

  test("by hand: kept slots are in the way of an arrival, one is given out at a time", () => {
    const sizes = [2, 3, 3, 4, 2, 2, 3, 3, 2, 4];
    const { step } = gangBench(gang, { fit: "first", extraSlots: "kept" }, 8, sizes);
    step([], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(step([3, 5], [])).toEqual(["AABBBCCC", "GGG.EE..", "GGGHHHII"]);
    expect(step([], [9])).toEqual(["AABBBCCC", "GGG.EE..", "GGGHHHII", "JJJJ.CCC"]);
  });

  test("by hand: a kept slot is in the first row of the round that admits the job, whichever became idle last", () => {
    for (const ends of [
      [2, 0],
      [0, 2],
    ]) {
      const { step } = gangBench(gang, { fit: "first", extraSlots: "kept" }, 4, [2, 2, 2, 2, 2, 2]);
      expect(step([], [0, 1, 2, 3, 4, 5])).toEqual(["AABB", "CCDD", "EEFF"]);
      expect(step(ends, [])).toEqual(["EEBB", "..DD", "EEFF"]);
    }
  });

  for (const scheme of SCHEMES) {
    const label = [scheme[0].name, ...Object.values(scheme[1])].join(" ");

    test(`${label}: with slots returned, rows and places are those without unification, and every slot a job can use is used`, () => {
      fc.assert(
        fc.property(arbitraryStory(9), (story) => {
          together(story, scheme, "returned", (plain, unified, present) => {
            expect(unified).toHaveLength(plain.length);
            for (const job of present) {
              const [own] = standings(plain, job);
              expect(new Set(standings(unified, job))).toEqual(new Set([own]));
              plain.forEach((row, at) => {
                if (row.includes(letter(job))) expect(unified[at]).toContain(letter(job));
              });
              if (scheme[1].block === "exclusive") continue; // a taken block may have idle processors
              for (const row of unified)
                expect(row.includes(letter(job)) || own.split(",").some((p) => row[Number(p)] !== ".")).toBe(
                  true,
                );
            }
          });
        }),
        { numRuns: 60 },
      );
    });

    test(`${label}: kept slots are never given back, at most one comes with each change, and all jobs stay whole`, () => {
      fc.assert(
        fc.property(arbitraryStory(9), (story) => {
          let before = new Map<number, number>();
          const machine = together(story, scheme, "kept", (_, unified, present) => {
            const slots = new Map([...present].map((job) => [job, standings(unified, job).length]));
            let gained = 0;
            for (const [job, count] of slots) {
              expect(new Set(standings(unified, job)).size).toBe(1);
              expect(standings(unified, job)[0].split(",")).toHaveLength(story.sizes[job]);
              gained += count - (before.get(job) ?? 1);
              expect(count).toBeGreaterThanOrEqual(before.get(job) ?? 1);
            }
            expect(gained).toBeLessThanOrEqual(1);
            before = slots;
          });
          expect(machine.releases).toBe(0);
        }),
        { numRuns: 60 },
      );
    });

    for (const extraSlots of ["none", "kept", "returned"]) {
      test(`${label}, extraSlots=${extraSlots}: under rounds as stepping slot by slot`, () => {
        const job = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 6 }));
        fc.assert(
          fc.property(fc.array(job, { maxLength: 20 }), (jobs) => {
            const instance = gangInstance(
              6,
              jobs.sort((a, b) => a[0] - b[0]),
            );
            const [definition, own] = scheme;
            const parameters = { ...own, extraSlots };
            const options = { slotS: 1, switchS: 0 };
            const schedule = simulateRounds(instance, definition, parameters, options);
            const stepped = stepRounds(instance, definition, parameters, options);
            expect([...schedule.startS]).toEqual(stepped.startS);
            expect([...schedule.endS]).toEqual(stepped.endS);
          }),
          { numRuns: 40 },
        );
      });
    }
  }
});

describe("buddy", () => {
  test.each(["own", "exclusive"])("block=%s, extraSlots=none is bc, start by start", (block) => {
    for (const instance of conformanceInstances()) {
      const options = { slotS: 5, switchS: 0 };
      const ours = simulateRounds(instance, buddy, { block, extraSlots: "none" }, options);
      const theirs = simulateRounds(instance, bc, { block }, options);
      expect(ours.startS).toEqual(theirs.startS);
      expect(ours.endS).toEqual(theirs.endS);
    }
  });

  test.each(["own", "exclusive"])(
    "block=%s, sizes that are powers of two: both kinds of blocks are the same",
    (block) => {
      fc.assert(
        fc.property(arbitraryStory(16), (drawn) => {
          const sizes = drawn.sizes.map((size) => 2 ** Math.floor(Math.log2(size)));
          const one = gangBench(buddy, { block }, drawn.processors, sizes);
          const other = gangBench(buddy, {}, drawn.processors, sizes);
          for (const { ends, arrive } of drawn.steps)
            expect(one.step(ends, arrive)).toEqual(other.step(ends, arrive));
        }),
      );
    },
  );

  test("block=own: an extra slot needs the job's own processors", () => {
    const { machine, step } = gangBench(buddy, { extraSlots: "returned" }, 4, [3, 2, 1, 1, 4]);
    expect(step([], [4, 1, 2, 3])).toEqual(["EEEE", "BBCD"]);
    // A needs a row, because its block 0 to 3 is not idle next to D. Then each runs in the other's row, too.
    expect(step([1, 2], [0])).toEqual(["EEEE", "AAAD", "AAAD"]);
    expect([machine.slotsOf(0), machine.slotsOf(3)]).toEqual([2, 2]);
    expect(step([3], [])).toEqual(["EEEE", "AAA."]);
  });

  test("block=exclusive: an extra slot needs the whole block, without any other job or block in it", () => {
    // A has block 0 to 3; B, of one processor, has 3 in the second row: A's processors 0 to 2 are idle there,
    // its block is not.
    const { machine, step } = gangBench(
      buddy,
      { block: "exclusive", extraSlots: "returned" },
      4,
      [3, 2, 1, 1, 4],
    );
    expect(step([], [4, 1, 2, 3])).toEqual(["EEEE", "BBCD"]);
    expect(step([1, 2], [0])).toEqual(["EEEE", "...D", "AAA."]);
    expect(step([3], [])).toEqual(["EEEE", "AAA."]);
    expect(machine.slotsOf(0)).toBe(1);
    expect(step([4], [])).toEqual(["AAA."]);
    expect(1 << blockLevel(3)).toBe(4);
  });
});

describe("random", () => {
  test("draws every set of processors about equally often, the same for the same seed", () => {
    const counts = new Map<string, number>();
    for (let seed = 0; seed < 600; seed++) {
      const { step } = gangBench(random, { seed }, 4, [2]);
      const [row] = step([], [0]);
      counts.set(row, (counts.get(row) ?? 0) + 1);
      expect(gangBench(random, { seed }, 4, [2]).step([], [0])).toEqual([row]);
    }
    // Six sets, 100 each; the 99.99 % point of χ² with 5 degrees of freedom is 25.7.
    expect(counts.size).toBe(6);
    let chiSquare = 0;
    for (const count of counts.values()) chiSquare += (count - 100) ** 2 / 100;
    expect(chiSquare).toBeLessThan(25.7);
  });

  test("takes the first row with enough idle processors wherever they are, and never uses a processor twice", () => {
    fc.assert(
      fc.property(arbitraryStory(9), fc.nat(), (story, seed) => {
        const { step } = gangBench(random, { seed }, story.processors, story.sizes);
        let rows: string[] = [];
        for (const { ends, arrive } of story.steps) {
          const left = rows.map((row) =>
            [...row].map((cell) => (ends.some((job) => letter(job) === cell) ? "." : cell)),
          );
          let idle = left.map((row) => row.filter((cell) => cell === ".").length);
          if (ends.length > 0) {
            const kept = idle.filter((count) => count < story.processors);
            idle = kept.length > 0 ? kept : idle.slice(0, 1);
          }
          for (const job of arrive) {
            const at = idle.findIndex((count) => count >= story.sizes[job]);
            if (at < 0) idle.push(story.processors - story.sizes[job]);
            else idle[at] -= story.sizes[job];
          }
          rows = step(ends, arrive);
          expect(rows.map((row) => row.split(".").length - 1)).toEqual(idle);
        }
      }),
    );
  });
});
