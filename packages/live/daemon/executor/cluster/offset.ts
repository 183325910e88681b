/**
 * Measures how far a node's monotonic clock is ahead of this machine's. A round trip bounds the difference:
 * the node read its clock between our sending and our receiving, so the middle of these is right within
 * half of the round trip, however asymmetric the way was (Cristian 1989). Clocks drift apart, so an older
 * measurement is less certain.
 */

export interface Offset {
  /** The node's clock minus this machine's, in ms. */
  readonly offsetMs: number;
  /** The offset is right within this. */
  readonly uncertaintyMs: number;
}

interface RoundTrip extends Offset {
  readonly atMs: number;
}

/** Number of round trips before the offset counts as known. */
export const MIN_TRIPS = 20;
/** Two quartz clocks differ by at most 100 ppm each. */
export const MAX_DRIFT = 2e-4;
/** Reading a clock and computing with large times. */
const GRAIN_MS = 0.001;

export class ClockOffset {
  /** The most certain one. All become less certain at the same rate, so the others never count again. */
  #best: RoundTrip | undefined;
  #count = 0;

  /** @param nodeMs the node's clock when it read the ping; the other times are of this machine's clock */
  add(sentMs: number, nodeMs: number, receivedMs: number): void {
    const halfMs = (receivedMs - sentMs) / 2;
    const atMs = sentMs + halfMs;
    const uncertaintyMs = halfMs * (1 + MAX_DRIFT) + GRAIN_MS;
    const trip = { atMs, offsetMs: nodeMs - atMs, uncertaintyMs };
    // The node has been started again: its clock is another one.
    if (this.#best !== undefined && !agree(trip, this.#best)) this.#best = undefined;
    if (this.#best === undefined) this.#count = 0;
    this.#count++;
    if (this.#best === undefined || uncertaintyAt(trip, atMs) <= uncertaintyAt(this.#best, atMs))
      this.#best = trip;
  }

  /** Undefined until there were enough round trips. */
  at(nowMs: number): Offset | undefined {
    if (this.#best === undefined || this.#count < MIN_TRIPS) return undefined;
    return { offsetMs: this.#best.offsetMs, uncertaintyMs: uncertaintyAt(this.#best, nowMs) };
  }
}

function uncertaintyAt({ atMs, uncertaintyMs }: RoundTrip, nowMs: number): number {
  return uncertaintyMs + (nowMs - atMs) * MAX_DRIFT;
}

/** Whether one clock can have given both. The instants of the readings are uncertain, too. */
function agree(a: RoundTrip, b: RoundTrip): boolean {
  const apartMs = Math.abs(a.atMs - b.atMs) + a.uncertaintyMs + b.uncertaintyMs;
  return Math.abs(a.offsetMs - b.offsetMs) <= a.uncertaintyMs + b.uncertaintyMs + apartMs * MAX_DRIFT;
}
