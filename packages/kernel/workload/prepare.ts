/**
 * Prepares a workload for one machine: applies the rules of core/rules.ts, once, before any policy runs.
 *
 *   1. oversize          jobs that need more than the machine has are dropped, or clipped to it
 *   2. missing estimate  a job without an estimate gets its run time, or a fixed number of seconds
 *   3. overrun           an estimate below the run time is raised to it, or the run time is cut
 *
 * Columns that no rule changes are shared with the workload. The workload itself is never changed.
 */
import { DiagnosticCollector, diagnosticRules } from "../core/diagnostics.ts";
import { InputError } from "../core/errors.ts";
import { checkOutages, forJobs, type Interruptions } from "../core/interruptions.ts";
import { type Instance, prioritiesOf, queueOf, UNKNOWN, userOf, type Workload } from "../core/jobs.ts";
import { limitsFor } from "../core/limits/job-limits.ts";
import type { Molding } from "../core/molding.ts";
import { checkResources, type ResourceKind } from "../core/resources.ts";
import type { Rules } from "../core/rules.ts";

const MAX_PROCESSORS_SHOWN = 2147483647;

/**
 * Applies the rules. The machine has the resources that the source states, unless others are given. Needs for
 * resources that the machine does not list are not limited. Jobs that a limit would never let start are left
 * out. The diagnostics count what each rule did, under the codes oversize-dropped, limit-dropped,
 * oversize-clipped, estimate-missing, overrun-raised, overrun-killed and other-sizes. An instance may have 0
 * jobs.
 * @param among rows of the jobs that take part, by submit time; left out: all
 * @throws InputError unless processors is a positive whole number, a fixed estimate is a positive number, and
 *   resources and outages are possible
 */
export function prepare(
  workload: Workload,
  processors: number,
  rules: Rules,
  resources: readonly ResourceKind[] = workload.resources ?? [],
  among?: Int32Array,
): Instance {
  if (!(Number.isInteger(processors) && processors >= 1 && processors <= MAX_PROCESSORS_SHOWN)) {
    throw new InputError(
      `Cannot prepare "${workload.name}" for a machine of ${processors} processors: expected a whole number from 1 to ${MAX_PROCESSORS_SHOWN}`,
    );
  }
  if (
    rules.missingEstimate !== "run" &&
    !(rules.missingEstimate.seconds > 0 && rules.missingEstimate.seconds < Infinity)
  ) {
    throw new InputError(
      `Cannot set missing estimates to ${rules.missingEstimate.seconds} s: expected a number of seconds above 0`,
    );
  }
  checkResources(resources);
  const diagnostics = new DiagnosticCollector(rulesFor(processors, rules));
  const demands = demandsOf(workload, resources);
  const workloadRow = rowsThatFit(workload, processors, resources, demands, rules, diagnostics, among);
  const { id, submitS, runS, size, estimateS } = workload.jobs;
  const pick = <Column extends Float64Array | Int32Array>(column: Column): Column =>
    workloadRow === undefined ? column : gather(column, workloadRow);
  const jobs = {
    id: pick(id),
    submitS: pick(submitS),
    runS: pick(runS),
    size: clip(pick(size), pick(id), processors, diagnostics),
    estimateS: pick(estimateS),
  };
  jobs.estimateS = fillEstimates(jobs, rules, diagnostics);
  jobs[rules.overrun === "raise" ? "estimateS" : "runS"] = withoutOverruns(jobs, rules, diagnostics);
  const count = jobs.id.length;
  const shape = workload.shape && {
    processes: pick(workload.shape.processes),
    threads: pick(workload.shape.threads),
    queue: pick(workload.shape.queue),
  };
  const molding = workload.molding && moldingOf(workload.molding, jobs.size, processors, pick);
  for (let job = 0; molding !== undefined && job < count; job++) {
    if (molding.minSize[job] === molding.maxSize[job]) continue;
    const value = `${molding.minSize[job]} to ${molding.maxSize[job]}`;
    diagnostics.add("other-sizes", { job: jobs.id[job], field: "size", value });
  }
  const memoryKB = memoryOf(workload, pick);
  const priority = prioritiesOf(workload);
  const interruptions = interruptionsOf(workload, processors, workloadRow);
  return {
    workload,
    processors,
    rules,
    count,
    ...jobs,
    shape,
    ...(molding !== undefined && { molding }),
    interruptions,
    ...(resources.length > 0 && { resources, demand: demandOf(resources, demands.map(pick)) }),
    memoryKB,
    ...(priority !== undefined && { priority: pick(priority) }),
    workloadRow,
    diagnostics: diagnostics.list(),
  };
}

/**
 * Memory per processor: what the user requested, or else what the job used; undefined if no job has a value.
 */
function memoryOf(
  { trace }: Workload,
  pick: (column: Float64Array) => Float64Array,
): Float64Array | undefined {
  if (trace === undefined) return undefined;
  const { requestedMemoryKB, usedMemoryKB } = trace;
  const { length } = usedMemoryKB;
  const memoryKB = new Float64Array(length);
  let hasSome = false;
  for (let row = 0; row < length; row++) {
    // No process can have 0 KB of memory: traces write 0 if nothing was measured.
    const knownKB = requestedMemoryKB[row] > 0 ? requestedMemoryKB[row] : usedMemoryKB[row];
    memoryKB[row] = knownKB > 0 ? knownKB : UNKNOWN;
    if (knownKB > 0) hasSome = true;
  }
  return hasSome ? pick(memoryKB) : undefined;
}

/** The range of sizes of each job, limited to the machine, with the instance's size inside. */
function moldingOf(
  { minSize, maxSize, serialShare }: Molding,
  size: Int32Array,
  processors: number,
  pick: <Column extends Int32Array | Float64Array>(column: Column) => Column,
): Molding {
  return {
    minSize: pick(minSize).map((min, job) => Math.min(Math.max(min, 1), size[job])),
    maxSize: pick(maxSize).map((max, job) => Math.max(Math.min(max, processors), size[job])),
    serialShare: pick(serialShare),
  };
}

/** Interruptions of the jobs that are kept, by their rows in the instance. */
function interruptionsOf(
  { interruptions }: Workload,
  processors: number,
  workloadRow: Int32Array | undefined,
): Interruptions | undefined {
  if (interruptions === undefined) return undefined;
  checkOutages(interruptions.outages, processors);
  if (workloadRow === undefined) return interruptions;
  const rowOf = new Map(Array.from(workloadRow, (row, job) => [row, job]));
  return forJobs(interruptions, (row) => rowOf.get(row));
}

/** What the jobs of an instance need: at most what the machine has, if larger jobs are clipped to it. */
function demandOf(resources: readonly ResourceKind[], demands: readonly Int32Array[]): Int32Array[] {
  return demands.map((column, k) => column.map((needed) => Math.min(needed, resources[k].amount)));
}

/** What the jobs of the workload need, for each kind of the machine's resources. */
function demandsOf({ count, demand = [] }: Workload, resources: readonly ResourceKind[]): Int32Array[] {
  return resources.map(
    ({ name }) => demand.find(({ kind }) => kind === name)?.amount ?? new Int32Array(count),
  );
}

/** Rows to keep, of all or of some; undefined for all. */
function rowsThatFit(
  workload: Workload,
  processors: number,
  resources: readonly ResourceKind[],
  demands: readonly Int32Array[],
  rules: Rules,
  diagnostics: Diagnostics,
  among?: Int32Array,
): Int32Array | undefined {
  const { jobs } = workload;
  const count = among?.length ?? workload.count;
  const isClipped = rules.oversize === "clip";
  if (isClipped && workload.limits === undefined) return among;
  const isTooLarge = (row: number) => !isClipped && jobs.size[row] > processors;
  const lacking = (row: number) =>
    isClipped ? -1 : resources.findIndex(({ amount }, k) => demands[k][row] > amount);
  const exceeded = impossibleBy(workload, processors);
  let fitting = 0;
  for (let i = 0; i < count; i++) {
    const row = among?.[i] ?? i;
    if (!isTooLarge(row) && lacking(row) < 0 && exceeded(row) === undefined) fitting++;
  }
  if (fitting === count) return among;
  const rows = new Int32Array(fitting);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = among?.[i] ?? i;
    const kind = lacking(row);
    const limit = exceeded(row);
    if (isTooLarge(row)) {
      const value = String(jobs.size[row]);
      diagnostics.add("oversize-dropped", { job: jobs.id[row], field: "size", value });
    } else if (kind >= 0) {
      const { name } = resources[kind];
      const value = String(demands[kind][row]);
      diagnostics.add("resource-dropped", { job: jobs.id[row], field: name, value });
    } else if (limit !== undefined) {
      const value = String(jobs.size[row]);
      diagnostics.add("limit-dropped", { job: jobs.id[row], field: limit, value });
    } else rows[kept++] = row;
  }
  return rows;
}

/** The limit by which a job could never start, as a live scheduler refuses it. */
function impossibleBy(workload: Workload, processors: number): (row: number) => string | undefined {
  const { limits, jobs } = workload;
  if (limits === undefined) return () => undefined;
  return (row) => {
    if (limits.isThrough?.[row] === 1) return undefined;
    const cpus = limits.cpus?.[row] ?? Math.min(jobs.size[row], processors);
    return limitsFor(limits, userOf(workload, row), queueOf(workload, row)).find(
      ([, { runningCpus = cpus }]) => cpus > runningCpus,
    )?.[0];
  };
}

function gather<Column extends Float64Array | Int32Array>(column: Column, rows: Int32Array): Column {
  const gathered = column.slice(0, rows.length) as Column;
  for (let i = 0; i < rows.length; i++) gathered[i] = column[rows[i]];
  return gathered;
}

function clip(size: Int32Array, id: Int32Array, processors: number, diagnostics: Diagnostics): Int32Array {
  let clipped = size;
  for (let job = 0; job < size.length; job++) {
    if (size[job] <= processors) continue;
    if (clipped === size) clipped = size.slice();
    clipped[job] = processors;
    diagnostics.add("oversize-clipped", { job: id[job], field: "size", value: String(size[job]) });
  }
  return clipped;
}

interface Columns {
  readonly id: Int32Array;
  readonly runS: Float64Array;
  readonly estimateS: Float64Array;
}

function fillEstimates(
  { id, runS, estimateS }: Columns,
  rules: Rules,
  diagnostics: Diagnostics,
): Float64Array {
  const fixed = rules.missingEstimate === "run" ? UNKNOWN : rules.missingEstimate.seconds;
  let filled = estimateS;
  let missing = 0;
  for (let job = 0; job < estimateS.length; job++) {
    if (estimateS[job] >= 0) continue;
    if (missing++ === 0) filled = estimateS.slice();
    filled[job] = fixed < 0 ? runS[job] : fixed;
    diagnostics.add("estimate-missing", { job: id[job], field: "estimate" });
  }
  return missing === estimateS.length && fixed < 0 ? runS : filled;
}

/** The column that the overrun rule changes for jobs that ran longer than their estimates. */
function withoutOverruns(
  { id, runS, estimateS }: Columns,
  rules: Rules,
  diagnostics: Diagnostics,
): Float64Array {
  const raise = rules.overrun === "raise";
  const [column, limit] = raise ? [estimateS, runS] : [runS, estimateS];
  const code = raise ? "overrun-raised" : "overrun-killed";
  const field = raise ? "estimate" : "run time";
  let changed = column;
  for (let job = 0; job < column.length; job++) {
    if (runS[job] <= estimateS[job]) continue;
    if (changed === column) changed = column.slice();
    changed[job] = limit[job];
    diagnostics.add(code, { job: id[job], field, value: String(column[job]) });
  }
  return changed;
}

type Diagnostics = DiagnosticCollector<keyof ReturnType<typeof rulesFor>>;

/** The rules for jobs that do not fit the machine or their estimates. */
function rulesFor(processors: number, { missingEstimate }: Rules) {
  const given = missingEstimate === "run" ? "its run time" : `${missingEstimate.seconds} s`;
  return diagnosticRules({
    dropped: {
      "oversize-dropped": `The job is larger than the machine of ${processors} processors: left out`,
      "resource-dropped": "The job needs more of a resource than the machine has: left out",
      "limit-dropped": "The job is larger than a limit on running CPUs and could never start: left out",
    },
    repaired: {
      "oversize-clipped": `The job is larger than the machine: given all ${processors} processors`,
      "estimate-missing": `The job has no estimate: given ${given}`,
      "overrun-raised": "The job ran longer than its estimate: the estimate was raised to the run time",
      "overrun-killed": "The job ran longer than its estimate: it is killed at its estimate",
    },
    kept: {
      "other-sizes":
        "The job can run on other numbers of processors: only a policy of your own that chooses them uses this; all others run it on its own",
    },
  });
}
