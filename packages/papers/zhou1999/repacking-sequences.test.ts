/**
 * Any sequence of placements, ends, shifts and re-packings, on a line and around a ring, compared with a
 * plain record of which job has which processors: no gang is torn, no row has two jobs on one processor, no
 * job changes its processors, and rows can be removed.
 */

import type { GangMachine, RowId } from "@tutti/kernel/core/policy.ts";
import { firstCut } from "@tutti/kernel/structures/matrix/legal-cuts.ts";
import { OusterhoutMatrix } from "@tutti/kernel/structures/matrix/matrix.ts";
import { auditMatrix } from "@tutti/kernel/structures/matrix/matrix-audit-for-tests.ts";
import { gather } from "@tutti/kernel/structures/matrix/repacking.ts";
import { freeRowOnRing, gatherOnRing } from "@tutti/kernel/structures/matrix/ring-repacking.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shift } from "../drawn-matrix.ts";
import { legalCuts, openingCut } from "./opening-cut-for-tests.ts";
import { repackRows } from "./row-repacking.ts";

const PROCESSORS = 11;
const JOBS = 20;

class Machine extends OusterhoutMatrix implements GangMachine {
  readonly slotS = 1;
}

type Kind = "add" | "place" | "again" | "end" | "shift" | "rows" | "exchange" | "gather" | "remove";
const KINDS: readonly Kind[] = [
  "add",
  "place",
  "place",
  "again",
  "end",
  "shift",
  "rows",
  "exchange",
  "gather",
  "remove",
];
type Operation = readonly [kind: Kind, x: number, y: number, z: number];

/** Cells of all rows; each row's runs must not overlap. */
function cellsOf(machine: Machine): number[][] {
  return Array.from({ length: machine.rowCount }, (_, position) => {
    const cells = new Array<number>(PROCESSORS).fill(-1);
    for (let run = machine.firstRun(machine.rowAt(position)); run !== -1; run = machine.nextRun(run)) {
      for (let at = machine.runFirst(run); at < machine.runFirst(run) + machine.runSize(run); at++) {
        if (cells[at] !== -1) throw new Error(`processor ${at} is given twice`);
        cells[at] = machine.runJob(run);
      }
    }
    return cells;
  });
}

class Scenario {
  readonly machine: Machine;
  /** Processors and number of rows of each job that is placed. */
  readonly placed = new Map<number, { own: number[]; rows: number }>();
  readonly sizes: readonly number[];
  readonly isRing: boolean;
  removed = 0;

  constructor(sizes: readonly number[], isRing: boolean) {
    this.sizes = sizes;
    this.isRing = isRing;
    this.machine = new Machine(PROCESSORS, sizes);
  }

  row(n: number): RowId | undefined {
    const { machine } = this;
    return machine.rowCount === 0 ? undefined : machine.rowAt(n % machine.rowCount);
  }

  do([kind, x, y, z]: Operation): void {
    const { machine, placed } = this;
    const [a, b] = [this.row(x), this.row(y)];
    if (kind === "add" && machine.rowCount < 5) machine.addRow();
    if (kind === "remove") this.remove();
    if (a === undefined || b === undefined) return;
    const present = [...placed.keys()];
    const job = present[z % present.length];
    if (kind === "place") this.place(z % JOBS, a, y % PROCESSORS);
    else if (kind === "rows") {
      const origin = this.isRing ? openingCut(machine, a, b) : 0;
      if (a !== b && origin !== -1) repackRows(machine, a, b, origin);
    } else if (kind === "exchange") {
      const cuts = [...legalCuts(machine, a, b), ...(legalCuts(machine, a, b)[0] === 0 ? [PROCESSORS] : [])];
      if (cuts.length === 0) return;
      const [first, end] = [cuts[y % cuts.length], cuts[z % cuts.length]].sort((p, q) => p - q);
      machine.exchange(a, b, first, end);
    } else if (kind === "gather") this.gather(x % PROCESSORS, 1 + (y % PROCESSORS));
    else if (job === undefined) return;
    else if (kind === "end") {
      machine.removeJob(job);
      placed.delete(job);
    } else if (kind === "again") this.place(job, a, placed.get(job)!.own[0]);
    else if (kind === "shift") {
      const run = machine.firstRunOfJob(job);
      const first = machine.runFirst(run);
      const isWhole = machine.nextStretch(run) === -1;
      if (isWhole && machine.isIdle(b, first, first + machine.runSize(run))) shift(machine, run, b);
    }
  }

  place(job: number, row: RowId, first: number): void {
    const { machine, placed } = this;
    const size = this.sizes[job];
    const before = placed.get(job);
    const own = before?.own ?? Array.from({ length: size }, (_, i) => (first + i) % PROCESSORS);
    if (!this.isRing && own[size - 1] < own[0]) return;
    const cells = cellsOf(machine)[machine.positionOf(row)];
    if (own.some((at) => cells[at] !== -1)) return;
    const end = own[0] + size;
    const stretches = end <= PROCESSORS ? [own[0], end] : [0, end - PROCESSORS, own[0], PROCESSORS];
    machine.placeStretches(job, row, stretches, stretches.length / 2);
    placed.set(job, { own, rows: (before?.rows ?? 0) + 1 });
  }

  gather(first: number, size: number): void {
    const { machine, isRing } = this;
    const window = Array.from({ length: size }, (_, i) => (first + i) % PROCESSORS);
    const rows = cellsOf(machine);
    if (!window.every((at) => rows.some((cells) => cells[at] === -1))) return;
    if (!isRing && first + size > PROCESSORS) return;
    const row = isRing ? gatherOnRing(machine, first, size) : gather(machine, first, first + size);
    if (!isRing) expect(row).not.toBe(-1);
    if (row === -1) return;
    const cells = cellsOf(machine)[machine.positionOf(row)];
    expect(window.filter((at) => cells[at] !== -1)).toEqual([]);
  }

  /**
   * If every processor has an idle slot: on a line, a row can always be deleted; on a ring, if there is a
   * first cut.
   */
  remove(): void {
    const { machine, isRing } = this;
    const rows = cellsOf(machine);
    const all = Array.from({ length: PROCESSORS }, (_, at) => at);
    if (!all.every((at) => rows.some((cells) => cells[at] === -1))) return;
    const hasCut = firstCut(machine) !== -1;
    const row = isRing ? freeRowOnRing(machine) : gather(machine, 0, PROCESSORS);
    if (!isRing || hasCut) expect(row).not.toBe(-1);
    if (row === -1) return;
    machine.deleteRow(row);
    this.removed++;
  }

  check(): void {
    const { machine, placed } = this;
    auditMatrix(machine);
    // Per job and row: its processors.
    const found: number[][][] = this.sizes.map(() => []);
    for (const cells of cellsOf(machine)) {
      const inRow: number[][] = this.sizes.map(() => []);
      cells.forEach((job, at) => {
        if (job !== -1) inRow[job].push(at);
      });
      inRow.forEach((own, job) => {
        if (own.length > 0) found[job].push(own);
      });
    }
    const recorded = this.sizes.map((_, job) => {
      const { own, rows } = placed.get(job) ?? { own: [], rows: 0 };
      return new Array(rows).fill([...own].sort((p, q) => p - q));
    });
    expect(found).toEqual(recorded);
  }
}

const operation = fc.tuple(
  fc.constantFrom(...KINDS),
  fc.nat(),
  fc.nat(),
  fc.nat(),
) as fc.Arbitrary<Operation>;

for (const isRing of [false, true]) {
  test(`${isRing ? "around a ring" : "on a line"}: whatever is done, gangs stay whole and in place, and rows can be removed`, () => {
    let removed = 0;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: JOBS, maxLength: JOBS }),
        fc.array(operation, { maxLength: 60, size: "max" }),
        (sizes, operations) => {
          const scenario = new Scenario(sizes, isRing);
          for (const operation of operations) {
            scenario.do(operation);
            scenario.check();
          }
          removed += scenario.removed;
        },
      ),
      { numRuns: 150 },
    );
    expect(removed).toBeGreaterThan(20);
  });
}
