/**
 * The clocks of a machine: Unix time, which can be set and goes on while the power is off; boot time, which
 * begins at each boot; and monotonic time, which also stands still while the machine is suspended.
 */
import type { MachineClock, Timeline } from "../contract.ts";

export class KernelClock implements MachineClock {
  readonly #timeline: Timeline;
  /** Unix time when the world began. */
  #unixMsAtZero: number;
  #bootAtUs = 0;
  #boots = 0;
  #suspendedUs = 0;
  /** When the present suspend began and ends; 0: there is none. */
  #suspendedAtUs = 0;
  #resumeAtUs = 0;

  constructor(timeline: Timeline, unixMsAtZero: number) {
    this.#timeline = timeline;
    this.#unixMsAtZero = unixMsAtZero;
  }

  unixMs(): number {
    return this.#unixMsAtZero + this.#timeline.nowUs / 1000;
  }

  monotonicMs(): number {
    return this.monotonicUs() / 1000;
  }

  bootMs(): number {
    return (this.#timeline.nowUs - this.#bootAtUs) / 1000;
  }

  step(byMs: number): void {
    this.#unixMsAtZero += byMs;
  }

  at(monotonicMs: number, call: () => void): () => void {
    return this.atUs(monotonicMs * 1000, call);
  }

  monotonicUs(): number {
    const nowUs = this.#resumeAtUs === 0 ? this.#timeline.nowUs : this.#suspendedAtUs;
    return nowUs - this.#bootAtUs - this.#suspendedUs;
  }

  /** Calls when that time of the monotonic clock has come, unless the power goes before. */
  atUs(monotonicUs: number, call: () => void): () => void {
    const boots = this.#boots;
    let cancel: () => void;
    const look = () => {
      if (boots !== this.#boots) return;
      const leftUs = Math.ceil(monotonicUs) - this.monotonicUs();
      if (this.#resumeAtUs === 0 && leftUs <= 0) call();
      else cancel = this.#set(leftUs, look);
    };
    cancel = this.#set(monotonicUs - this.monotonicUs(), look);
    return () => cancel();
  }

  /** The same, that many µs from now. */
  after(us: number, call: () => void): () => void {
    return this.atUs(this.monotonicUs() + us, call);
  }

  /** @param leftUs of time in which the machine is not suspended */
  #set(leftUs: number, call: () => void): () => void {
    return this.#timeline.at(Math.max(this.#timeline.nowUs, this.#resumeAtUs) + leftUs, call);
  }

  /** @param upMs how long it is up already */
  boot(upMs = 0): void {
    this.#boots++;
    this.#bootAtUs = this.#timeline.nowUs - upMs * 1000;
    this.#suspendedUs = 0;
    this.#resumeAtUs = 0;
  }

  /** Timers that were set before are no longer called. */
  stop(): void {
    this.#boots++;
  }

  suspend(us: number): void {
    this.#suspendedAtUs = this.#timeline.nowUs;
    this.#resumeAtUs = this.#timeline.nowUs + us;
  }

  resume(): void {
    this.#suspendedUs += this.#timeline.nowUs - this.#suspendedAtUs;
    this.#resumeAtUs = 0;
  }
}
