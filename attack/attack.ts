/**
 * Defines an attack: something that must not work. It is tried on a real scheduler that no other attack uses.
 */
import type { Stage } from "./stage.ts";

export interface Attack {
  /** Name as `--only` takes it, such as `logs-renamed`. */
  readonly name: string;
  /** The finding of the review from which it comes (S1 … S13: security, R1 … R10: reliability). */
  readonly finding: string;
  /** What the attack tries. */
  readonly about: string;
  /** `users`: root and real local accounts. `root`: root without accounts. `nothing`: any user. */
  readonly needs: "users" | "root" | "nothing";
  /** Whether it takes minutes, so that the short form leaves it out. */
  readonly isLong?: boolean;
  run(stage: Stage): Promise<Outcome>;
}

export interface Outcome {
  readonly held: boolean;
  readonly tried: number;
  /** Number of attempts that got through. */
  readonly through: number;
  /** What got through, or what happened instead; one line. */
  readonly detail: string;
}

/** Counts attempts and remembers the first that got through. */
export class Tally {
  #tried = 0;
  #through = 0;
  #detail = "";

  /** @param gotThrough what got through; false or undefined if the scheduler held */
  attempt(gotThrough: string | false | undefined): void {
    this.#tried++;
    if (gotThrough === false || gotThrough === undefined) return;
    this.#through++;
    this.#detail ||= gotThrough;
  }

  /** @param otherwise the text if no attempt got through */
  outcome(otherwise: string): Outcome {
    if (this.#tried === 0) throw new Error("Broken invariant: an attack that tried nothing");
    const held = this.#through === 0;
    const detail = oneLine(held ? otherwise : this.#detail);
    return { held, tried: this.#tried, through: this.#through, detail };
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 160);
}
