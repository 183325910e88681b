/**
 * Decides from what jobs want which pilots there should be:
 *
 *   nothing runs or waits                    none is asked for; after `idleMs`, there is none
 *   what waits can use only other nodes,     the pilot goes back, and another one follows
 *   and nothing runs
 *   the same, because nodes were lost, but   after LOST_PATIENCE_MS nothing else starts on the pilot
 *   other jobs run
 *
 * If nothing has started on several pilots in a row, others would not help either.
 */
import type { Demand } from "@tutti/live/daemon/executor/executor.ts";

/** Nodes that are lost come back to Slurm, but not to the pilot. */
export const LOST_PATIENCE_MS = 600_000;
const MAX_UNUSED = 3;

interface NeedSettings {
  /** A pilot goes back after this time without work; undefined: never, and one is always asked for. */
  readonly idleMs?: number | undefined;
}

export class Need {
  readonly #idleMs: number | undefined;
  #demand: Demand | undefined;
  #isBusy = true;
  #idleSinceMs: number | undefined;
  #lostSinceMs: number | undefined;
  /** Somebody asks for a pilot, whatever waits. */
  #isAsked = false;
  #hasServed = false;
  #unused = 0;

  constructor({ idleMs }: NeedSettings) {
    this.#idleMs = idleMs;
  }

  /** Whether a gang runs or ends on the pilot in use, as far as known. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** @returns whether it was unknown */
  setBusy(isBusy: boolean): boolean {
    if (isBusy) {
      this.#idleSinceMs = undefined;
      this.#hasServed = true;
      this.#unused = 0;
    }
    const isNew = isBusy !== this.#isBusy;
    this.#isBusy = isBusy;
    return isNew;
  }

  /** @returns whether it was unknown */
  setDemand(demand: Demand | undefined): boolean {
    const before = this.#demand;
    this.#demand = demand;
    if (demand?.present || demand?.others) this.#idleSinceMs = undefined;
    if (!demand?.lost) this.#lostSinceMs = undefined;
    return (["present", "others", "lost"] as const).some((wish) => before?.[wish] !== demand?.[wish]);
  }

  ask(): void {
    this.#isAsked = true;
    this.#unused = 0;
  }

  submitted(): void {
    this.#isAsked = false;
  }

  /** Another pilot is in use now: it may have gangs. */
  begin(): void {
    this.#isBusy = true;
    this.#demand = undefined;
    this.#idleSinceMs = undefined;
    this.#lostSinceMs = undefined;
    this.#hasServed = false;
  }

  /** Whether a pilot should be asked for. @param inUse whether there is one, which drains */
  wantsPilot(inUse: boolean): boolean {
    if (this.#idleMs === undefined || this.#isAsked) return true;
    const { present = false, others = false } = this.#demand ?? {};
    return others || (present && !inUse);
  }

  /** Whether nothing runs on the pilot in use, and what waits can only use another one. */
  get isOfNoUse(): boolean {
    return !this.#isBusy && this.#demand?.others === true && !this.#demand.present;
  }

  /** Whether jobs wait for nodes that the pilot in use has lost. */
  get isForLost(): boolean {
    return this.#demand?.lost === true;
  }

  /** Whether they have waited for so long that nothing else should start on it. */
  hasWaitedForLost(nowMs: number): boolean {
    if (this.isForLost) this.#lostSinceMs ??= nowMs;
    return this.#lostSinceMs !== undefined && nowMs >= this.#lostSinceMs + LOST_PATIENCE_MS;
  }

  /** @param inUse whether there is a pilot in use */
  isIdle(inUse: boolean, nowMs: number): boolean {
    const { present = true, others = true } = this.#demand ?? {};
    if (this.#idleMs === undefined || present || others || (inUse && this.#isBusy)) {
      this.#idleSinceMs = undefined;
      return false;
    }
    this.#idleSinceMs ??= nowMs;
    return nowMs >= this.#idleSinceMs + this.#idleMs;
  }

  /** A pilot of no use goes back. @returns why no other one should follow */
  noUse(): string | undefined {
    if (this.#hasServed || ++this.#unused < MAX_UNUSED) return undefined;
    return `nothing could start on ${MAX_UNUSED} pilots in a row, although jobs waited`;
  }
}
