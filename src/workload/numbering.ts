import { UNKNOWN } from "../core/jobs.ts";

/** Numbers words from 1 in order of first occurrence; UNKNOWN for none. */
export class Numbering {
  readonly #numbers = new Map<string, number>();

  get words(): string[] {
    return [...this.#numbers.keys()];
  }

  of(word: string | undefined): number {
    if (word === undefined) return UNKNOWN;
    const known = this.#numbers.get(word) ?? this.#numbers.size + 1;
    this.#numbers.set(word, known);
    return known;
  }
}
