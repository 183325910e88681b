/**
 * The gate through which all work of the API goes, so that no user's requests keep the event loop from the others, the conductor or
 * the timers. Work comes in pieces that take at most some 10 ms; users have their pieces done in turns, by the time
 * that theirs have taken (FairQueue). After TURN_MS of work the event loop polls.
 *
 * While nothing waits, a piece is done at once: the gate then costs two looks at the clock.
 */
import { FairQueue } from "../../../structures/fair-queue.ts";

/** Work between two polls of the event loop; the last piece may be longer. */
const TURN_MS = 5;
/** What a piece costs at least: what is done for it outside, such as reading its head and writing its answer. */
const MIN_COST_MS = 0.1;

/** The client has closed the connection before its work was done. Nobody sees this error. */
export class ClientLeft extends Error {
  override name = "ClientLeft";
}

/** A request's way through the gate, for its user. */
export interface RequestTurns {
  /**
   * Does a piece of work, at most some 10 ms without a wait, when it is the user's turn.
   * @throws ClientLeft, without doing it, when the client has left
   */
  run<Result>(work: () => Result): Promise<Result>;
  /**
   * Does longer work in pieces: a generator that yields after each piece. Others have their turn between them.
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

/** The machine around a gate; a test gives its own. */
interface SchedulerMachine {
  readonly nowMs: () => number;
  /** Calls after the event loop has polled. */
  readonly afterPoll: (then: () => void) => void;
}

const NODE: SchedulerMachine = { nowMs: () => performance.now(), afterPoll: (then) => setImmediate(then) };

export class RequestScheduler {
  readonly #queue = new FairQueue<Waiting>();
  readonly #machine: SchedulerMachine;
  /** Work since the last poll. */
  #workedMs = 0;
  #willPoll = false;

  constructor(machine: SchedulerMachine = NODE) {
    this.#machine = machine;
  }

  /** Pieces that wait, those of clients that have left included. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * The way of one request.
   * @param isGone whether the client has left; what still waits is then not done
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
        // What the pieces have opened is closed.
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
