/**
 * Simulates, in virtual time, processors whose tasks block: a global clock, the Ousterhout matrix, and a
 * local task scheduler on each processor (Silva and Scherson 1999, section 2).
 *
 *   signal   |        |        |        |        |        the global clock, every slotMs
 *   row      |  0     |  1     |  2     |  0     |  1     rows take turns; a period is one pass over all rows
 *   front end^                          ^                 acts between periods, on what happened before
 *   processor|AAA..LLA|BBBBBBBB|LLLLLLLL|A..              A blocks, L runs until A can; row 2 has no task
 *
 * Rules. A clock signal takes every processor away and gives it to the task of the row whose turn it is. If
 * that task cannot run, or if there is none, the local task scheduler picks another task of the processor.
 * That task runs until it blocks, until the next signal, or (`ownReturns`) until the row's own task can
 * continue. A processor with nothing to run idles until one of its tasks becomes ready. While no row exists,
 * signals continue, and the front end acts at each of them. A processor that changes to a task other than its
 * last one first loses switchMs.
 *
 * Order within an instant: (1) I/O ends, messages arrive, local tasks arrive; (2) processors in order: a
 * switch or a compute statement ends, and then come the statements that take no time, up to the next compute
 * statement or the first statement that blocks; (3) the clock signal; (4) processors without a task get one,
 * in order and as often as necessary. So a statement that ends with the slot is done before the signal.
 *
 * Time is in whole milliseconds; every millisecond of every processor is computing, switching or idling for a
 * named reason.
 */
import { assert } from "@tutti/kernel/core/errors.ts";
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { RowId } from "@tutti/kernel/core/policy.ts";
import { EventHeap } from "@tutti/kernel/structures/event-heap.ts";
import { FinishQueue } from "@tutti/kernel/structures/finish-queue.ts";
import {
  type BlockReason,
  type LocalTaskScheduler,
  NO_TASK,
  Op,
  type TaskIndex,
  type TaskObserver,
  type TaskPrograms,
  type TasksOptions,
  type TasksResult,
  type TaskTotals,
} from "./contract.ts";
import { ProcessorTime, Use, useWhileBlockedBy } from "./processor-time.ts";
import { TaskGangs } from "./task-gangs.ts";

/**
 * Runs the programs.
 * @throws RuleViolation if the gang policy does something that is not allowed
 */
export function simulateTasks(programs: TaskPrograms, options: TasksOptions): TasksResult {
  const processors = new Processors(programs, options);
  for (const timeMs of options.recordAtMs) {
    processors.runTo(timeMs);
    processors.record(timeMs);
  }
  if (options.recordAtMs.length === 0) processors.record(processors.runTo(Number.POSITIVE_INFINITY));
  return processors.result();
}

// States of a task. The state of a blocked task is 2 + the Op that blocks it, so the reason is state −
// BLOCKED.
const READY = 0;
const RUNNING = 1;
const BLOCKED = 2;
const UNBORN = 254;
const ENDED = 255;
const isBlocked = (state: number) => state >= BLOCKED && state < UNBORN;
const useOf = (state: number) => useWhileBlockedBy((state - BLOCKED) as BlockReason);

class Processors {
  readonly #programs: TaskPrograms;
  readonly #options: TasksOptions;
  readonly #observer: TaskObserver | undefined;
  readonly #gangs: TaskGangs;
  readonly #local: LocalTaskScheduler;
  #nowMs = 0;
  #nextSignalMs = 0;
  /** Position of the row whose turn it is; −1 before the first signal and while there is no row. */
  #position = -1;

  // Tasks.
  readonly #state: Uint8Array;
  readonly #statement: Int32Array;
  /** Time left of the task's current compute statement; 0 if it is in none. */
  readonly #leftMs: Int32Array;
  // Jobs and messages.
  readonly #tasksLeft: Int32Array;
  /** Tasks that exist and have not ended. */
  readonly #living: Int32Array;
  readonly #atBarrier: Int32Array;
  readonly #endMs: Float64Array;
  /** Infinity before the message is sent. */
  readonly #messageAtMs: Float64Array;

  // Processors.
  readonly #running: Int32Array;
  readonly #own: Int32Array;
  readonly #last: Int32Array;
  /** Processors by the end of their switch or of their computation. */
  readonly #ends: FinishQueue;
  readonly #switching: Uint8Array;
  readonly #stretchMs: Float64Array;
  readonly #time: ProcessorTime;
  readonly #attention: Uint8Array;
  #attentionCount = 0;
  #ready = new Int32Array(16);

  /** Ends of I/O and arrivals of messages for which a task waits, by task. */
  readonly #wakeUps = new EventHeap();
  readonly #totals: TaskTotals[] = [];
  #jobsCompleted = 0;
  #instants = 0;
  #signals = 0;
  #rowSum = 0;
  #maxRows = 0;

  constructor(programs: TaskPrograms, options: TasksOptions) {
    const { processors, slotMs, switchMs, local } = options;
    assert(Number.isInteger(slotMs) && slotMs >= 1, "a slot is a whole number of ms, 1 or more");
    assert(
      Number.isInteger(switchMs) && switchMs >= 0 && switchMs < slotMs,
      "a switch is whole ms, shorter than a slot",
    );
    const { size, firstTask, jobOfTask, isGang } = programs;
    assert(
      options.moldable || size.every((tasks, job) => tasks === firstTask[job + 1] - firstTask[job]),
      "jobs that create tasks are moldable",
    );
    this.#programs = programs;
    this.#options = options;
    this.#observer = options.observer;
    this.#gangs = new TaskGangs(programs, options);
    const areGang = Uint8Array.from(jobOfTask, (job) => isGang[job]);
    this.#local = local.definition.make(programs.taskCount, local.parameters, areGang);
    this.#state = Uint8Array.from(jobOfTask, (job, task) =>
      task < firstTask[job] + size[job] ? READY : UNBORN,
    );
    this.#statement = programs.firstStatement.slice(0, programs.taskCount);
    this.#leftMs = new Int32Array(programs.taskCount);
    this.#tasksLeft = Int32Array.from(size, (_, job) => firstTask[job + 1] - firstTask[job]);
    this.#living = size.slice();
    this.#atBarrier = new Int32Array(programs.jobCount);
    this.#endMs = new Float64Array(programs.jobCount).fill(Number.NaN);
    this.#messageAtMs = new Float64Array(programs.messageCount).fill(Number.POSITIVE_INFINITY);
    this.#running = new Int32Array(processors).fill(NO_TASK);
    this.#own = new Int32Array(processors).fill(NO_TASK);
    this.#last = new Int32Array(processors).fill(NO_TASK);
    this.#ends = new FinishQueue(processors);
    this.#switching = new Uint8Array(processors);
    this.#stretchMs = new Float64Array(processors);
    this.#time = new ProcessorTime(processors);
    this.#attention = new Uint8Array(processors);
  }

  /**
   * Handles all instants up to the time, or up to the end of the last job; returns the time of the last
   * instant.
   */
  runTo(untilMs: number): number {
    for (;;) {
      if (untilMs === Number.POSITIVE_INFINITY && this.#jobsCompleted === this.#programs.jobCount) break;
      const nowMs = Math.min(
        this.#nextSignalMs,
        this.#ends.firstRound(),
        this.#wakeUps.nextTime(),
        this.#gangs.nextLocalMs,
      );
      if (nowMs > untilMs) break;
      this.#nowMs = nowMs;
      this.#instant();
    }
    return this.#nowMs;
  }

  record(timeMs: number): void {
    this.#time.settle(timeMs);
    const [busyMs, ioMs, messageMs, barrierMs, switchMs, emptyMs] = this.#time.totalMs;
    const jobsCompleted = this.#jobsCompleted;
    this.#totals.push({ timeMs, jobsCompleted, busyMs, switchMs, ioMs, messageMs, barrierMs, emptyMs });
  }

  result(): TasksResult {
    return {
      endMs: this.#endMs,
      totals: this.#totals,
      meanRows: this.#signals === 0 ? 0 : this.#rowSum / this.#signals,
      maxRows: this.#maxRows,
      instants: this.#instants,
    };
  }

  #instant(): void {
    const nowMs = this.#nowMs;
    this.#instants++;
    while (this.#wakeUps.nextTime() === nowMs) this.#wake(this.#wakeUps.pop());
    while (this.#gangs.nextLocalMs === nowMs) this.#attend(this.#gangs.addLocal());
    while (this.#ends.firstRound() === nowMs) this.#stretchEnds(this.#ends.first());
    if (nowMs === this.#nextSignalMs) this.#signal();
    while (this.#attentionCount > 0) {
      for (let p = 0; p < this.#attention.length; p++) if (this.#attention[p] === 1) this.#dispatch(p);
    }
    this.#observer?.settled?.(nowMs);
  }

  /** The statement that blocked the task has ended. */
  #wake(task: TaskIndex): void {
    this.#state[task] = READY;
    this.#statement[task]++;
    const p = this.#gangs.processorOf[task];
    if (this.#own[p] === task) this.#time.setOwn(p, Use.empty, this.#nowMs);
    this.#attend(p);
  }

  #attend(p: number): void {
    this.#attentionCount += 1 - this.#attention[p];
    this.#attention[p] = 1;
  }

  /** The processor's switch or computation has ended. */
  #stretchEnds(p: number): void {
    this.#ends.remove(p);
    if (this.#switching[p] === 1) {
      this.#switching[p] = 0;
    } else {
      const task = this.#running[p];
      this.#leftMs[task] = 0;
      this.#statement[task]++;
      this.#observer?.pauses?.(this.#nowMs, p, task);
    }
    if (!this.#run(p)) this.#attend(p);
  }

  #signal(): void {
    const gangs = this.#gangs;
    const { processors, slotMs } = this.#options;
    for (let p = 0; p < processors; p++) {
      if (this.#running[p] !== NO_TASK) this.#preempt(p);
      if (this.#own[p] !== NO_TASK) this.#slotEnds(p);
      this.#attend(p);
    }
    this.#position++;
    if (this.#position >= gangs.rowCount) {
      gangs.act(this.#nowMs);
      this.#position = gangs.rowCount > 0 ? 0 : -1;
    }
    const row = this.#position < 0 ? -1 : gangs.rowAt(this.#position);
    this.#observer?.signalled?.(this.#nowMs, row);
    if (row >= 0) this.#takeTurn(row);
    this.#nextSignalMs = this.#nowMs + slotMs;
    this.#signals++;
    this.#rowSum += gangs.rowCount;
    if (gangs.rowCount > this.#maxRows) this.#maxRows = gangs.rowCount;
  }

  /** Makes the tasks of the row the own tasks of their processors. */
  #takeTurn(row: RowId): void {
    const gangs = this.#gangs;
    const { firstTask } = this.#programs;
    for (let run = gangs.firstRun(row); run !== -1; run = gangs.nextRun(run)) {
      const job = gangs.runJob(run);
      const first = gangs.runFirst(run);
      const end = first + gangs.runSize(run);
      for (let task = firstTask[job]; task < firstTask[job + 1]; task++) {
        const p = gangs.processorOf[task];
        const state = this.#state[task];
        if (p < first || p >= end || state === ENDED) continue;
        this.#own[p] = task;
        this.#time.beginSlot(p, isBlocked(state) ? useOf(state) : Use.empty, this.#nowMs);
      }
    }
  }

  #slotEnds(p: number): void {
    const task = this.#own[p];
    this.#time.setOwn(p, Use.empty, this.#nowMs);
    this.#own[p] = NO_TASK;
    const { slotMs } = this.#options;
    const time = this.#time;
    this.#local.slotEnded(
      task,
      time.slotMs(p, Use.busy) / slotMs,
      time.slotMs(p, Use.io) / slotMs,
      time.slotMs(p, Use.message) / slotMs,
      time.slotMs(p, Use.barrier) / slotMs,
    );
  }

  /** Takes the processor away from its task. */
  #preempt(p: number): void {
    const task = this.#running[p];
    if (this.#switching[p] === 1) this.#switching[p] = 0;
    else {
      this.#leftMs[task] -= this.#nowMs - this.#stretchMs[p];
      this.#observer?.pauses?.(this.#nowMs, p, task);
    }
    this.#ends.remove(p);
    this.#state[task] = READY;
    this.#running[p] = NO_TASK;
    this.#observer?.preempted?.(this.#nowMs, p, task);
  }

  /** Gives the processor a task, if it should have a task other than its current one. */
  #dispatch(p: number): void {
    this.#attention[p] = 0;
    this.#attentionCount--;
    const own = this.#own[p];
    if (this.#running[p] !== NO_TASK) {
      const returns = this.#options.ownReturns && own !== NO_TASK && this.#state[own] === READY;
      if (!returns) return;
      this.#preempt(p);
    }
    for (;;) {
      const task = own !== NO_TASK && this.#state[own] === READY ? own : this.#pick(p);
      if (task === NO_TASK) break;
      if (this.#start(p, task)) return;
    }
    // Its own task may just have ended; then the slot is empty.
    const state = this.#own[p] === NO_TASK ? READY : this.#state[own];
    this.#time.set(p, isBlocked(state) ? useOf(state) : Use.empty, this.#nowMs);
  }

  #pick(p: number): TaskIndex {
    const tasks = this.#gangs.tasks[p];
    if (this.#ready.length < tasks.length) this.#ready = new Int32Array(2 * tasks.length);
    let readyCount = 0;
    for (const task of tasks) if (this.#state[task] === READY) this.#ready[readyCount++] = task;
    return readyCount === 0 ? NO_TASK : this.#local.pick(this.#ready, readyCount);
  }

  /** Lets a ready task run; returns whether it keeps the processor beyond this instant. */
  #start(p: number, task: TaskIndex): boolean {
    this.#running[p] = task;
    this.#state[task] = RUNNING;
    this.#observer?.dispatched?.(this.#nowMs, p, task);
    const isSwitch = this.#options.switchMs > 0 && this.#last[p] !== task;
    this.#last[p] = task;
    if (!isSwitch) return this.#run(p);
    this.#switching[p] = 1;
    this.#ends.set(p, this.#nowMs + this.#options.switchMs, 0);
    this.#time.set(p, Use.switch, this.#nowMs);
    if (this.#own[p] === task) this.#time.setOwn(p, Use.switch, this.#nowMs);
    return true;
  }

  /**
   * Executes statements up to the next compute statement (returns true), or up to a blocking statement or the
   * end (false).
   */
  #run(p: number): boolean {
    const task = this.#running[p];
    const { op, operand, firstStatement } = this.#programs;
    const end = firstStatement[task + 1];
    for (; this.#statement[task] < end; this.#statement[task]++) {
      const at = this.#statement[task];
      switch (op[at]) {
        case Op.compute:
          this.#compute(p, task, operand[at]);
          return true;
        case Op.io:
          this.#wakeUps.push(this.#nowMs + operand[at], task);
          return this.#block(p, task, Op.io);
        case Op.send:
          this.#send(operand[at]);
          break;
        case Op.receive: {
          const arrivalMs = this.#messageAtMs[operand[at]];
          if (arrivalMs <= this.#nowMs) break;
          if (arrivalMs !== Number.POSITIVE_INFINITY) this.#wakeUps.push(arrivalMs, task);
          return this.#block(p, task, Op.receive);
        }
        case Op.barrier:
          if (!this.#passes(task)) return this.#block(p, task, Op.barrier);
          break;
        case Op.create:
          this.#create(task, operand[at]);
      }
    }
    this.#end(p, task);
    return false;
  }

  #compute(p: number, task: TaskIndex, durationMs: number): void {
    if (this.#leftMs[task] === 0) this.#leftMs[task] = durationMs;
    this.#stretchMs[p] = this.#nowMs;
    this.#ends.set(p, this.#nowMs + this.#leftMs[task], 0);
    this.#time.set(p, Use.busy, this.#nowMs);
    if (this.#own[p] === task) this.#time.setOwn(p, Use.busy, this.#nowMs);
    this.#observer?.computes?.(this.#nowMs, p, task);
  }

  #send(message: number): void {
    const arrivalMs = this.#nowMs + this.#programs.latencyMs[message];
    this.#messageAtMs[message] = arrivalMs;
    const receiver = this.#programs.receiver[message];
    const waits =
      this.#state[receiver] === BLOCKED + Op.receive &&
      this.#programs.operand[this.#statement[receiver]] === message;
    if (!waits) return;
    if (arrivalMs === this.#nowMs) this.#wake(receiver);
    else this.#wakeUps.push(arrivalMs, receiver);
  }

  #create(by: TaskIndex, task: TaskIndex): void {
    this.#state[task] = READY;
    this.#living[this.#programs.jobOfTask[by]]++;
    this.#gangs.noteCreated(task);
  }

  /** The task reaches a barrier; the last task of its job releases all the others. */
  #passes(task: TaskIndex): boolean {
    const job = this.#programs.jobOfTask[task];
    if (++this.#atBarrier[job] < this.#living[job]) return false;
    this.#releaseBarrier(job);
    return true;
  }

  #releaseBarrier(job: JobIndex): void {
    const { firstTask } = this.#programs;
    this.#atBarrier[job] = 0;
    for (let task = firstTask[job]; task < firstTask[job + 1]; task++)
      if (this.#state[task] === BLOCKED + Op.barrier) this.#wake(task);
  }

  #block(p: number, task: TaskIndex, reason: BlockReason): false {
    this.#state[task] = BLOCKED + reason;
    this.#running[p] = NO_TASK;
    if (this.#own[p] === task) this.#time.setOwn(p, useOf(BLOCKED + reason), this.#nowMs);
    this.#observer?.blocked?.(this.#nowMs, p, task, reason);
    return false;
  }

  #end(p: number, task: TaskIndex): void {
    this.#state[task] = ENDED;
    this.#running[p] = NO_TASK;
    // This task no longer uses its slot, so from here on the processor is idle because it has no task.
    if (this.#own[p] === task) this.#own[p] = NO_TASK;
    this.#observer?.ended?.(this.#nowMs, p, task);
    const job = this.#programs.jobOfTask[task];
    this.#gangs.noteTaskEnd(task);
    const living = --this.#living[job];
    // The others may have waited at a barrier for this task alone.
    if (living > 0 && this.#atBarrier[job] === living) this.#releaseBarrier(job);
    if (--this.#tasksLeft[job] > 0) return;
    this.#endMs[job] = this.#nowMs;
    this.#jobsCompleted++;
    this.#gangs.noteEnd(job);
  }
}
