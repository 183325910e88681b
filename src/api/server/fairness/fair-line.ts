/**
 * Runs long work, such as forecasts, one item at a time, and shares the time fairly among users: the more
 * time a user's work takes, the longer that user waits until the next item runs.
 */
import { monotonicMs } from "../../../host/clock.ts";
import { FairQueue } from "../../../structures/fair-queue.ts";

export class FairLine {
  readonly #queue = new FairQueue<() => Promise<void>>();
  readonly #nowMs: () => number;
  #isBusy = false;

  constructor(nowMs = () => monotonicMs()) {
    this.#nowMs = nowMs;
  }

  /** Starts the work when it is the user's turn and no other work runs. */
  run<Result>(user: number, work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.add(user, async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      void this.#serve();
    });
  }

  async #serve(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) {
      const fromMs = this.#nowMs();
      await next.item();
      this.#queue.charge(next.user, this.#nowMs() - fromMs);
    }
    this.#isBusy = false;
  }
}
