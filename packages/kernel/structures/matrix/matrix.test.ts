import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RuleViolation } from "../../core/errors.ts";
import type { RowId } from "../../core/policy.ts";
import { OusterhoutMatrix } from "./matrix.ts";
import { auditMatrix } from "./matrix-audit-for-tests.ts";
import { draw, picture, sizesIn } from "./pictures-for-tests.ts";

/** The naive twin: rows of cells. It finds jobs that an exchange would tear by checking all cells. */
interface Model {
  rows: { id: RowId; cells: number[] }[];
  readonly size: readonly number[];
}

const IDLE = -1;

function expectSame(matrix: OusterhoutMatrix, model: Model): void {
  auditMatrix(matrix, model.size);
  expect(matrix.rowCount).toBe(model.rows.length);
  const slots = model.size.map(() => 0);
  const all: number[] = [];
  model.rows.forEach(({ id, cells }, position) => {
    expect(matrix.rowAt(position)).toBe(id);
    expect(matrix.positionOf(id)).toBe(position);
    const firsts = cells
      .map((job, at) => (job !== IDLE && cells[at - 1] !== job ? at : -1))
      .filter((at) => at >= 0);
    const runs: number[] = [];
    for (let run = matrix.firstRun(id); run !== -1; run = matrix.nextRun(run)) runs.push(run);
    all.push(...runs);
    expect(runs.map((run) => matrix.runFirst(run))).toEqual(firsts);
    for (const run of runs) {
      expect(matrix.runJob(run)).toBe(cells[matrix.runFirst(run)]);
      expect(matrix.runRow(run)).toBe(id);
      const job = matrix.runJob(run);
      const own = runs.filter((other) => matrix.runJob(other) === job);
      expect(matrix.leadOf(run)).toBe(own[0]);
      expect(matrix.nextStretch(run)).toBe(own[own.indexOf(run) + 1] ?? -1);
      const end = matrix.runFirst(run) + matrix.runSize(run);
      expect(cells.slice(matrix.runFirst(run), end).every((cell) => cell === job)).toBe(true);
      expect(cells[end]).not.toBe(job);
      if (run === own[0]) slots[job]++;
    }
    for (let at = 0; at < cells.length; at++) {
      expect(matrix.runBefore(id, at)).toBe(runs.findLast((run) => matrix.runFirst(run) <= at) ?? -1);
      expect(matrix.runFrom(id, at)).toBe(runs.find((run) => matrix.runFirst(run) >= at) ?? -1);
    }
  });
  model.size.forEach((_, job) => {
    expect(matrix.slotsOf(job)).toBe(slots[job]);
    let count = 0;
    for (let run = matrix.firstRunOfJob(job); run !== -1; run = matrix.nextRunOfJob(run), count++) {
      expect(matrix.runJob(run)).toBe(job);
      expect(matrix.leadOf(run)).toBe(run);
    }
    expect(count).toBe(slots[job]);
  });
  // Numbers of deleted rows and runs are reused.
  expect(Math.max(-1, ...model.rows.map(({ id }) => id))).toBeLessThan(MAX_ROWS);
  expect(Math.max(-1, ...all)).toBeLessThan(MAX_ROWS * matrix.processors);
}

/**
 * Runs the action on the matrix. `rule` is the violation that the model expects; undefined if the action is
 * allowed.
 */
function attempt(rule: string | undefined, action: () => void): boolean {
  if (rule === undefined) {
    action();
    return true;
  }
  expect(action).toThrow(expect.objectContaining({ name: "RuleViolation", rule }));
  return false;
}

type Command = (matrix: OusterhoutMatrix, model: Model) => void;

const JOBS = 12;
const MAX_ROWS = 7;

function commands(processors: number): fc.Arbitrary<Command> {
  const row = fc.nat({ max: 6 });
  const job = fc.nat({ max: JOBS - 1 });
  const at = fc.nat({ max: processors });
  /** Whether the job at p, inside first … end − 1, also has processors outside. */
  const isSplit = (cells: number[], job: number, p: number, first: number, end: number) =>
    job !== IDLE &&
    p >= first &&
    p < end &&
    (cells.slice(0, first).includes(job) || cells.slice(end).includes(job));
  const hasOther = (model: Model, job: number, processors: number[]) =>
    model.rows.some(({ cells }) => cells.includes(job) && processors.some((at) => cells[at] !== job));
  const stretchesOf = (processors: number[]) =>
    processors.flatMap((at, i) => [
      ...(processors[i - 1] === at - 1 ? [] : [at]),
      ...(processors[i + 1] === at + 1 ? [] : [at + 1]),
    ]);
  const rowOf = (model: Model, n: number) =>
    model.rows.length === 0 ? undefined : model.rows[n % model.rows.length];
  return fc.oneof(
    fc.constant<Command>((matrix, model) => {
      if (model.rows.length < MAX_ROWS)
        model.rows.push({ id: matrix.addRow(), cells: new Array(processors).fill(IDLE) });
    }),
    row.map<Command>((n) => (matrix, model) => {
      const target = rowOf(model, n);
      if (target === undefined) return;
      const rule = target.cells.some((cell) => cell !== IDLE) ? "row-not-empty" : undefined;
      if (attempt(rule, () => matrix.deleteRow(target.id))) model.rows.splice(model.rows.indexOf(target), 1);
    }),
    fc.tuple(job, row, at).map<Command>(([j, n, first]) => (matrix, model) => {
      const target = rowOf(model, n);
      if (target === undefined) return;
      const end = first + model.size[j];
      const wanted = Array.from({ length: model.size[j] }, (_, i) => first + i);
      const elsewhere = hasOther(model, j, wanted);
      let rule: string | undefined;
      if (end > processors) rule = "off-machine";
      else if (target.cells.slice(first, end).some((cell) => cell !== IDLE)) rule = "not-idle";
      else if (elsewhere) rule = "migrated";
      if (attempt(rule, () => matrix.place(j, target.id, first))) target.cells.fill(j, first, end);
    }),
    // Scattered: the processors whose bits are set.
    fc
      .tuple(job, row, fc.bigInt({ min: 0n, max: (1n << BigInt(processors)) - 1n }))
      .map<Command>(([j, n, bits]) => (matrix, model) => {
        const target = rowOf(model, n);
        if (target === undefined) return;
        const all = Array.from({ length: processors }, (_, at) => at);
        const chosen = all.filter((at) => (bits >> BigInt(at)) & 1n);
        // Mostly of the right size, so that jobs get in.
        const wanted = bits % 8n === 0n ? chosen : chosen.slice(0, model.size[j]);
        const stretches = stretchesOf(wanted);
        let rule: string | undefined;
        if (wanted.length !== model.size[j]) rule = "wrong-size";
        else if (wanted.some((at) => target.cells[at] !== IDLE)) rule = "not-idle";
        else if (hasOther(model, j, wanted)) rule = "migrated";
        const place = () => matrix.placeStretches(j, target.id, stretches, stretches.length / 2);
        if (attempt(rule, place)) for (const at of wanted) target.cells[at] = j;
      }),
    // The job's own processors again, so that some jobs get several slots.
    fc.tuple(job, row).map<Command>(([j, n]) => (matrix, model) => {
      const cells = model.rows.find((r) => r.cells.includes(j))?.cells;
      const target = rowOf(model, n);
      if (cells === undefined || target === undefined) return;
      const own = [...cells.keys()].filter((at) => cells[at] === j);
      const stretches = stretchesOf(own);
      const rule = own.some((at) => target.cells[at] !== IDLE) ? "not-idle" : undefined;
      const place = () => matrix.placeStretches(j, target.id, stretches, stretches.length / 2);
      if (attempt(rule, place)) for (const at of own) target.cells[at] = j;
    }),
    fc.tuple(job, row).map<Command>(([j, n]) => (matrix, model) => {
      const target = rowOf(model, n);
      if (target === undefined) return;
      const slots = model.rows.filter(({ cells }) => cells.includes(j)).length;
      const rule = !target.cells.includes(j) ? "not-there" : slots === 1 ? "last-slot" : undefined;
      if (attempt(rule, () => matrix.release(j, target.id))) {
        target.cells = target.cells.map((cell) => (cell === j ? IDLE : cell));
      }
    }),
    fc.tuple(job, row, at).map<Command>(([j, n, first]) => (matrix, model) => {
      const target = rowOf(model, n);
      if (target === undefined) return;
      const end = first + model.size[j];
      const slots = model.rows.filter(({ cells }) => cells.includes(j)).length;
      let rule: string | undefined;
      if (slots !== 1) rule = slots === 0 ? "not-there" : "migrated";
      else if (end > processors) rule = "off-machine";
      else if (target.cells.slice(first, end).some((cell) => cell !== IDLE)) rule = "not-idle";
      if (!attempt(rule, () => matrix.move(j, target.id, first))) return;
      for (const other of model.rows) other.cells = other.cells.map((cell) => (cell === j ? IDLE : cell));
      target.cells.fill(j, first, end);
    }),
    job.map<Command>((j) => (matrix, model) => {
      matrix.removeJob(j);
      for (const target of model.rows) target.cells = target.cells.map((cell) => (cell === j ? IDLE : cell));
    }),
    fc.tuple(row, row, at, at).map<Command>(([n, m, x, y]) => (matrix, model) => {
      const a = rowOf(model, n);
      const b = rowOf(model, m);
      if (a === undefined || b === undefined) return;
      const [first, end] = x < y ? [x, y] : [y, x];
      const torn = [a, b].some(({ cells }) => cells.some((cell, p) => isSplit(cells, cell, p, first, end)));
      const rule = torn && a !== b && first !== end ? "torn-gang" : undefined;
      if (attempt(rule, () => matrix.exchange(a.id, b.id, first, end)) && a !== b) {
        const middle = a.cells.slice(first, end);
        a.cells.splice(first, end - first, ...b.cells.slice(first, end));
        b.cells.splice(first, end - first, ...middle);
      }
    }),
    fc.tuple(row, at, at).map<Command>(([n, x, y]) => (matrix, model) => {
      const target = rowOf(model, n);
      if (target === undefined || x >= y) return;
      const idle = target.cells.slice(x, y).every((cell) => cell === IDLE);
      expect(matrix.isIdle(target.id, x, y)).toBe(idle);
    }),
  );
}

describe("OusterhoutMatrix", () => {
  test("does what rows of cells do, and refuses what they show to be wrong", () => {
    // 40 processors have three buckets of 16.
    const scenario = fc.constantFrom(1, 7, 16, 40).chain((processors) =>
      fc.record({
        processors: fc.constant(processors),
        size: fc.array(fc.integer({ min: 1, max: processors }), { minLength: JOBS, maxLength: JOBS }),
        commands: fc.array(commands(processors), { maxLength: 60, size: "max" }),
      }),
    );
    fc.assert(
      fc.property(scenario, ({ processors, size, commands }) => {
        const matrix = new OusterhoutMatrix(processors, size);
        const model: Model = { rows: [], size };
        for (const command of commands) {
          command(matrix, model);
          expectSame(matrix, model);
        }
      }),
      { numRuns: 120 },
    );
  });

  test("keeps wide machines in buckets of more than 16 processors", () => {
    const processors = 100_000;
    const matrix = new OusterhoutMatrix(processors, new Int32Array(64).fill(3));
    const row = matrix.addRow();
    for (const job of [40, 3, 63, 0, 17]) matrix.place(job, row, job * 1500);
    expect(
      [0, 4499, 4500, 4503, 99_999].map((at) => matrix.runBefore(row, at)).map((run) => matrix.runJob(run)),
    ).toEqual([0, 0, 3, 3, 63]);
    expect(matrix.isIdle(row, 4503, 25_500)).toBe(true);
    expect(matrix.isIdle(row, 4503, 25_501)).toBe(false);
    auditMatrix(matrix);
  });

  test("exchange() turns figure 1 (a) of zhou2000, after the two departures, into figure 1 (c)", () => {
    // In order of the figure's rows S3, S2, S1; A … G are J1 … J7, and J', J'' have left S2.
    const a = ["EEEFF.GG", "....DD..", "AABB.CCC"];
    const matrix = new OusterhoutMatrix(8, sizesIn(a));
    const [s3, s2, s1] = draw(matrix, a);
    expect(picture(matrix)).toEqual(a);
    matrix.exchange(s1, s2, 0, 4); // J1 and J2 to S2
    matrix.exchange(s3, s1, 0, 5); // J5 and J6 down to S1
    matrix.exchange(s3, s2, 6, 8); // J7 down to S2
    matrix.deleteRow(s3);
    expect(picture(matrix)).toEqual(["AABBDDGG", "EEEFFCCC"]);
    auditMatrix(matrix);
  });

  test("place() lets jobs run in several slots: figure 1 (b) of zhou2000", () => {
    const matrix = new OusterhoutMatrix(8, sizesIn(["EEEFF.GG", "....DD..", "AABB.CCC"]));
    const [, s2] = draw(matrix, ["EEEFF.GG", "....DD..", "AABB.CCC"]);
    matrix.place(0, s2, 0);
    matrix.place(1, s2, 2);
    matrix.place(6, s2, 6);
    expect(picture(matrix)).toEqual(["EEEFF.GG", "AABBDDGG", "AABB.CCC"]);
    expect([0, 1, 6, 2].map((job) => matrix.slotsOf(job))).toEqual([2, 2, 2, 1]);
  });

  test("violations name the rule, the job and the instant", () => {
    const rows = ["AAB.", ".CC."];
    const matrix = new OusterhoutMatrix(4, sizesIn(rows));
    const [first, second] = draw(matrix, rows);
    matrix.nowS = 12;
    const torn = () => matrix.exchange(first, second, 2, 4);
    expect(torn).toThrow(RuleViolation);
    expect(torn).toThrow(expect.objectContaining({ rule: "torn-gang", job: 2, timeS: 12 }));
    expect(torn).toThrow(/^Cannot cut row 1 before processor 2: job 2 is on both sides$/);
    expect(() => matrix.exchange(first, 9, 0, 4)).toThrow(expect.objectContaining({ rule: "no-such-row" }));
    expect(() => matrix.exchange(first, second, 0, 5)).toThrow(
      expect.objectContaining({ rule: "off-machine" }),
    );
    expect(picture(matrix)).toEqual(rows);
  });
});
