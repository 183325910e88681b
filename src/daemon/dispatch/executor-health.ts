/** Whether the executor is there and answers, and how well it keeps its clock. */
import type { SlotStatistics } from "../../protocol/attempts.ts";
import type { Connected, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

/** One that has gangs in several rows reports every second, or with each slot that is longer. */
const SILENCE_MS = 10_000;
const SILENT_SLOTS = 2;

export class ExecutorHealth {
  readonly #context: FrontEndParts;
  #connected: Connected | undefined;
  #statistics: SlotStatistics | undefined;
  #lostBecause = "the conductor has not answered yet";
  /** When it was heard last, or, if that is later, when it got gangs. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #hasGangs = false;

  constructor(context: FrontEndParts) {
    this.#context = context;
  }

  /** Undefined while it is not connected. */
  get connected(): Connected | undefined {
    return this.#connected;
  }

  /** Why nothing can be started; undefined while it is there and answers. */
  get trouble(): string | undefined {
    if (this.#connected === undefined) return this.#lostBecause;
    const silentMs = this.#silentMs();
    return silentMs === undefined
      ? undefined
      : `the conductor does not answer, for ${Math.round(silentMs / 1000)} s now`;
  }

  status() {
    const silentMs = this.#silentMs();
    return {
      connected: this.#connected !== undefined,
      ...(silentMs !== undefined && { silentMs }),
      ...this.#connected?.facts,
      ...(this.#statistics !== undefined && { lateP99Ms: this.#statistics.lateP99Ms }),
    };
  }

  onReport(report: Report, nowMs: number): void {
    this.#heardMs = nowMs;
    if (report.type === "connected") this.#connected = report;
    if (report.type === "slots") this.#statistics = report.statistics;
  }

  /** From now on it has gangs in its rows, or none. */
  setHasGangs(hasGangs: boolean): void {
    if (hasGangs && !this.#hasGangs) this.#heardMs = this.#context.clock.nowMs();
    this.#hasGangs = hasGangs;
  }

  disconnected(reason: string): void {
    this.#connected = undefined;
    this.#lostBecause = reason;
  }

  /** For how long it has said nothing; undefined while that is no wonder. */
  #silentMs(): number | undefined {
    const { clock, config } = this.#context;
    const silentMs = clock.nowMs() - this.#heardMs;
    const isWonder = silentMs > Math.max(SILENCE_MS, SILENT_SLOTS * config.slotMs);
    return this.#connected !== undefined && this.#hasGangs && isWonder ? silentMs : undefined;
  }
}
