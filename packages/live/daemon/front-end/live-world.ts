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

import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { World } from "@tutti/kernel/workload/world.ts";
import { servedBefore } from "../contract/record.ts";
import { NOW_S } from "../forecast/model.ts";
import type { JobTimes } from "../forecast/running-times.ts";
import type { Scenario } from "../forecast/task.ts";
import { demandOf, freeUnits } from "../scheduling/units.ts";
import { type ForecastRows, Forecasts, type NoForecast, type StartAndEnd } from "./forecasts.ts";
import { type Hypothetical, joined, type LiveContext, type LiveState, type WorldJob } from "./live-state.ts";

/** A question about the future. */
export interface Question {
  readonly choice: PolicyChoice;
  /** They arrive now, in this order. */
  readonly hypothetical: readonly Hypothetical[];
  /** Number of processors that are taken away. */
  readonly withoutCpus: number;
}

/** Windows that a forecast knows. */
const MOST_WINDOWS = 10;
/** Greater than the rank of any job in the queue. */
const LAST_RANK = 2 ** 52;

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
  readonly #context: LiveContext;
  readonly #state: LiveState;
  readonly #hypothetical: readonly WorldJob[];
  readonly #firstHypothetical: number;

  constructor(context: LiveContext, state: LiveState, hypothetical: readonly Hypothetical[]) {
    this.#context = context;
    this.#state = state;
    this.#firstHypothetical = state.jobs.length;
    // A hypothetical job is the last of its priority.
    this.#hypothetical = hypothetical.map((job, i) => ({ ...job, job: 0, queueRank: LAST_RANK + i }));
    const { workload, times } = state.with(this.#hypothetical);
    this.workload = this.#withWindows(workload);
    this.times = times;
  }

  /** What the scheduler would do with this world. */
  ask({ choice, hypothetical, withoutCpus }: Question): Asked {
    const { scheduler, book } = this.#context;
    const { machine } = scheduler;
    const canWithdraw = choice.definition.capabilities?.withdraw === true;
    // Includes the live limit on rows.
    const parameters = scheduler.parametersFor(choice);
    const processors = machine.placesWithout(withoutCpus);
    const { running, queued, later, isThrough, beyond } = this.#state;
    const size = joined(
      this.#state.sizes(choice.label, (job, row) =>
        row < running.length && !machine.movesGangs
          ? machine.nodes.indicesOf(job.nodes).length
          : scheduler.sizeOf(job, choice),
      ),
      Int32Array.from(this.#hypothetical, (job) => scheduler.sizeOf(job, choice)),
    );
    const candidates: number[] = [];
    for (let row = running.length; row < running.length + queued.length; row++)
      if (canWithdraw || isThrough[row] === 1) candidates.push(row);
    for (const i of hypothetical.keys()) candidates.push(this.#firstHypothetical + i);
    candidates.sort((a, b) => (a === b ? 0 : servedBefore(this.#at(a), this.#at(b)) ? -1 : 1));
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
      else if (beyond && servedBefore(beyond, this.#at(row))) excluded.set(row, "queue");
    });
    const firstLater = running.length + queued.length;
    const areForeseen = !isClosed && known.length === candidates.length;
    const joining = areForeseen ? later.map((_, i) => firstLater + i) : [];
    const waiting = [...known.filter((row) => !excluded.has(row)), ...joining];
    return {
      excluded,
      scenario: { policy: choice.label, parameters, processors, size, waiting: new Int32Array(waiting) },
    };
  }

  #at(row: number): WorldJob {
    return row < this.#firstHypothetical
      ? this.#state.jobs[row]
      : this.#hypothetical[row - this.#firstHypothetical];
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
    const { atMs, running, jobs, past } = this.#state;
    const rows: ForecastRows = {
      jobs,
      hypothetical: this.#hypothetical,
      running: running.length,
      atMs,
      onlyRange: past.history.ratios.length === 0,
      rowOf: (job) => this.#state.rowOf(job),
    };
    return new Forecasts(rows, times, correct, excluded);
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
      const job = this.#at(row);
      return (job.memoryBytes ?? 0) > freeBytes || demandOf(job, counted).some((units, k) => units > free[k]);
    });
    return first < 0 ? rows : rows.slice(0, first);
  }

  #withWindows(workload: Workload): Workload {
    const { windows } = this.#context.scheduler.machine;
    const { running, nowMs } = this.#state;
    const world = new World(workload, { running: running.length });
    const unixMs = nowMs + windows.aheadMs();
    const atS = (ms: number) => NOW_S + (ms - unixMs) / 1000;
    for (const { fromMs, untilMs, ...named } of windows.list.slice(0, MOST_WINDOWS)) {
      const { name, users, queues } = named;
      const span = { atS: NOW_S, fromS: atS(fromMs), untilS: atS(untilMs) };
      world.apply({ event: "window", ...span, name, users, queues });
    }
    return world.end();
  }
}
