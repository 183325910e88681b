import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Instance } from "../../core/jobs.ts";
import { parseParameters } from "../../core/parameters.ts";
import {
  type GangMachine,
  type GangPolicyDefinition,
  NONE,
  type ParameterValues,
} from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import { fullTable } from "../../simulator/full-table-for-tests.ts";
import { gangInstance, stepRounds } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { blockLevel } from "../../structures/matrix/buddy.ts";
import { OusterhoutMatrix } from "../../structures/matrix/matrix.ts";
import { auditMatrix } from "../../structures/matrix/matrix-audit-for-tests.ts";
import { picture } from "../../structures/matrix/pictures-for-tests.ts";
import { bc } from "./buddy.ts";
import { br, brmms, brms } from "./buddy-blocks.ts";

const NO_PARAMETERS: ParameterValues = {};
const SCHEMES: readonly (readonly [GangPolicyDefinition, ParameterValues])[] = [
  [bc, NO_PARAMETERS],
  [bc, { block: "exclusive" }],
  [br, NO_PARAMETERS],
  [brms, { extraOrder: "largest", extraPerChange: 1 }],
  [brms, { extraOrder: "smallest", extraPerChange: NONE }],
  [brms, { extraOrder: "oldest", extraPerChange: 3 }],
  [brms, { extraOrder: "newest", extraPerChange: 1 }],
  [brmms, NO_PARAMETERS],
  [brmms, { extraOrder: "smallest", extraReturn: "single" }],
  [brmms, { extraOrder: "newest", extraReturn: "all" }],
];
const label = ([definition, parameters]: (typeof SCHEMES)[number]) =>
  [definition.name, ...Object.values(parameters)].join(" ");

/** A matrix without a clock: the test lets jobs arrive and end. */
class Bench extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
}

/**
 * A policy on its own matrix. Jobs are A, B, C …, given by their sizes; the test lets them arrive and end.
 */
function bench(
  definition: GangPolicyDefinition,
  parameters: ParameterValues,
  processors: number,
  sizes: readonly number[],
) {
  const instance = gangInstance(
    processors,
    sizes.map((size) => [0, 1, size] as const),
  );
  const machine = new Bench(processors, instance.size);
  const policy = definition.make(machine, fullTable(instance), parameters);
  return {
    machine,
    /** Jobs that end and jobs that arrive within one instant, as letters. */
    step(change: { ends?: string; arrive?: string }): string[] {
      for (const letter of change.ends ?? "") {
        machine.removeJob(letter.charCodeAt(0) - 65);
        policy.depart(letter.charCodeAt(0) - 65);
      }
      policy.decide([...(change.arrive ?? "")].map((letter) => letter.charCodeAt(0) - 65));
      auditMatrix(machine);
      return picture(machine);
    },
  };
}

describe("bc", () => {
  test("a job goes to the first row in which all processors of a block are idle, and others use what it leaves", () => {
    // zhou2000, section 1: "if there is a time slot in which all processors in the subset are idle".
    const { step } = bench(bc, NO_PARAMETERS, 8, [3, 1, 5, 2, 2, 3, 3]);
    expect(step({ arrive: "A" })).toEqual(["AAA....."]);
    expect(step({ arrive: "B" })).toEqual(["AAAB...."]); // processor 3 is a block, and idle
    expect(step({ arrive: "C" })).toEqual(["AAAB....", "CCCCC..."]);
    expect(step({ arrive: "DE" })).toEqual(["AAABDDEE", "CCCCC..."]);
    // F is not next to B although 3 processors are idle: its block is not.
    expect(step({ ends: "A", arrive: "F" })).toEqual(["...BDDEE", "CCCCC...", "FFF....."]);
    expect(step({ ends: "D", arrive: "G" })).toEqual(["...B..EE", "CCCCC...", "FFF.GGG."]);
  });

  test("block=exclusive gives whole blocks: no other job uses the rest", () => {
    const { step } = bench(bc, { block: "exclusive" }, 8, [3, 1, 5, 2, 2, 1]);
    expect(step({ arrive: "A" })).toEqual(["AAA....."]);
    expect(step({ arrive: "B" })).toEqual(["AAA.B..."]); // not on processor 3, which is A's
    expect(step({ arrive: "C" })).toEqual(["AAA.B...", "CCCCC..."]);
    expect(step({ arrive: "DE" })).toEqual(["AAA.B.DD", "CCCCC...", "EE......"]);
    expect(step({ arrive: "F" })).toEqual(["AAA.BFDD", "CCCCC...", "EE......"]);
  });

  test("never re-packs, deletes rows that become empty, keeps the last one", () => {
    const { step } = bench(bc, NO_PARAMETERS, 4, [2, 3, 2]);
    expect(step({ arrive: "ABC" })).toEqual(["AACC", "BBB."]);
    expect(step({ ends: "A" })).toEqual(["..CC", "BBB."]);
    expect(step({ ends: "C" })).toEqual(["BBB."]);
    expect(step({ ends: "B" })).toEqual(["...."]);
  });
});

describe("br", () => {
  test("takes the least loaded block, the leftmost among equals, and fills the rest of blocks", () => {
    const { step } = bench(br, NO_PARAMETERS, 8, [3, 2, 1, 4, 1]);
    expect(step({ arrive: "A" })).toEqual(["AAA....."]);
    expect(step({ arrive: "B" })).toEqual(["AAA.BB.."]);
    expect(step({ arrive: "C" })).toEqual(["AAACBB.."]); // processor 3 is in A's block; idle ones have 1 slot
    expect(step({ arrive: "D" })).toEqual(["AAACBB..", "....DDDD"]); // 6 idle slots against 4
    expect(step({ arrive: "E" })).toEqual(["AAACBB..", "E...DDDD"]);
  });

  test("re-packs after departures until no row can be saved", () => {
    const { step } = bench(br, NO_PARAMETERS, 4, [4, 2, 2, 2, 2]);
    expect(step({ arrive: "ABCDE" })).toEqual(["AAAA", "BBCC", "DDEE"]);
    expect(step({ ends: "BE" })).toEqual(["AAAA", "DDCC"]);
    expect(step({ ends: "ACD" })).toEqual([]);
  });

  test("re-packs to make room for an arrival without a new row", () => {
    const { step } = bench(br, NO_PARAMETERS, 8, [4, 2, 2, 4, 2, 2, 4]);
    expect(step({ arrive: "ABCDEF" })).toEqual(["AAAABBCC", "DDDDEEFF"]);
    expect(step({ ends: "BF" })).toEqual(["AAAA..CC", "DDDDEE.."]);
    expect(step({ arrive: "G" })).toEqual(["AAAAGGGG", "DDDDEECC"]);
  });

  test("a row that is not needed once the arrival is in another one is deleted again", () => {
    // C needs a row because B is in its block; it is then next to B, in the first row.
    const { step } = bench(br, NO_PARAMETERS, 8, [6, 1, 6]);
    expect(step({ arrive: "AB" })).toEqual(["AAAAAAB."]);
    expect(step({ ends: "A", arrive: "C" })).toEqual(["CCCCCCB."]);
  });

  test("a machine whose size is not a power of two: the block that its end cuts off takes what fits", () => {
    const { step } = bench(br, NO_PARAMETERS, 6, [2, 2, 2, 6, 4, 3]);
    expect(step({ arrive: "ABC" })).toEqual(["AABBCC"]);
    expect(step({ arrive: "D" })).toEqual(["AABBCC", "DDDDDD"]);
    expect(step({ arrive: "E" })).toEqual(["AABBCC", "DDDDDD", "EEEE.."]);
    expect(step({ arrive: "F" })).toEqual(["AABBCC", "DDDDDD", "EEEE..", "FFF..."]);
  });
});

describe("brms", () => {
  test("one extra slot per workload change, for the largest job that can have one; it is kept", () => {
    const { step } = bench(brms, { extraOrder: "largest", extraPerChange: 1 }, 4, [2, 1, 4, 1, 2]);
    expect(step({ arrive: "AB" })).toEqual(["AAB."]);
    expect(step({ arrive: "C" })).toEqual(["AAB.", "CCCC"]);
    expect(step({ arrive: "D" })).toEqual(["AABD", "CCCC"]);
    expect(step({ ends: "C" })).toEqual(["AABD"]);
    expect(step({ arrive: "E" })).toEqual(["AABD", "EEB."]); // B before D, which came later
    expect(step({ ends: "B" })).toEqual(["AA.D", "EE.D"]);
  });

  test("by default jobs take turns, the smallest first, until no job can get a slot", () => {
    const { step } = bench(brms, parseParameters("brms", brms.parameters, []), 4, [2, 2, 2, 2, 1]);
    expect(step({ arrive: "AB" })).toEqual(["AABB"]);
    expect(step({ arrive: "CD" })).toEqual(["AABB", "CCDD"]);
    // E takes its turn before B, but processor 0 has no other idle slot.
    expect(step({ arrive: "E" })).toEqual(["AABB", "CCDD", "E.BB"]);
    // E gets a slot in each of two turns. B keeps both of its slots, so no row can be deleted.
    expect(step({ ends: "AC" })).toEqual(["E.BB", "E.DD", "E.BB"]);
    expect(step({ ends: "B" })).toEqual(["E.DD", "E.DD", "E.DD"]);
  });
});

describe("brmms", () => {
  test("jobs fill idle slots in turns, the largest first, and give them back to an arrival", () => {
    const { step } = bench(brmms, NO_PARAMETERS, 4, [4, 1, 2, 2, 1]);
    expect(step({ arrive: "A" })).toEqual(["AAAA"]);
    expect(step({ arrive: "B" })).toEqual(["AAAA", "B..."]);
    expect(step({ arrive: "C" })).toEqual(["AAAA", "B.CC"]);
    expect(step({ arrive: "D" })).toEqual(["AAAA", "B.CC", "DDCC"]); // C runs twice
    expect(step({ arrive: "E" })).toEqual(["AAAA", "BECC", "DDCC"]);
  });

  test("gives extra slots back when a row can be deleted", () => {
    const { step } = bench(brmms, NO_PARAMETERS, 4, [2, 2, 2]);
    expect(step({ arrive: "AB" })).toEqual(["AABB"]);
    expect(step({ arrive: "C" })).toEqual(["AABB", "CCBB"]);
    expect(step({ ends: "A" })).toEqual(["CCBB"]);
  });

  test.each([
    // G keeps what H does not need.
    ["single", "largest", ["G.BB", "G.DD", "HHFF"]],
    // Offered again, the slot of the third row goes to the larger H, or to the smaller G.
    ["all", "largest", ["G.BB", "HHDD", "HHFF"]],
    ["all", "smallest", ["G.BB", "HHDD", "G.FF"]],
  ])("extraReturn=%s, %s first", (extraReturn, extraOrder, rows) => {
    const { step } = bench(brmms, { extraReturn, extraOrder }, 4, [2, 2, 2, 2, 2, 2, 1, 2]);
    expect(step({ arrive: "ABCDEF" })).toEqual(["AABB", "CCDD", "EEFF"]);
    expect(step({ ends: "ACE", arrive: "G" })).toEqual(["G.BB", "G.DD", "G.FF"]);
    expect(step({ arrive: "H" })).toEqual(rows);
  });

  test("without parameters, the largest job comes first and single slots are given back", () => {
    expect(parseParameters("brmms", brmms.parameters, [])).toMatchObject({
      extraOrder: "largest",
      extraReturn: "single",
    });
  });
});

/** Jobs on a machine: gaps and run times short, so that many live at once. */
function jobsFor(processors: number) {
  const job = fc.tuple(fc.nat({ max: 8 }), fc.nat({ max: 20 }), fc.integer({ min: 1, max: processors }));
  return fc.array(job, { maxLength: 40 }).map((jobs) => {
    let now = 0;
    return jobs.map(([gap, run, size]) => {
      now += gap / 4;
      return [now, run / 2, size] as const;
    });
  });
}

const instances = fc
  .integer({ min: 1, max: 20 })
  .chain((processors) => jobsFor(processors).map((jobs) => gangInstance(processors, jobs)));

/** Calls the check on the machine after each decision. */
function watched(
  [definition, parameters]: (typeof SCHEMES)[number],
  instance: Instance,
  check: (machine: GangMachine) => void,
): void {
  let machine: GangMachine | undefined;
  const spy: GangPolicyDefinition = {
    ...definition,
    make: (made, jobs, values) => {
      machine = made;
      return definition.make(made, jobs, values);
    },
  };
  const decided = () => check(machine!);
  simulateRounds(instance, spy, parameters, { slotS: 1, switchS: 0, observer: { decided } });
}

describe("every scheme", () => {
  test.each(SCHEMES.map((scheme) => [label(scheme), scheme] as const))(
    "%s: computed rounds end every job when stepped rounds do",
    (_, [definition, parameters]) => {
      const options = fc.record({ slotS: fc.constantFrom(0.5, 1), switchS: fc.constantFrom(0, 0.25) });
      fc.assert(
        fc.property(instances, options, (instance, options) => {
          const schedule = simulateRounds(instance, definition, parameters, options);
          const twin = stepRounds(instance, definition, parameters, options);
          expect([...schedule.startS]).toEqual(twin.startS);
          expect([...schedule.endS]).toEqual(twin.endS);
          expect(schedule.endS.every((end) => end > 0)).toBe(true);
        }),
        { numRuns: 60 },
      );
    },
  );

  test.each(SCHEMES.map((scheme) => [label(scheme), scheme] as const))(
    "%s: whole jobs are at the left end of their block, in rows that are needed",
    (_, scheme) => {
      fc.assert(
        fc.property(instances, (instance) => {
          watched(scheme, instance, (machine) => {
            auditMatrix(machine as unknown as OusterhoutMatrix);
            const idle = new Array<number>(machine.processors).fill(machine.rowCount);
            const firm = [...idle];
            for (let position = 0; position < machine.rowCount; position++) {
              for (
                let run = machine.firstRun(machine.rowAt(position));
                run !== -1;
                run = machine.nextRun(run)
              ) {
                const first = machine.runFirst(run);
                const job = machine.runJob(run);
                expect(first % 2 ** blockLevel(instance.size[job])).toBe(0);
                for (let at = first; at < first + machine.runSize(run); at++) {
                  idle[at]--;
                  if (run === machine.firstRunOfJob(job)) firm[at]--;
                }
              }
            }
            // Re-packing could not save a row, no matter which jobs keep extra slots.
            const [{ name }] = scheme;
            if (name === "br" || name === "brms") expect(Math.min(...idle)).toBe(0);
            if (name === "brmms") expect(Math.min(...firm)).toBe(0);
          });
        }),
        { numRuns: 60 },
      );
    },
  );

  test.each([100, 338, 430])("works on %i processors", (processors) => {
    const random = new Random(processors);
    let now = 0;
    const jobs = Array.from({ length: 300 }, () => {
      now += random.below(8);
      return [now, random.below(30), 1 + random.below(processors)] as const;
    });
    const instance = gangInstance(processors, jobs);
    for (const [definition, parameters] of SCHEMES) {
      const schedule = simulateRounds(instance, definition, parameters, { slotS: 1, switchS: 0 });
      for (let job = 0; job < instance.count; job++) {
        expect(schedule.endS[job]).toBeGreaterThanOrEqual(
          instance.submitS[job] + Math.max(1, instance.runS[job]),
        );
      }
    }
  });

  test.each([[NO_PARAMETERS], [{ extraOrder: "oldest", extraReturn: "all" }]])(
    "br and brmms %o: each job takes the least loaded block, brmms as if no job had an extra slot",
    (parameters) => {
      const change = fc.record({ arrive: fc.boolean(), which: fc.nat() });
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 20 }),
          fc.array(fc.nat(), { minLength: 1, maxLength: 26 }),
          fc.array(change, { maxLength: 50 }),
          (processors, sizes, changes) => {
            const size = sizes.map((n) => 1 + (n % processors));
            const one = bench(br, NO_PARAMETERS, processors, size);
            const many = bench(brmms, parameters, processors, size);
            let next = 0;
            const running: string[] = [];
            for (const { arrive, which } of changes) {
              let step: { arrive?: string; ends?: string };
              if (arrive && next < size.length) {
                step = { arrive: String.fromCharCode(65 + next++) };
                running.push(step.arrive!);
              } else if (running.length > 0) {
                step = { ends: running.splice(which % running.length, 1)[0] };
              } else continue;
              one.step(step);
              many.step(step);
              // The same arrivals and departures: the same rows and the same processors for every job.
              expect(many.machine.rowCount).toBe(one.machine.rowCount);
              for (const letter of running) {
                const job = letter.charCodeAt(0) - 65;
                const firstIn = (machine: GangMachine) => machine.runFirst(machine.firstRunOfJob(job));
                expect(firstIn(many.machine)).toBe(firstIn(one.machine));
                expect(one.machine.slotsOf(job)).toBe(1);
              }
            }
          },
        ),
        { numRuns: 100 },
      );
    },
  );
});
