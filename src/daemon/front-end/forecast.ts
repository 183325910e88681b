/**
 * Forecasts when waiting jobs start: on request and, after `start`, for every job soon after it enters the
 * queue. The first forecast of each job is stored and compared with its actual start. The simulation is in
 * forecast/model.ts and runs in another thread.
 */
import type { JobNumber } from "../../protocol/attempts.ts";
import { type History, rank } from "../forecast/model.ts";
import type { ForecastEngine } from "../forecast/thread.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { type Forecasts, LiveTask, MAX_WAITING, type Question } from "./live-task.ts";

const HISTORY = 1000;
const LAUNCHES = 200;
/** Age up to which a full history is used. */
const OLD_MS = 30_000;
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
  #cached: { label: string; atMs: number; forecasts: Promise<Forecasts> } | undefined;
  #known: { readonly atMs: number; readonly history: History } | undefined;
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

  /** Forecast for one waiting job under the current policy, with the errors of past ones. */
  async of(job: JobNumber) {
    const forecast = (await this.present()).waiting.get(job);
    return forecast === undefined ? undefined : { ...forecast, ...this.pastErrors() };
  }

  /** The errors of past forecasts, as answers state them; empty until a job that was forecast has started. */
  pastErrors() {
    const record = this.record();
    if (record === undefined) return {};
    const { errorP50Ms, jobs, withinShare } = record;
    return { pastErrorP50Ms: errorP50Ms, pastForecasts: jobs, pastWithinShare: withinShare };
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

  /** Forecasts under the current policy, which all requests of some time share. */
  present(maxAgeMs = FRESH_MS): Promise<Forecasts> {
    const { clock, scheduler } = this.#context;
    const nowMs = clock.nowMs();
    const { label } = scheduler.choice;
    const cached = this.#cached;
    if (cached !== undefined && cached.label === label && nowMs - cached.atMs < maxAgeMs)
      return cached.forecasts;
    const forecasts = this.#forecast([this.#presentQuestion]).then(([forecasts]) => {
      this.#keep(forecasts);
      return forecasts;
    });
    this.#cached = { label, atMs: nowMs, forecasts };
    return forecasts;
  }

  /**
   * Forecasts that answer a question, and those for the same simulated futures as things are now. `base` is
   * left out if the question changes nothing.
   */
  async whatIf(question: Question): Promise<{ readonly outcome: Forecasts; readonly base?: Forecasts }> {
    const { choice, hypothetical, withoutCpus } = question;
    const isPresent =
      choice.label === this.#context.scheduler.choice.label && hypothetical.length === 0 && withoutCpus === 0;
    if (isPresent) return { outcome: await this.present() };
    const [base, outcome] = await this.#forecast([this.#presentQuestion, question]);
    return { base, outcome };
  }

  get #presentQuestion(): Question {
    return { choice: this.#context.scheduler.choice, hypothetical: [], withoutCpus: 0 };
  }

  /** Forecasts jobs without a stored forecast, stores the results, and pauses. */
  async #forecastNew(): Promise<void> {
    const { book, clock } = this.#context;
    const waiting = book.eligible().slice(0, MAX_WAITING);
    const isWaiting = new Set(waiting.map(({ job }) => job));
    for (const job of this.#kept) if (!isWaiting.has(job)) this.#kept.delete(job);
    if (this.#kept.size === isWaiting.size) return;
    this.#isRunning = true;
    const fromMs = clock.nowMs();
    const forecasts = await this.present();
    this.#isRunning = false;
    const endMs = clock.nowMs();
    this.#restUntilMs = endMs + REST_PER_RUN * (endMs - fromMs);
    const isMissing = (job: JobNumber) => !this.#kept.has(job) && book.live(job)?.state === "queued";
    if ([...forecasts.waiting.keys()].some(isMissing)) this.wake();
  }

  /** Forecasts that answer each of the questions. */
  async #forecast(questions: readonly Question[]): Promise<readonly Forecasts[]> {
    const live = new LiveTask(this.#context, questions, this.#history());
    let times: readonly Float64Array[] = [];
    try {
      if (!live.isEmpty) times = await this.#engine(live.task);
    } catch {
      // Jobs do not depend on forecasts.
    }
    return questions.map((_, i) => live.read(i, times[i]));
  }

  /**
   * What ended jobs took. Ratios are at most 1, since time limits usually prevent longer running times. A
   * short history soon has more to tell, and is quickly read.
   */
  #history(): History {
    const { store, clock } = this.#context;
    const nowMs = clock.nowMs();
    const known = this.#known;
    const maxAgeMs = known?.history.ratios.length === HISTORY ? OLD_MS : FRESH_MS;
    if (known !== undefined && nowMs - known.atMs < maxAgeMs) return known.history;
    const ended = store.endedJobs(undefined, ["done", "failed"], HISTORY);
    const ratios = Float64Array.from(ended, ({ ranMs, estimateMs }) => Math.min(1, ranMs / estimateMs));
    const history = { ratios: ratios.sort(), launchMs: Float64Array.from(store.launchTimes(LAUNCHES)) };
    this.#known = { atMs: nowMs, history };
    return history;
  }

  /** Stores each job's first forecast, up to MAX_KEPT at a time. */
  #keep({ waiting }: Forecasts): void {
    if (this.#isStopped) return;
    const { store, clock, book } = this.#context;
    // Jobs that have started in the meantime were not forecast in time.
    const fresh = [...waiting].filter(([job]) => !this.#kept.has(job) && book.live(job)?.state === "queued");
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
