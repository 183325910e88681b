/**
 * Records the decisions of a run, compares them with those of a second run, and changes the job table to
 * make another future. futures.ts explains how they are used.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { StartRule } from "@tutti/kernel/core/policy.ts";
import { START_RULE_NAMES } from "@tutti/kernel/core/policy.ts";
import type { Random } from "@tutti/kernel/core/random.ts";
import type { Observer, Schedule } from "@tutti/kernel/core/schedule.ts";
import { NumberList } from "../observers.ts";
import { StopRun } from "./checker.ts";

const STARTED = 0;
const PROMISED = 1;
const PLACED = 2;
const RELEASED = 3;
const ROW_ADDED = 4;
const ROW_DELETED = 5;
const EXCHANGED = 6;
const MIGRATED = 7;
const MOLDED = 8;
/** NumberList per decision: the kind, the time, and up to four that depend on the kind. */
const STRIDE = 6;

type Sink = (kind: number, timeS: number, a: number, b: number, c: number, d: number) => void;

/** All decisions of a run, and its instants. */
export class DecisionLog {
  readonly numbers = new NumberList();
  readonly instants = new NumberList();

  observer(): Observer {
    return {
      ...decisions((kind, timeS, a, b, c, d) => {
        this.numbers.push(kind);
        this.numbers.push(timeS);
        this.numbers.push(a);
        this.numbers.push(b);
        this.numbers.push(c);
        this.numbers.push(d);
      }),
      decided: (timeS) => this.instants.push(timeS),
    };
  }
}

/** Where two runs first differ. */
interface Difference {
  readonly job: JobIndex | undefined;
  readonly timeS: number;
  readonly first: string;
  readonly second: string;
}

/**
 * Follows a second run along the log of the first, up to an instant. Ends the second run there, or at the
 * first difference.
 */
export class Comparison {
  difference: Difference | undefined;
  /** Number of decisions that were the same. */
  compared = 0;
  readonly #log: Float64Array;
  readonly #end: number;
  readonly #untilS: number;
  readonly #instance: Instance;
  #at = 0;

  constructor(log: DecisionLog, untilS: number, instance: Instance) {
    this.#log = log.numbers.values;
    this.#untilS = untilS;
    this.#instance = instance;
    let end = log.numbers.length;
    while (end > 0 && !(this.#log[end - STRIDE + 1] <= untilS)) end -= STRIDE;
    this.#end = end;
  }

  observer(): Observer {
    const passes = (timeS: number) => {
      if (timeS > this.#untilS) this.finish();
      if (timeS > this.#untilS || this.difference !== undefined) throw new StopRun("the comparison is over");
    };
    return {
      ...decisions((kind, timeS, a, b, c, d) => this.#follow(kind, timeS, a, b, c, d)),
      arrived: passes,
      departed: passes,
      decided: passes,
    };
  }

  /** Decisions of the first run that are missing in the second are a difference, too. */
  finish(failure?: string): void {
    if (this.difference === undefined && this.#at < this.#end) this.#differ(undefined, failure);
  }

  #follow(kind: number, timeS: number, a: number, b: number, c: number, d: number): void {
    if (timeS > this.#untilS || this.difference !== undefined) return;
    const log = this.#log;
    const at = this.#at;
    const isSame =
      at < this.#end &&
      log[at] === kind &&
      Object.is(log[at + 1], timeS) &&
      log[at + 2] === a &&
      Object.is(log[at + 3], b) &&
      log[at + 4] === c &&
      log[at + 5] === d;
    if (!isSame) this.#differ([kind, timeS, a, b, c, d]);
    this.#at += STRIDE;
    this.compared++;
  }

  #differ(second: readonly number[] | undefined, failure?: string): void {
    const first = this.#at < this.#end ? [...this.#log.subarray(this.#at, this.#at + STRIDE)] : undefined;
    const firstS = first?.[1] ?? Number.POSITIVE_INFINITY;
    const secondS = second?.[1] ?? Number.POSITIVE_INFINITY;
    this.difference = {
      job: secondS < firstS ? jobOf(second) : jobOf(first),
      timeS: Math.min(firstS, secondS),
      first: this.#inWords(first),
      second: failure === undefined ? this.#inWords(second) : `the run fails: ${failure}`,
    };
  }

  #inWords(decision: readonly number[] | undefined): string {
    if (decision === undefined) return "there are no more decisions";
    const [kind, timeS, a, b, c, d] = decision;
    const job = `job ${this.#instance.id[a]}`;
    const at = `at ${timeS} s`;
    switch (kind) {
      case STARTED:
        return `${job} starts ${at} (${START_RULE_NAMES[b]})`;
      case PROMISED:
        return `${job} is promised ${b} s ${at}`;
      case PLACED:
        return `${job} is placed in row ${b} from processor ${c} ${at}`;
      case RELEASED:
        return `${job} gives back row ${b} ${at}`;
      case MOLDED:
        return `${job} gets ${b} processors ${at}`;
      case ROW_ADDED:
        return `row ${a} is added ${at}`;
      case ROW_DELETED:
        return `row ${a} is deleted ${at}`;
      case MIGRATED:
        return `${job} is moved to row ${b} from processor ${c}, for ${d} s of service, ${at}`;
      default:
        return `rows ${a} and ${b} exchange processors ${c} to ${d - 1} ${at}`;
    }
  }
}

function jobOf(decision: readonly number[] | undefined): JobIndex | undefined {
  if (decision === undefined) return undefined;
  return decision[0] <= RELEASED || decision[0] >= MIGRATED ? decision[2] : undefined;
}

function decisions(sink: Sink): Observer {
  return {
    molded: (timeS, job, size) => sink(MOLDED, timeS, job, size, 0, 0),
    started: (timeS, job, rule: StartRule) => sink(STARTED, timeS, job, rule, 0, 0),
    promised: (timeS, job, startS) => sink(PROMISED, timeS, job, startS, 0, 0),
    placed: (timeS, job, row, first, stretches) =>
      sink(PLACED, timeS, job, row, first, stretches === undefined ? 0 : fingerprint(stretches)),
    released: (timeS, job, row) => sink(RELEASED, timeS, job, row, 0, 0),
    rowAdded: (timeS, row) => sink(ROW_ADDED, timeS, row, 0, 0, 0),
    rowDeleted: (timeS, row) => sink(ROW_DELETED, timeS, row, 0, 0, 0),
    exchanged: (timeS, a, b, first, end) => sink(EXCHANGED, timeS, a, b, first, end),
    migrated: (timeS, job, row, first, costS) => sink(MIGRATED, timeS, job, row, first, costS),
  };
}

/** One number for a list of numbers: a different list almost always gives a different number. */
function fingerprint(numbers: readonly number[]): number {
  let hash = 1;
  for (const number of numbers) hash = (Math.imul(hash, 31) + number) | 0;
  return hash;
}

/** The columns that describe jobs. */
type JobTable = Pick<
  Instance,
  | "count"
  | "submitS"
  | "runS"
  | "size"
  | "estimateS"
  | "shape"
  | "molding"
  | "demand"
  | "memoryKB"
  | "priority"
  | "workload"
  | "workloadRow"
>;
export type Columns = Omit<JobTable, "count">;

export function copyColumns(table: JobTable): Columns {
  const { shape, molding, demand, memoryKB, workload, workloadRow } = table;
  const { trace, notes } = workload;
  return {
    submitS: table.submitS.slice(),
    runS: table.runS.slice(),
    size: table.size.slice(),
    estimateS: table.estimateS.slice(),
    shape: shape && {
      processes: shape.processes.slice(),
      threads: shape.threads.slice(),
      queue: shape.queue.slice(),
    },
    molding: molding && {
      minSize: molding.minSize.slice(),
      maxSize: molding.maxSize.slice(),
      serialShare: molding.serialShare.slice(),
    },
    demand: demand?.map((column) => column.slice()),
    memoryKB: memoryKB?.slice(),
    priority: table.priority?.slice(),
    workload: {
      ...workload,
      trace: trace && {
        ...trace,
        user: trace.user.slice(),
        group: trace.group.slice(),
        queue: trace.queue.slice(),
        application: trace.application.slice(),
      },
      notes: notes?.slice(),
    },
    workloadRow,
  };
}

type Column = Int32Array | Float64Array | unknown[];

/** What jobs request, and who submits them. These columns belong together. */
function requestedColumns(columns: Columns): { readonly byJob: Column[]; readonly byRow: Column[] } {
  const { size, estimateS, shape, molding, demand = [], memoryKB, priority, workload } = columns;
  const { trace, notes } = workload;
  return {
    byJob: [
      size,
      estimateS,
      ...(shape === undefined ? [] : [shape.processes, shape.threads, shape.queue]),
      ...(molding === undefined ? [] : [molding.minSize, molding.maxSize, molding.serialShare]),
      ...demand,
      ...(memoryKB === undefined ? [] : [memoryKB]),
      ...(priority === undefined ? [] : [priority]),
    ],
    byRow: [
      ...(trace === undefined ? [] : [trace.user, trace.group, trace.queue, trace.application]),
      ...(notes === undefined ? [] : [notes as unknown[]]),
    ],
  };
}

/** A function with which two jobs trade what they request, and who submits them. */
export function trading(columns: Columns): (job: JobIndex, other: JobIndex) => void {
  const { workloadRow } = columns;
  const { byJob, byRow } = requestedColumns(columns);
  const swap = (column: Column, a: number, b: number) => {
    [column[a], column[b]] = [column[b], column[a]];
  };
  return (job, other) => {
    for (const column of byJob) swap(column, job, other);
    for (const column of byRow) swap(column, workloadRow?.[job] ?? job, workloadRow?.[other] ?? other);
  };
}

/** Overwrites the row of a job. */
export function copyRow(to: Columns, from: Columns, job: JobIndex): void {
  to.submitS[job] = from.submitS[job];
  to.runS[job] = from.runS[job];
  const [target, source] = [requestedColumns(to), requestedColumns(from)];
  const row = from.workloadRow?.[job] ?? job;
  for (const [i, column] of source.byJob.entries()) target.byJob[i][job] = column[job];
  for (const [i, column] of source.byRow.entries()) target.byRow[i][row] = column[row];
}

/** Overwrites the target's columns with the source's. */
export function setColumns(target: Columns, source: Columns): void {
  const listed = (columns: Columns): Column[] => {
    const { byJob, byRow } = requestedColumns(columns);
    return [columns.submitS, columns.runS, ...byJob, ...byRow];
  };
  const from = listed(source);
  for (const [i, column] of listed(target).entries()) {
    for (let row = 0; row < column.length; row++) column[row] = from[i][row];
  }
}

/** Calls with the columns of `shown` written into those of `table`, and restores the table's columns. */
export function withColumnsOf<Result>(shown: Columns, table: JobTable, call: () => Result): Result {
  const kept = copyColumns(table);
  setColumns(table, shown);
  try {
    return call();
  } finally {
    setColumns(table, kept);
  }
}

/** The first job whose row differs between two tables. */
export function changedJob(table: JobTable, other: Columns): JobIndex | undefined {
  for (let job = 0; job < table.count; job++) {
    const isSame =
      table.submitS[job] === other.submitS[job] &&
      table.runS[job] === other.runS[job] &&
      table.size[job] === other.size[job] &&
      table.estimateS[job] === other.estimateS[job];
    if (!isSame) return job;
  }
  return undefined;
}

/**
 * Draws other run times for all jobs that have not ended by the instant. They are between the time that the
 * job has run so far and its estimate, often at or near one of these two limits.
 */
export function changeRunTimes(table: JobTable, schedule: Schedule, atS: number, random: Random): void {
  for (let job = 0; job < table.count; job++) {
    if (schedule.endS[job] <= atS) continue;
    const trueS = table.runS[job];
    const startS = schedule.startS[job];
    // A gang may have been in the matrix for longer than it has run, and a job with another size runs for
    // more or less than the time that has passed: these keep at least their run time.
    const isOnOther = schedule.given !== undefined && schedule.given.size[job] !== table.size[job];
    const ranS = startS <= atS ? (isOnOther ? trueS : Math.min(atS - startS, trueS)) : 0;
    const slackS = table.estimateS[job] - ranS;
    const draw = random.uniform();
    const runS = draw < 0.4 ? table.estimateS[job] : ranS + slackS * (draw < 0.7 ? 0.001 : random.uniform());
    // Rounding must not end a job by the instant.
    if (startS <= atS && !(startS + runS > atS && runS > ranS)) continue;
    table.runS[job] = Math.min(runS, table.estimateS[job]);
  }
}

/**
 * Jobs that are submitted after the instant trade places (what they request and who submits them, with new
 * run times) and arrive earlier or later. Their number stays the same.
 */
export function changeArrivals(table: JobTable, atS: number, random: Random): void {
  const { count, submitS, runS, estimateS } = table;
  const trade = trading(table);
  const first = arrivedBy(table, atS);
  const sooner = 0.25 + random.uniform();
  for (let job = first; job < count; job++) {
    const otherS = atS + (submitS[job] - atS) * sooner;
    if (otherS > atS) submitS[job] = otherS;
    trade(job, first + random.below(count - first));
  }
  for (let job = first; job < count; job++) runS[job] = estimateS[job] * random.uniform();
  // Times within a rounding error of the instant may not have changed: sort again.
  for (let job = first + 1; job < count; job++)
    if (submitS[job] < submitS[job - 1]) submitS[job] = submitS[job - 1];
}

/** Number of jobs that have been submitted by the instant. */
function arrivedBy({ count, submitS }: JobTable, atS: number): number {
  let arrived = count;
  while (arrived > 0 && submitS[arrived - 1] > atS) arrived--;
  return arrived;
}

/** Only some of the jobs that are submitted after the instant, or none of them, ever come. */
export function withFewerJobs(instance: Instance, atS: number, random: Random): Instance {
  const first = arrivedBy(instance, atS);
  const count = first + random.below(instance.count - first + 1);
  const cut = <Part extends Int32Array | Float64Array | undefined>(column: Part): Part =>
    column?.subarray(0, count) as Part;
  const { shape, molding, demand } = instance;
  return {
    ...instance,
    count,
    id: cut(instance.id),
    submitS: cut(instance.submitS),
    runS: cut(instance.runS),
    size: cut(instance.size),
    estimateS: cut(instance.estimateS),
    shape: shape && { processes: cut(shape.processes), threads: cut(shape.threads), queue: cut(shape.queue) },
    molding: molding && {
      minSize: cut(molding.minSize),
      maxSize: cut(molding.maxSize),
      serialShare: cut(molding.serialShare),
    },
    demand: demand?.map(cut),
    memoryKB: cut(instance.memoryKB),
    priority: cut(instance.priority),
    workloadRow: cut(instance.workloadRow),
  };
}

/** Drains, holds, edits, pauses and outages that nobody knows of by the instant never come. */
export function withoutLaterEvents(instance: Instance, atS: number): Instance {
  const { interruptions } = instance;
  if (interruptions === undefined) return instance;
  const { outages, stops, freezes = [], drains = [], withdrawals = [] } = interruptions;
  const hasBegun = ({ fromS }: { readonly fromS: number }) => fromS <= atS;
  return {
    ...instance,
    interruptions: {
      outages: outages.filter(({ announcedS, fromS }) => (announcedS ?? fromS) <= atS),
      stops: stops.filter(hasBegun),
      freezes: freezes.filter(hasBegun),
      drains: drains.filter(hasBegun),
      withdrawals: withdrawals.filter(hasBegun),
    },
  };
}
