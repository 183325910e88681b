/** Turns the live state into the input of the forecast's model, and the model's result into Unix times. */
import type { PolicyChoice } from "../../core/policy.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import { processorsOf } from "../../protocol/job-size.ts";
import type { WhatIfAnswer } from "../../protocol/schema.ts";
import { exportedLimits } from "../book/exported-limits.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import type { ForecastRecord } from "../forecast/forecast-record.ts";
import { type ForecastTask, NUMBERS_OF_JOB, type Scenario } from "../forecast/model.ts";
import type { PastJobs } from "../forecast/past-jobs.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { countHeld, demandOf, freeUnits } from "../scheduling/units.ts";
import type { Windows } from "../scheduling/windows.ts";

type PolicyForecast = WhatIfAnswer["policies"][number];
/** When a waiting job starts and ends, or a running job ends: Unix times in ms. */
export type StartAndEnd = Omit<PolicyForecast["jobs"][number], "job">;
type End = Omit<PolicyForecast["running"][number], "job">;
type NoForecast = NonNullable<NonNullable<PolicyForecast["hypothetical"]>[number]["noForecast"]>;

/** Forecasts for all jobs for which one could be made. */
export interface Forecasts {
  /** Unix time in ms. */
  readonly atMs: number;
  readonly waiting: ReadonlyMap<JobNumber, StartAndEnd>;
  readonly running: ReadonlyMap<JobNumber, End>;
  /** Of the jobs that are not submitted, in their order. */
  readonly hypothetical: readonly (StartAndEnd | NoForecast)[];
}

/** A job that is not submitted. */
export type Hypothetical = Pick<
  JobRecord,
  | "uid"
  | "user"
  | "name"
  | "tasks"
  | "threads"
  | "memoryBytes"
  | "use"
  | "estimateMs"
  | "limitMs"
  | "queue"
  | "priority"
>;

/** A question about the future. */
export interface Question {
  readonly choice: PolicyChoice;
  /** They arrive now, in this order. */
  readonly hypothetical: readonly Hypothetical[];
  /** Number of processors that are taken away. */
  readonly withoutCpus: number;
}

/** If the queue is longer, only its first jobs are forecast. Later jobs have little influence on them. */
export const MAX_WAITING = 2000;
/** A hypothetical job is last in its queue, so more jobs before it count. */
const MAX_BEFORE_HYPOTHETICAL = 10_000;
/** Windows that a forecast knows of each job. */
const MOST_CLOSED = 10;
/** Greater than the rank of any job in the queue. */
const LAST_RANK = 2 ** 52;

/** Stands for the number of a job that is not submitted. */
const NO_NUMBER = { job: 0 };

type Context = Pick<FrontEndParts, "book" | "scheduler" | "shares" | "clock" | "config">;

/** A job of the columns that waits. */
interface Candidate {
  readonly record: Pick<JobRecord, "tasks" | "threads" | "memoryBytes" | "use" | "priority" | "queueRank">;
  readonly row: number;
}

/** The live state at one instant, with jobs that are not submitted. */
export class LiveTask {
  readonly task: ForecastTask;
  readonly #atMs: number;
  readonly #running: readonly JobRecord[];
  /** Those in the queue, in its order, then those that join it later, in the order of their begin. */
  readonly #waiting: readonly JobRecord[];
  readonly #hypothetical: readonly Hypothetical[];
  /** By question: why hypothetical jobs, given by their indices, do not take part. */
  readonly #excluded: readonly ReadonlyMap<number, NoForecast>[];

  readonly #recordOf: (uid: number) => ForecastRecord | undefined;

  /**
   * @param questions all hypothetical jobs are those of the last one
   * @param recordOf how well forecasts of a user's jobs did
   */
  constructor(
    context: Context,
    questions: readonly Question[],
    past: PastJobs,
    recordOf: (uid: number) => ForecastRecord | undefined,
  ) {
    this.#recordOf = recordOf;
    const { book, scheduler, clock, config } = context;
    const nowMs = clock.nowMs();
    const { hypothetical } = questions.at(-1)!;
    this.#atMs = clock.unixMs();
    // The order in which an adoption would take them over.
    this.#running = [...book.withProcess()]
      .filter(({ job }) => !scheduler.isOutside(job))
      .sort((a, b) => scheduler.ranMs(b.job, nowMs) - scheduler.ranMs(a.job, nowMs) || a.job - b.job);
    // The model knows neither the end of an allocation nor a handover.
    const eligible = book.eligibleSoon().filter((record) => {
      const obstacle = scheduler.obstacle(record, nowMs);
      return obstacle === undefined || obstacle.kind === "window";
    });
    const most = hypothetical.length > 0 ? MAX_BEFORE_HYPOTHETICAL : MAX_WAITING;
    const queued = eligible.slice(0, most);
    const delayed = [...book.delayed()]
      .sort((a, b) => a.notBeforeMs - b.notBeforeMs || a.job - b.job)
      .slice(0, most - queued.length);
    this.#waiting = [...queued, ...delayed];
    this.#hypothetical = hypothetical;
    const running = this.#running.length;
    const records = [...this.#running, ...this.#waiting, ...hypothetical];
    const firstHypothetical = running + this.#waiting.length;
    const closed = [...this.#waiting, ...hypothetical].flatMap((record, i) =>
      closedTo(scheduler.machine.windows, record, nowMs).map((times) => ({ row: running + i, ...times })),
    );
    const haveRoom = book.limits.haveRoom(hypothetical);
    const isThrough = Uint8Array.from(records, (_, row) => {
      const waiting = this.#waiting[row - running];
      return row < running || (waiting !== undefined && book.limits.isThrough(waiting)) ? 1 : 0;
    });
    const excluded: Map<number, NoForecast>[] = [];
    const scenarios = questions.map(({ choice, hypothetical: asked, withoutCpus }): Scenario => {
      const why = new Map<number, NoForecast>();
      excluded.push(why);
      const knowsLimits = choice.definition.capabilities?.withdraw === true;
      const candidates: Candidate[] = [
        ...queued
          .map((record, i) => ({ record, row: running + i }))
          .filter(({ row }) => knowsLimits || isThrough[row] === 1),
        ...asked.map((record, i) => ({
          record: { ...record, queueRank: LAST_RANK + i },
          row: firstHypothetical + i,
        })),
      ];
      // Stable: a job that is not submitted comes after those of its priority.
      candidates.sort((a, b) => (a.row === b.row ? 0 : servedBefore(a.record, b.record) ? -1 : 1));
      const beyond = eligible[most];
      const isDrained = scheduler.machine.drain !== undefined;
      // Includes the live limit on rows.
      const parameters = scheduler.parametersFor(choice);
      const copes = choice.definition.copesWith?.(parameters).includes("resources") === true;
      const known = copes ? candidates.length : foreseeable(context, choice, candidates);
      const isHidden = closed.length > 0 && !choice.definition.capabilities?.withdraw;
      const isClosed = isDrained || isHidden;
      const cut = isClosed ? 0 : known;
      const isUnknown = new Set(candidates.slice(cut).map(({ row }) => row));
      const later =
        isClosed || cut < candidates.length ? [] : delayed.map((_, i) => running + queued.length + i);
      const processors = scheduler.machine.placesWithout(withoutCpus);
      const size = Int32Array.from(records, (record, row) =>
        row < running && !scheduler.machine.isThisMachine
          ? scheduler.machine.nodes.indicesOf(this.#running[row].nodes).length
          : scheduler.sizeOf(record, choice),
      );
      asked.forEach((record, i) => {
        const row = firstHypothetical + i;
        const isLate = beyond !== undefined && servedBefore(beyond, { ...record, queueRank: LAST_RANK + i });
        if (isDrained) why.set(i, "drained");
        else if (isHidden) why.set(i, "window");
        else if (knowsLimits ? book.limits.hasReachedQuota(record) : !haveRoom[i]) why.set(i, "limit");
        else if (isUnknown.has(row)) why.set(i, "memory");
        else if (size[row] > processors) why.set(i, "cpus");
        else if (isLate) why.set(i, "queue");
      });
      return {
        policy: choice.label,
        parameters,
        ...(copes
          ? countedOf(context, choice.definition, records, this.#running)
          : { resources: [], demand: [] }),
        processors,
        size,
        waiting: Int32Array.from([
          ...candidates
            .slice(0, cut)
            .filter(({ row }) => !why.has(row - firstHypothetical))
            .map(({ row }) => row),
          ...later,
        ]),
      };
    });
    this.#excluded = excluded;
    const classes = scheduler.options.queueClasses;
    const queueNames = classes.map(({ name }) => name);
    const limits = exportedLimits(book.limits, records, queueNames);
    this.task = {
      queues: config.queues,
      slotS: config.slotMs / 1000,
      running,
      job: Int32Array.from(
        [...this.#running, ...this.#waiting, ...hypothetical.map(() => NO_NUMBER)],
        ({ job }) => job,
      ),
      estimateMs: Float64Array.from(records, ({ estimateMs }, row) =>
        row < running && this.#running[row].state === "paused"
          ? scheduler.jobs.estimateMs(this.#running[row], nowMs)
          : estimateMs,
      ),
      arrivesInMs: Float64Array.from(records, (_, row) => {
        const delay = delayed[row - running - queued.length];
        return delay === undefined ? 0 : Math.max(0, delay.notBeforeMs - this.#atMs);
      }),
      closed,
      ranMs: Float64Array.from(records, (_, row) =>
        row < running ? scheduler.ranMs(this.#running[row].job, nowMs) : 0,
      ),
      queue: Int32Array.from(records, ({ queue }) => classes.findIndex(({ name }) => name === queue)),
      users: records.map(({ user }) => user),
      shares: context.shares.now(),
      ...(limits !== undefined && {
        limits: { ...limits, cpus: Int32Array.from(records, processorsOf), isThrough },
      }),
      threads: Int32Array.from(records, ({ threads = 1 }) => threads),
      isLimited: Uint8Array.from(records, (_, row) =>
        row < running && this.#running[row].limitMs !== undefined ? 1 : 0,
      ),
      ...past.kindsOf(records),
      history: past.history,
      scenarios,
    };
  }

  get isEmpty(): boolean {
    return this.task.job.length === 0;
  }

  /** The forecasts that answer a question. @param times undefined: the simulation failed */
  read(question: number, times: Float64Array | undefined): Forecasts {
    const waiting = new Map<JobNumber, StartAndEnd>();
    const running = new Map<JobNumber, End>();
    this.#running.forEach(({ job }, row) => {
      const found = this.#at(row, times);
      if (found === undefined) return;
      const { p10Ms: _p10, p50Ms: _p50, p90Ms: _p90, ...end } = found;
      running.set(job, end);
    });
    this.#waiting.forEach(({ job, uid }, i) => {
      const found = this.#corrected(uid, this.#at(this.#running.length + i, times));
      if (found !== undefined) waiting.set(job, found);
    });
    const excluded = this.#excluded[question];
    const first = this.#running.length + this.#waiting.length;
    const hypothetical = this.#hypothetical.map(({ uid }, i) => {
      const found = this.#corrected(uid, this.#at(first + i, times));
      return excluded.get(i) ?? (times === undefined ? "failed" : (found ?? "never"));
    });
    return { atMs: this.#atMs, waiting, running, hypothetical };
  }

  #corrected(uid: number, times: StartAndEnd | undefined): StartAndEnd | undefined {
    return times && (this.#recordOf(uid)?.corrected(times, this.#atMs) ?? times);
  }

  #at(row: number, times: Float64Array | undefined): StartAndEnd | undefined {
    if (times === undefined) return undefined;
    const first = NUMBERS_OF_JOB * row;
    const [p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms] = times
      .subarray(first, first + NUMBERS_OF_JOB)
      .map((s) => this.#atMs + 1000 * s);
    if (!Number.isFinite(endP90Ms)) return undefined;
    const isUnlearned = this.task.history.ratios.length === 0;
    return {
      ...{ p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms },
      ...(isUnlearned && { onlyRange: true as const }),
    };
  }
}

/** When windows keep the job from starting, in ms from now. */
function closedTo(windows: Windows, job: Pick<JobRecord, "limitMs" | "user" | "queue">, nowMs: number) {
  const unixMs = nowMs + windows.aheadMs();
  const closed: { fromMs: number; untilMs: number }[] = [];
  for (const { window, fromMs } of windows.closedTo(job, nowMs)) {
    if (closed.length === MOST_CLOSED) break;
    closed.push({ fromMs: fromMs - unixMs, untilMs: window.untilMs - unixMs });
  }
  return closed;
}

/** What a scenario counts besides processors, and how much of it each job needs. */
type Counted = Pick<Scenario, "resources" | "demand">;

/** The largest amount of a kind of resource. */
const MAX_AMOUNT = 2 ** 31 - 1;

/**
 * Units of countable resources and, under time sharing, memory; under space sharing, memory is counted in
 * processors. Kinds that no job needs are left out.
 * @param jobs all jobs of the task, those with processes first
 */
function countedOf(
  { scheduler: { machine }, book }: Context,
  { sharing }: PolicyChoice["definition"],
  jobs: readonly Pick<JobRecord, "use" | "memoryBytes">[],
  running: readonly JobRecord[],
): Counted {
  const { held } = countHeld(running, machine.counted);
  // Paused jobs that the policy does not know keep what they hold.
  const outside = [...book.withProcess()].filter(({ job }) => !held.has(job));
  const columns = machine.counted.map(({ name }, k) => ({
    kind: { name, amount: freeUnits(machine.counted[k], outside).length },
    amounts: Int32Array.from(
      jobs,
      (job, row) => held.get(running[row]?.job)?.[k] ?? demandOf(job, machine.counted)[k],
    ),
  }));
  const memoryBytes = machine.memoryBytes - outside.reduce((sum, job) => sum + (job.memoryBytes ?? 0), 0);
  if (sharing === "time" && Number.isFinite(memoryBytes)) {
    const unitBytes = Math.max(1, Math.ceil(memoryBytes / MAX_AMOUNT));
    const amounts = Int32Array.from(jobs, ({ memoryBytes: bytes = 0 }) => Math.ceil(bytes / unitBytes));
    columns.push({
      kind: { name: "memory", amount: Math.max(0, Math.floor(memoryBytes / unitBytes)) },
      amounts,
    });
  }
  const needed = columns.filter(({ amounts }) => amounts.some((amount) => amount > 0));
  return { resources: needed.map(({ kind }) => kind), demand: needed.map(({ amounts }) => amounts) };
}

/**
 * Number of waiting jobs that are forecast under a user's own policy, which the simulator cannot run with
 * resources: up to the first that waits for memory or units. That one and later ones would start too early.
 */
function foreseeable(
  { book, scheduler }: Context,
  choice: PolicyChoice,
  waiting: readonly Candidate[],
): number {
  const holders = [...book.withProcess()];
  const { counted, memoryBytes } = scheduler.machine;
  const free = counted.map((kind) => freeUnits(kind, holders).length);
  const freeBytes =
    choice.definition.sharing === "space"
      ? Number.POSITIVE_INFINITY
      : Math.max(0, memoryBytes - book.usedMemoryBytes());
  const first = waiting.findIndex(
    ({ record }) =>
      (record.memoryBytes ?? 0) > freeBytes || demandOf(record, counted).some((units, k) => units > free[k]),
  );
  return first < 0 ? waiting.length : first;
}
