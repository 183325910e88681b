/** Removes control groups of gangs that have ended or are unknown. A group that still has processes stays. */
import { monotonicMs } from "../../host/clock.ts";
import type { Containment } from "../freezers/open-containment.ts";
import type { GangPart } from "./gang-part.ts";

/** Groups of ended gangs may not be empty yet; their removal is retried at this interval. */
const AGAIN_MS = 5000;

export class GroupRemoval {
  readonly #groups: Containment["groups"];
  readonly #attempts: ReadonlyMap<string, GangPart>;
  #removedAtMs = 0;

  constructor({ groups }: Containment, attempts: ReadonlyMap<string, GangPart>) {
    this.#groups = groups;
    this.#attempts = attempts;
  }

  remove(): void {
    this.#removedAtMs = monotonicMs();
    for (const name of this.#groups.gangs()) {
      const attempt = this.#attempts.get(name);
      if (attempt === undefined || attempt.isOver) this.#groups.remove(name);
    }
  }

  /** Called often. */
  removeAgain(): void {
    if (monotonicMs() - this.#removedAtMs > AGAIN_MS) this.remove();
  }
}
