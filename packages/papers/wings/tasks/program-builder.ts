/**
 * Builds the programs of jobs, statement by statement. Statements are added in an order in which they could
 * be executed, so programs cannot deadlock. A barrier holds the tasks that exist and have not ended at that
 * point of the order. The builder also keeps each task's clock on a dedicated machine, where every task has
 * its own processor from time 0.
 */
import { Op, type TaskPrograms } from "./contract.ts";

export class ProgramBuilder {
  readonly #submitMs: number[] = [];
  readonly #size: number[] = [];
  readonly #dedicatedMs: number[] = [];
  readonly #isGang: number[] = [];
  readonly #home: number[] = [];
  readonly #firstTaskOfJob: number[] = [0];
  readonly #firstStatement: number[] = [0];
  readonly #op: number[] = [];
  readonly #operand: number[] = [];
  readonly #receiver: number[] = [];
  readonly #latencyMs: number[] = [];
  readonly #sentMs: number[] = [];

  // The current job.
  #firstTask = 0;
  /** By rank: the statements, each as its operation and its operand. */
  #tasks: number[][] = [];
  #clockMs: number[] = [];
  /** Ranks that exist and have not been ended. */
  #living: number[] = [];

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
    this.#tasks = [];
    this.#clockMs = [];
    this.#living = [];
    for (let rank = 0; rank < size; rank++) this.#addTask(0);
  }

  /** The task creates another one; returns its rank. */
  create(by: number): number {
    this.#tasks[by].push(Op.create, this.#firstTask + this.#tasks.length);
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
    const rank = this.#tasks.push([]) - 1;
    this.#clockMs.push(clockMs);
    this.#living.push(rank);
    return rank;
  }

  compute(rank: number, durationMs: number): void {
    this.#tasks[rank].push(Op.compute, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  io(rank: number, durationMs: number): void {
    this.#tasks[rank].push(Op.io, durationMs);
    this.#clockMs[rank] += durationMs;
  }

  /** Number of messages so far, which is the number of the next message. */
  get messages(): number {
    return this.#receiver.length;
  }

  /** The message gets the number that `messages` had before; it must be received before the job ends. */
  send(rank: number, to: number, latencyMs: number): void {
    this.#tasks[rank].push(Op.send, this.messages);
    this.#receiver.push(this.#firstTask + to);
    this.#latencyMs.push(latencyMs);
    this.#sentMs.push(this.#clockMs[rank]);
  }

  /** The receiver is the task that was named in `send`. */
  receive(message: number): void {
    const rank = this.#receiver[message] - this.#firstTask;
    this.#tasks[rank].push(Op.receive, message);
    const arrivalMs = this.#sentMs[message] + this.#latencyMs[message];
    if (arrivalMs > this.#clockMs[rank]) this.#clockMs[rank] = arrivalMs;
  }

  /** A barrier over all tasks of the job. */
  barrier(): void {
    const lastMs = this.dedicatedMs();
    for (const rank of this.#living) {
      this.#tasks[rank].push(Op.barrier, 0);
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
    for (const statements of this.#tasks) {
      for (let at = 0; at < statements.length; at += 2) {
        this.#op.push(statements[at]);
        this.#operand.push(statements[at + 1]);
      }
      this.#firstStatement.push(this.#op.length);
    }
    this.#firstTask += this.#tasks.length;
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
      op: Uint8Array.from(this.#op),
      operand: Int32Array.from(this.#operand),
      messageCount: this.messages,
      receiver: Int32Array.from(this.#receiver),
      latencyMs: Int32Array.from(this.#latencyMs),
    };
  }
}
