/** Turns the front end's records into jobs as drivers and policies see them. */
import { UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import type { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { QueueClass } from "@tutti/kernel/core/queue-classes.ts";
import type { ResourceKind } from "@tutti/kernel/core/resources.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { LiveJob, RunningJob } from "./live-driver.ts";
import type { LiveMachine, MachineObstacle } from "./live-machine.ts";
import { expectedMs, pauseMs } from "./overrun.ts";
import { asKinds, countHeld, demandOf } from "./units.ts";

interface LiveJobsOptions {
  readonly machine: LiveMachine;
  readonly queueClasses: readonly QueueClass[];
  /** Converts a Unix time of the past to monotonic time. */
  readonly monotonicOf: (unixMs: number) => number;
}

export class LiveJobs {
  readonly #options: LiveJobsOptions;
  /** Running times, used while there is no driver. */
  readonly #ranMs = new Map<JobNumber, number>();
  /**
   * When jobs joined the queue since the start, on the monotonic clock, because the wall clock may be set.
   */
  readonly #submittedMs = new Map<JobNumber, number>();

  /** When jobs were paused since the start, on the monotonic clock. */
  readonly #pausedMs = new Map<JobNumber, number>();
  /** Units that the jobs with processes hold, as they were last counted. */
  #held: ReturnType<typeof countHeld> = { held: new Map(), isOdd: false };
  /** Those that the policy does not see, of stopped and paused jobs, by kind. */
  #kept: readonly number[] = [];

  constructor(options: LiveJobsOptions) {
    this.#options = options;
  }

  /** The job joins the queue: it is submitted, or need no longer wait for a time. */
  noteSubmit(job: JobNumber, nowMs: number): void {
    this.#submittedMs.set(job, nowMs);
  }

  /** Sets the running time of a job with a process, as the executor counted it. */
  noteRan(job: JobNumber, ranMs: number): void {
    this.#ranMs.set(job, ranMs);
  }

  ranMs(job: JobNumber): number | undefined {
    return this.#ranMs.get(job);
  }

  notePause(job: JobNumber, nowMs: number): void {
    this.#pausedMs.set(job, nowMs);
  }

  departed(job: JobNumber): void {
    this.#pausedMs.delete(job);
    this.#ranMs.delete(job);
  }

  forget(job: JobNumber): void {
    this.#submittedMs.delete(job);
    this.#ranMs.delete(job);
  }

  /**
   * Counts the units of the jobs with processes, for `running`.
   * @param isKnown whether the policy knows the job; paused jobs that it does not know keep their units
   */
  countUnits(records: readonly JobRecord[], isKnown: (job: JobNumber) => boolean): void {
    this.#held = countHeld(records, this.#options.machine.counted);
    this.#kept = [];
    this.keepUnits(records.map(({ job }) => job).filter((job) => !isKnown(job)));
  }

  /** These jobs have no processors in the policy's view, but their processes keep their units. */
  keepUnits(jobs: readonly JobNumber[]): void {
    const { counted } = this.#options.machine;
    this.#kept = counted.map((_, k) =>
      jobs.reduce((sum, job) => sum + (this.#held.held.get(job)?.[k] ?? 0), this.#kept[k] ?? 0),
    );
  }

  /**
   * The units that the policy may give to jobs, with those of the jobs that it knows.
   * @param elsewhere jobs with processes on other parts of the machine
   */
  kinds(elsewhere: readonly JobNumber[]): readonly ResourceKind[] {
    return asKinds(this.#options.machine.counted).map(({ name, amount }, k) => ({
      name,
      amount:
        amount -
        (this.#kept[k] ?? 0) -
        elsewhere.reduce((sum, job) => sum + (this.#held.held.get(job)?.[k] ?? 0), 0),
    }));
  }

  /** Whether the policy expects other units to become free than those that do, when a job ends. */
  get hasOddUnits(): boolean {
    return this.#held.isOdd || this.#kept.some((units) => units > 0);
  }

  /** The job needs more units than there are without those that stopped jobs keep. */
  lackOfUnits(record: Pick<JobRecord, "use">): MachineObstacle | undefined {
    const { counted } = this.#options.machine;
    const demand = demandOf(record, counted);
    for (const [k, { name, units }] of counted.entries()) {
      const present = units.length - (this.#kept[k] ?? 0);
      if (demand[k] > present) {
        const configured = units.length;
        return { kind: "capacity-units", resource: name, needed: demand[k], present, configured };
      }
    }
    return undefined;
  }

  /** @param part of the machine, where it may start */
  waiting(record: JobRecord, choice: PolicyChoice, part: LiveMachine): LiveJob {
    const { queueClasses, monotonicOf } = this.#options;
    const queueClass = queueClasses.findIndex(({ name }) => name === record.queue);
    return {
      job: record.job,
      size: part.sizeOf(record, choice),
      threads: record.threads,
      submitMs: this.#submittedMs.get(record.job) ?? monotonicOf(record.eligibleAtMs ?? record.submittedAtMs),
      estimateMs: record.estimateMs,
      memoryBytes: record.memoryBytes,
      queueClass: queueClass >= 0 ? queueClass : UNKNOWN,
      user: record.uid,
      owner: record.user,
      demand: demandOf(record, part.counted),
    };
  }

  /**
   * A job with a process. A gang that cannot be moved keeps as many CPUs as it has. A job that was resumed
   * after it gave its CPUs back has none. A paused job is expected to run as much longer as it is paused.
   * @param machine the part of the machine on which it is
   */
  running(
    record: JobRecord,
    choice: PolicyChoice,
    machine: LiveMachine,
    nodes: NodeTable,
    nowMs: number,
  ): RunningJob {
    const ranMs = this.#ranMs.get(record.job) ?? record.ranMs;
    const held = machine.heldProcessors(record, choice);
    const isPaused = record.state === "paused";
    const processors =
      record.released && !isPaused
        ? []
        : nodes
            .indicesOf(record.nodes)
            .filter((processor) => processor >= 0)
            .sort((a, b) => a - b)
            .slice(0, held);
    const size = machine.movesGangs ? held : processors.length;
    const estimateMs = this.estimateMs(record, nowMs);
    const live = this.waiting(record, choice, machine);
    const demand = this.#held.held.get(record.job) ?? live.demand;
    return { ...live, size, estimateMs, ranMs, isPaused, processors, demand };
  }

  /** Expected running time of a job with a process; of a paused one, with its pause. */
  estimateMs({ job, state, estimateMs, limitMs, ranMs, pausedAtMs }: JobRecord, nowMs: number): number {
    const expected = expectedMs(estimateMs, this.#ranMs.get(job) ?? ranMs, limitMs !== undefined);
    if (state !== "paused" || pausedAtMs === undefined) return expected;
    const sinceMs = this.#pausedMs.get(job) ?? this.#options.monotonicOf(pausedAtMs);
    return expected + pauseMs(Math.max(0, nowMs - sinceMs));
  }
}
