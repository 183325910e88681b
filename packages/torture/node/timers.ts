/** Timers of a simulated program, with the lateness of a real event loop. */
import type { MachineClock, Random } from "../world/contract.ts";

/** What these timers need of their program. */
interface TimerHost {
  readonly clock: MachineClock;
  readonly random: Random;
  /** Runs a call in the program, once its process may run. */
  run(call: () => void): void;
  /** Runs a call at the present instant, after what is due already. */
  soon(call: () => void): void;
}

const LATE_CHANCE = 0.01;
const USUAL_LATE_MS = 0.3;
const MAX_LATE_MS = 8;

class Timer {
  readonly #host: TimerHost;
  readonly #call: () => void;
  readonly #periodMs: number;
  readonly #repeats: boolean;
  #cancel: (() => void) | undefined;

  constructor(host: TimerHost, call: () => void, periodMs: number, repeats: boolean) {
    this.#host = host;
    this.#call = call;
    this.#periodMs = periodMs >= 1 && periodMs <= 2 ** 31 - 1 ? periodMs : 1;
    this.#repeats = repeats;
    this.#arm();
  }

  #arm(): void {
    const { clock, random } = this.#host;
    const lateMs = random.unit() * (random.chance(LATE_CHANCE) ? MAX_LATE_MS : USUAL_LATE_MS);
    this.#cancel = clock.at(clock.monotonicMs() + this.#periodMs + lateMs, () => this.#host.run(this.#fire));
  }

  #fire = (): void => {
    // It was cleared while its process was stopped.
    if (this.#cancel === undefined) return;
    this.#cancel = undefined;
    if (this.#repeats) this.#arm();
    this.#call();
  };

  clear(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  refresh(): this {
    this.clear();
    this.#arm();
    return this;
  }

  // A simulated program ends by exit() or a signal, never because nothing is left to do.
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

/** The global functions of timers. */
export function timersOf(host: TimerHost) {
  const start =
    (repeats: boolean) =>
    (call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      new Timer(host, args.length === 0 ? call : () => call(...args), Number(ms), repeats);
  const clear = (timer?: unknown) => {
    if (timer instanceof Timer) timer.clear();
  };
  const immediates = new WeakSet<object>();
  return {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate(call: (...args: unknown[]) => void, ...args: unknown[]) {
      const immediate = { ref: () => immediate, unref: () => immediate, hasRef: () => true };
      immediates.add(immediate);
      host.soon(() => immediates.delete(immediate) && call(...args));
      return immediate;
    },
    clearImmediate(immediate?: object) {
      if (immediate !== undefined) immediates.delete(immediate);
    },
  };
}
