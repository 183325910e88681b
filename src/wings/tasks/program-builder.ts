/**
 * Builds the programs of jobs, statement by statement. Statements are added in an order in which they could
 * be executed, so programs cannot deadlock. A barrier holds the tasks that exist and have not ended at that
 * point of the order. The builder also keeps each task's clock on a dedicated machine, where every task has
 * its own processor from time 0.
 */
import { doubled, grown } from "../../structures/grow.ts";
import { Op, type TaskPrograms } from "./contract.ts";

export class ProgramBuilder {
  /** Number of messages so far, which is the number of the next message. */
  messages = 0;
  readonly #submitMs: number[] = [];
  readonly #size: number[] = [];
  readonly #dedicatedMs: number[] = [];
  readonly #isGang: number[] = [];
  readonly #home: number[] = [];
  readonly #firstTaskOfJob: number[] = [0];
  readonly #firstStatement: number[] = [0];
  readonly #statements = new Statements(1024);
  #receiver = new Int32Array(64);
  #latencyMs = new Int32Array(64);

  // The current job.
  #firstTask = 0;
  readonly #tasks: Statements[] = [];
  #taskCount = 0;
  #clockMs: number[] = [];
  /** Ranks that exist and have not been ended. */
  #living: number[] = [];
  #sentMs = new Float64Array(64);
  #firstMessage = 0;

  /**
   * Jobs come in order of submission.
   * @param size number of tasks with which the job arrives
   */
  beginJob(
    submitMs: number,
    size: number,
    { isGang = false, home = -1 }: { readonly isGang?: boolean; readonly home?: number } = {},
  ): void {
    this.#submitMs.push(submitMs);
    this.#size.push(size);
    this.#isGang.push(isGang ? 1 : 0);
    this.#home.push(home);
    this.#taskCount = 0;
    this.#clockMs = [];
    this.#living = [];
    this.#firstMessage = this.messages;
    for (let rank = 0; rank < size; rank++) this.#addTask(0);
  }

  /** The task creates another one; returns its rank. */
  create(by: number): number {
    this.#tasks[by].add(Op.create, this.#firstTask + this.#taskCount);
    return this.#addTask(this.#clockMs[by]);
  }

  /** The task does nothing more. */
  endTask(rank: number): void {
    this.#living = this.#living.filter((other) => other !== rank);
  }

  /** Ranks that exist and have not been ended. */
  get living(): readonly number[] {
    return this.#living;
  }

  #addTask(clockMs: number): number {
    const rank = this.#taskCount++;
    if (this.#tasks.length <= rank) this.#tasks.push(new Statements(16));
    this.#tasks[rank].count = 0;
    this.#clockMs.push(clockMs);
    this.#living.push(rank);
    return rank;
  }

  compute(rank: number, durationMs: number): void {
    this.#tasks[rank].add(Op.compute, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  io(rank: number, durationMs: number): void {
    this.#tasks[rank].add(Op.io, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  /** The message gets the number that `messages` had before; it must be received before the job ends. */
  send(rank: number, to: number, latencyMs: number): void {
    const message = this.messages++;
    if (message === this.#receiver.length) {
      this.#receiver = doubled(this.#receiver);
      this.#latencyMs = doubled(this.#latencyMs);
    }
    this.#receiver[message] = this.#firstTask + to;
    this.#latencyMs[message] = latencyMs;
    this.#tasks[rank].add(Op.send, message);
    const at = message - this.#firstMessage;
    if (at === this.#sentMs.length) this.#sentMs = doubled(this.#sentMs);
    this.#sentMs[at] = this.#clockMs[rank];
  }

  /** The receiver is the task that was named in `send`. */
  receive(message: number): void {
    const rank = this.#receiver[message] - this.#firstTask;
    this.#tasks[rank].add(Op.receive, message);
    const arrivalMs = this.#sentMs[message - this.#firstMessage] + this.#latencyMs[message];
    if (arrivalMs > this.#clockMs[rank]) this.#clockMs[rank] = arrivalMs;
  }

  /** A barrier over all tasks of the job. */
  barrier(): void {
    const lastMs = this.dedicatedMs();
    for (const rank of this.#living) {
      this.#tasks[rank].add(Op.barrier, 0);
      this.#clockMs[rank] = lastMs;
    }
  }

  /** Time of the task on a dedicated machine so far. */
  clockMs(rank: number): number {
    return this.#clockMs[rank];
  }

  /** Time of the job on a dedicated machine so far. */
  dedicatedMs(): number {
    let last = 0;
    for (let rank = 0; rank < this.#clockMs.length; rank++) last = Math.max(last, this.#clockMs[rank]);
    return last;
  }

  endJob(): void {
    this.#dedicatedMs.push(this.dedicatedMs());
    for (let rank = 0; rank < this.#taskCount; rank++) {
      this.#statements.append(this.#tasks[rank]);
      this.#firstStatement.push(this.#statements.count);
    }
    this.#firstTask += this.#taskCount;
    this.#firstTaskOfJob.push(this.#firstTask);
  }

  build(name: string): TaskPrograms {
    const jobCount = this.#size.length;
    const firstTask = Int32Array.from(this.#firstTaskOfJob);
    const jobOfTask = new Int32Array(this.#firstTask);
    for (let job = 0; job < jobCount; job++) jobOfTask.fill(job, firstTask[job], firstTask[job + 1]);
    return {
      name,
      jobCount,
      submitMs: Float64Array.from(this.#submitMs),
      size: Int32Array.from(this.#size),
      dedicatedMs: Float64Array.from(this.#dedicatedMs),
      isGang: Uint8Array.from(this.#isGang),
      home: Int32Array.from(this.#home),
      taskCount: this.#firstTask,
      firstTask,
      jobOfTask,
      firstStatement: Int32Array.from(this.#firstStatement),
      op: this.#statements.op.slice(0, this.#statements.count),
      operand: this.#statements.operand.slice(0, this.#statements.count),
      messageCount: this.messages,
      receiver: this.#receiver.slice(0, this.messages),
      latencyMs: this.#latencyMs.slice(0, this.messages),
    };
  }
}

/** Statements of one task, or of all. */
class Statements {
  count = 0;
  op: Uint8Array<ArrayBuffer>;
  operand: Int32Array<ArrayBuffer>;

  constructor(capacity: number) {
    this.op = new Uint8Array(capacity);
    this.operand = new Int32Array(capacity);
  }

  add(op: Op, operand: number): void {
    this.#reserve(this.count + 1);
    this.op[this.count] = op;
    this.operand[this.count++] = operand;
  }

  append(other: Statements): void {
    this.#reserve(this.count + other.count);
    this.op.set(other.op.subarray(0, other.count), this.count);
    this.operand.set(other.operand.subarray(0, other.count), this.count);
    this.count += other.count;
  }

  #reserve(length: number): void {
    if (length <= this.op.length) return;
    const capacity = Math.max(2 * this.op.length, length);
    this.op = grown(this.op, capacity, 0);
    this.operand = grown(this.operand, capacity, 0);
  }
}
