/**
 * Schedules all work of the API, so no user's requests can block the event loop for other users, the
 * conductor or timers. Work is divided into pieces of at most about 10 ms. The next piece comes from the user
 * whose pieces have used the least time so far (FairQueue). After TURN_MS of work, the event loop polls.
 *
 * While nothing waits, a piece runs immediately. Then the only cost is reading the clock twice.
 */
import { monotonicMs } from "@tutti/host/clock.ts";
import { FairQueue } from "@tutti/kernel/structures/fair-queue.ts";

/** Work between two polls of the event loop; the last piece may exceed it. */
const TURN_MS = 5;
/** Minimum cost of a piece: covers work outside it, such as reading the head and writing the answer. */
const MIN_COST_MS = 0.1;

/** The client closed the connection before its work was done. No user sees this error. */
export class ClientLeft extends Error {
  override name = "ClientLeft";
}

/** Runs the pieces of one request in its user's turns. */
export interface RequestTurns {
  /**
   * Runs a piece of work in the user's turn: synchronous, and at most about 10 ms.
   * @throws ClientLeft, without running it, if the client has left
   */
  run<Result>(work: () => Result): Promise<Result>;
  /**
   * Runs longer work in pieces: a generator that yields after each piece. Other users get their turn in
   * between.
   * @throws ClientLeft
   */
  through<Result>(pieces: Generator<unknown, Result, void>): Promise<Result>;
}

interface Waiting {
  readonly work: () => unknown;
  readonly isGone: () => boolean;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Clock and event loop; tests pass their own. */
interface SchedulerMachine {
  readonly nowMs: () => number;
  /** Calls back after the event loop has polled. */
  readonly afterPoll: (then: () => void) => void;
}

const NODE: SchedulerMachine = { nowMs: () => monotonicMs(), afterPoll: (then) => setImmediate(then) };

export class RequestScheduler {
  readonly #queue = new FairQueue<Waiting>();
  readonly #machine: SchedulerMachine;
  /** Work since the last poll. */
  #workedMs = 0;
  #willPoll = false;

  constructor(machine: SchedulerMachine = NODE) {
    this.#machine = machine;
  }

  /** Number of waiting pieces, including those of clients that have left. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * The turns of one request.
   * @param isGone whether the client has left; its waiting pieces are then not run
   */
  turnsOf(user: number, isGone: () => boolean): RequestTurns {
    const run = <Result>(work: () => Result): Promise<Result> =>
      new Promise((resolve, reject) => {
        this.#queue.add(user, { work, isGone, resolve: resolve as (result: unknown) => void, reject });
        this.#serve();
      });
    const through = async <Result>(pieces: Generator<unknown, Result, void>): Promise<Result> => {
      try {
        for (;;) {
          const { done, value } = await run(() => pieces.next());
          if (done) return value;
        }
      } catch (error) {
        // Lets the generator close what it has opened.
        pieces.return(undefined as Result);
        throw error;
      }
    };
    return { run, through };
  }

  #serve(): void {
    while (this.#workedMs < TURN_MS) {
      const next = this.#queue.take();
      if (next === undefined) break;
      this.#pollSoon();
      const { work, isGone, resolve, reject } = next.item;
      if (isGone()) {
        reject(new ClientLeft("The client has left"));
        continue;
      }
      const fromMs = this.#machine.nowMs();
      try {
        resolve(work());
      } catch (error) {
        reject(error);
      }
      const tookMs = this.#machine.nowMs() - fromMs;
      this.#workedMs += tookMs;
      this.#queue.charge(next.user, Math.max(MIN_COST_MS, tookMs));
    }
  }

  #pollSoon(): void {
    if (this.#willPoll) return;
    this.#willPoll = true;
    this.#machine.afterPoll(() => {
      this.#willPoll = false;
      this.#workedMs = 0;
      this.#serve();
    });
  }
}

/**
 * Runs long work, such as forecasts, one item at a time, and shares the time fairly among users: the more
 * time a user's work takes, the longer that user waits until the next item runs.
 */
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
