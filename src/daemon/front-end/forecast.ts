/**
 * Forecasts when waiting jobs start: on request and, after `start`, for every job soon after it enters the
 * queue. The first forecast of each job is stored and compared with its actual start. The simulation is in
 * forecast/model.ts and runs in another thread.
 */
import type { PolicyChoice } from "../../core/policy.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Why } from "../contract/service.ts";
import { type ForecastTask, rank } from "../forecast/model.ts";
import type { ForecastEngine } from "../forecast/thread.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

type Forecast = Omit<NonNullable<Why["forecast"]>, "pastErrorP50Ms">;
type Forecasts = ReadonlyMap<JobNumber, Forecast>;

/** If the queue is longer, only its first jobs are forecast. Later jobs have little influence on them. */
const MAX_WAITING = 2000;
const HISTORY = 1000;
const FRESH_MS = 2000;
const ERRORS_KEPT = 1000;
/** Forecasts stored in one transaction, which takes a few ms. */
const MAX_KEPT = 500;
/** Delay, so that a burst of submits is over before the forecast. */
const SOON_MS = 500;
/** Unrequested forecasts take at most 1 / (1 + this) of the time. */
const REST_PER_RUN = 20;

export class Forecaster {
  readonly #context: FrontEndParts;
  readonly #engine: ForecastEngine;
  #cached: { label: string; atMs: number; starts: Promise<Forecasts> } | undefined;
  #ratios: { atMs: number; values: Float64Array } | undefined;
  /** Waiting jobs whose forecast is stored. */
  readonly #kept = new Set<JobNumber>();
  #isStarted = false;
  /** If true, the store may already be closed. */
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;
  #isRunning = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(context: FrontEndParts, engine: ForecastEngine) {
    this.#context = context;
    this.#engine = engine;
  }

  /** From now on, every job is forecast. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  stop(): void {
    this.#isStarted = false;
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  /** Called when jobs may have entered the queue. */
  wake(): void {
    if (!this.#isStarted || this.#isRunning || this.#cancelTimer !== undefined) return;
    const { clock } = this.#context;
    const atMs = Math.max(clock.nowMs() + SOON_MS, this.#restUntilMs);
    this.#cancelTimer = clock.at(atMs, () => {
      this.#cancelTimer = undefined;
      void this.#forecastNew();
    });
  }

  /** Forecast for one job under the current policy, with the error of past ones; undefined if impossible. */
  async of(job: JobNumber) {
    const forecast = (await this.all(this.#context.scheduler.choice)).get(job);
    return forecast === undefined ? undefined : { ...forecast, ...this.pastErrors() };
  }

  /** Median of |start − p50| over the last jobs that were forecast and have started, if there are any. */
  pastErrors(): { readonly pastErrorP50Ms?: number } {
    const record = this.record();
    return record === undefined ? {} : { pastErrorP50Ms: record.errorP50Ms };
  }

  /** Errors of the last forecasts, and the share of jobs that started between p10 and p90. */
  record() {
    const judged = this.#context.store.judgedForecasts(ERRORS_KEPT);
    if (judged.length === 0) return undefined;
    const errors = judged.map(({ errorMs }) => Math.abs(errorMs)).sort((a, b) => a - b);
    return {
      jobs: judged.length,
      errorP50Ms: rank(errors, 0.5),
      errorP90Ms: rank(errors, 0.9),
      withinShare: judged.filter(({ isWithin }) => isWithin).length / judged.length,
    };
  }

  /** Forecasts for all waiting jobs under a policy. */
  all(choice: PolicyChoice): Promise<Forecasts> {
    const nowMs = this.#context.clock.nowMs();
    const cached = this.#cached;
    if (cached !== undefined && cached.label === choice.label && nowMs - cached.atMs < FRESH_MS) {
      return cached.starts;
    }
    const isPresent = choice.label === this.#context.scheduler.choice.label;
    const starts = this.#forecast(choice).then((forecasts) => {
      if (isPresent) this.#keep(forecasts);
      return forecasts;
    });
    if (isPresent) this.#cached = { label: choice.label, atMs: nowMs, starts };
    return starts;
  }

  /** Forecasts jobs without a stored forecast, stores the results, and pauses. */
  async #forecastNew(): Promise<void> {
    const { book, clock, scheduler } = this.#context;
    const waiting = book.eligible().slice(0, MAX_WAITING);
    const isWaiting = new Set(waiting.map(({ job }) => job));
    for (const job of this.#kept) if (!isWaiting.has(job)) this.#kept.delete(job);
    if (this.#kept.size === isWaiting.size) return;
    this.#isRunning = true;
    const fromMs = clock.nowMs();
    const starts = await this.all(scheduler.choice);
    this.#isRunning = false;
    const endMs = clock.nowMs();
    this.#restUntilMs = endMs + REST_PER_RUN * (endMs - fromMs);
    if ([...starts.keys()].some((job) => !this.#kept.has(job) && book.live(job)?.state === "queued"))
      this.wake();
  }

  async #forecast(choice: PolicyChoice): Promise<Forecasts> {
    const starts = new Map<JobNumber, Forecast>();
    const waiting = this.#foreseeable(choice).slice(0, MAX_WAITING);
    if (waiting.length === 0) return starts;
    const unixMs = this.#context.clock.unixMs();
    let quantiles: Float64Array;
    try {
      quantiles = await this.#engine(this.#task(choice, waiting));
    } catch {
      // Jobs do not depend on forecasts.
      return starts;
    }
    waiting.forEach(({ job }, j) => {
      const [p10Ms, p50Ms, p90Ms] = quantiles.subarray(3 * j, 3 * j + 3).map((s) => unixMs + 1000 * s);
      if (Number.isFinite(p90Ms)) starts.set(job, { p10Ms, p50Ms, p90Ms });
    });
    return starts;
  }

  /**
   * Waiting jobs in service order, up to the first that waits for memory. The model does not know about
   * memory, so it would forecast an immediate start of that job and of later ones.
   */
  #foreseeable(choice: PolicyChoice): readonly JobRecord[] {
    const { book, scheduler } = this.#context;
    const waiting = book.eligible();
    // Under space sharing, memory is counted in processors.
    if (choice.definition.sharing === "space") return waiting;
    const freeBytes = scheduler.options.memoryBytes - book.usedMemoryBytes();
    const first = waiting.findIndex(({ memoryBytes = 0 }) => memoryBytes > Math.max(0, freeBytes));
    return first < 0 ? waiting : waiting.slice(0, first);
  }

  #task(choice: PolicyChoice, waiting: readonly JobRecord[]): ForecastTask {
    const { book, scheduler, clock, config } = this.#context;
    const running = [...book.withProcess()];
    const records = [...running, ...waiting];
    const nowMs = clock.nowMs();
    return {
      policy: choice.label,
      // Includes the live limit on rows.
      parameters: scheduler.parametersFor(choice),
      queues: config.queues,
      slotS: config.slotMs / 1000,
      processors: scheduler.options.nodes.processors,
      running: running.length,
      job: Int32Array.from(records, ({ job }) => job),
      size: Int32Array.from(records, (record) => scheduler.sizeOf(record)),
      estimateMs: Float64Array.from(records, ({ estimateMs }) => estimateMs),
      ranMs: Float64Array.from(records, ({ job }, i) =>
        i < running.length ? scheduler.ranMs(job, nowMs) : 0,
      ),
      ratios: this.#history(),
    };
  }

  /** Running time ÷ estimate of ended jobs, at most 1, since time limits usually prevent longer ones. */
  #history(): Float64Array {
    const { store, clock } = this.#context;
    const nowMs = clock.nowMs();
    if (this.#ratios === undefined || nowMs - this.#ratios.atMs > 30_000) {
      const ended = store.endedJobs(undefined, ["done", "failed"], HISTORY);
      const values = Float64Array.from(ended, ({ ranMs, estimateMs }) => Math.min(1, ranMs / estimateMs));
      this.#ratios = { atMs: nowMs, values };
    }
    return this.#ratios.values;
  }

  /** Stores each job's first forecast, up to MAX_KEPT at a time. */
  #keep(starts: Forecasts): void {
    if (this.#isStopped) return;
    const { store, clock, book } = this.#context;
    // Jobs that have started in the meantime were not forecast in time.
    const fresh = [...starts].filter(([job]) => !this.#kept.has(job) && book.live(job)?.state === "queued");
    const some = fresh.slice(0, MAX_KEPT);
    const areKept = store.tryTransaction(() => {
      for (const [job, { p10Ms, p50Ms, p90Ms }] of some) {
        store.noteForecast(job, clock.unixMs(), p10Ms, p50Ms, p90Ms);
      }
    });
    // If the disk is full, the next forecast tries again.
    if (areKept) for (const [job] of some) this.#kept.add(job);
  }
}
