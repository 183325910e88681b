/**
 * Shows a false future in the job table during a whole run: a cell has a false value until the run reaches
 * the event that reveals the true one.
 */
import type { Random } from "@tutti/kernel/core/random.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { type Columns, copyColumns, copyRow, trading } from "./probes.ts";

export interface Mask {
  /** The table at the beginning of the run. */
  readonly columns: Columns;
  /** Writes the true values into the table, job by job, just before a policy may know them. */
  revealing(table: Columns): Observer;
}

type Truth = Columns & { readonly count: number };

/** False run times, revealed when jobs end. */
export function maskRunTimes(truth: Truth, random: Random): Mask {
  const columns = copyColumns(truth);
  for (let job = 0; job < truth.count; job++) columns.runS[job] = truth.estimateS[job] * random.uniform();
  return {
    columns,
    revealing: (table) => ({
      departed: (_, job) => {
        table.runS[job] = truth.runS[job];
      },
    }),
  };
}

/** Jobs and gaps between submits trade places; a job is revealed, with its user, when it arrives. */
export function maskArrivals(truth: Truth, random: Random): Mask {
  const columns = copyColumns(truth);
  const { count, submitS } = truth;
  const gapsS = Float64Array.from({ length: count }, (_, job) => submitS[job] - (submitS[job - 1] ?? 0));
  const trade = trading(columns);
  for (let job = count - 1; job > 0; job--) {
    const other = random.below(job + 1);
    trade(job, other);
    [gapsS[job], gapsS[other]] = [gapsS[other], gapsS[job]];
  }
  // As seen from the last job that has arrived, whose submit time is true.
  for (let job = 0; job < count; job++) {
    columns.submitS[job] = (submitS[job - 1] ?? 0) + gapsS[job];
    columns.runS[job] = columns.estimateS[job] * random.uniform();
  }
  return { columns, revealing: (table) => ({ arrived: (_, job) => copyRow(table, truth, job) }) };
}
