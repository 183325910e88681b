/** Records the decisions of a run in order, for comparison with other runs. */
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

  /** The decisions before a time, as texts. */
  before(time: number): readonly string[] {
    const end = this.#times.findIndex((at) => at >= time);
    return end < 0 ? this.#what : this.#what.slice(0, end);
  }
}

/** Counts of what was checked in the runs of one policy; a check without any cases proves nothing. */
export interface Looked {
  readonly jobs: number;
  /** Decisions compared with those of a second run. */
  readonly comparedAgain: number;
  /** Decisions compared with those of runs with other later arrivals, and with other later run times. */
  readonly comparedArrivals: number;
  readonly comparedRunTimes: number;
}
