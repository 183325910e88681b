import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../core/errors.ts";
import type { Instance } from "../../core/jobs.ts";
import { fullTable } from "../../simulator/full-table-for-tests.ts";
import { gangInstance, NaiveMachine, stepRounds } from "../../simulator/gang-for-tests.ts";
import { simulateRounds } from "../../simulator/rounds.ts";
import { simulate } from "../../simulator/simulate.ts";
import { seededInstance } from "../instances-for-tests.ts";
import { choosePolicy } from "../parse-policy.ts";
import { gangBench } from "./gang-bench-for-tests.ts";
import { Migration } from "./migration.ts";
import { wlv } from "./wlv.ts";

const IDLE = -1;
const SLOTS = { slotS: 1, switchS: 0 };

/** A matrix given by its cells. Gangs are at random places, and some of them have had slots. */
interface Case {
  readonly rows: readonly (readonly number[])[];
  readonly sizes: readonly number[];
  readonly served: readonly number[];
  readonly costS: number;
  readonly inBlocks: boolean;
}

const cases: fc.Arbitrary<Case> = fc.integer({ min: 1, max: 12 }).chain((processors) =>
  fc
    .record({
      rowCount: fc.integer({ min: 1, max: 5 }),
      wanted: fc.array(fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(), fc.nat()), { maxLength: 18 }),
      served: fc.array(fc.nat(6), { minLength: 18, maxLength: 18 }),
      costS: fc.constantFrom(0, 0.5, 2, 5, 1e15),
      inBlocks: fc.boolean(),
    })
    .map(({ rowCount, wanted, served, costS, inBlocks }) => {
      const rows = Array.from({ length: rowCount }, () => new Array<number>(processors).fill(IDLE));
      const sizes: number[] = [];
      for (const [size, row, at] of wanted) {
        const cells = rows[row % rowCount];
        const first = inBlocks
          ? blockOf(size) * (at % Math.ceil(processors / blockOf(size)))
          : at % processors;
        const own = cells.slice(first, first + size);
        if (own.length < size || own.some((cell) => cell !== IDLE)) continue;
        cells.fill(sizes.length, first, first + size);
        sizes.push(size);
      }
      return { rows, sizes, served, costS, inBlocks };
    }),
);

function blockOf(size: number): number {
  return 2 ** Math.ceil(Math.log2(size));
}

/** The plan exactly as the printed rules say, on cells. */
function naivePlan({ rows, sizes, served, costS, inBlocks }: Case): [job: number, first: number][] {
  const processors = rows[0].length;
  const all = Array.from({ length: processors }, (_, at) => at);
  const firsts = sizes.map((_, job) => rows.find((cells) => cells.includes(job))!.indexOf(job));
  const holds = (job: number, at: number) => at >= firsts[job] && at < firsts[job] + sizes[job];
  const gangsAt = (at: number) => sizes.map((_, job) => job).filter((job) => holds(job, at));
  const isFull = (at: number) => gangsAt(at).length === rows.length;
  const full = all.filter(isFull);
  if (full.length === 0) return [];
  const rest = Math.max(...full.map((at) => Math.min(...gangsAt(at).map((job) => served[job]))));
  const taken = all.reduce((sum, at) => sum + gangsAt(at).length, 0);
  const plan: [number, number][] = [];
  for (let at = all.find(isFull); at !== undefined; at = all.find(isFull)) {
    const moves = gangsAt(at)
      .filter((job) => served[job] > 0)
      .map((job) => ({ job, first: windowWithout(job) }))
      .filter(({ first }) => first >= 0)
      .sort((a, b) => reachOf(b.job) - reachOf(a.job) || sizes[a.job] - sizes[b.job] || a.job - b.job);
    if (moves.length === 0) return [];
    const [{ job, first }] = moves;
    firsts[job] = first;
    plan.push([job, first]);
  }
  const moved = plan.reduce((sum, [job]) => sum + sizes[job], 0);
  return costS * moved <= (rest * taken) / (rows.length - 1) ? plan : [];

  function reachOf(job: number): number {
    return Math.min(firsts[job] + sizes[job], Math.max(...full) + 1);
  }

  /** Where an arrival would go if the gang and one row were gone. */
  function windowWithout(job: number): number {
    const left = all.map((at) => rows.length - 1 - gangsAt(at).filter((other) => other !== job).length);
    let best = [-1, 0];
    const step = inBlocks ? blockOf(sizes[job]) : 1;
    for (let first = 0; first + sizes[job] <= processors; first += step) {
      const own = left.slice(first, first + (inBlocks ? step : sizes[job]));
      const sum = own.reduce((a, b) => a + b, 0);
      if (own.every((idle) => idle > 0) && sum > best[1]) best = [first, sum];
    }
    return best[0];
  }
}

function planned(one: Case): [number, number][] {
  return planner(one).plan();
}

/** Plans without moving anything. */
function planner({ rows, sizes, served, costS, inBlocks }: Case) {
  const processors = rows[0].length;
  const machine = new NaiveMachine(processors, 1, sizes);
  for (const cells of rows) machine.rows[machine.addRow()].cells.splice(0, processors, ...cells);
  machine.served.push(...served);
  const jobs = gangInstance(
    processors,
    sizes.map((size) => [0, 1, size] as const),
  );
  const migration = new Migration(machine, fullTable(jobs), inBlocks, costS);
  const plan = (): [number, number][] => {
    for (let at = 0; at < processors; at++) {
      migration.idle[at] = rows.filter((cells) => cells[at] === IDLE).length;
    }
    migration.plan();
    return migration.jobs.map((job, i) => [job, migration.firsts[i]]);
  };
  return { plan, served: machine.served };
}

/** Rows of a picture as cells. */
function cellsOf(...rows: readonly string[]): number[][] {
  return rows.map((row) => [...row].map((letter) => "ABCDE".indexOf(letter)));
}

describe("Migration", () => {
  test("plans what its rule says, gang by gang and cell by cell", () => {
    let plans = 0;
    fc.assert(
      fc.property(cases, (one) => {
        const plan = planned(one);
        expect(plan).toEqual(naivePlan(one));
        if (plan.length > 0) plans++;
      }),
      { numRuns: 3000 },
    );
    expect(plans).toBeGreaterThan(30);
  });

  test("after the moves of a plan every processor has an idle slot, and no gang has moved twice", () => {
    fc.assert(
      fc.property(cases, (one) => {
        const plan = planned(one);
        if (plan.length === 0) return;
        expect(new Set(plan.map(([job]) => job)).size).toBe(plan.length);
        const load = one.rows[0].map((_, at) => one.rows.filter((cells) => cells[at] !== IDLE).length);
        for (const [job, first] of plan) {
          const from = one.rows.find((cells) => cells.includes(job))!.indexOf(job);
          for (let i = 0; i < one.sizes[job]; i++) {
            load[from + i]--;
            load[first + i]++;
          }
        }
        expect(Math.max(...load)).toBeLessThan(one.rows.length);
      }),
      { numRuns: 1500 },
    );
  });

  test("several gangs move if no single one clears all full processors, and the one that reaches furthest goes first", () => {
    // Processors 0 to 2 are full. D reaches over 0 and 1, A and B over one each; C, over 2 and 3, is smaller
    // than none.
    const rows = cellsOf("ABC.....", "DDE.....");
    const one = { rows, sizes: [1, 1, 1, 2, 1], served: [9, 9, 9, 9, 9], costS: 1, inBlocks: false };
    expect(planned(one)).toEqual([
      [3, 3],
      [2, 5],
    ]);
    // Gain: 9 s × 6 slots taken ÷ 1 row left = 54 processor-seconds; three processors move.
    expect(planned({ ...one, costS: 18 })).toHaveLength(2);
    expect(planned({ ...one, costS: 18.5 })).toEqual([]);
    // No gang on processor 2 has had a slot.
    expect(planned({ ...one, costS: 0, served: [9, 9, 0, 9, 0] })).toEqual([]);
  });
});

describe("Migration, by hand", () => {
  test("a gang that has moved stays until it has served the cost", () => {
    const one = { rows: cellsOf("AA..", "BB.."), sizes: [2, 2], served: [9, 9], costS: 5, inBlocks: false };
    const { plan, served } = planner(one);
    expect(plan()).toEqual([[0, 2]]);
    expect(plan()).toEqual([[1, 2]]);
    expect(plan()).toEqual([]);
    served[0] = 13;
    expect(plan()).toEqual([]);
    served[0] = 14;
    expect(plan()).toEqual([[0, 2]]);
  });

  test("without a cost it stays until it has had a slot", () => {
    const one = { rows: cellsOf("AA..", "BB.."), sizes: [2, 2], served: [9, 0], costS: 0, inBlocks: false };
    const { plan, served } = planner(one);
    expect(plan()).toEqual([[0, 2]]);
    expect(plan()).toEqual([]);
    served[0] = 10;
    expect(plan()).toEqual([[0, 2]]);
  });

  test("blocks are compared as in a matrix with one row fewer, including the block that the machine's end cuts off", () => {
    // Idle slots with one row fewer: 1 1 1 1 in the second block, 1 2 2 in the last. With that row both had
    // eight.
    const rows = cellsOf("AAA.DDDDE..", "BBB........", "CCC........");
    const one = { rows, sizes: [3, 3, 3, 4, 1], served: [9, 9, 9, 9, 9], costS: 0, inBlocks: true };
    expect(planned(one)).toEqual([[0, 8]]);
  });
});

describe("gangs that migrate", () => {
  // Rows AABB and CCDD. B has ended at 3 and D at 4: AA.. and CC.. have had two slots each and cannot share a
  // row before A moves.
  const four = gangInstance(4, [
    [0, 10, 2],
    [0, 2, 2],
    [0, 10, 2],
    [0, 2, 2],
  ]);

  test.each([
    ["wlv", 19, 20, 0],
    ["wlv:migrate=0", 12, 12, 1],
    ["wlv:migrate=2", 14, 12, 1],
    // Gain: 2 s × 4 processors. Loss: the cost for two processors.
    ["wlv:migrate=4", 16, 12, 1],
    ["wlv:migrate=4.5", 19, 20, 0],
    ["br:migrate=2", 14, 12, 1],
    ["brms:migrate=2", 14, 12, 1],
    ["brmms:migrate=2", 14, 12, 1],
    ["wlv:unify=returned:migrate=2", 14, 12, 1],
  ])("hand-worked: %s", (policy, endOfA, endOfC, migrations) => {
    const { endS, gang } = simulate(four, choosePolicy(policy), SLOTS);
    expect([...endS]).toEqual([endOfA, 3, endOfC, 4]);
    expect(gang!.migrations).toBe(migrations);
    expect(gang!.migrationS).toBe(migrations === 0 ? 0 : Number(policy.split("=").at(-1)));
  });

  const crowded: Instance = seededInstance("crowded", {
    seed: 5,
    processors: 24,
    count: 300,
    gapS: 9,
    maxRunS: 80,
    maxSize: 12,
    exactShare: 1,
    zeroShare: 0.05,
  });
  // By default, brms leaves few gangs with a single slot, and only those migrate.
  const FEW_EXTRA = "brms:extraOrder=largest:extraPerChange=1";
  const POLICIES_THAT_MIGRATE = ["br", FEW_EXTRA, "brmms", "wlv", "wlv:unify=kept", "wlv:unify=returned"];

  test.each(POLICIES_THAT_MIGRATE)(
    "%s: free migrations save rows, priceless ones change nothing",
    (policy) => {
      const options = { slotS: 2, switchS: 0.5 };
      const without = simulate(crowded, choosePolicy(policy), options);
      const free = simulate(crowded, choosePolicy(`${policy}:migrate=0`), options);
      const priceless = simulate(crowded, choosePolicy(`${policy}:migrate=1e15`), options);
      expect(priceless).toEqual(without);
      expect(free.gang!.migrations).toBeGreaterThan(10);
      expect(free.gang!.migrationS).toBe(0);
      expect(free.gang!.activeProcessorSlots).toBe(without.gang!.activeProcessorSlots);
      const mean = ({ endS }: { readonly endS: Float64Array }) => endS.reduce((sum, one) => sum + one, 0);
      expect(mean(free)).toBeLessThan(mean(without));
    },
  );

  test("under rounds as stepping slot by slot, service lost included", () => {
    const job = fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 4 }));
    let migrations = 0;
    fc.assert(
      fc.property(
        fc.constantFrom("brms", ...POLICIES_THAT_MIGRATE),
        fc.constantFrom(0, 0.5, 1, 2.25),
        fc.array(job, { minLength: 6, maxLength: 24 }),
        (policy, costS, jobs) => {
          const instance = gangInstance(
            7,
            jobs.sort((a, b) => a[0] - b[0]),
          );
          const { definition, parameters } = choosePolicy(`${policy}:migrate=${costS}`);
          if (definition.sharing !== "time") throw new Error("expected time sharing");
          const schedule = simulateRounds(instance, definition, parameters, SLOTS);
          const stepped = stepRounds(instance, definition, parameters, SLOTS);
          expect([...schedule.startS]).toEqual(stepped.startS);
          expect([...schedule.endS]).toEqual(stepped.endS);
          expect(schedule.gang!.maxRows).toBe(Math.max(0, ...stepped.rows));
          expect(schedule.gang!.migrationS).toBe(costS * schedule.gang!.migrations);
          migrations += schedule.gang!.migrations;
        },
      ),
      { numRuns: 300 },
    );
    expect(migrations).toBeGreaterThan(100);
  });

  test.each([
    ["wlv:array=ring:migrate=5", /array=ring.*migrate=5.*expected array=linear/],
    ["wlv:rows=3:migrate=5", /limit rows or memory with "migrate=5"/],
    ["br:memory=100:migrate=0", /limit rows or memory with "migrate=0"/],
  ])("refused: %s", (policy, message) => {
    expect(() => simulate(four, choosePolicy(policy), SLOTS)).toThrow(InputError);
    expect(() => simulate(four, choosePolicy(policy), SLOTS)).toThrow(message);
  });

  test("refused on a machine whose gangs keep their processors", () => {
    const { parameters } = choosePolicy("wlv:migrate=5");
    expect(() => gangBench(wlv, parameters, 4, [1])).toThrow(
      /"migrate=5" here: this machine cannot move gangs/,
    );
  });
});
