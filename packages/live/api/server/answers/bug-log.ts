/**
 * Limits what the requests of each user can write into the scheduler's log: a request that meets a bug may be
 * sent again and again.
 */
import { monotonicMs } from "@tutti/host/clock.ts";

const MOST = 10;
const WINDOW_MS = 3_600_000;

/** The bugs of one user in the current hour. */
interface Told {
  readonly fromMs: number;
  count: number;
}

export class BugLog {
  readonly #onBug: (error: unknown) => void;
  readonly #nowMs: () => number;
  readonly #users = new Map<number, Told>();

  constructor(onBug: (error: unknown) => void, nowMs = () => monotonicMs()) {
    this.#onBug = onBug;
    this.#nowMs = nowMs;
  }

  /** Notes a bug that a request of the user met; of the further ones in an hour, only that there are some. */
  note(uid: number, error: unknown): void {
    const nowMs = this.#nowMs();
    let told = this.#users.get(uid);
    if (told === undefined || nowMs - told.fromMs >= WINDOW_MS) {
      told = { fromMs: nowMs, count: 0 };
      this.#users.set(uid, told);
    }
    told.count++;
    if (told.count <= MOST) this.#onBug(error);
    if (told.count === MOST) {
      this.#onBug(
        new Error(`Requests of user ${uid} have met ${MOST} bugs; further ones within an hour are not shown`),
      );
    }
  }
}
