/** Makes the worlds of forecasts by hand. */
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { NOW_S } from "./model.ts";

/**
 * Jobs that have a process, then jobs that arrive now, each with tasks of one CPU.
 * @param userOf whose job it is
 */
export function worldOf(running: number, size: Int32Array, userOf = (_row: number) => "anna"): Workload {
  const count = size.length;
  return {
    name: "by hand",
    count,
    processors: undefined,
    jobs: {
      id: size.map((_, row) => row + 1),
      submitS: new Float64Array(count).fill(NOW_S, running),
      runS: new Float64Array(count),
      size,
      estimateS: new Float64Array(count),
    },
    shape: { processes: size, threads: new Int32Array(count).fill(1), queue: new Int32Array(count) },
    notes: Array.from(size, (_, row) => ({ user: userOf(row) })),
    trace: undefined,
    header: [],
    diagnostics: [],
  };
}
