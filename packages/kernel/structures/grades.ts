/** Records what tasks did in their last few slots (Silva and Scherson 1999, section 2.2). */
/** Classes of tasks, the columns of `Grades`: computation, I/O, communication, synchronisation. */
const CLASSES = 4;

/** Grades of membership of tasks, averaged over each task's last slots. */
export class Grades {
  readonly slotsAveraged: number;
  readonly #shares: Float64Array;
  readonly #recorded: Int32Array;

  /** @param slotsAveraged number of slots remembered per task, 1 or more */
  constructor(taskCount: number, slotsAveraged: number) {
    this.slotsAveraged = slotsAveraged;
    this.#shares = new Float64Array(taskCount * slotsAveraged * CLASSES);
    this.#recorded = new Int32Array(taskCount);
  }

  /** Adds a slot of the task and forgets the oldest one. Shares: 0 … 1. */
  record(task: number, compute: number, io: number, message: number, barrier: number): void {
    const slots = this.slotsAveraged;
    const at = (task * slots + (this.#recorded[task]++ % slots)) * CLASSES;
    this.#shares[at] = compute;
    this.#shares[at + 1] = io;
    this.#shares[at + 2] = message;
    this.#shares[at + 3] = barrier;
  }

  /** Grade of the task in a class, 0 … 1; 0 before the task's first slot. */
  grade(task: number, taskClass: number): number {
    const count = Math.min(this.#recorded[task], this.slotsAveraged);
    if (count === 0) return 0;
    let sum = 0;
    const from = task * this.slotsAveraged * CLASSES + taskClass;
    for (let slot = 0; slot < count; slot++) sum += this.#shares[from + slot * CLASSES];
    return sum / count;
  }

  /** Forgets the task, so that its index can be reused. */
  clear(task: number): void {
    this.#recorded[task] = 0;
  }
}
