/**
 * When waiting jobs will start: the live state run forward in the simulator. Running times are drawn from what this daemon has seen:
 * estimate × (running time ÷ estimate of some earlier job). Each replication draws anew, from one seed; the forecast is the 10th,
 * 50th and 90th percentile over the replications.
 *
 *   time 0        jobs with processes, with what is left of them
 *   just behind   waiting jobs, in the order in which they are served
 */

import type { Instance } from "../core/jobs.ts";
import type { PolicyChoice } from "../core/policy.ts";
import { Random } from "../core/random.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { simulate } from "../simulator/simulate.ts";
import type { Context } from "./context.ts";
import type { JobNumber } from "./protocol.ts";
import type { JobRecord } from "./record.ts";

export interface Forecast {
  /** Unix times in ms. */
  readonly p10Ms: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
}

const SEED = 20_000;
/** Waiting jobs arrive this much after the running ones, so that these start first. */
const BEHIND_S = 0.001;
/** A job beyond its estimate is expected to need this share of what it has had. */
const OVERRUN_SHARE = 0.25;
const MOST_REPLICATIONS = 40;
/** Jobs × replications that one forecast may cost; it runs in the front end's own thread. */
const MOST_JOB_RUNS = 20_000;
const MOST_WAITING = 5000;
const HISTORY = 1000;
const FRESH_MS = 2000;
const ERRORS_KEPT = 100;

export class Forecaster {
  readonly #context: Context;
  #cached: { label: string; atMs: number; starts: ReadonlyMap<JobNumber, Forecast> } | undefined;
  #ratios: { atMs: number; values: readonly number[] } | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Start of one job under the present policy, with how far forecasts were off before; undefined when none can be made. */
  of(job: JobNumber) {
    const forecast = this.all(this.#context.scheduler.choice).get(job);
    return forecast === undefined ? undefined : { ...forecast, ...this.pastErrors() };
  }

  /** Median of |start − p50| over the last jobs that were forecast and have started; nothing when there are none. */
  pastErrors(): { readonly pastErrorP50Ms?: number } {
    const errors = this.#context.store.forecastErrors(ERRORS_KEPT).map(Math.abs);
    return errors.length === 0 ? {} : { pastErrorP50Ms: quantile(errors, 0.5) };
  }

  /** Starts of all waiting jobs under a policy. Empty when too many wait. */
  all(choice: PolicyChoice): ReadonlyMap<JobNumber, Forecast> {
    const nowMs = this.#context.clock.nowMs();
    const cached = this.#cached;
    if (cached !== undefined && cached.label === choice.label && nowMs - cached.atMs < FRESH_MS) {
      return cached.starts;
    }
    const starts = this.#forecast(choice);
    this.#cached = { label: choice.label, atMs: nowMs, starts };
    if (choice.label === this.#context.scheduler.choice.label) this.#remember(starts);
    return starts;
  }

  #forecast(choice: PolicyChoice): ReadonlyMap<JobNumber, Forecast> {
    const { book, scheduler, clock, config } = this.#context;
    const waiting = book.eligible();
    const starts = new Map<JobNumber, Forecast>();
    if (waiting.length === 0 || waiting.length > MOST_WAITING) return starts;
    const nowMs = clock.nowMs();
    const running = [...book.withProcess()].map((record) => ({
      record,
      ranMs: scheduler.ranMs(record.job, nowMs),
    }));
    const count = running.length + waiting.length;
    const replications = Math.max(3, Math.min(MOST_REPLICATIONS, Math.floor(MOST_JOB_RUNS / count)));
    const random = new Random(SEED, "forecast");
    const found = waiting.map((): number[] => []);
    const options = { slotS: config.slotMs / 1000, switchS: 0 };
    // As it would be made here: with the limit on rows.
    const limited = { ...choice, parameters: scheduler.parametersFor(choice) };
    for (let i = 0; i < replications; i++) {
      const instance = this.#instance(running, waiting, random);
      const { startS } = simulate(instance, limited, options);
      waiting.forEach((_, j) => {
        const s = startS[running.length + j];
        found[j].push(Number.isNaN(s) ? Number.POSITIVE_INFINITY : s);
      });
    }
    const unixMs = clock.unixMs();
    waiting.forEach(({ job }, j) => {
      const [p10Ms, p50Ms, p90Ms] = [0.1, 0.5, 0.9].map((p) => unixMs + 1000 * quantile(found[j], p));
      if (Number.isFinite(p90Ms)) starts.set(job, { p10Ms, p50Ms, p90Ms });
    });
    return starts;
  }

  #instance(
    running: readonly { readonly record: JobRecord; readonly ranMs: number }[],
    waiting: readonly JobRecord[],
    random: Random,
  ): Instance {
    const records = [...running.map(({ record }) => record), ...waiting];
    const estimateS = records.map(({ estimateMs }, i) =>
      i < running.length ? leftOf(estimateMs, running[i].ranMs) / 1000 : estimateMs / 1000,
    );
    const runS = records.map(({ estimateMs }, i) => {
      if (i >= running.length) return (estimateMs / 1000) * this.#drawRatio(random);
      const { ranMs } = running[i];
      // Only running times that are longer than what it has had already can be true.
      for (let tries = 0; tries < 20; tries++) {
        const runMs = estimateMs * this.#drawRatio(random);
        if (runMs > ranMs) return (runMs - ranMs) / 1000;
      }
      return leftOf(estimateMs, ranMs) / 1000;
    });
    const columns = {
      id: Int32Array.from(records, ({ job }) => job),
      submitS: Float64Array.from(records, (_, i) => (i < running.length ? 0 : BEHIND_S)),
      runS: Float64Array.from(runS),
      size: Int32Array.from(records, (record) => this.#context.scheduler.sizeOf(record)),
      estimateS: Float64Array.from(estimateS, (estimate, i) => Math.max(estimate, runS[i])),
    };
    const processors = this.#context.scheduler.options.cpus.length;
    const count = records.length;
    return {
      workload: {
        name: "live state",
        count,
        jobs: columns,
        processors,
        trace: undefined,
        header: [],
        diagnostics: [],
      },
      processors,
      rules: DEFAULT_RULES,
      count,
      ...columns,
      workloadRow: undefined,
      diagnostics: [],
    };
  }

  #drawRatio(random: Random): number {
    const values = this.#history();
    return values.length === 0 ? 1 : values[random.below(values.length)];
  }

  /** Running time ÷ estimate of jobs that have ended, at most 1: a longer one would have been stopped, or is a surprise. */
  #history(): readonly number[] {
    const { store, clock } = this.#context;
    const nowMs = clock.nowMs();
    if (this.#ratios === undefined || nowMs - this.#ratios.atMs > 30_000) {
      const ended = store.endedJobs(undefined, ["done", "failed"], HISTORY);
      const values = ended.map(({ ranMs, estimateMs }) => Math.min(1, ranMs / estimateMs));
      this.#ratios = { atMs: nowMs, values };
    }
    return this.#ratios.values;
  }

  /** Keeps each job's first forecast, to be judged when it starts. A full disk is no reason to refuse the forecast itself. */
  #remember(starts: ReadonlyMap<JobNumber, Forecast>): void {
    const { store, clock } = this.#context;
    try {
      store.begin();
      for (const [job, { p10Ms, p50Ms, p90Ms }] of starts) {
        store.noteForecast(job, clock.unixMs(), p10Ms, p50Ms, p90Ms);
      }
      store.commit();
    } catch {
      store.rollback();
    }
  }
}

function leftOf(estimateMs: number, ranMs: number): number {
  return estimateMs > ranMs ? estimateMs - ranMs : OVERRUN_SHARE * ranMs + 1000;
}

/** Value below which the share of the values lies (nearest rank). */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
