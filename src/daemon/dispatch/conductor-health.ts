/** Whether the conductor is there and answers, and how well it keeps its clock. */

import type { SlotStatistics } from "../../protocol/attempts.ts";
import type { FromConductor } from "../../protocol/conductor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

/** What it told when it was connected to. */
export type ConductorState = Extract<FromConductor, { type: "state" }>;

/** A conductor that turns gangs reports every second, or with each slot that is longer. */
const SILENCE_MS = 10_000;
const SILENT_SLOTS = 2;

export class ConductorHealth {
  readonly #context: FrontEndParts;
  #state: ConductorState | undefined;
  #statistics: SlotStatistics | undefined;
  #lostBecause = "the conductor has not answered yet";
  /** When it was heard last, or, if that is later, when it got something to turn. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #isTurning = false;

  constructor(context: FrontEndParts) {
    this.#context = context;
  }

  /** Undefined while it is not connected. */
  get state(): ConductorState | undefined {
    return this.#state;
  }

  /** Why nothing can be started; undefined while the conductor is there and answers. */
  get trouble(): string | undefined {
    if (this.#state === undefined) return this.#lostBecause;
    const silentMs = this.#silentMs();
    return silentMs === undefined
      ? undefined
      : `the conductor does not answer, for ${Math.round(silentMs / 1000)} s now`;
  }

  status() {
    const silentMs = this.#silentMs();
    return {
      connected: this.#state !== undefined,
      ...(silentMs !== undefined && { silentMs }),
      ...(this.#state !== undefined && { pid: this.#state.pid, freezer: this.#state.freezer }),
      ...(this.#statistics !== undefined && { lateP99Ms: this.#statistics.lateP99Ms }),
    };
  }

  heard(message: FromConductor, nowMs: number): void {
    this.#heardMs = nowMs;
    if (message.type === "state") this.#state = message;
    if (message.type === "slots") this.#statistics = message.statistics;
  }

  /** From now on it has gangs to turn, or none. */
  turns(isTurning: boolean): void {
    if (isTurning && !this.#isTurning) this.#heardMs = this.#context.clock.nowMs();
    this.#isTurning = isTurning;
  }

  disconnected(reason: string): void {
    this.#state = undefined;
    this.#lostBecause = reason;
  }

  /** For how long it has said nothing; undefined while that is no wonder. */
  #silentMs(): number | undefined {
    const { clock, config } = this.#context;
    const silentMs = clock.nowMs() - this.#heardMs;
    const isWonder = silentMs > Math.max(SILENCE_MS, SILENT_SLOTS * config.slotMs);
    return this.#state !== undefined && this.#isTurning && isWonder ? silentMs : undefined;
  }
}
