/**
 * Runs the front end in cycles. Everything that arrives in one pass of the event loop is handled together:
 *
 *   requests ─┐                         ┌▶ answers
 *   executor ─┼▶ one transaction: jobs, ┼▶ launch, stop, matrix to the executor
 *   timer ────┘  decisions, events      └▶ events to listeners
 *
 * Each user's requests wait in a queue. The next request comes from the user whose requests have used the
 * least time so far. Requests that do not fit into about 50 ms wait for the next cycle, and a request about
 * many jobs has a cycle of its own. So a user who submits many large arrays delays others by only one of
 * them.
 *
 * No answer and no command is sent before the transaction is on disk. If it cannot be written, the whole
 * cycle is rolled back: requests are refused as unavailable, the executor's reports are kept and tried again,
 * and jobs continue.
 */

import { type Due, wakeAt } from "@tutti/host/clock.ts";
import { StorageError } from "@tutti/kernel/core/errors.ts";
import { FairQueue } from "@tutti/kernel/structures/fair-queue.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { type Answer, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { StoreAge } from "../dispatch/store-age.ts";
import type { Executor, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { NumbersFile } from "../state/numbers.ts";
import type { StateWatch } from "../state/state-watch.ts";
import { messageOf } from "../store/store.ts";
import { DamagedStoreError } from "../store/store-error.ts";
import type { WindowKeeper } from "../windows.ts";
import { demandOf } from "./demand.ts";
import type { SteadyClock } from "./steady-clock.ts";

interface Request {
  /** Whether it is about more than MANY_JOBS. */
  readonly isLarge: boolean;
  readonly handle: (nowMs: number) => unknown;
  readonly answer: (value: unknown) => void;
}

interface CycleParts {
  readonly context: FrontEndParts;
  /** That of the context. */
  readonly clock: SteadyClock;
  readonly executor: Executor;
  readonly dispatcher: Dispatcher;
  readonly past: StoreAge;
  readonly windows: WindowKeeper;
  /** Left out: a test without a state folder. */
  readonly numbers?: NumbersFile | undefined;
  /** Left out: a test without a state folder. */
  readonly watch?: StateWatch | undefined;
  /** Called after each committed cycle. */
  readonly afterCycle: (hadRequests: boolean) => void;
}

/** Pause after the disk has refused a cycle. */
const RETRY_MS = 1000;
const WATCH_MS = 1000;
/** After this time in a cycle, further requests wait for the next one. */
const REQUESTS_MS = 50;
/** A request about more jobs than this has a cycle of its own: others' answers do not wait for it. */
const MANY_JOBS = 100;
/** Minimum cost of a request, for its part of the transaction. */
const MIN_COST_MS = 0.1;
/** Pause after an adoption, in multiples of its duration: adoptions take at most a fifth of the time. */
const REST_PER_ADOPTION = 4;
/** The same after what jobs want of the processors was found out: at most a twentieth of the time. */
const REST_PER_DEMAND = 19;
/** Decisions at one instant; more would be an endless loop. */
const MAX_DECISIONS = 100_000;

/** Reports that stay true when the executor has disconnected. */
const FACTS: ReadonlySet<Report["type"]> = new Set(["launched", "ended", "notice"]);

export class Cycles {
  readonly #parts: CycleParts;
  /** Repairs that are not in the event log yet. */
  #repairs: string[] = [];
  #cancelWatch: (() => void) | undefined;
  readonly #requests = new FairQueue<Request>();
  #inbox: Report[] = [];
  #isDue = false;
  #isStopped = false;
  #isDraining = false;
  /** No adoption happens before this instant. */
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** What jobs want is not found out before this instant. */
  #demandFromMs = Number.NEGATIVE_INFINITY;
  #isDemandDue = false;
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
        // The executor repeats its other reports when it connects again, on a cluster perhaps hours later.
        this.#inbox = this.#inbox.filter(({ type }) => FACTS.has(type));
        parts.dispatcher.disconnected(reason);
        const { machine } = parts.context.scheduler;
        if (parts.executor.capacity !== machine.capacity)
          this.#inbox.push({ type: "capacity", because: reason });
        this.#wake();
      },
    );
    // Jobs of an earlier run may need processors, which nobody brings before they are asked for.
    if (parts.executor.setDemand !== undefined) this.#wake();
    if (parts.watch !== undefined) this.#lookAfterFiles(parts.watch);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Why the last cycle could not be written; undefined if it was written. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /**
   * Handles a user's request in one of the next cycles; resolves when that cycle is on disk.
   * @param jobs number of jobs that the request is about
   */
  ask<T>(uid: number, jobs: number, handle: (nowMs: number) => Answer<T>): Promise<Answer<T>> {
    if (this.#isStopped) return Promise.resolve(this.refusal());
    return new Promise((resolve) => {
      const answer = resolve as (value: unknown) => void;
      this.#requests.add(uid, { isLarge: jobs > MANY_JOBS, handle, answer });
      this.#wake();
    });
  }

  /** The answer to all requests after the last cycle. */
  refusal(): Refusal {
    return refuse(
      "unavailable",
      "Cannot handle the request: the scheduler is stopping; start it again with `tutti serve`",
    );
  }

  /** Starts no more jobs from now on, and handles all pending requests. */
  drain(): void {
    this.#isDraining = true;
    this.#runCycle(Number.POSITIVE_INFINITY);
  }

  /** Handles all pending requests and ends the cycles. */
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

  /** @param requestsMs time for requests; the request that exceeds it is still finished */
  #runCycle(requestsMs = REQUESTS_MS): void {
    this.#isDue = false;
    if (!this.#isStopped) this.#parts.clock.steadily(() => this.#handleAll(requestsMs));
  }

  #handleAll(requestsMs: number): void {
    const requests: Request[] = [];
    const inbox = this.#inbox;
    this.#inbox = [];
    const { context, executor, dispatcher, past, windows, numbers, afterCycle } = this.#parts;
    const { store, clock, book, feed, scheduler, shares } = context;
    const nowMs = clock.nowMs();
    const answers: unknown[] = [];
    let given: JobNumber | undefined;
    try {
      this.#checkFiles();
      store.begin();
      dispatcher.waiting.delays.followClock();
      for (const because of this.#repairs) feed.add("recovered", clock.unixMs(), undefined, { because });
      past.note(feed, clock.unixMs());
      this.#handle(requests, answers, nowMs, requestsMs);
      for (const report of inbox) dispatcher.onReport(report, nowMs);
      dispatcher.waiting.settle();
      dispatcher.waiting.releaseDue(nowMs);
      windows.settle();
      shares.quotas.settle(scheduler);
      this.#decide(nowMs);
      given = book.givenInCycle;
      // Before the commit, so that a confirmed number is never given again, even if the store is lost.
      if (given !== undefined) numbers?.give(given);
      store.commit();
    } catch (error) {
      this.#rollback(error, requests, inbox);
      return;
    }
    this.#trouble = undefined;
    this.#repairs = [];
    // Before the answers, so that the file covers everything that was confirmed.
    this.#noteNumbers(given, feed.next - 1);
    book.commit();
    executor.apply(dispatcher.commit());
    this.#inbox.push(...dispatcher.takeRefused());
    this.#tellDemand();
    if (this.#inbox.length > 0 || this.#requests.size > 0 || book.unsettled.size > 0) this.#wake();
    requests.forEach(({ answer }, i) => {
      answer(answers[i]);
    });
    feed.commit();
    afterCycle(requests.length > 0);
    this.#arm([
      ["decision", this.#mayDecide ? this.#dueMs() : Number.POSITIVE_INFINITY],
      // Also the end of a retry's delay, which the book keeps as a Unix time.
      ["begin", book.nextDueMs()],
      ["window", windows.nextDueMs()],
      ["quota", shares.quotas.nextDueMs(scheduler)],
      ["decision", this.#isDemandDue ? this.#demandFromMs : Number.POSITIVE_INFINITY],
    ]);
  }

  #tellDemand(): void {
    const { executor, context } = this.#parts;
    const { book, scheduler, clock } = context;
    // Reports that wait may end jobs.
    if (executor.setDemand === undefined || this.#inbox.length > 0) return;
    const nowMs = clock.nowMs();
    this.#isDemandDue = nowMs < this.#demandFromMs;
    if (this.#isDemandDue) return;
    executor.setDemand(demandOf(book, scheduler, nowMs));
    const afterMs = clock.nowMs();
    this.#demandFromMs = afterMs + REST_PER_DEMAND * (afterMs - nowMs);
  }

  /** Takes requests and collects their answers, which are sent after the commit. */
  #handle(requests: Request[], answers: unknown[], nowMs: number, maxMs: number): void {
    const { clock } = this.#parts.context;
    let fromMs = clock.nowMs();
    const untilMs = fromMs + maxMs;
    // The last cycle handles all.
    const isLast = maxMs === Number.POSITIVE_INFINITY;
    let isAlone = false;
    while (fromMs < untilMs && !isAlone) {
      isAlone = !isLast && this.#requests.peek()?.isLarge === true;
      if (isAlone && requests.length > 0) return;
      const next = this.#requests.take();
      if (next === undefined) return;
      requests.push(next.item);
      answers.push(next.item.handle(nowMs));
      const toMs = clock.nowMs();
      this.#requests.charge(next.user, Math.max(MIN_COST_MS, toMs - fromMs));
      fromMs = toMs;
    }
  }

  /** Checks the files once a second, even if nothing else happens. */
  #lookAfterFiles(watch: StateWatch): void {
    const { clock } = this.#parts.context;
    this.#cancelWatch = clock.at(clock.nowMs() + WATCH_MS, () => {
      if (watch.isDisturbed !== (this.#trouble !== undefined)) this.#wake();
      this.#lookAfterFiles(watch);
    });
  }

  /**
   * Also checked in each cycle, so that nothing is confirmed without a file.
   * @throws StorageError if one is missing
   */
  #checkFiles(): void {
    const { watch } = this.#parts;
    const problem = watch?.problem;
    if (problem !== undefined) throw new StorageError(problem);
    this.#repairs.push(...(watch?.repair() ?? []));
  }

  /**
   * If the disk refuses this write, nothing is lost now, but an older store will be harder to notice later.
   */
  #noteNumbers(given: JobNumber | undefined, event: number): void {
    const { past, numbers } = this.#parts;
    const beginning = past.commit(event);
    try {
      if (beginning !== undefined) numbers?.begin(beginning);
      numbers?.committed(given, event);
    } catch {
      // If cycles can no longer be written, the next one reports the problem.
    }
  }

  #decide(nowMs: number): void {
    const { clock, scheduler } = this.#parts.context;
    for (let i = 0; this.#mayDecide && this.#dueMs() <= nowMs; i++) {
      const outcome = scheduler.decide(nowMs);
      if (outcome === undefined) break;
      this.#parts.dispatcher.apply(outcome, nowMs);
      // A user who cancels a long queue job by job must not keep us busy with adoptions.
      if (outcome.adoption !== undefined) {
        this.#restUntilMs = clock.nowMs() + REST_PER_ADOPTION * (clock.nowMs() - nowMs);
      }
      if (i === MAX_DECISIONS) throw new Error(`the policy makes endless decisions at ${nowMs} ms`);
    }
  }

  /** Rolls back a cycle that could not be written. */
  #rollback(error: unknown, requests: readonly Request[], inbox: readonly Report[]): void {
    const { store, book, feed, scheduler, shares, clock } = this.#parts.context;
    try {
      store.rollback();
    } catch {
      // The transaction has ended already, as intended.
    }
    store.reuseLog();
    book.rollback();
    feed.rollback();
    shares.rollback();
    this.#parts.dispatcher.rollback();
    scheduler.invalidate("a cycle was rolled back");
    this.#trouble = messageOf(error);
    // Old slot statistics are useless.
    this.#inbox = [...inbox.filter(({ type }) => type !== "slots"), ...this.#inbox];
    const isExplained = error instanceof StorageError || error instanceof DamagedStoreError;
    const message = isExplained
      ? `${this.#trouble}. Nothing was changed; running jobs continue`
      : `Cannot write to ${store.path}: ${this.#trouble}. Nothing was changed; running jobs continue. Make room on the disk and try again`;
    const refusal = refuse("unavailable", message);
    for (const { answer } of requests) answer(refusal);
    // Requests that were not handled yet would fail, too.
    this.#refuseWaiting(refusal);
    this.#arm([["decision", clock.nowMs() + RETRY_MS]]);
  }

  #refuseWaiting(refusal: Refusal): void {
    for (let next = this.#requests.take(); next !== undefined; next = this.#requests.take()) {
      next.item.answer(refusal);
    }
  }

  #arm(dues: readonly Due[]): void {
    this.#cancelTimer?.();
    this.#cancelTimer = wakeAt(this.#parts.context.clock, dues, () => this.#wake());
  }
}
