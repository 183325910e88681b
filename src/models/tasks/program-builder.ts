/**
 * Builds the programs of jobs, statement by statement, in an order in which they could be executed; that order is the
 * proof that they cannot deadlock. On the way it keeps each task's clock on a dedicated machine, where every task has
 * a processor to itself from time 0 on.
 */
import { Op, type TaskPrograms } from "./contract.ts";

export class ProgramBuilder {
  /** Messages so far; the number of the next one. */
  messages = 0;
  readonly #submitMs: number[] = [];
  readonly #size: number[] = [];
  readonly #dedicatedMs: number[] = [];
  readonly #firstStatement: number[] = [0];
  #statements = 0;
  #op = new Uint8Array(1024);
  #operand = new Int32Array(1024);
  #receiver = new Int32Array(64);
  #latencyMs = new Int32Array(64);

  // The job in hand.
  #firstTask = 0;
  readonly #tasks: Statements[] = [];
  #taskCount = 0;
  #clockMs = new Float64Array(0);
  #sentMs = new Float64Array(64);
  #firstMessage = 0;

  /** Jobs come in order of submission. */
  beginJob(submitMs: number, size: number): void {
    this.#submitMs.push(submitMs);
    this.#size.push(size);
    this.#taskCount = size;
    while (this.#tasks.length < size) this.#tasks.push(new Statements());
    for (const task of this.#tasks) task.count = 0;
    this.#clockMs = new Float64Array(size);
    this.#firstMessage = this.messages;
  }

  compute(rank: number, durationMs: number): void {
    this.#tasks[rank].add(Op.compute, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  io(rank: number, durationMs: number): void {
    this.#tasks[rank].add(Op.io, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  /** The message has the number that `messages` had before; it has to be received before the job ends. */
  send(rank: number, to: number, latencyMs: number): void {
    const message = this.messages++;
    if (message === this.#receiver.length) {
      this.#receiver = larger(this.#receiver, 2 * message);
      this.#latencyMs = larger(this.#latencyMs, 2 * message);
    }
    this.#receiver[message] = this.#firstTask + to;
    this.#latencyMs[message] = latencyMs;
    this.#tasks[rank].add(Op.send, message);
    const at = message - this.#firstMessage;
    if (at === this.#sentMs.length) {
      const doubled = new Float64Array(2 * at);
      doubled.set(this.#sentMs);
      this.#sentMs = doubled;
    }
    this.#sentMs[at] = this.#clockMs[rank];
  }

  /** The receiver is the one that `send` was told. */
  receive(message: number): void {
    const rank = this.#receiver[message] - this.#firstTask;
    this.#tasks[rank].add(Op.receive, message);
    const arrivalMs = this.#sentMs[message - this.#firstMessage] + this.#latencyMs[message];
    if (arrivalMs > this.#clockMs[rank]) this.#clockMs[rank] = arrivalMs;
  }

  /** A barrier over all tasks of the job. */
  barrier(): void {
    const lastMs = this.dedicatedMs();
    for (let rank = 0; rank < this.#taskCount; rank++) this.#tasks[rank].add(Op.barrier, 0);
    this.#clockMs.fill(lastMs);
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
    for (let rank = 0; rank < this.#taskCount; rank++) this.#append(this.#tasks[rank]);
    this.#firstTask += this.#taskCount;
  }

  build(name: string): TaskPrograms {
    const jobCount = this.#size.length;
    const firstTask = new Int32Array(jobCount + 1);
    const jobOfTask = new Int32Array(this.#firstTask);
    for (let job = 0; job < jobCount; job++) {
      firstTask[job + 1] = firstTask[job] + this.#size[job];
      jobOfTask.fill(job, firstTask[job], firstTask[job + 1]);
    }
    return {
      name,
      jobCount,
      submitMs: Float64Array.from(this.#submitMs),
      size: Int32Array.from(this.#size),
      dedicatedMs: Float64Array.from(this.#dedicatedMs),
      taskCount: this.#firstTask,
      firstTask,
      jobOfTask,
      firstStatement: Int32Array.from(this.#firstStatement),
      op: this.#op.slice(0, this.#statements),
      operand: this.#operand.slice(0, this.#statements),
      messageCount: this.messages,
      receiver: this.#receiver.slice(0, this.messages),
      latencyMs: this.#latencyMs.slice(0, this.messages),
    };
  }

  #append(task: Statements): void {
    const end = this.#statements + task.count;
    if (end > this.#op.length) {
      const length = Math.max(2 * this.#op.length, end);
      const op = new Uint8Array(length);
      op.set(this.#op);
      this.#op = op;
      this.#operand = larger(this.#operand, length);
    }
    this.#op.set(task.op.subarray(0, task.count), this.#statements);
    this.#operand.set(task.operand.subarray(0, task.count), this.#statements);
    this.#statements = end;
    this.#firstStatement.push(end);
  }
}

/** The statements of one task. */
class Statements {
  count = 0;
  op = new Uint8Array(16);
  operand = new Int32Array(16);

  add(op: Op, operand: number): void {
    if (this.count === this.op.length) {
      const doubled = new Uint8Array(2 * this.count);
      doubled.set(this.op);
      this.op = doubled;
      this.operand = larger(this.operand, 2 * this.count);
    }
    this.op[this.count] = op;
    this.operand[this.count++] = operand;
  }
}

function larger(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(length);
  copy.set(array);
  return copy;
}
