import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Random } from "../../core/random.ts";
import { gangInstance, stepRounds } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { firstCut } from "../../structures/matrix/legal-cuts.ts";
import { arbitraryStory, gangBench } from "./gang-bench-for-tests.ts";
import { wlv } from "./wlv.ts";

const LINEAR = { array: "linear", extraSlots: "none" };
const letter = (job: number) => String.fromCharCode(65 + job);

/** Counts the jobs on each processor; a job with several rows counts once. */
function load(rows: readonly string[], processors: number): number[] {
  return Array.from(
    { length: processors },
    (_, at) => new Set(rows.map((row) => row[at]).filter((c) => c !== ".")).size,
  );
}

/** The first processor of the least loaded window without a processor that is busy in all rows. */
function window(rows: readonly string[], processors: number, size: number): number {
  const idle = load(rows, processors).map((busy) => rows.length - busy);
  let best = [-1, 0];
  for (let at = 0; at + size <= processors; at++) {
    const own = idle.slice(at, at + size);
    const sum = own.reduce((a, b) => a + b, 0);
    if (!own.includes(0) && sum > best[1]) best = [at, sum];
  }
  return best[0];
}

describe("wlv", () => {
  test("figure 5 of zhou1999: five processors go to P4 … P8 without a new row, and six more still find room", () => {
    // Four full rows; then six jobs end, and the matrix and the vector of the figure are left.
    const sizes = [3, 2, 2, 1, 2, 2, 2, 2, 4, 2, 2, 5, 3, 5, 6];
    const { step } = gangBench(wlv, LINEAR, 8, sizes);
    expect(step([], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])).toEqual([
      "AAABBCCD",
      "EEFFGGHH",
      "IIIIJJKK",
      "LLLLLMMM",
    ]);
    const rows = step([1, 3, 5, 7, 9, 12], []);
    expect(rows).toEqual(["AAA..CC.", "EE..GG..", "IIII..KK", "LLLLL..."]);
    expect(load(rows, 8).map((busy) => 4 - busy)).toEqual([0, 0, 1, 2, 2, 2, 2, 3]);
    // No row has five consecutive idle processors, so a row-by-row policy would need a fifth row.
    for (const row of rows) expect(row).not.toContain(".....");
    const five = step([], [13]);
    expect(five).toHaveLength(4);
    expect(five.find((row) => row.includes("N"))!.indexOf("N")).toBe(3);
    const six = step([], [14]);
    expect(six).toHaveLength(4);
    expect(six.find((row) => row.includes("O"))!.indexOf("O")).toBe(2);
  });

  test("linear: windows are the least loaded, rows come only without a window; there are as many rows as the fullest processor has jobs", () => {
    fc.assert(
      fc.property(arbitraryStory(12), ({ processors, sizes, steps }) => {
        const { step } = gangBench(wlv, LINEAR, processors, sizes);
        for (const { ends, arrive } of steps) {
          let rows = step(ends, []);
          for (const job of arrive) {
            const wanted = window(rows, processors, sizes[job]);
            const before = rows;
            rows = step([], [job]);
            const first = rows.find((row) => row.includes(letter(job)))!.indexOf(letter(job));
            if (wanted >= 0) expect([first, rows.length]).toEqual([wanted, before.length]);
            else {
              expect(first).toBe(window([...before, ".".repeat(processors)], processors, sizes[job]));
              expect(rows).toHaveLength(before.length + 1);
            }
          }
          expect(rows.length).toBe(Math.max(0, ...load(rows, processors)));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("linear, returned: windows and number of rows are those without unification, and no job could have one more slot", () => {
    fc.assert(
      fc.property(arbitraryStory(10), ({ processors, sizes, steps }) => {
        const plain = gangBench(wlv, LINEAR, processors, sizes);
        const unified = gangBench(wlv, { array: "linear", extraSlots: "returned" }, processors, sizes);
        const present = new Set<number>();
        for (const { ends, arrive } of steps) {
          for (const job of ends) present.delete(job);
          for (const job of arrive) present.add(job);
          const [a, b] = [plain.step(ends, arrive), unified.step(ends, arrive)];
          expect(b).toHaveLength(a.length);
          for (const job of present) {
            const first = (rows: string[]) =>
              rows.find((row) => row.includes(letter(job)))!.indexOf(letter(job));
            expect(first(b)).toBe(first(a));
            const columns = Array.from({ length: sizes[job] }, (_, i) =>
              b.map((row) => row[first(b) + i]).join(""),
            );
            expect(columns.some((cells) => !cells.includes("."))).toBe(true);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test("kept: at most one extra slot per change, none given back", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("linear", "ring"),
        arbitraryStory(10),
        (array, { processors, sizes, steps }) => {
          const { machine, step } = gangBench(wlv, { array, extraSlots: "kept" }, processors, sizes);
          for (const { ends, arrive } of steps) {
            const before = machine.placings;
            step(ends, arrive);
            expect(machine.placings - before - arrive.length).toBeGreaterThanOrEqual(0);
            expect(machine.placings - before - arrive.length).toBeLessThanOrEqual(1);
          }
          expect(machine.releases).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });

  test("ring: jobs wrap around the end if that saves a row", () => {
    const { step } = gangBench(wlv, { array: "ring", extraSlots: "none" }, 6, [2, 2, 2, 4]);
    expect(step([], [0, 1, 2])).toEqual(["AABBCC"]);
    expect(step([0, 2], [])).toEqual(["..BB.."]);
    expect(step([], [3])).toEqual(["DDBBDD"]);
  });

  test("ring: gangs are whole, and no row is left that opening the ring at a first cut could free", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("none", "kept", "returned"),
        arbitraryStory(10),
        (extraSlots, { processors, sizes, steps }) => {
          const { machine, step } = gangBench(wlv, { array: "ring", extraSlots }, processors, sizes);
          const present = new Set<number>();
          for (const { ends, arrive } of steps) {
            for (const job of ends) present.delete(job);
            for (const job of arrive) present.add(job);
            const rows = step(ends, arrive);
            for (const job of present) {
              for (const row of rows.filter((cells) => cells.includes(letter(job)))) {
                const around = (row + row).match(new RegExp(`${letter(job)}+`, "g"))!;
                const longest = Math.max(...around.map((run) => run.length));
                expect(Math.min(longest, processors)).toBe(sizes[job]);
              }
            }
            if (extraSlots !== "none" || rows.length === 0 || firstCut(machine) === -1) continue;
            expect(load(rows, processors)).toContain(rows.length);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test("ring: long runs, in which opening the ring at a first cut finds windows that wrap around the end", () => {
    for (const seed of [20, 22]) {
      const random = new Random(seed, "x");
      const sizes = Array.from({ length: 400 }, () => 1 + random.below(3));
      const { machine, step } = gangBench(wlv, { array: "ring", extraSlots: "none" }, 7, sizes);
      const present: number[] = [];
      for (let job = 0; job < sizes.length; job++) {
        const ends: number[] = [];
        while (present.length > 3 + random.below(8))
          ends.push(...present.splice(random.below(present.length), 1));
        present.push(job);
        step(ends, [job]);
        expect(machine.slotsOf(job)).toBe(1);
      }
    }
  });

  test("under rounds as stepping slot by slot", () => {
    const job = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 6 }));
    fc.assert(
      fc.property(
        fc.constantFrom("linear", "ring"),
        fc.constantFrom("none", "kept", "returned"),
        fc.array(job, { maxLength: 20 }),
        (array, extraSlots, jobs) => {
          const instance = gangInstance(
            6,
            jobs.sort((a, b) => a[0] - b[0]),
          );
          const options = { slotS: 1, switchS: 0 };
          const schedule = simulateRounds(instance, wlv, { array, extraSlots }, options);
          const stepped = stepRounds(instance, wlv, { array, extraSlots }, options);
          expect([...schedule.startS]).toEqual(stepped.startS);
          expect([...schedule.endS]).toEqual(stepped.endS);
        },
      ),
      {
        numRuns: 120,
        // On a ring all extra slots are taken back at once; which rows go must not depend on the order of a
        // job's runs.
        examples: [
          [
            "ring",
            "returned",
            [
              [0, 3, 4],
              [0, 2, 4],
              [0, 2, 4],
              [0, 2, 1],
              [3, 2, 3],
              [3, 3, 1],
            ],
          ],
        ],
      },
    );
  });
});
