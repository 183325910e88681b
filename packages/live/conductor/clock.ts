/**
 * Tells when slots begin: slot k begins at epoch + k·L on the machine's monotonic clock, where L is the
 * length of a slot. A late conductor skips the slots that it missed and does not make up for them.
 */
import { monotonicMs } from "@tutti/host/clock.ts";
import type { SlotStatistics } from "@tutti/protocol/attempts.ts";

/** Number of the slot at a given time. */
export function slotAt(nowMs: number, epochMs: number, slotMs: number): number {
  return Math.floor((nowMs - epochMs) / slotMs);
}

/** Row whose turn it is in a slot. */
export function rowAt(slot: number, rows: number): number {
  return ((slot % rows) + rows) % rows;
}

/** Gives nothing to other rows: other machines may use the slot. */
export function strictRowOnTurn<Gang>(rows: readonly (readonly Gang[])[], slot: number): readonly Gang[] {
  return rows[rowAt(slot, rows.length)] ?? [];
}

/**
 * The row that runs in a slot. If the slot's row has no gang left, for example because its gangs ended
 * during the slot, the next row with a gang gets the rest of the slot in addition to its own slot. Empty if
 * no row has a gang.
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

/** Node's timers may fire this many ms early, so the last part of a wait uses a more precise method. */
const TIMER_GRAIN_MS = 1.2;
const sleepCell = new Int32Array(new SharedArrayBuffer(4));

/** Slots have another length from the beginning of slot `atSlot` on, counted in slots of that length. */
interface LengthChange {
  readonly slotMs: number;
  readonly atSlot: number;
}

type OnBoundary = (slot: number, lateMs: number, skipped: number) => void;

/** Calls back at each slot boundary, at most once per boundary. */
export class SlotClock {
  epochMs: number;
  slotMs: number;
  readonly #onBoundary: OnBoundary;
  #timer: NodeJS.Timeout | undefined;
  /** The last slot whose beginning was noticed. */
  #slot = 0;
  #change: LengthChange | undefined;

  constructor(epochMs: number, slotMs: number, onBoundary: OnBoundary) {
    this.epochMs = epochMs;
    this.slotMs = slotMs;
    this.#onBoundary = onBoundary;
  }

  get isRunning(): boolean {
    return this.#timer !== undefined;
  }

  /**
   * The present slot. While the clock runs, a slot whose beginning was noticed has begun, even if the epoch
   * was moved a little afterwards.
   * @param slotMs length of the slots to count; by default, the present length
   */
  slot(slotMs = this.slotMs): number {
    const slot = slotAt(monotonicMs(), this.epochMs, slotMs);
    return this.isRunning && slotMs === this.slotMs ? Math.max(slot, this.#slot) : slot;
  }

  /** Beginning of the next slot. */
  nextBoundaryMs(): number {
    const nextMs = this.epochMs + (this.#slot + 1) * this.slotMs;
    return this.#change === undefined
      ? nextMs
      : Math.min(nextMs, this.epochMs + this.#change.atSlot * this.#change.slotMs);
  }

  /** Changes the length of slots. The epoch stays the same, because the front end knows it. */
  setSlot(slotMs: number): void {
    this.slotMs = slotMs;
    if (this.isRunning) this.start();
  }

  /** Changes the length of slots later; undefined: does not. Slots of the new length begin with a call. */
  changeSlot(change: LengthChange | undefined): void {
    if (change?.slotMs === this.#change?.slotMs && change?.atSlot === this.#change?.atSlot) return;
    this.#change = change;
    if (this.isRunning) this.#arm();
  }

  /**
   * Corrects the beginning of slot 0. A correction by less than a slot makes the present slot longer or
   * shorter: no slot begins twice, and none is left out. A larger one counts the slots again.
   * @returns whether the slots were counted again, so that another row may have the slot
   */
  moveEpoch(epochMs: number): boolean {
    const shiftMs = epochMs - this.epochMs;
    this.epochMs = epochMs;
    if (!this.isRunning) return false;
    const isSmall = Math.abs(shiftMs) < this.slotMs;
    if (isSmall) this.#arm();
    else this.start();
    return !isSmall;
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
    clearTimeout(this.#timer);
    const left = this.nextBoundaryMs() - monotonicMs();
    this.#timer = setTimeout(() => this.#wake(), Math.max(0, Math.floor(left - TIMER_GRAIN_MS)));
  }

  #wake(): void {
    const left = this.nextBoundaryMs() - monotonicMs();
    // The slot may be a minute long, and a Node timer may fire early.
    if (left > 2 * TIMER_GRAIN_MS) {
      this.#arm();
      return;
    }
    // Sleep in the kernel instead of spinning, so that the running gang has the processor.
    if (left > 0) Atomics.wait(sleepCell, 0, 0, left);
    const now = monotonicMs();
    const change = this.#change;
    const isChange = change !== undefined && slotAt(now, this.epochMs, change.slotMs) >= change.atSlot;
    if (isChange) {
      this.slotMs = change.slotMs;
      this.#change = undefined;
      // The change itself is the beginning of a slot.
      this.#slot = change.atSlot - 1;
    }
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

/** Statistics of the switches since the last call of `take`. */
export class SwitchRecord {
  #lateMs: number[] = [];
  #switchUs: number[] = [];
  #skipped = 0;
  readonly #listsSlots: boolean;
  #lateOfSlots: [slot: number, lateMs: number][] = [];

  /** @param listsSlots whether the statistics list each slot, as a cluster needs it */
  constructor(listsSlots = false) {
    this.#listsSlots = listsSlots;
  }

  record(slot: number, lateMs: number, switchUs: number, skipped: number): void {
    // Bounds the memory if nobody ever takes the statistics.
    if (this.#lateMs.length >= 10_000) this.take();
    this.#lateMs.push(lateMs);
    this.#switchUs.push(switchUs);
    this.#skipped += skipped;
    if (this.#listsSlots) this.#lateOfSlots.push([slot, Math.round(lateMs * 1000) / 1000]);
  }

  /** Returns the statistics and resets them; undefined if there was no switch. */
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
      ...(this.#listsSlots && { lateOfSlots: this.#lateOfSlots }),
    };
    this.#lateOfSlots = [];
    this.#lateMs = [];
    this.#switchUs = [];
    this.#skipped = 0;
    return taken;
  }
}

/** The given quantile of the values: the smallest value for which at least this share is not greater. */
export function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? 0;
}
