/** Makes small workloads from plain rows, and arbitrary ones for property tests. */
import fc from "fast-check";
import type { Workload } from "../core/jobs.ts";

export interface Row {
  readonly submitS: number;
  readonly runS: number;
  readonly size: number;
  readonly estimateS: number;
}

/** A workload of the rows in the order given, numbered from 1; submit times must ascend. */
export function workloadOf(rows: readonly Row[], processors?: number): Workload {
  return {
    name: "test",
    count: rows.length,
    jobs: {
      id: Int32Array.from(rows, (_, i) => i + 1),
      submitS: Float64Array.from(rows, (row) => row.submitS),
      runS: Float64Array.from(rows, (row) => row.runS),
      size: Int32Array.from(rows, (row) => row.size),
      estimateS: Float64Array.from(rows, (row) => row.estimateS),
    },
    processors,
    trace: undefined,
    header: [],
    diagnostics: [],
  };
}

/** Up to 30 jobs; times whole or not, some estimates missing, some sizes above 64. */
export const anyWorkload: fc.Arbitrary<Workload> = fc
  .array(
    fc.record({
      submitS: fc.oneof(fc.nat(1000), fc.double({ min: 0, max: 1e6, noNaN: true })),
      runS: fc.oneof(fc.nat(100), fc.double({ min: 0, max: 1e6, noNaN: true })),
      size: fc.integer({ min: 1, max: 100 }),
      estimateS: fc.oneof(
        fc.constant(-1),
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 1e-9, max: 1e6, noNaN: true }),
      ),
    }),
    { maxLength: 30 },
  )
  .map((rows) => workloadOf(rows.sort((a, b) => a.submitS - b.submitS)));
