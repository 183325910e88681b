/** Says words as the numbers that the Standard Workload Format has instead of them. */
import { UNKNOWN } from "../../core/jobs.ts";

/** Statuses by the states of jobs that have ended. */
export const SWF_STATUS: ReadonlyMap<string | undefined, number> = new Map([
  ["failed", 0],
  ["done", 1],
  ["cancelled", 5],
]);

/** Numbers words from 1 in order of first occurrence. */
export class Numbering {
  readonly #numbers = new Map<string, number>();

  get words(): string[] {
    return [...this.#numbers.keys()];
  }

  /** UNKNOWN for no word and for an empty one. */
  of(word = ""): number {
    if (word === "") return UNKNOWN;
    const known = this.#numbers.get(word) ?? this.#numbers.size + 1;
    this.#numbers.set(word, known);
    return known;
  }
}
