/** Lets policies of phases admit gangs in the order in which they came. */
import type { Gang, PhasesMachine } from "../contract.ts";

export class Admission {
  readonly #machine: PhasesMachine;
  readonly #homeFor: (gang: Gang) => readonly number[] | undefined;
  readonly #queuesOf: (gang: Gang) => readonly number[];
  readonly #waiting: Gang[] = [];
  /** Whether anything has come or gone since the last time; otherwise nothing new can be admitted. */
  #hasChanged = false;

  /**
   * @param homeFor where the gang may be resident now; undefined if nowhere
   * @param queuesOf gangs that have a queue in common are admitted in order; default: there is one queue
   */
  constructor(
    machine: PhasesMachine,
    homeFor: (gang: Gang) => readonly number[] | undefined,
    queuesOf: (gang: Gang) => readonly number[] = () => [0],
  ) {
    this.#machine = machine;
    this.#homeFor = homeFor;
    this.#queuesOf = queuesOf;
  }

  arrived(gang: Gang): void {
    this.#waiting.push(gang);
    this.#hasChanged = true;
  }

  left(): void {
    this.#hasChanged = true;
  }

  admit(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const blocked = new Set<number>();
    let kept = 0;
    for (const gang of this.#waiting) {
      const queues = this.#queuesOf(gang);
      const home = queues.some((queue) => blocked.has(queue)) ? undefined : this.#homeFor(gang);
      if (home !== undefined) {
        this.#machine.admit(gang, home);
        continue;
      }
      for (const queue of queues) blocked.add(queue);
      this.#waiting[kept++] = gang;
    }
    this.#waiting.length = kept;
  }
}
