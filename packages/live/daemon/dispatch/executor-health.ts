/** Reports whether the executor is connected and answers, and how punctual its slots are. */
import type { SlotStatistics } from "@tutti/protocol/attempts.ts";
import type { Connected, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";

/** An executor with gangs in several rows reports every second, or in each slot if slots are longer. */
const SILENCE_MS = 10_000;
const SILENT_SLOTS = 2;

export class ExecutorHealth {
  readonly #context: FrontEndParts;
  #connected: Connected | undefined;
  #statistics: SlotStatistics | undefined;
  #lostBecause = "the conductor has not answered yet";
  /** Time of its last report, or the time at which it got gangs if that is later. */
  #lastReportMs = Number.NEGATIVE_INFINITY;
  #hasGangs = false;
  /** On a cluster, the executor notices silent nodes itself. */
  #hasNodes = false;

  constructor(context: FrontEndParts) {
    this.#context = context;
  }

  /** Undefined while it is not connected. */
  get connected(): Connected | undefined {
    return this.#connected;
  }

  /** Why nothing can be started; undefined while the executor is connected and answers. */
  get trouble(): string | undefined {
    const { executor, scheduler } = this.#context;
    if (this.#connected === undefined) return executor.trouble ?? executor.rests ?? this.#lostBecause;
    if (scheduler.machine.processors === 0)
      return executor.trouble ?? executor.rests ?? "there are no processors now";
    const silentMs = this.#silentMs();
    return silentMs === undefined
      ? undefined
      : `the conductor has not answered for ${Math.round(silentMs / 1000)} s`;
  }

  status() {
    const silentMs = this.#silentMs();
    const { rests } = this.#context.executor;
    return {
      connected: this.#connected !== undefined,
      silentMs,
      rests,
      ...this.#connected?.facts,
      lateP99Ms: this.#statistics?.lateP99Ms,
    };
  }

  onReport(report: Report, nowMs: number): void {
    this.#lastReportMs = nowMs;
    if (report.type === "connected") this.#connected = report;
    if (report.type === "nodes") this.#hasNodes = true;
    if (report.type === "slots") this.#statistics = report.statistics;
  }

  /** Sets whether the executor has gangs in its rows, so that it must report. */
  setHasGangs(hasGangs: boolean): void {
    if (hasGangs && !this.#hasGangs) this.#lastReportMs = this.#context.clock.nowMs();
    this.#hasGangs = hasGangs;
  }

  disconnected(reason: string): void {
    this.#connected = undefined;
    this.#lostBecause = reason;
  }

  /** How long the executor has been silent, in ms; undefined while silence is expected. */
  #silentMs(): number | undefined {
    const { clock, config } = this.#context;
    const silentMs = clock.nowMs() - this.#lastReportMs;
    const isTooLong = silentMs > Math.max(SILENCE_MS, SILENT_SLOTS * config.slotMs);
    const isExpected = this.#connected !== undefined && this.#hasGangs && !this.#hasNodes;
    return isExpected && isTooLong ? silentMs : undefined;
  }
}
