/**
 * The present of the scheduler as a world (workload/world.ts), which forecasts simulate. What a world does
 * not have is reduced here:
 *
 *   nodes                 jobs have as many processors as the packing gives them under the policy
 *   priorities            waiting jobs are in the order in which they are served
 *   end of an allocation  jobs that wait for it, for a handover or for a quota do not take part
 *   drains                no waiting job takes part: nobody knows when a drain ends
 *   windows               if the policy cannot withdraw jobs, no waiting job takes part
 *   limits                if the policy cannot withdraw jobs, only those take part that are let through
 *   memory                under time sharing a resource, else in processors
 *   resources             under a user's own policy, jobs from the first that waits for them on take no part
 */

import { type JobNotes, MAX_INT32, type Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { World } from "@tutti/kernel/workload/world.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import { exportedLimits } from "../book/exported-limits.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { MEMORY, NOW_S, type Scenario } from "../forecast/model.ts";
import type { PastJobs } from "../forecast/past-jobs.ts";
import type { JobTimes } from "../forecast/running-times.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { countHeld, demandOf, freeUnits } from "../scheduling/units.ts";
import { type ForecastRows, Forecasts, type NoForecast, type StartAndEnd } from "./forecasts.ts";

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
/** Windows that a forecast knows. */
const MOST_WINDOWS = 10;
/** Greater than the rank of any job in the queue. */
const LAST_RANK = 2 ** 52;

type Context = Pick<FrontEndParts, "book" | "scheduler" | "shares" | "clock" | "config">;

/** What of a job is in the world. */
type WorldJob = Hypothetical & Pick<JobRecord, "job" | "array" | "queueRank">;

/** A scenario, and why hypothetical jobs, given by their rows, do not take part. */
interface Asked {
  readonly scenario: Scenario;
  readonly excluded: ReadonlyMap<number, NoForecast>;
}

/** The live state at one instant, with jobs that are not submitted. */
export class LiveWorld {
  /** Jobs with processes, those in the queue, those that join it later, and hypothetical ones. */
  readonly workload: Workload;
  /** What is known of how long the jobs take. */
  readonly times: JobTimes;
  readonly #context: Context;
  readonly #atMs: number;
  /** In the order in which an adoption would take them over. */
  readonly #running: readonly JobRecord[];
  readonly #queued: readonly JobRecord[];
  /** In the order of their begin. */
  readonly #later: readonly (JobRecord & { readonly notBeforeMs: number })[];
  readonly #jobs: readonly WorldJob[];
  readonly #firstHypothetical: number;
  /** By row, 1 if limits let the job start. */
  readonly #isThrough: Uint8Array;
  /** The first job in the queue that the world does not have. */
  readonly #beyond: JobRecord | undefined;
  readonly #rows: ForecastRows;

  constructor(context: Context, hypothetical: readonly Hypothetical[], past: PastJobs) {
    const { book, scheduler, clock } = context;
    const nowMs = clock.nowMs();
    this.#context = context;
    this.#atMs = clock.unixMs();
    this.#running = [...book.withProcess()]
      .filter(({ job }) => !scheduler.isOutside(job))
      .sort((a, b) => scheduler.ranMs(b.job, nowMs) - scheduler.ranMs(a.job, nowMs) || a.job - b.job);
    const eligible = book.eligibleSoon().filter((record) => {
      const obstacle = scheduler.obstacle(record, nowMs);
      return obstacle === undefined || obstacle.kind === "window";
    });
    const most = hypothetical.length > 0 ? MAX_BEFORE_HYPOTHETICAL : MAX_WAITING;
    this.#queued = eligible.slice(0, most);
    this.#beyond = eligible[most];
    this.#later = [...book.delayed()]
      .sort((a, b) => a.notBeforeMs - b.notBeforeMs || a.job - b.job)
      .slice(0, most - this.#queued.length);
    const submitted = [...this.#running, ...this.#queued, ...this.#later];
    this.#firstHypothetical = submitted.length;
    // A hypothetical job is the last of its priority.
    const last = hypothetical.map((job, i) => ({ ...job, job: 0, queueRank: LAST_RANK + i }));
    this.#jobs = [...submitted, ...last];
    this.#isThrough = new Uint8Array(this.#jobs.length).fill(1, 0, this.#running.length);
    submitted.forEach((record, row) => {
      if (book.limits.isThrough(record)) this.#isThrough[row] = 1;
    });
    this.workload = this.#withWindows(nowMs);
    this.times = this.#timesBy(nowMs, past);
    const rowOf = once(() => new Map(submitted.map(({ job }, row) => [job, row])));
    this.#rows = {
      jobs: this.#jobs,
      running: this.#running.length,
      firstHypothetical: this.#firstHypothetical,
      atMs: this.#atMs,
      onlyRange: past.history.ratios.length === 0,
      rowOf: (job) => rowOf().get(job),
    };
  }

  /** What the scheduler would do with this world. */
  ask({ choice, hypothetical, withoutCpus }: Question): Asked {
    const { scheduler, book } = this.#context;
    const { machine } = scheduler;
    const canWithdraw = choice.definition.capabilities?.withdraw === true;
    // Includes the live limit on rows.
    const parameters = scheduler.parametersFor(choice);
    const processors = machine.placesWithout(withoutCpus);
    const size = Int32Array.from(this.#jobs, (job, row) =>
      row < this.#running.length && !machine.movesGangs
        ? machine.nodes.indicesOf(this.#running[row].nodes).length
        : scheduler.sizeOf(job, choice),
    );
    const candidates = [
      ...this.#queued
        .map((_, i) => this.#running.length + i)
        .filter((row) => canWithdraw || this.#isThrough[row] === 1),
      ...hypothetical.map((_, i) => this.#firstHypothetical + i),
    ].sort((a, b) => (a === b ? 0 : servedBefore(this.#jobs[a], this.#jobs[b]) ? -1 : 1));
    const isHidden = !canWithdraw && this.workload.interruptions !== undefined;
    const isClosed = machine.drain !== undefined || isHidden;
    const known = isClosed ? [] : this.#foreseeable({ ...choice, parameters }, candidates);
    const takePart = new Set(known);
    const haveRoom = canWithdraw ? undefined : book.limits.haveRoom(hypothetical);
    const excluded = new Map<number, NoForecast>();
    hypothetical.forEach((job, i) => {
      const row = this.#firstHypothetical + i;
      if (machine.drain !== undefined) excluded.set(row, "drained");
      else if (isHidden) excluded.set(row, "window");
      else if (haveRoom ? !haveRoom[i] : book.limits.hasReachedQuota(job)) excluded.set(row, "limit");
      else if (!takePart.has(row)) excluded.set(row, "memory");
      else if (size[row] > processors) excluded.set(row, "cpus");
      else if (this.#beyond && servedBefore(this.#beyond, this.#jobs[row])) excluded.set(row, "queue");
    });
    const firstLater = this.#running.length + this.#queued.length;
    const areForeseen = !isClosed && known.length === candidates.length;
    const later = areForeseen ? this.#later.map((_, i) => firstLater + i) : [];
    const waiting = Int32Array.from([...known.filter((row) => !excluded.has(row)), ...later]);
    return { excluded, scenario: { policy: choice.label, parameters, processors, size, waiting } };
  }

  /**
   * The forecasts that answer a question.
   * @param times undefined: the simulation failed
   * @param correct widens the forecast of a waiting job of a user
   */
  read(
    { excluded }: Asked,
    times: Float64Array | undefined,
    correct: (uid: number, forecast: StartAndEnd, atMs: number) => StartAndEnd,
  ): Forecasts {
    return new Forecasts(this.#rows, times, correct, excluded);
  }

  /**
   * Those of the rows that are forecast. A user's own policy, which the simulator cannot run with resources,
   * knows them up to the first that waits for memory or units: that one and later ones would start too early.
   */
  #foreseeable({ definition, parameters }: PolicyChoice, rows: readonly number[]): readonly number[] {
    if (definition.copesWith?.(parameters).includes("resources")) return rows;
    const { book, scheduler } = this.#context;
    const { counted, memoryBytes } = scheduler.machine;
    const holders = [...book.withProcess()];
    const free = counted.map((kind) => freeUnits(kind, holders).length);
    const freeBytes =
      definition.sharing === "space"
        ? Number.POSITIVE_INFINITY
        : Math.max(0, memoryBytes - book.usedMemoryBytes());
    const first = rows.findIndex((row) => {
      const job = this.#jobs[row];
      return (job.memoryBytes ?? 0) > freeBytes || demandOf(job, counted).some((units, k) => units > free[k]);
    });
    return first < 0 ? rows : rows.slice(0, first);
  }

  #timesBy(nowMs: number, past: PastJobs): JobTimes {
    const { scheduler } = this.#context;
    const running = this.#running.length;
    const ifRunning = (value: (record: JobRecord) => number) => (_: unknown, row: number) =>
      row < running ? value(this.#running[row]) : 0;
    return {
      running,
      estimateMs: Float64Array.from(this.#jobs, ({ estimateMs }, row) =>
        this.#running[row]?.state === "paused"
          ? scheduler.jobs.estimateMs(this.#running[row], nowMs)
          : estimateMs,
      ),
      ranMs: Float64Array.from(
        this.#jobs,
        ifRunning(({ job }) => scheduler.ranMs(job, nowMs)),
      ),
      isLimited: Uint8Array.from(
        this.#jobs,
        ifRunning(({ limitMs }) => (limitMs === undefined ? 0 : 1)),
      ),
      ...past.kindsOf(this.#jobs),
      history: past.history,
    };
  }

  #withWindows(nowMs: number): Workload {
    const { book, scheduler, shares } = this.#context;
    const { windows, places } = scheduler.machine;
    const jobs = this.#jobs;
    const queueNames = scheduler.options.queueClasses.map(({ name }) => name);
    const limits = exportedLimits(book.limits, jobs, queueNames);
    const submitS = new Float64Array(jobs.length).fill(NOW_S, this.#running.length);
    const firstLater = this.#running.length + this.#queued.length;
    this.#later.forEach(({ notBeforeMs }, i) => {
      submitS[firstLater + i] += Math.max(0, notBeforeMs - this.#atMs) / 1000;
    });
    const workload: Workload = {
      name: "live state",
      count: jobs.length,
      processors: places,
      jobs: {
        id: Int32Array.from(jobs, ({ job }) => job),
        submitS,
        runS: new Float64Array(jobs.length),
        size: Int32Array.from(jobs, processorsOf),
        estimateS: Float64Array.from(jobs, ({ estimateMs }) => estimateMs / 1000),
      },
      shape: {
        processes: Int32Array.from(jobs, ({ tasks }) => tasks),
        threads: Int32Array.from(jobs, ({ threads = 1 }) => threads),
        queue: Int32Array.from(jobs, ({ queue }) => queueNames.indexOf(queue)),
      },
      ...this.#resources(),
      shares: shares.now(),
      limits: limits && { ...limits, isThrough: this.#isThrough },
      notes: notesOf(jobs),
      trace: undefined,
      header: [],
      diagnostics: [],
    };
    const world = new World(workload, { running: this.#running.length });
    const unixMs = nowMs + windows.aheadMs();
    const atS = (ms: number) => NOW_S + (ms - unixMs) / 1000;
    for (const { fromMs, untilMs, ...named } of windows.list.slice(0, MOST_WINDOWS)) {
      const { name, users, queues } = named;
      const span = { atS: NOW_S, fromS: atS(fromMs), untilS: atS(untilMs) };
      world.apply({ event: "window", ...span, name, users, queues });
    }
    return world.end();
  }

  /** Units of countable resources, and memory. Kinds that no job needs are left out. */
  #resources(): Required<Pick<Workload, "resources" | "demand">> {
    const { scheduler, book } = this.#context;
    const { counted, memoryBytes } = scheduler.machine;
    const { held } = countHeld(this.#running, counted);
    // Paused jobs that the policy does not know keep what they hold.
    const outside = [...book.withProcess()].filter(({ job }) => !held.has(job));
    const columns = counted.map((kind, k) => ({
      amount: freeUnits(kind, outside).length,
      demand: {
        kind: kind.name,
        amount: Int32Array.from(this.#jobs, (job) => (held.get(job.job) ?? demandOf(job, counted))[k]),
      },
    }));
    const freeBytes = memoryBytes - outside.reduce((sum, job) => sum + (job.memoryBytes ?? 0), 0);
    if (Number.isFinite(freeBytes)) {
      const unitBytes = Math.max(1, Math.ceil(freeBytes / MAX_INT32));
      const units = ({ memoryBytes = 0 }: WorldJob) => Math.ceil(memoryBytes / unitBytes);
      columns.push({
        amount: Math.max(0, Math.floor(freeBytes / unitBytes)),
        demand: { kind: MEMORY, amount: Int32Array.from(this.#jobs, units) },
      });
    }
    const needed = columns.filter(({ demand }) => demand.amount.some((amount) => amount > 0));
    return {
      resources: needed.map(({ amount, demand }) => ({ name: demand.kind, amount })),
      demand: needed.map(({ demand }) => demand),
    };
  }
}

/** Jobs that have the same share one object: the world is copied to another thread. */
function notesOf(jobs: readonly WorldJob[]): JobNotes[] {
  const known = new Map<string, JobNotes>();
  return jobs.map(({ user, queue, limitMs }) => {
    const key = `${limitMs} ${queue} ${user}`;
    const limitS = limitMs === undefined ? undefined : limitMs / 1000;
    if (!known.has(key)) known.set(key, { user, queue, limitS });
    return known.get(key)!;
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
