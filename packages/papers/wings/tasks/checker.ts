/**
 * Checks a run of tasks and throws at the first violation. It takes from the simulator only which task had
 * which processor and when, and executes the programs a second time from that.
 *
 * Rules: a processor has one task at a time, and a task has only the processor on which it was placed; a
 * blocked task does not run; the row's own task comes first; under conventional gang scheduling no other task
 * runs; under a work-conserving local scheduler no processor is idle while one of its tasks is ready; a task
 * computes for as long as its program says; a task runs only after it was created; after the front end has
 * acted, exactly the living tasks of a moldable job have processors (unless the job has more of them than the
 * machine has processors); a local task is on its own processor and never in a row.
 */
import { RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { JobIndex, ReadonlyColumn } from "@tutti/kernel/core/jobs.ts";
import type { RowId } from "@tutti/kernel/core/policy.ts";
import {
  type BlockReason,
  NO_TASK,
  Op,
  type TaskIndex,
  type TaskObserver,
  type TaskPrograms,
  type TasksOptions,
  type TasksResult,
} from "./contract.ts";

const ENDED = -1;
const UNBORN = -2;

export class TaskChecker implements TaskObserver {
  readonly #programs: TaskPrograms;
  readonly #options: Omit<TasksOptions, "observer">;
  /**
   * By task: whether it may run outside its slots, and whether its processor must not idle while it is ready.
   */
  readonly #mayFill: (task: TaskIndex) => boolean;
  readonly #mustFill: (task: TaskIndex) => boolean;
  #row: RowId = -1;
  #signalMs = Number.NaN;
  // Jobs.
  readonly #rowsOf: Set<RowId>[];
  readonly #barriersPassed: Int32Array;
  readonly #atBarrier: Int32Array;
  /** Tasks that exist and have not ended. */
  readonly #living: Int32Array;
  // Tasks.
  readonly #processorOf: Int32Array;
  readonly #statement: Int32Array;
  /**
   * The Op that blocks the task (`waitsFor` has its end or its barrier), compute if it is not blocked, ENDED,
   * or UNBORN.
   */
  readonly #block: Int8Array;
  readonly #waitsFor: Float64Array;
  readonly #leftMs: Int32Array;
  readonly #computedMs: Float64Array;
  readonly #messageAtMs: Float64Array;
  // Processors.
  readonly #tasks: TaskIndex[][];
  readonly #task: Int32Array;
  readonly #last: Int32Array;
  readonly #readyAtMs: Float64Array;
  readonly #computesSinceMs: Float64Array;
  #busyMs = 0;
  #ended = 0;

  constructor(programs: TaskPrograms, options: Omit<TasksOptions, "observer">) {
    const { jobCount, taskCount } = programs;
    this.#programs = programs;
    this.#options = options;
    const { outsideSlots } = options.local.definition.guarantees(options.local.parameters);
    const isDeclared = (task: TaskIndex) => programs.isGang[programs.jobOfTask[task]] === 1;
    this.#mayFill = (task) => outsideSlots !== "none" && !(outsideSlots === "undeclared" && isDeclared(task));
    this.#mustFill = (task) => outsideSlots !== "some" && this.#mayFill(task);
    this.#rowsOf = Array.from({ length: jobCount }, () => new Set<RowId>());
    this.#barriersPassed = new Int32Array(jobCount);
    this.#atBarrier = new Int32Array(jobCount);
    this.#processorOf = new Int32Array(taskCount).fill(-1);
    this.#statement = programs.firstStatement.slice(0, taskCount);
    this.#living = programs.size.slice();
    this.#block = Int8Array.from(programs.jobOfTask, (job, task) =>
      task < programs.firstTask[job] + programs.size[job] ? Op.compute : UNBORN,
    );
    this.#waitsFor = new Float64Array(taskCount);
    this.#leftMs = new Int32Array(taskCount);
    this.#computedMs = new Float64Array(taskCount);
    this.#messageAtMs = new Float64Array(programs.messageCount).fill(Number.POSITIVE_INFINITY);
    this.#tasks = Array.from({ length: options.processors }, () => []);
    this.#task = new Int32Array(options.processors).fill(NO_TASK);
    this.#last = new Int32Array(options.processors).fill(NO_TASK);
    this.#readyAtMs = new Float64Array(options.processors);
    this.#computesSinceMs = new Float64Array(options.processors).fill(Number.NaN);
  }

  placed(timeMs: number, job: JobIndex, row: RowId, processorOf: ReadonlyColumn): void {
    const isNew = this.#rowsOf[job].size === 0;
    this.#rowsOf[job].add(row);
    const { firstTask, home } = this.#programs;
    if (home[job] >= 0) this.#fail("local", firstTask[job], timeMs, "is placed in a row");
    for (let task = firstTask[job]; task < firstTask[job + 1]; task++) {
      const processor = processorOf[task];
      if (this.#options.moldable && processor === -1) continue;
      if (!(processor >= 0 && processor < this.#tasks.length))
        this.#fail("off-machine", task, timeMs, "is placed off the machine");
      if (!isNew && processor !== this.#processorOf[task])
        this.#fail("migrated", task, timeMs, "is placed on another processor than before");
      if (isNew) this.#tasks[processor].push(task);
      this.#processorOf[task] = processor;
    }
  }

  released(_timeMs: number, job: JobIndex, row: RowId): void {
    this.#rowsOf[job].delete(row);
  }

  exchanged(_timeMs: number, a: RowId, b: RowId, first: number, end: number): void {
    for (const [job, rows] of this.#rowsOf.entries()) {
      const processor = this.#processorOf[this.#programs.firstTask[job]];
      if (processor < first || processor >= end || rows.has(a) === rows.has(b)) continue;
      const [from, to] = rows.has(a) ? [a, b] : [b, a];
      rows.delete(from);
      rows.add(to);
    }
  }

  departed(timeMs: number, job: JobIndex): void {
    const { firstTask } = this.#programs;
    this.#rowsOf[job].clear();
    for (let task = firstTask[job]; task < firstTask[job + 1]; task++) this.#leaves(timeMs, task);
  }

  resized(timeMs: number, job: JobIndex, processorOf: ReadonlyColumn): void {
    const { firstTask } = this.#programs;
    if (!this.#options.moldable)
      this.#fail("rigid", firstTask[job], timeMs, "is in a job that changes its size");
    for (let task = firstTask[job]; task < firstTask[job + 1]; task++) {
      const processor = processorOf[task];
      if (processor === this.#processorOf[task]) continue;
      if (processor === -1) this.#leaves(timeMs, task);
      else if (this.#processorOf[task] === -1) this.#tasks[processor].push(task);
      else this.#fail("migrated", task, timeMs, "is placed on another processor than before");
      this.#processorOf[task] = processor;
    }
  }

  acted(timeMs: number): void {
    if (!this.#options.moldable) return;
    const { firstTask } = this.#programs;
    for (const [job, rows] of this.#rowsOf.entries()) {
      if (rows.size === 0) continue;
      let placed = 0;
      let without = NO_TASK;
      for (let task = firstTask[job]; task < firstTask[job + 1]; task++) {
        const isLiving = this.#block[task] > ENDED;
        if (this.#processorOf[task] >= 0) placed++;
        else if (isLiving) without = task;
        if (this.#processorOf[task] >= 0 && !isLiving)
          this.#fail("eligible", task, timeMs, "keeps its processor after its end");
      }
      if (without !== NO_TASK && placed < this.#tasks.length)
        this.#fail(
          "eligible",
          without,
          timeMs,
          "has no processor although the front end has already acted on its arrival",
        );
    }
  }

  cameHome(timeMs: number, p: number, task: TaskIndex): void {
    const { jobOfTask, home, submitMs } = this.#programs;
    if (home[jobOfTask[task]] !== p || submitMs[jobOfTask[task]] !== timeMs)
      this.#fail(
        "local",
        task,
        timeMs,
        `comes to processor ${p}, which is not its processor or not its time`,
      );
    this.#tasks[p].push(task);
    this.#processorOf[task] = p;
  }

  /** The task gives back its processor. */
  #leaves(timeMs: number, task: TaskIndex): void {
    if (this.#block[task] !== ENDED) this.#fail("torn-gang", task, timeMs, "is removed before its end");
    if (this.#processorOf[task] === -1) return;
    const tasks = this.#tasks[this.#processorOf[task]];
    tasks.splice(tasks.indexOf(task), 1);
    this.#processorOf[task] = -1;
  }

  signalled(timeMs: number, row: RowId): void {
    if (timeMs !== (Number.isNaN(this.#signalMs) ? 0 : this.#signalMs + this.#options.slotMs))
      this.#fail(
        "clock",
        NO_TASK,
        timeMs,
        `the signal after that of ${this.#signalMs} ms comes at the wrong time`,
      );
    this.#signalMs = timeMs;
    this.#row = row;
    const kept = this.#task.find((task) => task !== NO_TASK);
    if (kept !== undefined)
      this.#fail("outside-slot", kept, timeMs, "keeps its processor across a clock signal");
  }

  dispatched(timeMs: number, p: number, task: TaskIndex): void {
    if (this.#task[p] !== NO_TASK)
      this.#fail("processor-twice", task, timeMs, `gets processor ${p}, but task ${this.#task[p]} has it`);
    if (this.#processorOf[task] !== p)
      this.#fail("migrated", task, timeMs, `gets processor ${p}, expected ${this.#processorOf[task]}`);
    if (!this.#canGoOn(task, timeMs))
      this.#fail("blocked-runs", task, timeMs, "gets a processor although it is blocked or has ended");
    if (!this.#isOwn(task)) {
      if (!this.#mayFill(task)) this.#fail("outside-slot", task, timeMs, "runs in another row's slot");
      this.#ownIsNotReady(p, timeMs);
    }
    const switches = this.#last[p] !== task;
    this.#task[p] = task;
    this.#last[p] = task;
    this.#readyAtMs[p] = timeMs + (switches ? this.#options.switchMs : 0);
  }

  computes(timeMs: number, p: number, task: TaskIndex): void {
    this.#goesOn(timeMs, p, task);
    const at = this.#statement[task];
    if (this.#walk(task, timeMs) !== Op.compute)
      this.#fail("program", task, timeMs, `computes at statement ${at}, which is not a computation`);
    if (this.#leftMs[task] === 0) this.#leftMs[task] = this.#programs.operand[this.#statement[task]];
    this.#computesSinceMs[p] = timeMs;
  }

  pauses(timeMs: number, p: number, task: TaskIndex): void {
    const doneMs = timeMs - this.#computesSinceMs[p];
    this.#computesSinceMs[p] = Number.NaN;
    this.#busyMs += doneMs;
    this.#computedMs[task] += doneMs;
    this.#leftMs[task] -= doneMs;
    if (!(this.#task[p] === task && this.#leftMs[task] >= 0))
      this.#fail("program", task, timeMs, "computes longer than its statement");
    if (this.#leftMs[task] === 0) this.#statement[task]++;
    this.#readyAtMs[p] = timeMs;
  }

  preempted(timeMs: number, p: number, task: TaskIndex): void {
    const own = this.#tasks[p].find((other) => this.#isOwn(other));
    const returns =
      this.#options.ownReturns && own !== undefined && own !== task && this.#canGoOn(own, timeMs);
    if (timeMs !== this.#signalMs + this.#options.slotMs && !returns)
      this.#fail("preempted", task, timeMs, "loses its processor between signals");
    this.#task[p] = NO_TASK;
  }

  blocked(timeMs: number, p: number, task: TaskIndex, reason: BlockReason): void {
    this.#goesOn(timeMs, p, task);
    if (this.#walk(task, timeMs) !== reason)
      this.#fail("program", task, timeMs, `blocks with reason ${reason}, which is not in its program`);
    this.#task[p] = NO_TASK;
  }

  ended(timeMs: number, p: number, task: TaskIndex): void {
    this.#goesOn(timeMs, p, task);
    const { firstStatement, op, operand } = this.#programs;
    let wantedMs = 0;
    for (let at = firstStatement[task]; at < firstStatement[task + 1]; at++)
      if (op[at] === Op.compute) wantedMs += operand[at];
    if (this.#walk(task, timeMs) !== ENDED || this.#computedMs[task] !== wantedMs)
      this.#fail(
        "program",
        task,
        timeMs,
        `ends after computing ${this.#computedMs[task]} ms, expected ${wantedMs} ms`,
      );
    this.#block[task] = ENDED;
    this.#task[p] = NO_TASK;
    this.#ended++;
    const { jobOfTask, home } = this.#programs;
    this.#living[jobOfTask[task]]--;
    this.#passBarrier(jobOfTask[task]);
    if (home[jobOfTask[task]] >= 0) this.#leaves(timeMs, task);
  }

  settled(timeMs: number): void {
    for (let p = 0; p < this.#task.length; p++) {
      const task = this.#task[p];
      if (task !== NO_TASK) {
        if (this.#options.ownReturns && !this.#isOwn(task)) this.#ownIsNotReady(p, timeMs);
        continue;
      }
      this.#ownIsNotReady(p, timeMs);
      const waits = this.#tasks[p].find((other) => this.#canGoOn(other, timeMs) && this.#mustFill(other));
      if (waits !== undefined)
        this.#fail("idle-with-work", waits, timeMs, `is ready although processor ${p} idles`);
    }
  }

  /**
   * Compares the last totals of the finished run with the observed events.
   * @throws RuleViolation if they differ, or if the uses do not add up to processors × time
   */
  check(result: TasksResult): void {
    const { timeMs, busyMs, switchMs, ioMs, messageMs, barrierMs, emptyMs } =
      result.totals[result.totals.length - 1];
    let seenMs = this.#busyMs;
    for (const sinceMs of this.#computesSinceMs) if (!Number.isNaN(sinceMs)) seenMs += timeMs - sinceMs;
    if (seenMs !== busyMs)
      this.#fail(
        "accounts",
        NO_TASK,
        timeMs,
        `${busyMs} ms of computing are reported, but ${seenMs} ms were observed`,
      );
    const sumMs = busyMs + switchMs + ioMs + messageMs + barrierMs + emptyMs;
    if (sumMs !== timeMs * this.#task.length)
      this.#fail("accounts", NO_TASK, timeMs, `uses add up to ${sumMs} ms`);
  }

  /** Number of tasks that have ended. */
  get endedTasks(): number {
    return this.#ended;
  }

  #isOwn(task: TaskIndex): boolean {
    return this.#rowsOf[this.#programs.jobOfTask[task]].has(this.#row);
  }

  #ownIsNotReady(p: number, timeMs: number): void {
    for (const own of this.#tasks[p]) {
      if (this.#isOwn(own) && this.#canGoOn(own, timeMs))
        this.#fail("out-of-turn", own, timeMs, `cannot run in its own slot on processor ${p}`);
    }
  }

  #goesOn(timeMs: number, p: number, task: TaskIndex): void {
    if (!(this.#task[p] === task && timeMs === this.#readyAtMs[p]))
      this.#fail("processor-twice", task, timeMs, `continues on processor ${p} without having it`);
  }

  #canGoOn(task: TaskIndex, timeMs: number): boolean {
    switch (this.#block[task]) {
      case Op.compute:
        return true;
      case Op.io:
        return this.#waitsFor[task] <= timeMs;
      case Op.receive:
        return this.#messageAtMs[this.#waitsFor[task]] <= timeMs;
      case Op.barrier:
        return this.#barriersPassed[this.#programs.jobOfTask[task]] > this.#waitsFor[task];
      default:
        return false;
    }
  }

  /** Executes statements that take no time; returns the first one that takes time, or ENDED. */
  #walk(task: TaskIndex, timeMs: number): number {
    const { op, operand, firstStatement, latencyMs, jobOfTask } = this.#programs;
    if (this.#block[task] !== Op.compute) {
      if (!this.#canGoOn(task, timeMs))
        this.#fail("blocked-runs", task, timeMs, "continues while it is blocked");
      this.#block[task] = Op.compute;
      this.#statement[task]++;
    }
    for (; this.#statement[task] < firstStatement[task + 1]; this.#statement[task]++) {
      const at = this.#statement[task];
      const job = jobOfTask[task];
      if (op[at] === Op.compute) return Op.compute;
      if (op[at] === Op.create) {
        this.#block[operand[at]] = Op.compute;
        this.#living[job]++;
        continue;
      }
      if (op[at] === Op.send) {
        this.#messageAtMs[operand[at]] = timeMs + latencyMs[operand[at]];
        continue;
      }
      if (op[at] === Op.io) this.#waitsFor[task] = timeMs + operand[at];
      if (op[at] === Op.receive) this.#waitsFor[task] = operand[at];
      if (op[at] === Op.barrier) {
        this.#waitsFor[task] = this.#barriersPassed[job];
        this.#atBarrier[job]++;
        this.#passBarrier(job);
      }
      this.#block[task] = op[at];
      if (!this.#canGoOn(task, timeMs)) return op[at];
      this.#block[task] = Op.compute;
    }
    return ENDED;
  }

  /** All living tasks of the job may have reached the barrier. */
  #passBarrier(job: JobIndex): void {
    if (this.#atBarrier[job] === 0 || this.#atBarrier[job] !== this.#living[job]) return;
    this.#atBarrier[job] = 0;
    this.#barriersPassed[job]++;
  }

  #fail(rule: string, task: TaskIndex, timeMs: number, what: string): never {
    const who = task === NO_TASK ? "" : `task ${task} of job ${this.#programs.jobOfTask[task]} `;
    const job = task === NO_TASK ? -1 : this.#programs.jobOfTask[task];
    throw new RuleViolation(rule, job, timeMs / 1000, `At ${timeMs} ms ${who}${what}`);
  }
}
