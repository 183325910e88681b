/** Turns the live state into the input of the forecast's model, and the model's result into Unix times. */
import type { PolicyChoice } from "../../core/policy.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { WhatIfAnswer } from "../../protocol/schema.ts";
import { type JobRecord, servedBefore } from "../contract/record.ts";
import { type ForecastTask, type History, NUMBERS_OF_JOB, type Scenario } from "../forecast/model.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

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
export type Hypothetical = Pick<JobRecord, "tasks" | "memoryBytes" | "estimateMs" | "queue" | "priority">;

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
/** Greater than the rank of any job in the queue. */
const LAST_RANK = 2 ** 52;

/** Stands for the number of a job that is not submitted. */
const NO_NUMBER = { job: 0 };

type Context = Pick<FrontEndParts, "book" | "scheduler" | "clock" | "config">;

/** A job of the columns that waits. */
interface Candidate {
  readonly record: Pick<JobRecord, "tasks" | "memoryBytes" | "priority" | "queueRank">;
  readonly row: number;
}

/** The live state at one instant, with jobs that are not submitted. */
export class LiveTask {
  readonly task: ForecastTask;
  readonly #atMs: number;
  readonly #running: readonly JobRecord[];
  readonly #waiting: readonly JobRecord[];
  readonly #hypothetical: readonly Hypothetical[];
  /** By question: why hypothetical jobs, given by their indices, do not take part. */
  readonly #excluded: readonly ReadonlyMap<number, NoForecast>[];

  /** @param questions all hypothetical jobs are those of the last one */
  constructor(context: Context, questions: readonly Question[], history: History) {
    const { book, scheduler, clock, config } = context;
    const nowMs = clock.nowMs();
    const { hypothetical } = questions.at(-1)!;
    this.#atMs = clock.unixMs();
    // The order in which an adoption would take them over.
    this.#running = [...book.withProcess()].sort(
      (a, b) => scheduler.ranMs(b.job, nowMs) - scheduler.ranMs(a.job, nowMs) || a.job - b.job,
    );
    const eligible = book.eligible();
    const most = hypothetical.length > 0 ? MAX_BEFORE_HYPOTHETICAL : MAX_WAITING;
    this.#waiting = eligible.slice(0, most);
    this.#hypothetical = hypothetical;
    const running = this.#running.length;
    const records = [...this.#running, ...this.#waiting, ...hypothetical];
    const firstHypothetical = running + this.#waiting.length;
    const excluded: Map<number, NoForecast>[] = [];
    const scenarios = questions.map(({ choice, hypothetical: asked, withoutCpus }): Scenario => {
      const { sharing } = choice.definition;
      const why = new Map<number, NoForecast>();
      excluded.push(why);
      const candidates: Candidate[] = [
        ...this.#waiting.map((record, i) => ({ record, row: running + i })),
        ...asked.map((record, i) => ({
          record: { ...record, queueRank: LAST_RANK + i },
          row: firstHypothetical + i,
        })),
      ];
      // Stable: a job that is not submitted comes after those of its priority.
      candidates.sort((a, b) => (a.row === b.row ? 0 : servedBefore(a.record, b.record) ? -1 : 1));
      const beyond = eligible[most];
      const cut = this.#foreseeable(context, choice, candidates);
      const isUnknown = new Set(candidates.slice(cut).map(({ row }) => row));
      const processors = scheduler.options.nodes.processors - withoutCpus;
      const size = Int32Array.from(records, (record) => scheduler.sizeOf(record, sharing));
      asked.forEach((record, i) => {
        const row = firstHypothetical + i;
        const isLate = beyond !== undefined && servedBefore(beyond, { ...record, queueRank: LAST_RANK + i });
        if (isUnknown.has(row)) why.set(i, "memory");
        else if (size[row] > processors) why.set(i, "cpus");
        else if (isLate) why.set(i, "queue");
      });
      return {
        policy: choice.label,
        // Includes the live limit on rows.
        parameters: scheduler.parametersFor(choice),
        processors,
        size,
        waiting: Int32Array.from(
          candidates.slice(0, cut).filter(({ row }) => !why.has(row - firstHypothetical)),
          ({ row }) => row,
        ),
      };
    });
    this.#excluded = excluded;
    const classes = scheduler.options.queueClasses;
    this.task = {
      queues: config.queues,
      slotS: config.slotMs / 1000,
      running,
      job: Int32Array.from(
        [...this.#running, ...this.#waiting, ...hypothetical.map(() => NO_NUMBER)],
        ({ job }) => job,
      ),
      estimateMs: Float64Array.from(records, ({ estimateMs }) => estimateMs),
      ranMs: Float64Array.from(records, (_, row) =>
        row < running ? scheduler.ranMs(this.#running[row].job, nowMs) : 0,
      ),
      queue: Int32Array.from(records, ({ queue }) => classes.findIndex(({ name }) => name === queue)),
      isLimited: Uint8Array.from(records, (_, row) =>
        row < running && this.#running[row].limitMs !== undefined ? 1 : 0,
      ),
      history,
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
      const { endP10Ms, endP50Ms, endP90Ms } = found;
      running.set(job, { endP10Ms, endP50Ms, endP90Ms });
    });
    this.#waiting.forEach(({ job }, i) => {
      const found = this.#at(this.#running.length + i, times);
      if (found !== undefined) waiting.set(job, found);
    });
    const excluded = this.#excluded[question];
    const first = this.#running.length + this.#waiting.length;
    const hypothetical = this.#hypothetical.map(
      (_, i) => excluded.get(i) ?? (times === undefined ? "failed" : (this.#at(first + i, times) ?? "never")),
    );
    return { atMs: this.#atMs, waiting, running, hypothetical };
  }

  #at(row: number, times: Float64Array | undefined): StartAndEnd | undefined {
    if (times === undefined) return undefined;
    const first = NUMBERS_OF_JOB * row;
    const [p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms] = times
      .subarray(first, first + NUMBERS_OF_JOB)
      .map((s) => this.#atMs + 1000 * s);
    if (!Number.isFinite(endP90Ms)) return undefined;
    return { p10Ms, p50Ms, p90Ms, endP10Ms, endP50Ms, endP90Ms };
  }

  /**
   * Number of waiting jobs up to the first that waits for memory. The model does not know about memory, so it
   * would forecast an immediate start of that job and of later ones.
   */
  #foreseeable({ book, scheduler }: Context, choice: PolicyChoice, waiting: readonly Candidate[]): number {
    // Under space sharing, memory is counted in processors.
    if (choice.definition.sharing === "space") return waiting.length;
    const freeBytes = Math.max(0, scheduler.options.memoryBytes - book.usedMemoryBytes());
    const first = waiting.findIndex(({ record: { memoryBytes = 0 } }) => memoryBytes > freeBytes);
    return first < 0 ? waiting.length : first;
  }
}
