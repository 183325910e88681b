/**
 * What a simulation says of each job. The numbers stay in the columns in which they come from the thread; a
 * job's forecast is made when somebody asks for it, since most callers ask for few of ten thousand.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { WhatIfAnswer } from "@tutti/protocol/schema.ts";
import { NUMBERS_OF_JOB } from "../forecast/model.ts";

type PolicyForecast = WhatIfAnswer["policies"][number];
/** When a waiting job starts and ends: Unix times in ms. */
export type StartAndEnd = Omit<PolicyForecast["jobs"][number], "job">;
type End = Omit<PolicyForecast["running"][number], "job">;
type Named<Forecast> = { readonly job: JobNumber } & Forecast;
export type NoForecast = NonNullable<NonNullable<PolicyForecast["hypothetical"]>[number]["noForecast"]>;

/** Jobs by row: those with processes, those that wait, then hypothetical ones. */
export interface ForecastRows {
  readonly jobs: readonly { readonly job: JobNumber; readonly uid: number }[];
  readonly running: number;
  readonly hypothetical: readonly { readonly uid: number }[];
  /** Unix time in ms. */
  readonly atMs: number;
  /** Whether nothing is known of how long jobs take. */
  readonly onlyRange: boolean;
  /** Row of a job that was submitted. */
  readonly rowOf: (job: JobNumber) => number | undefined;
}

/** The medians of a job, Unix times in ms. `startMs` is NaN for a job that runs. */
interface Medians {
  readonly startMs: number;
  readonly endMs: number;
}

/** Places of a job's numbers; see `forecast`. */
const START_P50 = 1;
const END_P50 = 4;
const END_P90 = 5;

/** Forecasts for all jobs for which one could be made. */
export class Forecasts {
  readonly #rows: ForecastRows;
  readonly #times: Float64Array | undefined;
  readonly #correct: (uid: number, forecast: StartAndEnd, atMs: number) => StartAndEnd;
  readonly #excluded: ReadonlyMap<number, NoForecast>;

  /**
   * @param times in s from `atMs`; undefined: the simulation failed
   * @param correct widens the forecast of a waiting job of a user, and leaves the medians
   * @param excluded why hypothetical jobs, given by their rows, take no part
   */
  constructor(
    rows: ForecastRows,
    times: Float64Array | undefined,
    correct: (uid: number, forecast: StartAndEnd, atMs: number) => StartAndEnd,
    excluded: ReadonlyMap<number, NoForecast>,
  ) {
    this.#rows = rows;
    this.#times = times;
    this.#correct = correct;
    this.#excluded = excluded;
  }

  /** Unix time in ms. */
  get atMs(): number {
    return this.#rows.atMs;
  }

  /** When a job that waits starts and ends. */
  of(job: JobNumber): StartAndEnd | undefined {
    const row = this.#rows.rowOf(job) ?? -1;
    return row < this.#rows.running ? undefined : this.#at(row, this.#rows.jobs[row].uid);
  }

  /** When a job that runs ends. */
  endOf(job: JobNumber): End | undefined {
    const row = this.#rows.rowOf(job) ?? Number.POSITIVE_INFINITY;
    if (row >= this.#rows.running || !this.#isKnown(row)) return undefined;
    return this.#endAt(row);
  }

  /** Of the jobs that are not submitted, in their order. */
  hypothetical(): readonly (StartAndEnd | NoForecast)[] {
    const { jobs, hypothetical } = this.#rows;
    return hypothetical.map(({ uid }, i) => {
      const row = jobs.length + i;
      const forecast = this.#at(row, uid);
      return this.#excluded.get(row) ?? (this.#times === undefined ? "failed" : (forecast ?? "never"));
    });
  }

  /** Whether there is no forecast of a submitted job. */
  get isEmpty(): boolean {
    return !this.#rows.jobs.some((_, row) => this.#isKnown(row));
  }

  /** The jobs that wait and have a forecast, in the order in which they are served. */
  waitingJobs(): JobNumber[] {
    const { running, jobs } = this.#rows;
    const known: JobNumber[] = [];
    for (let row = running; row < jobs.length; row++) if (this.#isKnown(row)) known.push(jobs[row].job);
    return known;
  }

  /** Forecasts of the jobs that run. @param isAsked for which jobs */
  running(isAsked: (job: JobNumber) => boolean): Named<End>[] {
    return this.#select(0, this.#rows.running, isAsked, (row) => this.#endAt(row));
  }

  /** Forecasts of the jobs that wait, in the order in which they are served. */
  waiting(isAsked: (job: JobNumber) => boolean): Named<StartAndEnd>[] {
    const { running, jobs } = this.#rows;
    return this.#select(running, jobs.length, isAsked, (row) => this.#at(row, jobs[row].uid));
  }

  /** Of the submitted jobs that have a forecast. */
  forEachMedian(visit: (job: JobNumber, row: number, medians: Medians) => void): void {
    for (let row = 0; row < this.#rows.jobs.length; row++) {
      const medians = this.medians(row);
      if (medians !== undefined) visit(this.#rows.jobs[row].job, row, medians);
    }
  }

  /** @param row of a submitted job */
  medians(row: number): Medians | undefined {
    if (!this.#isKnown(row)) return undefined;
    const startMs = row < this.#rows.running ? Number.NaN : this.#ms(row, START_P50);
    return { startMs, endMs: this.#ms(row, END_P50) };
  }

  #select<Forecast>(
    from: number,
    to: number,
    isAsked: (job: JobNumber) => boolean,
    forecastAt: (row: number) => Forecast,
  ): Named<NonNullable<Forecast>>[] {
    const found: Named<NonNullable<Forecast>>[] = [];
    for (let row = from; row < to; row++) {
      const { job } = this.#rows.jobs[row];
      if (this.#isKnown(row) && isAsked(job)) found.push({ job, ...forecastAt(row)! });
    }
    return found;
  }

  #endAt(row: number): End {
    const { p10Ms: _p10, p50Ms: _p50, p90Ms: _p90, ...end } = this.#read(row);
    return end;
  }

  #at(row: number, uid: number): StartAndEnd | undefined {
    return this.#isKnown(row) ? this.#correct(uid, this.#read(row), this.atMs) : undefined;
  }

  #read(row: number): StartAndEnd {
    return {
      p10Ms: this.#ms(row, 0),
      p50Ms: this.#ms(row, START_P50),
      p90Ms: this.#ms(row, 2),
      endP10Ms: this.#ms(row, 3),
      endP50Ms: this.#ms(row, END_P50),
      endP90Ms: this.#ms(row, END_P90),
      ...(this.#rows.onlyRange && { onlyRange: true as const }),
    };
  }

  #isKnown(row: number): boolean {
    return this.#times !== undefined && Number.isFinite(this.#times[NUMBERS_OF_JOB * row + END_P90]);
  }

  #ms(row: number, place: number): number {
    return this.atMs + 1000 * this.#times![NUMBERS_OF_JOB * row + place];
  }
}
