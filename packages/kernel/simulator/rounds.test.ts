import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RuleViolation } from "../core/errors.ts";
import type { JobIndex, JobsView } from "../core/jobs.ts";
import type { GangMachine, GangPolicyDefinition, Policy, RowId } from "../core/policy.ts";
import { Random } from "../core/random.ts";
import type { Observer } from "../core/schedule.ts";
import { gangInstance, stepRounds } from "./gang-for-tests.ts";
import { slotsOfWork } from "./gang-work.ts";
import { simulateRounds } from "./rounds.ts";

/**
 * A policy that makes random decisions within the rules: any row, any place, extra slots, exchanges at any
 * legal cut, deleting rows or not, migrations.
 */
class Dice implements Policy {
  readonly #machine: GangMachine;
  readonly #jobs: JobsView;
  readonly #random: Random;
  readonly #running: JobIndex[] = [];
  readonly #migrates: boolean;

  constructor(machine: GangMachine, jobs: JobsView, seed: number, migrates: boolean) {
    this.#machine = machine;
    this.#migrates = migrates;
    this.#jobs = jobs;
    this.#random = new Random(seed);
  }

  depart(job: JobIndex): void {
    this.#running.splice(this.#running.indexOf(job), 1);
  }

  decide(arrived: readonly JobIndex[]): void {
    const machine = this.#machine;
    for (let position = machine.rowCount - 1; position >= 0; position--) {
      const row = machine.rowAt(position);
      if (machine.firstRun(row) === -1 && this.#random.below(3) > 0) machine.deleteRow(row);
    }
    for (const job of arrived) {
      const first = this.#random.below(machine.processors - this.#jobs.size[job] + 1);
      if (!this.#place(job, first)) machine.place(job, machine.addRow(), first);
      this.#running.push(job);
    }
    for (const job of this.#running) {
      const first = machine.runFirst(machine.firstRunOfJob(job));
      const dice = this.#random.below(4);
      if (dice === 0) this.#place(job, first);
      else if (dice === 1 && machine.slotsOf(job) > 1) machine.release(job, this.#someRowOf(job));
      else if (dice === 2) this.#exchange();
      else if (this.#migrates && machine.slotsOf(job) === 1) this.#migrate(job);
    }
  }

  #someRow(): RowId {
    return this.#machine.rowAt(this.#random.below(this.#machine.rowCount));
  }

  #someRowOf(job: JobIndex): RowId {
    for (;;) {
      const row = this.#someRow();
      for (let run = this.#machine.firstRun(row); run !== -1; run = this.#machine.nextRun(run)) {
        if (this.#machine.runJob(run) === job) return row;
      }
    }
  }

  #place(job: JobIndex, first: number): boolean {
    if (this.#machine.rowCount === 0) return false;
    const row = this.#someRow();
    if (!this.#machine.isIdle(row, first, first + this.#jobs.size[job])) return false;
    this.#machine.place(job, row, first);
    return true;
  }

  #migrate(job: JobIndex): void {
    const first = this.#random.below(this.#machine.processors - this.#jobs.size[job] + 1);
    const row = this.#someRow();
    if (this.#machine.isIdle(row, first, first + this.#jobs.size[job]))
      this.#machine.migrate(job, row, first);
  }

  #exchange(): void {
    const a = this.#someRow();
    const b = this.#someRow();
    const cuts: number[] = [];
    for (let cut = 0; cut <= this.#machine.processors; cut++) {
      if (this.#isCut(a, cut) && this.#isCut(b, cut)) cuts.push(cut);
    }
    const from = this.#random.below(cuts.length);
    const to = from + this.#random.below(cuts.length - from);
    this.#machine.exchange(a, b, cuts[from], cuts[to]);
  }

  #isCut(row: RowId, cut: number): boolean {
    const run = cut === 0 ? -1 : this.#machine.runBefore(row, cut - 1);
    return run === -1 || this.#machine.runFirst(run) + this.#machine.runSize(run) <= cut;
  }
}

function definition(make: GangPolicyDefinition["make"], migrationS?: number): GangPolicyDefinition {
  return {
    name: "test",
    title: "test",
    summary: "test",
    rules: [],
    source: "test",
    parameters: [],
    sharing: "time",
    guarantees: () => ({ headNeverFits: true, workConserving: true, keepsPromises: true, migrationS }),
    make,
  };
}

const dice = (seed: number, migrationS?: number) =>
  definition((machine, jobs) => new Dice(machine, jobs, seed, migrationS !== undefined), migrationS);

/** Every job in its own row, at processor 0. */
const rowEach = definition((machine) => {
  const rows = new Map<JobIndex, RowId>();
  return {
    depart: (job) => machine.deleteRow(rows.get(job)!),
    decide: (arrived) => {
      for (const job of arrived) {
        rows.set(job, machine.addRow());
        machine.place(job, rows.get(job)!, 0);
      }
    },
  };
});

/** Calls the function once, at the first arrival. */
const once = (decide: (machine: GangMachine) => void) =>
  definition((machine) => {
    let done = false;
    return {
      depart: () => {},
      decide: () => {
        if (!done) decide(machine);
        done = true;
      },
    };
  });

const quarters = (max: number) => fc.integer({ min: 0, max: 4 * max }).map((n) => n / 4);

/** Jobs of an instance on `processors` processors, by time between arrivals, run time and size. */
function jobsFor(processors: number) {
  const job = fc.tuple(quarters(6), quarters(12), fc.integer({ min: 1, max: processors }));
  return fc.array(job, { maxLength: 25 }).map((jobs) => {
    let now = 0;
    return jobs.map(([gap, run, size]) => {
      now += gap;
      return [now, run, size] as const;
    });
  });
}

const cases = fc.integer({ min: 1, max: 12 }).chain((processors) =>
  fc.record({
    processors: fc.constant(processors),
    jobs: jobsFor(processors),
    slotS: fc.constantFrom(0.5, 1, 2),
    switchS: fc.constantFrom(0, 0.25, 1),
    migrationS: fc.constantFrom(undefined, 0, 0.25, 3.5),
    seed: fc.nat(),
  }),
);

describe("simulateRounds()", () => {
  test("gives every job the start and the end that stepping slot by slot gives, under random decisions", () => {
    fc.assert(
      fc.property(cases, ({ processors, jobs, slotS, switchS, migrationS, seed }) => {
        const instance = gangInstance(processors, jobs);
        const schedule = simulateRounds(instance, dice(seed, migrationS), {}, { slotS, switchS });
        const twin = stepRounds(instance, dice(seed, migrationS), {}, { slotS, switchS });
        expect([...schedule.startS]).toEqual(twin.startS);
        expect([...schedule.endS]).toEqual(twin.endS);
        expect(schedule.instants).toBe(twin.rows.length);
        expect(schedule.gang!.maxRows).toBe(Math.max(0, ...twin.rows));
      }),
      { numRuns: 2000 },
    );
  });

  test("three rows take turns: hand-worked", () => {
    // slot  0 1 2 3 4 5 6    A needs 2 slots, B 3, C 1
    // row   A B C A B B      A ends at 4, B alone from then on
    const instance = gangInstance(4, [
      [0, 2, 1],
      [0, 3, 4],
      [0, 1, 2],
    ]);
    const schedule = simulateRounds(instance, rowEach, {}, { slotS: 1, switchS: 0 });
    expect([...schedule.startS]).toEqual([0, 1, 2]);
    expect([...schedule.endS]).toEqual([4, 6, 3]);
    expect([...schedule.gang!.rowsAtS]).toEqual([0, 3, 4, 6]);
    expect([...schedule.gang!.rows]).toEqual([3, 2, 1, 0]);
    expect(schedule.gang!.activeProcessorSlots).toBe(2 * 1 + 3 * 4 + 1 * 2);
    expect(schedule.gang!.slots).toBe(6);
  });

  test("a round takes in as many rows as it began with, then further ones wait for the next: hand-worked", () => {
    // At each instant a job arrives and gets its own row. A needs three slots, the others one.
    // slot   0  1  2  3  4  5  6  7  8
    // row    A  A  B  C  D  A  E  F  G     the round of slots 1 to 4 begins with A B and adds C D
    const jobs = Array.from({ length: 12 }, (_, at) => [at, at === 0 ? 3 : 1, 1] as const);
    const schedule = simulateRounds(gangInstance(1, jobs), rowEach, {}, { slotS: 1, switchS: 0 });
    expect([...schedule.endS]).toEqual([6, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14]);
  });

  test("jobs of one slot that never stop coming do not keep a gang from its turns", () => {
    // After each slot of A, one more job waits. So its k-th round begins with at most k rows and has at most
    // 2k slots.
    const jobs = Array.from({ length: 12_000 }, (_, at) => [at, at === 0 ? 100 : 1, 1] as const);
    const schedule = simulateRounds(gangInstance(1, jobs), rowEach, {}, { slotS: 1, switchS: 0 });
    expect(schedule.endS[0]).toBeLessThanOrEqual(100 * 101);
  });

  test("many rows inserted at one position stay in their order", () => {
    // 200 rows, and then even more at once at slot 100: 99 join the round, the others are inserted after
    // those that have passed.
    const first = Array.from({ length: 200 }, () => [0, 4, 1] as const);
    const second = Array.from({ length: 3000 }, () => [100, 2, 1] as const);
    const third = Array.from({ length: 50 }, () => [150, 3, 1] as const);
    const instance = gangInstance(1, [...first, ...second, ...third]);
    const options = { slotS: 1, switchS: 0 };
    expect([...simulateRounds(instance, rowEach, {}, options).endS]).toEqual(
      stepRounds(instance, rowEach, {}, options).endS,
    );
  });

  test("a migration costs service, added up in seconds before it is rounded to slots: hand-worked", () => {
    // A needs 2 slots and moves at 0 and 1, each time for half a slot: it ends after 3.
    const moving = (migrationS: number) =>
      definition((machine) => {
        let row: RowId;
        return {
          depart: () => {},
          decide: (arrived) => {
            if (arrived[0] === 0) {
              row = machine.addRow();
              machine.place(0, row, 0);
            }
            if (machine.slotsOf(0) === 0) return;
            expect(machine.servedSlots(0)).toBe(machine.nowS);
            machine.migrate(0, row, machine.runFirst(machine.firstRunOfJob(0)) + 2);
            expect(machine.servedSlots(0)).toBe(machine.nowS);
          },
        };
      }, migrationS);
    const instance = gangInstance(6, [
      [0, 2, 2],
      [1, 1, 1],
    ]);
    const migrations: string[] = [];
    const observer: Observer = { migrated: (...values) => void migrations.push(values.join(" ")) };
    const options = { slotS: 1, switchS: 0, observer };
    const schedule = simulateRounds(instance, moving(0.5), {}, options);
    expect(schedule.endS[0]).toBe(3);
    expect(migrations).toEqual(["0 0 0 2 0.5", "1 0 0 4 0.5"]);
    expect(schedule.gang).toMatchObject({ migrations: 2, migrationS: 1, activeProcessorSlots: 3 * 2 });
    expect(simulateRounds(instance, moving(1.25), {}, options).endS[0]).toBe(5);
    expect(simulateRounds(instance, moving(0), {}, options).endS[0]).toBe(2);
    expect(() =>
      simulateRounds(instance, { ...moving(0), guarantees: rowEach.guarantees }, {}, options),
    ).toThrow(expect.objectContaining({ rule: "migrated", timeS: 0 }));
  });

  test("a switch costs time only while there are two rows or more, and comes before the service", () => {
    const instance = gangInstance(1, [
      [0, 20, 1],
      [0, 10, 1],
    ]);
    const schedule = simulateRounds(instance, rowEach, {}, { slotS: 10, switchS: 1 });
    // A 0–11, B 11–22, then A alone 22–32.
    expect([...schedule.endS]).toEqual([32, 22]);
  });

  test("an arrival between slots waits for the next one; an idle machine keeps to the grid of slots", () => {
    const instance = gangInstance(2, [
      [0.5, 1, 1],
      [100.25, 3, 1],
    ]);
    const schedule = simulateRounds(instance, rowEach, {}, { slotS: 2, switchS: 0.5 });
    expect([...schedule.startS]).toEqual([2, 102]);
    expect([...schedule.endS]).toEqual([4, 106]);
    expect(schedule.gang!.slots).toBe(52);
    expect([...schedule.gang!.rowsAtS]).toEqual([0.5, 2, 4, 102, 106]);
  });

  test("slot ends are exact multiples of the slot, however many have passed", () => {
    const instance = gangInstance(1, [[0, 123456.7, 1]]);
    const schedule = simulateRounds(instance, rowEach, {}, { slotS: 0.1, switchS: 0.03 });
    expect(schedule.endS[0]).toBe(1234567 * 0.1);
  });

  test("an instance without jobs gives an empty schedule", () => {
    const schedule = simulateRounds(gangInstance(4, []), rowEach, {}, { slotS: 1, switchS: 0 });
    expect(schedule.instants).toBe(0);
    expect(schedule.gang!.slots).toBe(0);
  });

  test("a job that is never placed has no start and no end", () => {
    const schedule = simulateRounds(
      gangInstance(4, [[0, 1, 1]]),
      once(() => {}),
      {},
      { slotS: 1, switchS: 0 },
    );
    expect([...schedule.startS, ...schedule.endS]).toEqual([Number.NaN, Number.NaN]);
  });

  test("reports every event to an observer, in order of time", () => {
    const events: string[] = [];
    const note =
      (what: string) =>
      (...values: readonly unknown[]) =>
        void events.push(`${what} ${values.join(" ")}`);
    const observer: Observer = {
      arrived: note("arrived"),
      departed: note("departed"),
      started: note("started"),
      decided: note("decided"),
      placed: note("placed"),
      released: note("released"),
      rowAdded: note("row added"),
      rowDeleted: note("row deleted"),
      exchanged: note("exchanged"),
    };
    const policy = once((machine) => {
      const [a, b] = [machine.addRow(), machine.addRow()];
      machine.place(0, a, 1);
      machine.place(0, b, 1);
      machine.release(0, a);
      machine.exchange(a, b, 1, 2);
      machine.deleteRow(b);
    });
    simulateRounds(gangInstance(2, [[0.5, 2, 1]]), policy, {}, { slotS: 1, switchS: 0, observer });
    expect(events).toEqual([
      "arrived 1 0",
      "row added 1 0",
      "row added 1 1",
      "placed 1 0 0 1",
      "placed 1 0 1 1",
      "released 1 0 0",
      "exchanged 1 0 1 1 2",
      "row deleted 1 1",
      "decided 1",
      "started 1 0 5",
      "departed 3 0",
      "decided 3",
    ]);
  });

  test("calls progress every 65,536 instants", () => {
    const progressCalls: number[] = [];
    const jobs = Array.from({ length: 40000 }, (_, i) => [2 * i, 1, 1] as const);
    const progress = (arrived: number) => progressCalls.push(arrived);
    simulateRounds(gangInstance(1, jobs), rowEach, {}, { slotS: 1, switchS: 0, progress });
    expect(progressCalls).toEqual([32768]); // two instants per job
  });

  test.each([
    ["start-before-arrival", (machine: GangMachine) => machine.place(1, machine.addRow(), 0)],
    ["off-machine", (machine: GangMachine) => machine.place(0, machine.addRow(), 3)],
    ["no-such-row", (machine: GangMachine) => machine.place(0, 7, 0)],
    ["row-not-empty", (machine: GangMachine) => placeAt(machine, 0, (row) => machine.deleteRow(row))],
    ["last-slot", (machine: GangMachine) => placeAt(machine, 0, (row) => machine.release(0, row))],
    ["not-idle", (machine: GangMachine) => placeAt(machine, 0, (row) => machine.place(0, row, 0))],
    ["migrated", (machine: GangMachine) => placeAt(machine, 0, () => machine.place(0, machine.addRow(), 1))],
    [
      "torn-gang",
      (machine: GangMachine) => placeAt(machine, 0, (row) => machine.exchange(row, machine.addRow(), 0, 1)),
    ],
  ])("refuses a wrong decision: %s", (rule, decide) => {
    const instance = gangInstance(4, [
      [0, 3, 2],
      [9, 1, 1],
    ]);
    const run = () => simulateRounds(instance, once(decide), {}, { slotS: 1, switchS: 0 });
    expect(run).toThrow(RuleViolation);
    expect(run).toThrow(expect.objectContaining({ rule, timeS: 0 }));
  });

  test("refuses to place a job that has ended", () => {
    const policy = definition((machine) => ({
      depart: () => machine.place(0, machine.rowAt(0), 0),
      decide: () => placeAt(machine, 0, () => {}),
    }));
    const run = () => simulateRounds(gangInstance(1, [[0, 1, 1]]), policy, {}, { slotS: 1, switchS: 0 });
    expect(run).toThrow(expect.objectContaining({ rule: "already-ended", timeS: 1 }));
  });
});

describe("slotsOfWork()", () => {
  test("is the smallest whole number of slots that covers the run time, at least one", () => {
    expect(slotsOfWork(0, 60)).toBe(1);
    expect(slotsOfWork(60, 60)).toBe(1);
    expect(slotsOfWork(60.5, 60)).toBe(2);
    // 1.1 / 0.1 is 11.000000000000002 in doubles, yet 11 slots cover it.
    expect(slotsOfWork(1.1, 0.1)).toBe(11);
  });
});

function placeAt(machine: GangMachine, first: number, then: (row: RowId) => void): void {
  const row = machine.addRow();
  machine.place(0, row, first);
  then(row);
}
