/**
 * The front end of the task-level simulator: the Ousterhout matrix, the gang policy that fills it, and the
 * tasks that are allocated to each processor (Silva and Scherson 1999, section 2.3). It acts only between
 * periods, and only if it has news for the policy: jobs that have ended, then jobs that have arrived.
 */
import { RuleViolation } from "../../core/errors.ts";
import { type JobIndex, type ReadonlyColumn, UNKNOWN } from "../../core/jobs.ts";
import type { GangMachine, Policy, RowId } from "../../core/policy.ts";
import { JobTable } from "../../machines/job-table.ts";
import { doubled } from "../../structures/grow.ts";
import { OusterhoutMatrix } from "../../structures/matrix/matrix.ts";
import type { TaskIndex, TaskObserver, TaskPrograms, TasksOptions } from "./contract.ts";

export class TaskGangs extends OusterhoutMatrix implements GangMachine {
  readonly slotS: number;
  /** Processor of each task, −1 before its job is placed. */
  readonly processorOf: Int32Array;
  /** Tasks allocated to each processor, in order of placement, `taskCounts[processor]` of them. */
  readonly tasks: Int32Array<ArrayBuffer>[];
  readonly taskCounts: Int32Array;
  readonly #programs: TaskPrograms;
  readonly #observer: TaskObserver | undefined;
  readonly #policy: Policy;
  readonly #jobs = new JobTable({ shape: false, memory: false, origin: false });
  readonly #ended: JobIndex[] = [];
  #arrived: JobIndex = 0;
  #nowMs = 0;

  constructor(programs: TaskPrograms, { processors, slotMs, gang, observer }: TasksOptions) {
    super(processors, programs.size);
    this.slotS = slotMs / 1000;
    this.processorOf = new Int32Array(programs.taskCount).fill(-1);
    this.tasks = Array.from({ length: processors }, () => new Int32Array(8));
    this.taskCounts = new Int32Array(processors);
    this.#programs = programs;
    this.#observer = observer;
    this.#policy = gang.definition.make(this, this.#jobs, gang.parameters);
  }

  override place(job: JobIndex, row: RowId, first: number): void {
    this.#checkArrival(job);
    super.place(job, row, first);
    this.#notePlace(job, row);
  }

  override placeStretches(job: JobIndex, row: RowId, stretches: ReadonlyColumn, count: number): void {
    this.#checkArrival(job);
    super.placeStretches(job, row, stretches, count);
    this.#notePlace(job, row);
  }

  override release(job: JobIndex, row: RowId): void {
    super.release(job, row);
    this.#observer?.released?.(this.#nowMs, job, row);
  }

  override exchange(a: RowId, b: RowId, first: number, end: number): void {
    super.exchange(a, b, first, end);
    this.#observer?.exchanged?.(this.#nowMs, a, b, first, end);
  }

  /** All tasks of the job have ended; the policy learns about it at the end of the period. */
  noteEnd(job: JobIndex): void {
    this.#ended.push(job);
  }

  /** The end of a period. */
  act(nowMs: number): void {
    const { jobCount, submitMs } = this.#programs;
    const arrives = this.#arrived < jobCount && submitMs[this.#arrived] <= nowMs;
    if (this.#ended.length === 0 && !arrives) return;
    this.#nowMs = nowMs;
    this.nowS = nowMs / 1000;
    for (const job of this.#ended) this.#remove(job);
    for (const job of this.#ended) {
      this.#observer?.departed?.(nowMs, job);
      this.#policy.depart(job);
    }
    this.#ended.length = 0;
    const arrived: JobIndex[] = [];
    while (this.#arrived < jobCount && submitMs[this.#arrived] <= nowMs) {
      const job = this.#arrived++;
      this.#fillRow(job);
      arrived.push(job);
    }
    this.#policy.decide(arrived);
  }

  #fillRow(job: JobIndex): void {
    this.#jobs.reserve(job);
    this.#jobs.size[job] = this.#programs.size[job];
    this.#jobs.submitS[job] = this.#programs.submitMs[job] / 1000;
    this.#jobs.estimateS[job] = UNKNOWN;
  }

  #checkArrival(job: JobIndex): void {
    if (job >= 0 && job < this.#arrived) return;
    throw new RuleViolation(
      "start-before-arrival",
      job,
      this.nowS,
      `Cannot place job ${job}: it has not arrived`,
    );
  }

  #notePlace(job: JobIndex, row: RowId): void {
    if (this.slotsOf(job) === 1) this.#allocate(job);
    this.#observer?.placed?.(this.#nowMs, job, row, this.processorOf);
  }

  /** Gives the job's tasks its processors, in ascending order. */
  #allocate(job: JobIndex): void {
    let task = this.#programs.firstTask[job];
    for (let run = this.firstRunOfJob(job); run !== -1; run = this.nextStretch(run)) {
      const end = this.runFirst(run) + this.runSize(run);
      for (let processor = this.runFirst(run); processor < end; processor++) this.#assign(task++, processor);
    }
  }

  #assign(task: TaskIndex, processor: number): void {
    const count = this.taskCounts[processor]++;
    if (count === this.tasks[processor].length) this.tasks[processor] = doubled(this.tasks[processor]);
    this.tasks[processor][count] = task;
    this.processorOf[task] = processor;
  }

  #remove(job: JobIndex): void {
    this.removeJob(job);
    const { firstTask } = this.#programs;
    for (let task: TaskIndex = firstTask[job]; task < firstTask[job + 1]; task++) {
      const processor = this.processorOf[task];
      const tasks = this.tasks[processor];
      tasks.copyWithin(tasks.indexOf(task), tasks.indexOf(task) + 1, this.taskCounts[processor]--);
    }
  }
}
