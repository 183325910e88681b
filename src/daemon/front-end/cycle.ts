/**
 * The cycles of the front end. Everything that has come in by one pass of the event loop is handled together:
 *
 *   requests ─┐                         ┌▶ answers
 *   executor ─┼▶ one transaction: jobs, ┼▶ launch, stop, matrix to the executor
 *   timer ────┘  decisions, events      └▶ events to those who listen
 *
 * Requests wait in a line per user and are taken in turns, by the time that each user's have cost. Those that do not fit into some 50 ms
 * wait for the next cycle, so that a user who submits arrays of thousands holds others up for one of them only.
 *
 * Nobody is answered and nothing is sent before the transaction is on disk. When it cannot be written, the whole cycle is taken
 * back: requests are refused as unavailable, what the executor reported is kept and tried again, jobs go on running.
 */
import { StorageError } from "../../core/errors.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import { type Answer, type Refusal, refuse } from "../../protocol/refusal.ts";
import { FairQueue } from "../../structures/fair-queue.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { Past } from "../dispatch/past.ts";
import type { Executor, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { NumbersFile } from "../state/numbers.ts";
import type { StateWatch } from "../state/state-watch.ts";
import { messageOf } from "../store/store.ts";
import { DamagedStoreError } from "../store/store-error.ts";

interface Request {
  readonly handle: (nowMs: number) => unknown;
  readonly answer: (value: unknown) => void;
}

interface CycleParts {
  readonly context: FrontEndParts;
  readonly executor: Executor;
  readonly dispatcher: Dispatcher;
  readonly past: Past;
  /** Left out: a test without a state folder. */
  readonly numbers?: NumbersFile | undefined;
  /** Left out likewise. */
  readonly watch?: StateWatch | undefined;
  /** Called after each cycle that is on disk. */
  readonly afterCycle: (hadRequests: boolean) => void;
}

/** After the disk has refused, nothing is tried for this long. */
const RETRY_MS = 1000;
const WATCH_MS = 1000;
/** Requests that begin later than this wait for the next cycle. */
const REQUESTS_MS = 50;
/** What a request costs its user at least: its part of the transaction. */
const MIN_COST_MS = 0.1;
/** At most a fifth of the time goes into adoptions. */
const REST_PER_ADOPTION = 4;
/** Decisions of one instant: jobs of no length could go on for ever. */
const MAX_DECISIONS = 100_000;

export class Cycles {
  readonly #parts: CycleParts;
  /** What was made again and is still to be told as events. */
  #repairs: string[] = [];
  #cancelWatch: (() => void) | undefined;
  readonly #requests = new FairQueue<Request>();
  #inbox: Report[] = [];
  #isDue = false;
  #isStopped = false;
  #isDraining = false;
  /** No adoption before this instant. */
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #trouble: string | undefined;
  readonly #unlisten: () => void;

  constructor(parts: CycleParts) {
    this.#parts = parts;
    this.#unlisten = parts.executor.listen(
      (report) => {
        this.#inbox.push(report);
        this.#wake();
      },
      (reason) => {
        // What it had to say after that is said again when it connects.
        this.#inbox = [];
        parts.dispatcher.disconnected(reason);
        this.#wake();
      },
    );
    if (parts.watch !== undefined) this.#lookAfterFiles(parts.watch);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Why the last cycle could not be written. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Handles a request of a user in one of the next cycles; answered when that is on disk. */
  ask<T>(uid: number, handle: (nowMs: number) => Answer<T>): Promise<Answer<T>> {
    if (this.#isStopped) return Promise.resolve(this.refusal());
    return new Promise((resolve) => {
      this.#requests.add(uid, { handle, answer: resolve as (value: unknown) => void });
      this.#wake();
    });
  }

  /** What is answered once there are no more cycles. */
  refusal(): Refusal {
    return refuse(
      "unavailable",
      "Cannot do that: the scheduler is being stopped; start it with `tutti serve`",
    );
  }

  /** Nothing is started any more from now on; what has come in is handled. */
  drain(): void {
    this.#isDraining = true;
    this.#runCycle(Number.POSITIVE_INFINITY);
  }

  /** Handles what has come in, and nothing more. */
  stop(): void {
    if (this.#isStopped) return;
    this.#runCycle(Number.POSITIVE_INFINITY);
    this.#isStopped = true;
    this.#cancelTimer?.();
    this.#cancelWatch?.();
    this.#unlisten();
    this.#refuseWaiting(this.refusal());
  }

  #wake(): void {
    if (this.#isDue || this.#isStopped) return;
    this.#isDue = true;
    this.#parts.context.clock.soon(() => this.#runCycle());
  }

  #dueMs(): number {
    const { scheduler } = this.#parts.context;
    const dueMs = scheduler.dueMs();
    return scheduler.isStale ? Math.max(dueMs, this.#restUntilMs) : dueMs;
  }

  get #mayDecide(): boolean {
    return this.#parts.dispatcher.health.connected !== undefined && !this.#isDraining;
  }

  /** @param requestsMs time for requests; the one that is on when it is over is finished */
  #runCycle(requestsMs = REQUESTS_MS): void {
    this.#isDue = false;
    if (this.#isStopped) return;
    const requests: Request[] = [];
    const inbox = this.#inbox;
    this.#inbox = [];
    const { context, executor, dispatcher, past, numbers, afterCycle } = this.#parts;
    const { store, clock, book, feed } = context;
    const nowMs = clock.nowMs();
    const answers: unknown[] = [];
    let given: JobNumber | undefined;
    try {
      this.#checkFiles();
      store.begin();
      for (const because of this.#repairs) feed.add("recovered", clock.unixMs(), undefined, { because });
      past.note(feed, clock.unixMs());
      this.#handle(requests, answers, nowMs, requestsMs);
      for (const report of inbox) dispatcher.onReport(report, nowMs);
      dispatcher.settle();
      this.#decide(nowMs);
      given = book.givenInCycle;
      // Before the commit: a number that was answered never comes back, whatever becomes of the store.
      if (given !== undefined) numbers?.give(given);
      store.commit();
    } catch (error) {
      this.#rollback(error, requests, inbox);
      return;
    }
    this.#trouble = undefined;
    this.#repairs = [];
    // Before the answers: what was acknowledged is noted.
    this.#noteNumbers(given, feed.next - 1);
    book.commit();
    executor.apply(dispatcher.commit());
    this.#inbox.push(...dispatcher.takeRefused());
    if (this.#inbox.length > 0 || this.#requests.size > 0 || book.unsettled.size > 0) this.#wake();
    requests.forEach(({ answer }, i) => {
      answer(answers[i]);
    });
    feed.commit();
    afterCycle(requests.length > 0);
    this.#arm(this.#mayDecide ? this.#dueMs() : Number.POSITIVE_INFINITY);
  }

  /** Takes requests and answers them, which is not told yet. */
  #handle(requests: Request[], answers: unknown[], nowMs: number, mostMs: number): void {
    const { clock } = this.#parts.context;
    let fromMs = clock.nowMs();
    const untilMs = fromMs + mostMs;
    while (fromMs < untilMs) {
      const next = this.#requests.take();
      if (next === undefined) return;
      requests.push(next.item);
      answers.push(next.item.handle(nowMs));
      const toMs = clock.nowMs();
      this.#requests.charge(next.user, Math.max(MIN_COST_MS, toMs - fromMs));
      fromMs = toMs;
    }
  }

  /** Looks once a second also when nothing else happens. */
  #lookAfterFiles(watch: StateWatch): void {
    const { clock } = this.#parts.context;
    this.#cancelWatch = clock.at(clock.nowMs() + WATCH_MS, () => {
      if (watch.isDisturbed !== (this.#trouble !== undefined)) this.#wake();
      this.#lookAfterFiles(watch);
    });
  }

  /** Here too, so that nothing is acknowledged that has no file any more. @throws StorageError when it has none */
  #checkFiles(): void {
    const { watch } = this.#parts;
    const problem = watch?.problem;
    if (problem !== undefined) throw new StorageError(problem);
    this.#repairs.push(...(watch?.repair() ?? []));
  }

  /** A disk that refuses this harms nobody now: an older store might be noticed later, or from other signs only. */
  #noteNumbers(given: JobNumber | undefined, event: number): void {
    const { past, numbers } = this.#parts;
    const beginning = past.commit(event);
    try {
      if (beginning !== undefined) numbers?.begin(beginning);
      numbers?.committed(given, event);
    } catch {
      // The next cycle that cannot be written is told.
    }
  }

  #decide(nowMs: number): void {
    const { clock, scheduler } = this.#parts.context;
    for (let i = 0; this.#mayDecide && this.#dueMs() <= nowMs; i++) {
      const outcome = scheduler.decide(nowMs);
      if (outcome === undefined) break;
      this.#parts.dispatcher.apply(outcome, nowMs);
      // Someone who cancels a long queue job by job must not keep us busy with adoptions.
      if (outcome.adoption !== undefined) {
        this.#restUntilMs = clock.nowMs() + REST_PER_ADOPTION * (clock.nowMs() - nowMs);
      }
      if (i === MAX_DECISIONS) throw new Error(`the policy decides without end at ${nowMs} ms`);
    }
  }

  /** Rolls back a cycle that could not be written. */
  #rollback(error: unknown, requests: readonly Request[], inbox: readonly Report[]): void {
    const { store, book, feed, scheduler, clock } = this.#parts.context;
    try {
      store.rollback();
    } catch {
      // The transaction is gone already, which is what was wanted.
    }
    store.reuseLog();
    book.rollback();
    feed.rollback();
    this.#parts.dispatcher.rollback();
    scheduler.invalidate("a turn was taken back");
    this.#trouble = messageOf(error);
    // How the clock was kept a while ago is of no use to anybody.
    this.#inbox = [...inbox.filter(({ type }) => type !== "slots"), ...this.#inbox];
    const isExplained = error instanceof StorageError || error instanceof DamagedStoreError;
    const message = isExplained
      ? `${this.#trouble}. Nothing was changed; running jobs go on`
      : `Cannot write to ${store.path}: ${this.#trouble}. Nothing was changed, running jobs go on; make room on the disk and try again`;
    const refusal = refuse("unavailable", message);
    for (const { answer } of requests) answer(refusal);
    // Nor could those be handled that were not looked at.
    this.#refuseWaiting(refusal);
    this.#arm(clock.nowMs() + RETRY_MS);
  }

  #refuseWaiting(refusal: Refusal): void {
    for (let next = this.#requests.take(); next !== undefined; next = this.#requests.take()) {
      next.item.answer(refusal);
    }
  }

  #arm(atMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (atMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTimer = this.#parts.context.clock.at(atMs, () => this.#wake());
  }
}
