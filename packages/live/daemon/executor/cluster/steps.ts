/**
 * Bounds the number of steps that run at once, since sites bound theirs. A gang whose tasks run each has a
 * step from its start to its end. Gangs that wait for one get it in the order in which they asked.
 */
export class Steps<Gang> {
  readonly #most: number;
  readonly #running = new Set<Gang>();
  readonly #waiting = new Map<Gang, () => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Calls back once, now or when a step is free. */
  take(gang: Gang, call: () => void): void {
    if (this.#running.has(gang) || this.#waiting.has(gang)) return;
    this.#waiting.set(gang, call);
    this.#next();
  }

  /** The gang no longer has or wants a step. */
  give(gang: Gang): void {
    this.#waiting.delete(gang);
    if (this.#running.delete(gang)) this.#next();
  }

  /** Why a gang has no step yet; undefined: it has one, or wants none. */
  obstacle(gang: Gang): string | undefined {
    if (!this.#waiting.has(gang)) return undefined;
    return `at most ${this.#most} steps run at once, and ${[...this.#waiting.keys()].indexOf(gang)} gangs wait before it`;
  }

  /** The gang of an earlier front end has one. */
  has(gang: Gang): void {
    this.#running.add(gang);
  }

  #next(): void {
    while (this.#running.size < this.#most) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      const [gang, call] = first;
      this.#waiting.delete(gang);
      this.#running.add(gang);
      call();
    }
  }
}
