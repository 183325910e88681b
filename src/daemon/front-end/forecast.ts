/**
 * Forecasts of the starts of waiting jobs, made when somebody asks and, once it is started, for every job soon after it has come to wait; what
 * was expected is kept and judged when the job starts. The work itself is in forecast-model.ts, in another thread.
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

/** Of a longer queue only so many are forecast, those that are served first; those behind make little difference to them. */
const MAX_WAITING = 2000;
const HISTORY = 1000;
const FRESH_MS = 2000;
const ERRORS_KEPT = 1000;
/** Kept in one transaction: some milliseconds. */
const MAX_KEPT = 500;
/** A burst of submits is over. */
const SOON_MS = 500;
/** At most so large a share of the time goes into forecasts that nobody has asked for: 1 / (1 + this). */
const REST_PER_RUN = 20;

export class Forecaster {
  readonly #context: FrontEndParts;
  readonly #engine: ForecastEngine;
  #cached: { label: string; atMs: number; starts: Promise<Forecasts> } | undefined;
  #ratios: { atMs: number; values: Float64Array } | undefined;
  /** Waiting jobs whose forecast is kept. */
  readonly #kept = new Set<JobNumber>();
  #isStarted = false;
  /** The store may be closed. */
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;
  #isRunning = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(context: FrontEndParts, engine: ForecastEngine) {
    this.#context = context;
    this.#engine = engine;
  }

  /** From now on every job is forecast. */
  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  stop(): void {
    this.#isStarted = false;
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  /** Jobs may have come to wait. */
  wake(): void {
    if (!this.#isStarted || this.#isRunning || this.#cancelTimer !== undefined) return;
    const { clock } = this.#context;
    const atMs = Math.max(clock.nowMs() + SOON_MS, this.#restUntilMs);
    this.#cancelTimer = clock.at(atMs, () => {
      this.#cancelTimer = undefined;
      void this.#forecastNew();
    });
  }

  /** Start of one job under the present policy, with how far forecasts were off before; undefined when none can be made. */
  async of(job: JobNumber) {
    const forecast = (await this.all(this.#context.scheduler.choice)).get(job);
    return forecast === undefined ? undefined : { ...forecast, ...this.pastErrors() };
  }

  /** Median of |start − p50| over the last jobs that were forecast and have started; nothing when there are none. */
  pastErrors(): { readonly pastErrorP50Ms?: number } {
    const record = this.record();
    return record === undefined ? {} : { pastErrorP50Ms: record.errorP50Ms };
  }

  /** How far the forecasts of the last jobs were off, and how many of these started between p10 and p90. */
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

  /** Starts of the waiting jobs under a policy. */
  all(choice: PolicyChoice): Promise<Forecasts> {
    const nowMs = this.#context.clock.nowMs();
    const cached = this.#cached;
    if (cached !== undefined && cached.label === choice.label && nowMs - cached.atMs < FRESH_MS) {
      return cached.starts;
    }
    const isPresent = choice.label === this.#context.scheduler.choice.label;
    const starts = this.#forecast(choice).then((found) => {
      if (isPresent) this.#keep(found);
      return found;
    });
    if (isPresent) this.#cached = { label: choice.label, atMs: nowMs, starts };
    return starts;
  }

  /** Forecasts what has not been yet, keeps it, and rests. */
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
    let found: Float64Array;
    try {
      found = await this.#engine(this.#task(choice, waiting));
    } catch {
      // A job goes on without one.
      return starts;
    }
    waiting.forEach(({ job }, j) => {
      const [p10Ms, p50Ms, p90Ms] = found.subarray(3 * j, 3 * j + 3).map((s) => unixMs + 1000 * s);
      if (Number.isFinite(p90Ms)) starts.set(job, { p10Ms, p50Ms, p90Ms });
    });
    return starts;
  }

  /**
   * Waiting jobs in the order in which they are served, up to the first that waits for memory: of that the model knows nothing, so a
   * forecast for it or for those behind it would say that they start at once.
   */
  #foreseeable(choice: PolicyChoice): readonly JobRecord[] {
    const { book, scheduler } = this.#context;
    const waiting = book.eligible();
    // Under space sharing memory is counted in processors.
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
      // As it would be made here: with the limit on rows.
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

  /** Running time ÷ estimate of jobs that have ended, at most 1: a longer one would have been stopped, or is a surprise. */
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

  /** Keeps each job's first forecast, to be judged when it starts; some at a time. */
  #keep(starts: Forecasts): void {
    if (this.#isStopped) return;
    const { store, clock, book } = this.#context;
    // Those that have started meanwhile were not forecast in time.
    const fresh = [...starts].filter(([job]) => !this.#kept.has(job) && book.live(job)?.state === "queued");
    const some = fresh.slice(0, MAX_KEPT);
    const areKept = store.tryTransaction(() => {
      for (const [job, { p10Ms, p50Ms, p90Ms }] of some) {
        store.noteForecast(job, clock.unixMs(), p10Ms, p50Ms, p90Ms);
      }
    });
    // Else the disk is full: with the next forecast.
    if (areKept) for (const [job] of some) this.#kept.add(job);
  }
}
