/**
 * Forecasts when waiting jobs start: on request and, after `start`, for every job soon after it enters the
 * queue. The first forecast of each job is stored and compared with its actual start. The simulation is in
 * forecast/model.ts and runs in another thread.
 */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { Drain } from "@tutti/protocol/schema.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Capacity } from "../executor/executor.ts";
import { ForecastRecord } from "../forecast/forecast-record.ts";
import { EARLY_FAILURE_MS, PastJobs } from "../forecast/past-jobs.ts";
import type { ForecastEngine } from "../forecast/thread.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { KeptWindow } from "../scheduling/windows.ts";
import type { JudgedForecast } from "../store/store.ts";
import type { Forecasts, StartAndEnd } from "./forecasts.ts";
import { LiveState } from "./live-state.ts";
import { LiveWorld, type Question } from "./live-world.ts";

/** If the queue is longer, only its first jobs are forecast. Later jobs have little influence on them. */
const MAX_WAITING = 2000;
/** A hypothetical job is last in its queue, so more jobs before it count. */
const MAX_BEFORE_HYPOTHETICAL = 10_000;
const HISTORY = 1000;
/** Ended jobs that are looked through for those that tell running times: a sweep may fail in every job. */
const LOOKED_THROUGH = 10_000;
const LAUNCHES = 200;
/** Age up to which a full history is used. Reading it takes a few ms. */
const OLD_MS = 5000;
const FRESH_MS = 2000;
const ERRORS_KEPT = 1000;
/** Forecasts stored in one transaction, which takes a few ms. */
const MAX_KEPT = 500;
/** Delay, so that a burst of submits is over before the forecast. */
const SOON_MS = 500;
/** Unrequested forecasts take at most 1 / (1 + this) of the time. */
const REST_PER_RUN = 20;

/** What of the scheduler all forecasts depend on. */
interface Conditions {
  readonly label: string;
  readonly capacity: Capacity;
  readonly drain: Drain | undefined;
  readonly windows: readonly KeptWindow[];
}

/** When something was made, and under which conditions. */
interface Made extends Conditions {
  /** On the monotonic clock. */
  readonly madeAtMs: number;
}

export class Forecaster {
  readonly #context: FrontEndParts;
  readonly #engine: ForecastEngine;
  #cached: (Made & { readonly forecasts: Promise<Forecasts> }) | undefined;
  /** The states of the last questions, by the number of waiting jobs that they may have. */
  readonly #asked = new Map<number, Made & { readonly revision: number; readonly state: LiveState }>();
  #known: { readonly untilMs: number; readonly past: PastJobs } | undefined;
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

  /** Forecast for one waiting job under the current policy, with how well those of its user's jobs did. */
  async of({ job, uid }: Pick<JobRecord, "job" | "uid">) {
    const forecast = (await this.present()).of(job);
    return forecast === undefined ? undefined : { ...forecast, ...this.pastErrors(uid) };
  }

  /** How well past forecasts of a user's jobs did, as answers state it, and what forecasts leave out. */
  pastErrors(uid: number, choice = this.#context.scheduler.choice) {
    const uncounted = this.uncounted(choice);
    const record = this.record(uid);
    if (record === undefined) return uncounted;
    const { errorP50Ms, jobs, withinShare } = record;
    return { ...uncounted, pastErrorP50Ms: errorP50Ms, pastForecasts: jobs, pastWithinShare: withinShare };
  }

  /**
   * How many jobs forecasts under a policy do not count: those that wait for quotas, and if the policy cannot
   * make way when jobs are let through, all that wait for limits.
   */
  uncounted({ definition }: PolicyChoice = this.#context.scheduler.choice) {
    const { book } = this.#context;
    const uncounted = definition.capabilities?.withdraw ? book.waitingForQuotas() : book.limits.waitingCount;
    return uncounted > 0 ? { uncounted } : {};
  }

  /** How well the last forecasts did: for jobs of one user, or of all. Undefined: too few can be judged. */
  record(uid?: number): ForecastRecord | undefined {
    return recordOf(this.#context.store.judgedForecasts(ERRORS_KEPT), uid);
  }

  /** Forecasts under the current policy, which all requests of some time share. */
  present(maxAgeMs = FRESH_MS): Promise<Forecasts> {
    const now = this.#now();
    if (this.#cached !== undefined && isFresh(this.#cached, now, maxAgeMs)) return this.#cached.forecasts;
    // Its age is counted from now on, so it needs a new state.
    this.#asked.delete(MAX_WAITING);
    const forecasts = this.#forecast([this.#presentQuestion]).then(([forecasts]) => {
      this.#keep(forecasts);
      return forecasts;
    });
    this.#cached = { ...now, forecasts };
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
    const waiting = book.eligibleSoon().slice(0, MAX_WAITING);
    const isWaiting = new Set(waiting.map(({ job }) => job));
    for (const job of this.#kept) if (!isWaiting.has(job)) this.#kept.delete(job);
    if (this.#kept.size === isWaiting.size) return;
    this.#isRunning = true;
    const fromMs = clock.nowMs();
    const forecasts = await this.present();
    this.#isRunning = false;
    const endMs = clock.nowMs();
    this.#restUntilMs = endMs + REST_PER_RUN * (endMs - fromMs);
    const isMissing = (job: JobNumber) =>
      !this.#kept.has(job) && isWaiting.has(job) && book.live(job)?.state === "queued";
    if (forecasts.waitingJobs().some(isMissing)) this.wake();
  }

  /** Forecasts that answer each of the questions. */
  async #forecast(questions: readonly Question[]): Promise<readonly Forecasts[]> {
    // Read now: when the simulation has ended, the store may be closed.
    const judged = this.#context.store.judgedForecasts(ERRORS_KEPT);
    const records = new Map<number, ForecastRecord | undefined>();
    // Until enough jobs of a user have started, ranges are as wide as those of all users require.
    const ofAll = recordOf(judged, undefined);
    const correct = (uid: number, forecast: StartAndEnd, atMs: number) => {
      if (!records.has(uid)) records.set(uid, recordOf(judged, uid) ?? ofAll);
      return records.get(uid)?.corrected(forecast, atMs) ?? forecast;
    };
    const { queues, slotMs } = this.#context.config;
    // All hypothetical jobs are those of the last question.
    const { hypothetical } = questions.at(-1)!;
    const state = this.#stateToAsk(hypothetical.length > 0 ? MAX_BEFORE_HYPOTHETICAL : MAX_WAITING);
    const live = new LiveWorld(this.#context, state, hypothetical);
    const asked = questions.map((question) => live.ask(question));
    const scenarios = asked.map(({ scenario }) => scenario);
    const world = live.workload;
    let times: readonly Float64Array[] = [];
    try {
      if (world.count > 0)
        times = await this.#engine({
          ...{ queues, slotS: slotMs / 1000, ...live.times },
          ...{ world, hypothetical: hypothetical.length, scenarios },
        });
    } catch {
      // Jobs do not depend on forecasts.
    }
    return asked.map((one, i) => live.read(one, times[i], correct));
  }

  /**
   * The state that questions are about. While somebody types a job or looks through policies, one question
   * follows the other: they share a state for as long as no job changes.
   */
  #stateToAsk(most: number): LiveState {
    const now = this.#now();
    const { revision } = this.#context.book;
    const known = this.#asked.get(most);
    if (known !== undefined && known.revision === revision && isFresh(known, now, FRESH_MS))
      return known.state;
    const state = new LiveState(this.#context, most, this.#past());
    this.#asked.set(most, { ...now, revision, state });
    return state;
  }

  #now(): Made {
    const { clock, scheduler } = this.#context;
    const { capacity, drain, windows } = scheduler.machine;
    const { label } = scheduler.choice;
    return { label, capacity, drain, windows: windows.list, madeAtMs: clock.nowMs() };
  }

  /** What ended jobs took. A short history soon has more to tell, and is quickly read. */
  #past(): PastJobs {
    const { store, clock } = this.#context;
    const nowMs = clock.nowMs();
    if (this.#known !== undefined && nowMs < this.#known.untilMs) return this.#known.past;
    const ended = store.jobsThatRan(EARLY_FAILURE_MS, HISTORY, LOOKED_THROUGH);
    const past = new PastJobs(ended, store.launchTimes(LAUNCHES));
    this.#known = { untilMs: nowMs + (ended.length === HISTORY ? OLD_MS : FRESH_MS), past };
    return past;
  }

  /** Stores each job's first forecast, up to MAX_KEPT at a time. */
  #keep(forecasts: Forecasts): void {
    if (this.#isStopped) return;
    const { store, clock, book } = this.#context;
    // Jobs that have started in the meantime were not forecast in time.
    // Of a job that joins the queue later, the forecast that counts is made when it does.
    const isInQueue = (record: JobRecord | undefined) =>
      record?.state === "queued" && record.notBeforeMs === undefined;
    const fresh = forecasts.waitingJobs().filter((job) => !this.#kept.has(job) && isInQueue(book.live(job)));
    const some = fresh.slice(0, MAX_KEPT);
    const areKept = store.tryTransaction(() => {
      for (const job of some) {
        const { p10Ms, p50Ms, p90Ms } = forecasts.of(job)!;
        const record = book.live(job);
        if (record !== undefined) store.noteForecast(record, clock.unixMs(), p10Ms, p50Ms, p90Ms);
      }
    });
    // If the disk is full, the next forecast tries again.
    if (areKept) for (const job of some) this.#kept.add(job);
  }
}

function isFresh(made: Made, now: Made, maxAgeMs: number): boolean {
  return (
    made.label === now.label &&
    made.capacity === now.capacity &&
    made.drain === now.drain &&
    made.windows === now.windows &&
    now.madeAtMs - made.madeAtMs < maxAgeMs
  );
}

function recordOf(judged: readonly JudgedForecast[], uid: number | undefined): ForecastRecord | undefined {
  return ForecastRecord.of(uid === undefined ? judged : judged.filter((one) => one.uid === uid));
}
