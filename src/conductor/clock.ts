/**
 * The clock of the slots: slot k begins at epoch + k·L on the machine's monotonic clock, whatever happened before. A conductor that is
 * late passes over the boundaries it missed and makes up for none.
 */
import { monotonicMs } from "../host/clock.ts";
import type { SlotStatistics } from "../protocol/attempts.ts";

/** Number of the slot at a time. */
export function slotAt(nowMs: number, epochMs: number, slotMs: number): number {
  return Math.floor((nowMs - epochMs) / slotMs);
}

/** Row whose turn it is in a slot. */
export function rowAt(slot: number, rows: number): number {
  return ((slot % rows) + rows) % rows;
}

/**
 * The row whose slot it is. When nobody of it is left, as when its gangs have ended in the slot, the next one that has somebody has the
 * rest of the slot, which would be idle; then its own. Empty when nobody is left at all.
 */
export function rowOnTurn<Gang>(
  rows: readonly (readonly Gang[])[],
  slot: number,
  isLeft: (gang: Gang) => boolean,
): readonly Gang[] {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[rowAt(slot + i, rows.length)] ?? [];
    if (row.some(isLeft)) return row;
  }
  return [];
}

/** How many ms a timer of Node's may be early, and by how much the rest is waited for precisely. */
const TIMER_GRAIN_MS = 1.2;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

type OnBoundary = (slot: number, lateMs: number, skipped: number) => void;

/** Calls back at each boundary of slots, never twice for one. */
export class SlotClock {
  epochMs: number;
  slotMs: number;
  readonly #onBoundary: OnBoundary;
  #timer: NodeJS.Timeout | undefined;
  /** The slot that began last as far as we know. */
  #slot = 0;

  constructor(epochMs: number, slotMs: number, onBoundary: OnBoundary) {
    this.epochMs = epochMs;
    this.slotMs = slotMs;
    this.#onBoundary = onBoundary;
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /** Slot of this moment. */
  slot(): number {
    return slotAt(monotonicMs(), this.epochMs, this.slotMs);
  }

  /** Beginning of the next slot. */
  nextBoundaryMs(): number {
    return this.epochMs + (this.#slot + 1) * this.slotMs;
  }

  /** Another length of slots, on a grid that begins at the same epoch: the front end was told of that one. */
  setSlot(slotMs: number): void {
    this.slotMs = slotMs;
    if (this.isRunning) this.start();
  }

  start(): void {
    this.stop();
    this.#slot = this.slot();
    this.#arm();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const left = this.nextBoundaryMs() - monotonicMs();
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, Math.floor(left - TIMER_GRAIN_MS)));
  }

  #wake(): void {
    const left = this.nextBoundaryMs() - monotonicMs();
    // The slot may be a minute long, and a timer of Node's may fire early.
    if (left > 2 * TIMER_GRAIN_MS) {
      this.#arm();
      return;
    }
    // Asleep in the kernel, not spinning: the gang that runs has the processor.
    if (left > 0) Atomics.wait(sleepCell, 0, 0, left);
    const now = monotonicMs();
    const slot = slotAt(now, this.epochMs, this.slotMs);
    if (slot <= this.#slot) {
      this.#arm();
      return;
    }
    const skipped = slot - this.#slot - 1;
    this.#slot = slot;
    this.#arm();
    this.#onBoundary(slot, now - (this.epochMs + slot * this.slotMs), skipped);
  }
}

/** Numbers of the switches since they were last taken. */
export class SwitchRecord {
  #lateMs: number[] = [];
  #switchUs: number[] = [];
  #skipped = 0;

  record(lateMs: number, switchUs: number, skipped: number): void {
    // A bound, should nobody ever take them.
    if (this.#lateMs.length >= 10_000) this.take();
    this.#lateMs.push(lateMs);
    this.#switchUs.push(switchUs);
    this.#skipped += skipped;
  }

  /** The numbers, which begin anew; undefined when there was no switch. */
  take(): Omit<SlotStatistics, "gangs"> | undefined {
    if (this.#lateMs.length === 0) return undefined;
    const late = this.#lateMs.sort((a, b) => a - b);
    const calls = this.#switchUs.sort((a, b) => a - b);
    const taken = {
      slots: late.length,
      lateP50Ms: quantile(late, 0.5),
      lateP99Ms: quantile(late, 0.99),
      lateMaxMs: late.at(-1) ?? 0,
      switchP50Us: quantile(calls, 0.5),
      switchP99Us: quantile(calls, 0.99),
      skipped: this.#skipped,
    };
    this.#lateMs = [];
    this.#switchUs = [];
    this.#skipped = 0;
    return taken;
  }
}

/** The smallest value that is not below that share of the values. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? 0;
}
