/** What an attack is: something that must not work, tried for real against a scheduler of its own. */
import type { Stage } from "./stage.ts";

export interface Attack {
  /** Such as `logs-renamed`; what `--only` takes. */
  readonly name: string;
  /** The finding of the review it comes from (S1 … S13: security, R1 … R10: reliability), and what is tried. */
  readonly finding: string;
  readonly about: string;
  /** `users`: real local accounts, so root. `root`: root, but no accounts. `nothing`: runs as anybody. */
  readonly needs: "users" | "root" | "nothing";
  /** True for one that takes minutes: left out of the short form. */
  readonly isLong?: boolean;
  run(stage: Stage): Promise<Outcome>;
}

export interface Outcome {
  readonly held: boolean;
  readonly tried: number;
  /** How many of those got through. */
  readonly through: number;
  /** What was got, or what happened instead; one line. */
  readonly got: string;
}

/** Counts attempts and remembers the first that got through. */
export class Tally {
  #tried = 0;
  #through = 0;
  #got = "";

  /** @param gotThrough what was got, false or undefined when it held */
  attempt(gotThrough: string | false | undefined): void {
    this.#tried++;
    if (gotThrough === false || gotThrough === undefined) return;
    this.#through++;
    this.#got ||= gotThrough;
  }

  /** @param otherwise what to say when all held */
  outcome(otherwise: string): Outcome {
    if (this.#tried === 0) throw new Error("Broken invariant: an attack that tried nothing");
    const held = this.#through === 0;
    const got = oneLine(held ? otherwise : this.#got);
    return { held, tried: this.#tried, through: this.#through, got };
  }
}

function oneLine(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 160);
}
