/**
 * Computes when the slots of a machine begin: slot number n begins at base + (n − base slot) × length. The
 * length may change from the present slot on. While it stays the same, rounding errors do not accumulate.
 */
export class SlotClock {
  /** The present slot, which begins now. */
  slot = 0;
  #lengthS: number;
  #baseSlot = 0;
  #baseS = 0;

  /** Slot 0 begins at time 0. */
  constructor(lengthS: number) {
    this.#lengthS = lengthS;
  }

  /**
   * Beginning of a slot, in seconds. For past slots, this is right only since the last change of the length.
   */
  startS(slot: number): number {
    return this.#baseS + (slot - this.#baseSlot) * this.#lengthS;
  }

  /** Number of the first present or future slot that begins at or after a time. */
  slotAtOrAfter(timeS: number): number {
    let slot = Math.max(this.slot, this.#baseSlot + Math.ceil((timeS - this.#baseS) / this.#lengthS));
    // The quotient may be one off by rounding.
    while (this.startS(slot) < timeS) slot++;
    while (slot > this.slot && this.startS(slot - 1) >= timeS) slot--;
    return slot;
  }

  /** Length of the present slot and those after it, in seconds. */
  setLength(lengthS: number): void {
    if (lengthS === this.#lengthS) return;
    this.#baseS = this.startS(this.slot);
    this.#baseSlot = this.slot;
    this.#lengthS = lengthS;
  }
}
