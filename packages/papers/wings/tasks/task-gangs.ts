/**
 * Implements the front end of the task simulator, which allocates tasks to processors (Silva and Scherson
 * 1999, section 2.3): the Ousterhout matrix and the gang policy that fills it. It acts only between periods,
 * and only after a workload change: a job has ended, the number of eligible tasks of a moldable job has
 * changed, or a job has arrived. The changes are made in this order:
 *
 *   ended jobs leave           AAABB...     A has ended
 *   ended tasks give back      ...BB...     a task of B has ended       → ...B....
 *   created tasks get places   ...B....     B has created three tasks   → BBBB....
 *   arrived jobs get places    BBBB....     C, of two tasks, has come   → BBBBCC..
 *
 * Local tasks of a processor bypass the front end; they are allocated to their processor when they arrive.
 */
import { InputError, RuleViolation } from "@tutti/kernel/core/errors.ts";
import { type JobIndex, type ReadonlyColumn, UNKNOWN } from "@tutti/kernel/core/jobs.ts";
import { FEATURES, type GangMachine, type Policy, type RowId } from "@tutti/kernel/core/policy.ts";
import { JobTable } from "@tutti/kernel/machines/job-table.ts";
import { OusterhoutMatrix } from "@tutti/kernel/structures/matrix/matrix.ts";
import type { TaskIndex, TaskObserver, TaskPrograms, TasksOptions } from "./contract.ts";

export class TaskGangs extends OusterhoutMatrix implements GangMachine {
  readonly slotS: number;
  /** Processor of each task; −1 before it is placed, and when a moldable job has given the processor back. */
  readonly processorOf: Int32Array;
  /** Tasks allocated to each processor, in order of placement. */
  readonly tasks: TaskIndex[][];
  readonly #programs: TaskPrograms;
  readonly #observer: TaskObserver | undefined;
  readonly #policy: Policy;
  readonly #jobs = new JobTable({ shape: false, memory: false, origin: false });
  readonly #ended: JobIndex[] = [];
  readonly #moldable: boolean;
  /** Jobs that are local tasks, and how many of them have arrived. */
  readonly #locals: readonly JobIndex[];
  #localsArrived = 0;
  /** Processors of each job in the matrix. */
  readonly #width: Int32Array;
  /** Jobs whose number of eligible tasks has changed. */
  readonly #changed = new Set<JobIndex>();
  readonly #endedTasks: TaskIndex[] = [];
  /** Created tasks without a processor, in order of creation, by job. */
  readonly #waiting: TaskIndex[][] = [];
  #arrived: JobIndex = 0;
  #nowMs = 0;
  /** Whether a job that has a place gets more or fewer processors. */
  #isReshaped = false;

  constructor(programs: TaskPrograms, { processors, slotMs, moldable, gang, observer }: TasksOptions) {
    if (moldable && !gang.definition.copesWith?.(gang.parameters).includes("resizing")) {
      throw new InputError(
        `Cannot use gang policy "${gang.definition.name}" with moldable jobs: ${FEATURES.resizing}, expected a policy whose copesWith lists "resizing", such as gang:place=any`,
      );
    }
    const width = programs.size.slice();
    super(processors, width);
    this.#width = width;
    this.#moldable = moldable;
    this.#locals = Array.from(programs.home.keys()).filter((job) => programs.home[job] >= 0);
    this.slotS = slotMs / 1000;
    this.processorOf = new Int32Array(programs.taskCount).fill(-1);
    this.tasks = Array.from({ length: processors }, () => []);
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

  /** Processors for created tasks; at the end of the period only. */
  grow(job: JobIndex, stretches: ReadonlyColumn, count: number): void {
    const waiting = this.#waiting[job] ?? [];
    const processors = processorsOf(stretches, count);
    if (processors.length === 0 || processors.length > waiting.length || this.slotsOf(job) !== 1) {
      throw new RuleViolation(
        "wrong-size",
        job,
        this.nowS,
        `Cannot give job ${job} ${processors.length} more processors: it has ${waiting.length} tasks without one and ${this.slotsOf(job)} slots, expected 1`,
      );
    }
    this.#reshape(job, [...this.#processorsOfJob(job), ...processors]);
    for (const processor of processors) this.#assign(waiting.shift() as TaskIndex, processor);
  }

  /** All tasks of the job have ended; the policy learns about it at the end of the period. */
  noteEnd(job: JobIndex): void {
    if (this.#programs.home[job] >= 0) this.#drop(this.#programs.firstTask[job]);
    else this.#ended.push(job);
  }

  /** A local scheduler informs the front end that a task has ended. */
  noteTaskEnd(task: TaskIndex): void {
    const job = this.#programs.jobOfTask[task];
    if (!this.#moldable || this.#programs.home[job] >= 0) return;
    this.#endedTasks.push(task);
    this.#changed.add(job);
  }

  /** A local scheduler informs the front end that a task has been created. */
  noteCreated(task: TaskIndex): void {
    const job = this.#programs.jobOfTask[task];
    this.#waiting[job] ??= [];
    this.#waiting[job].push(task);
    this.#changed.add(job);
  }

  /** When the next local task comes; Infinity after the last one. */
  get nextLocalMs(): number {
    if (this.#localsArrived === this.#locals.length) return Number.POSITIVE_INFINITY;
    return this.#programs.submitMs[this.#locals[this.#localsArrived]];
  }

  /** Allocates the next local task to its processor, which is returned. */
  addLocal(): number {
    const { firstTask, home, submitMs } = this.#programs;
    const job = this.#locals[this.#localsArrived++];
    this.#assign(firstTask[job], home[job]);
    this.#observer?.cameHome?.(submitMs[job], home[job], firstTask[job]);
    return home[job];
  }

  /** The end of a period. */
  act(nowMs: number): void {
    const arrived = this.#arrivals(nowMs);
    if (this.#ended.length === 0 && this.#changed.size === 0 && arrived.length === 0) return;
    this.#nowMs = nowMs;
    this.nowS = nowMs / 1000;
    for (const job of this.#ended) this.#remove(job);
    for (const job of this.#ended) {
      this.#observer?.departed?.(nowMs, job);
      this.#policy.depart(job);
    }
    for (const job of this.#ended) this.#changed.delete(job);
    this.#ended.length = 0;
    const again = this.#followTasks();
    this.#policy.decide([...again, ...arrived]);
    this.#observer?.acted?.(nowMs);
  }

  #arrivals(nowMs: number): JobIndex[] {
    const { jobCount, submitMs, home } = this.#programs;
    const arrived: JobIndex[] = [];
    for (; this.#arrived < jobCount && submitMs[this.#arrived] <= nowMs; this.#arrived++) {
      if (home[this.#arrived] >= 0) continue;
      this.#fillRow(this.#arrived);
      arrived.push(this.#arrived);
    }
    return arrived;
  }

  /**
   * Adapts moldable jobs to their numbers of eligible tasks. Returns the jobs that have only new tasks: they
   * are placed like arrivals.
   */
  #followTasks(): JobIndex[] {
    const changed = [...this.#changed].sort((a, b) => a - b);
    this.#changed.clear();
    for (const job of changed) this.#takeBack(job);
    this.#endedTasks.length = 0;
    const again: JobIndex[] = [];
    for (const job of changed) {
      const count = this.#newcomers(job);
      if (this.slotsOf(job) === 0) {
        this.#width[job] = count;
        this.#jobs.size[job] = count;
        again.push(job);
      } else if (count > 0) {
        this.#policy.grow?.(job, count);
        this.#observer?.resized?.(this.#nowMs, job, this.processorOf);
      }
    }
    return again;
  }

  /** Created tasks that get a processor now: all of them, unless the machine has fewer processors. */
  #newcomers(job: JobIndex): number {
    const width = this.slotsOf(job) === 0 ? 0 : this.#width[job];
    const count = this.#waiting[job]?.length ?? 0;
    // The others wait until tasks of the job end.
    return Math.min(count, this.processors - width);
  }

  /** Takes back the processors of the job's ended tasks. */
  #takeBack(job: JobIndex): void {
    const { jobOfTask } = this.#programs;
    const ended = this.#endedTasks.filter((task) => jobOfTask[task] === job);
    if (ended.length === 0) return;
    const freed = new Set(ended.map((task) => this.processorOf[task]));
    for (const task of ended) this.#drop(task);
    if (ended.length < this.#width[job]) {
      this.#reshape(
        job,
        this.#processorsOfJob(job).filter((processor) => !freed.has(processor)),
      );
      this.#policy.shrank?.(job, ended.length);
    } else {
      const row = this.runRow(this.firstRunOfJob(job));
      this.removeJob(job);
      this.#observer?.released?.(this.#nowMs, job, row);
      this.#policy.depart(job);
    }
    this.#observer?.resized?.(this.#nowMs, job, this.processorOf);
  }

  #processorsOfJob(job: JobIndex): number[] {
    const processors: number[] = [];
    for (let run = this.firstRunOfJob(job); run !== -1; run = this.nextStretch(run)) {
      const first = this.runFirst(run);
      for (let i = 0; i < this.runSize(run); i++) processors.push(first + i);
    }
    return processors;
  }

  /** Gives the job these processors in its row instead of those that it has. */
  #reshape(job: JobIndex, processors: number[]): void {
    const stretches: number[] = [];
    for (const processor of processors.sort((a, b) => a - b)) {
      if (stretches.at(-1) === processor) stretches.pop();
      else stretches.push(processor);
      stretches.push(processor + 1);
    }
    this.#width[job] = processors.length;
    this.#jobs.size[job] = processors.length;
    this.#isReshaped = true;
    this.reshape(job, stretches, stretches.length / 2);
    this.#isReshaped = false;
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
    if (this.#isReshaped) return;
    if (this.slotsOf(job) === 1) this.#allocate(job);
    this.#observer?.placed?.(this.#nowMs, job, row, this.processorOf);
  }

  /** Gives the tasks that the job has created, or its first ones, its processors in ascending order. */
  #allocate(job: JobIndex): void {
    const waiting = this.#waiting[job] ?? [];
    let first = this.#programs.firstTask[job];
    for (const processor of this.#processorsOfJob(job)) this.#assign(waiting.shift() ?? first++, processor);
  }

  #assign(task: TaskIndex, processor: number): void {
    this.tasks[processor].push(task);
    this.processorOf[task] = processor;
  }

  #remove(job: JobIndex): void {
    this.removeJob(job);
    const { firstTask } = this.#programs;
    for (let task: TaskIndex = firstTask[job]; task < firstTask[job + 1]; task++)
      if (this.processorOf[task] >= 0) this.#drop(task);
  }

  /** Takes the task from the list of its processor. */
  #drop(task: TaskIndex): void {
    const tasks = this.tasks[this.processorOf[task]];
    tasks.splice(tasks.indexOf(task), 1);
    this.processorOf[task] = -1;
  }
}

/** The processors of stretches, given as in `placeStretches`. */
function processorsOf(stretches: ReadonlyColumn, count: number): number[] {
  const processors: number[] = [];
  for (let i = 0; i < count; i++)
    for (let processor = stretches[2 * i]; processor < stretches[2 * i + 1]; processor++)
      processors.push(processor);
  return processors;
}
