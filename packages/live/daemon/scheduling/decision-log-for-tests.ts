import type { Observer } from "@tutti/kernel/core/schedule.ts";

/** Everything that an observer receives, one line each. */
export class DecisionLog implements Observer {
  readonly lines: string[] = [];
  arrived = (timeS: number, job: number) => this.#note("arrived", timeS, job);
  departed = (timeS: number, job: number) => this.#note("departed", timeS, job);
  started = (timeS: number, job: number, rule: number) => this.#note("started", timeS, job, rule);
  promised = (timeS: number, job: number, startS: number) => this.#note("promised", timeS, job, startS);
  decided = (timeS: number) => this.#note("decided", timeS);
  placed = (timeS: number, job: number, row: number, first: number, stretches?: readonly number[]) =>
    this.#note("placed", timeS, job, row, first, ...(stretches ?? []));
  released = (timeS: number, job: number, row: number) => this.#note("released", timeS, job, row);
  rowAdded = (timeS: number, row: number) => this.#note("row added", timeS, row);
  rowDeleted = (timeS: number, row: number) => this.#note("row deleted", timeS, row);
  exchanged = (timeS: number, a: number, b: number, first: number, end: number) =>
    this.#note("exchanged", timeS, a, b, first, end);

  #note(what: string, ...numbers: number[]): void {
    this.lines.push(`${what} ${numbers.join(" ")}`);
  }
}
