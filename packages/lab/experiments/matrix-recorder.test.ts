import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { loadPolicy } from "@tutti/own-policies/own-policy.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bothObservers } from "../observers.ts";
import type { MatrixSnapshot } from "../results/matrix-record.ts";
import { MatrixRecorder } from "./matrix-recorder.ts";
import { openSource } from "./source.ts";

/** Makes jobs of the given sizes. The recorder reads nothing but sizes. */
function jobs(...sizes: number[]): Instance {
  return { count: sizes.length, size: Int32Array.from(sizes) } as Instance;
}

/** A snapshot as lines of text, a letter per processor. */
function picture({ rows, row, first, end, job }: MatrixSnapshot, processors: number): string[] {
  const cells = Array.from({ length: rows }, () => new Array<string>(processors).fill("."));
  for (const [i, one] of job.entries())
    for (let p = first[i]; p < end[i]; p++) {
      expect(cells[row[i]][p]).toBe(".");
      cells[row[i]][p] = String.fromCharCode(65 + one);
    }
  return cells.map((line) => line.join(""));
}

describe("MatrixRecorder", () => {
  test("draws placing, exchange, release and end as they happen", () => {
    const recorder = new MatrixRecorder(jobs(2, 3, 2));
    recorder.rowAdded(0, 7);
    recorder.placed(0, 0, 7, 0);
    recorder.decided(0);
    recorder.rowAdded(1, 3);
    recorder.placed(1, 1, 3, 1);
    recorder.placed(1, 2, 7, 2);
    recorder.decided(1);
    recorder.exchanged(2, 7, 3, 0, 4);
    recorder.decided(2);
    recorder.released(3, 0, 3);
    recorder.departed(3, 1);
    recorder.decided(3);
    recorder.rowDeleted(4, 7);
    recorder.decided(4);
    const { snapshots, busiest } = recorder.record();
    expect(snapshots.map((snapshot) => picture(snapshot, 4))).toEqual([
      ["AA.."],
      ["AACC", ".BBB"],
      [".BBB", "AACC"],
      ["....", "..CC"],
      ["..CC"],
    ]);
    expect(busiest).toBe(1);
    const done = (index: number) =>
      Object.entries(snapshots[index].done)
        .filter(([, count]) => count > 0)
        .map(([name, count]) => `${name} ${count}`);
    expect(done(0)).toEqual(["placed 1", "rowsAdded 1"]);
    expect(done(4)).toEqual([
      "placed 3",
      "ended 1",
      "released 1",
      "exchanges 1",
      "rowsAdded 2",
      "rowsDeleted 1",
    ]);
  });

  test("a gang that migrates leaves its row and its processors", () => {
    const recorder = new MatrixRecorder(jobs(2, 2));
    recorder.rowAdded(0, 7);
    recorder.rowAdded(0, 3);
    recorder.placed(0, 0, 7, 0);
    recorder.placed(0, 1, 3, 0);
    recorder.decided(0);
    recorder.migrated(1, 1, 7, 2);
    recorder.decided(1);
    recorder.exchanged(2, 7, 3, 2, 4);
    recorder.departed(2, 1);
    recorder.decided(2);
    const { snapshots, boxFirst } = recorder.record();
    expect(snapshots.map((snapshot) => picture(snapshot, 4))).toEqual([
      ["AA..", "BB.."],
      ["AABB", "...."],
      ["AA..", "...."],
    ]);
    // A migration is neither a release nor another placing.
    expect(snapshots[2].done).toMatchObject({
      placed: 2,
      released: 0,
      migrations: 1,
      exchanges: 1,
      ended: 1,
    });
    // A box shows where a gang was placed first.
    expect([...boxFirst]).toEqual([0, 0]);
  });

  test("keeps every stretch of the first placing, with the row's place in the round", () => {
    const recorder = new MatrixRecorder(jobs(3, 1));
    recorder.rowAdded(0, 0);
    recorder.placed(0, 1, 0, 0);
    recorder.rowAdded(0, 1);
    recorder.placed(0, 0, 1, 0, [0, 1, 2, 4]);
    recorder.placed(0, 1, 1, 1);
    const { boxJob, boxFirst, boxSize, boxRow } = recorder.record();
    expect([boxJob, boxFirst, boxSize, boxRow].map((column) => [...column])).toEqual([
      [1, 0, 0],
      [0, 0, 2],
      [1, 1, 2],
      [0, 1, 1],
    ]);
  });

  test("keeps few snapshots, spread over the run, and the busiest instant", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 3000 }), fc.nat(2999), (instants, peak) => {
        const recorder = new MatrixRecorder(jobs(1, 1));
        recorder.rowAdded(0, 0);
        recorder.placed(0, 0, 0, 0);
        const busy = peak % instants;
        for (let at = 0; at < instants; at++) {
          if (at === busy) recorder.rowAdded(at, 1);
          recorder.decided(at);
          if (at === busy) recorder.rowDeleted(at, 1);
        }
        const { snapshots, busiest } = recorder.record();
        expect(snapshots[busiest]).toMatchObject({ atS: busy, rows: 2 });
        expect(snapshots.length).toBeLessThanOrEqual(61);
        expect(snapshots.length).toBeGreaterThan(20);
        const times = snapshots.map(({ atS }) => atS);
        expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
        const gaps = [...times, instants].map((time, i) => time - (i === 0 ? 0 : times[i - 1]));
        expect(Math.max(...gaps)).toBeLessThanOrEqual(instants / 10);
      }),
      { numRuns: 50 },
    );
  });

  test.each(["brmms", "br", "bc"])(
    "%s: what it draws is what the record of the rows says",
    async (policy) => {
      const instance = prepare(
        await openSource("downey:jobs=400:processors=64:load=0.8", 3),
        64,
        DEFAULT_RULES,
      );
      const recorder = new MatrixRecorder(instance);
      const seen: number[] = [];
      const counter = { placed: (_: number, job: number) => void seen.push(job) };
      const schedule = simulate(instance, await loadPolicy(policy), {
        slotS: 5,
        switchS: 0,
        observer: bothObservers(recorder, counter),
      });
      const record = recorder.record();
      expect(record.snapshots[record.busiest].rows).toBe(schedule.gang!.maxRows);
      for (const snapshot of record.snapshots) {
        picture(snapshot, 64); // throws where two jobs meet
        for (const [i, job] of snapshot.job.entries()) {
          expect(snapshot.end[i] - snapshot.first[i]).toBe(instance.size[job]);
          expect(snapshot.atS).toBeLessThan(schedule.endS[job]);
        }
      }
      expect([...record.boxJob].sort((a, b) => a - b)).toEqual([...new Set(seen)].sort((a, b) => a - b));
      expect(record.boxJob.length).toBe(instance.count);
    },
  );
});
