/**
 * Sends what clients write for jobs to the first nodes of their gangs. It keeps nothing: a client sends one
 * piece at a time, and sends again what was not taken.
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { AttemptKey, IdentifiedAttempt, InputPiece } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { InputTaken } from "../executor.ts";
import type { Gangs } from "./gangs.ts";

/** Longer than a conductor waits for the job. A node that is silent now may be back later. */
const ANSWER_MS = 8000;

interface InputsOptions {
  readonly clock: Clock;
  readonly gangs: Gangs;
  /** Dropped if the node has no connection. */
  readonly send: (node: string, message: ToConductor) => void;
}

export class Inputs {
  readonly #options: InputsOptions;
  /** By gang and writer. */
  readonly #waiting = new Map<string, (taken: InputTaken) => void>();

  constructor(options: InputsOptions) {
    this.#options = options;
  }

  send(key: IdentifiedAttempt, piece: InputPiece): Promise<InputTaken> {
    const { clock, gangs, send } = this.#options;
    const gang = gangs.find(key, key.identity);
    // It was launched a moment ago, or its end is being stored.
    if (gang === undefined) return Promise.resolve({ taken: 0, reader: "not-yet" });
    if (gang.end !== undefined) return Promise.resolve({ taken: piece.offset, reader: "closed" });
    const name = nameOf(key, piece.writer);
    // The client asks again: nobody waits for the earlier answer.
    this.#waiting.get(name)?.({ taken: 0, reader: "not-yet" });
    return new Promise((resolve) => {
      const settle = (taken: InputTaken) => {
        if (this.#waiting.get(name) === settle) this.#waiting.delete(name);
        cancel();
        resolve(taken);
      };
      const cancel = clock.at(clock.nowMs() + ANSWER_MS, () => settle({ taken: 0, reader: "not-yet" }));
      this.#waiting.set(name, settle);
      const { job, attempt, identity } = key;
      send(gang.facts.nodes[0], { type: "input", attempt: { job, attempt }, identity, ...piece });
    });
  }

  taken({ attempt, writer, taken, reader }: Extract<FromConductor, { type: "input-taken" }>): void {
    this.#waiting.get(nameOf(attempt, writer))?.({ taken, reader });
  }
}

function nameOf(attempt: AttemptKey, writer: string): string {
  return `${gangName(attempt)} ${writer}`;
}
