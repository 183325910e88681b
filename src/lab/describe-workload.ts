/** What a workload is like: the numbers by which logs are told apart, over all jobs. */
import type { ReadonlyColumn, Workload } from "../core/jobs.ts";

export interface ColumnDescription {
  readonly name: string;
  /** Jobs that have a value. */
  readonly known: number;
  readonly min: number;
  readonly median: number;
  readonly mean: number;
  readonly p95: number;
  readonly max: number;
}

export interface WorkloadDescription {
  readonly name: string;
  readonly jobs: number;
  /** What the source names; undefined where it names none. */
  readonly processors: number | undefined;
  /** Between the first and the last submit. */
  readonly spanS: number;
  /** Run time × size of all jobs over processors × span; NaN where one of them is unknown or 0. */
  readonly offeredLoad: number;
  readonly serialShare: number;
  /** Jobs of 2, 4, 8, … processors. */
  readonly powerOfTwoShare: number;
  readonly withoutEstimate: number;
  /** Jobs that ran longer than estimated. */
  readonly overEstimate: number;
  /** Different users; undefined where the source names none. */
  readonly users: number | undefined;
  readonly columns: readonly ColumnDescription[];
}

/** @param processors size of the machine where the user gives one */
export function describeWorkload(workload: Workload, processors?: number): WorkloadDescription {
  const { jobs, count, trace } = workload;
  const machine = processors ?? workload.processors;
  let work = 0;
  let serial = 0;
  let powersOfTwo = 0;
  let withoutEstimate = 0;
  let overEstimate = 0;
  for (let job = 0; job < count; job++) {
    const size = jobs.size[job] as number;
    const runS = jobs.runS[job] as number;
    const estimateS = jobs.estimateS[job] as number;
    work += size * runS;
    if (size === 1) serial++;
    else if ((size & (size - 1)) === 0) powersOfTwo++;
    if (estimateS < 0) withoutEstimate++;
    else if (runS > estimateS) overEstimate++;
  }
  const spanS = count === 0 ? 0 : (jobs.submitS[count - 1] as number) - (jobs.submitS[0] as number);
  return {
    name: workload.name,
    jobs: count,
    processors: machine,
    spanS,
    offeredLoad: machine === undefined || spanS === 0 ? Number.NaN : work / (machine * spanS),
    serialShare: serial / count,
    powerOfTwoShare: powersOfTwo / count,
    withoutEstimate,
    overEstimate,
    users: trace === undefined ? undefined : differentValues(trace.user),
    columns: [
      describeColumn("run time, s", jobs.runS),
      describeColumn("processors", jobs.size),
      describeColumn("estimate, s", jobs.estimateS),
      ...(trace === undefined ? [] : [describeColumn("wait in the log, s", trace.waitS)]),
    ],
  };
}

function describeColumn(name: string, column: ReadonlyColumn): ColumnDescription {
  const known = Float64Array.from(column as ArrayLike<number>).filter((value) => value >= 0);
  let sum = 0;
  for (const value of known) sum += value;
  known.sort();
  const at = (p: number) => known[Math.round(p * (known.length - 1))] ?? Number.NaN;
  return {
    name,
    known: known.length,
    min: at(0),
    median: at(0.5),
    mean: sum / known.length,
    p95: at(0.95),
    max: at(1),
  };
}

function differentValues(column: ReadonlyColumn): number | undefined {
  const values = new Set<number>();
  for (let row = 0; row < column.length; row++) {
    const value = column[row] as number;
    if (value >= 0) values.add(value);
  }
  return values.size === 0 ? undefined : values.size;
}
