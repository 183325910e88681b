/** What a run decided, in order, to be compared with other runs. */
export class Decisions {
  readonly #times: number[] = [];
  readonly #what: string[] = [];

  get count(): number {
    return this.#times.length;
  }

  note(time: number, ...what: readonly (number | string)[]): void {
    this.#times.push(time);
    this.#what.push(`${time}: ${what.join(" ")}`);
  }

  /** Those before the time, in words. */
  before(time: number): readonly string[] {
    const end = this.#times.findIndex((at) => at >= time);
    return end < 0 ? this.#what : this.#what.slice(0, end);
  }
}

/** What was looked at in the runs of one policy; a check that looked at nothing proves nothing. */
export interface Looked {
  readonly jobs: number;
  /** Decisions compared with those of a second run. */
  readonly comparedAgain: number;
  /** Decisions compared with those of runs with other arrivals later, and with other run times later. */
  readonly comparedArrivals: number;
  readonly comparedRunTimes: number;
}
