/**
 * The clock of a machine that gives time in slots: slot number n begins at base + (n − base slot) × length. The length may
 * change from one slot on; as long as it stays, times carry no accumulated rounding.
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

  /** Beginning of a slot, in seconds; slots before the present one only as far as the length has not changed. */
  startS(slot: number): number {
    return this.#baseS + (slot - this.#baseSlot) * this.#lengthS;
  }

  /** Number of the first slot, from the present one on, that begins at or after a time. */
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
