/** Announces windows (scheduling/windows.ts), begins and ends them, and keeps them over restarts. */
import { aheadMs, STEP_MS } from "@tutti/host/clock.ts";
import { MAX_JOBS_IN_WINDOW, MAX_WINDOWS, MAX_WINDOWS_IN_STATUS } from "@tutti/protocol/limits.ts";
import { type Answer, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { Window, WindowBody } from "@tutti/protocol/schema.ts";
import { refuseOthers } from "./contract/rights.ts";
import type { Caller } from "./contract/service.ts";
import type { FrontEndParts } from "./front-end-parts.ts";
import { isNamed, type KeptWindow } from "./scheduling/windows.ts";

/** The name in the store's table `meta`. */
const META = "windows";
/** The end of the year 9999. */
const LAST_MS = 253_402_300_799_999;

type Context = Pick<FrontEndParts, "store" | "book" | "feed" | "scheduler" | "clock" | "config" | "executor">;

export class WindowKeeper {
  readonly #context: Context;
  readonly #isUser: (name: string) => boolean;
  /** Unix time minus monotonic time when last starts were computed. */
  #aheadMs: number;

  /** @param isUser whether there is a user of this name, who could have jobs here */
  constructor(context: Context, isUser: (name: string) => boolean) {
    this.#context = context;
    this.#isUser = isUser;
    const { clock, store } = context;
    this.#aheadMs = aheadMs(clock);
    const text = store.meta(META);
    this.#windows.aheadMs = () => aheadMs(clock);
    if (text !== undefined) this.#windows.set(JSON.parse(text));
  }

  get #windows() {
    return this.#context.scheduler.machine.windows;
  }

  /** Those that are not over, with the jobs that run in them although they are not named. */
  list(): Window[] {
    return this.#windows.list.map((window) => this.#shown(window));
  }

  /** The next ones, for the answer about the whole scheduler. */
  first(): Window[] {
    return this.#windows.list.slice(0, MAX_WINDOWS_IN_STATUS).map((window) => this.#shown(window));
  }

  reserve(caller: Caller, body: WindowBody): Answer<{ readonly window: Window }> {
    const { clock, feed } = this.#context;
    const { name, untilMs, users, queues, reason } = body;
    const refusal = this.#refuseStranger(caller, "add a window") ?? this.#refuseBody(body);
    if (refusal !== undefined) return refusal;
    this.settle();
    const list = this.#windows.list;
    if (list.some((other) => other.name === name)) {
      return refuse(
        "invalid",
        `Cannot add window "${name}": a window that is not over has this name, expected another name, or tutti window remove ${name} first`,
      );
    }
    if (list.length >= MAX_WINDOWS) {
      return refuse(
        "full",
        `Cannot add window "${name}": there are ${list.length} windows that are not over, expected fewer than ${MAX_WINDOWS}; tutti window remove NAME removes one`,
      );
    }
    const atMs = clock.unixMs();
    const fromMs = Math.max(atMs, body.fromMs ?? atMs);
    const { user: by } = caller;
    const window: KeptWindow = { name, fromMs, untilMs, users, queues, reason, by, atMs };
    feed.add("reserved", atMs, undefined, { name, fromMs, untilMs, by, users, queues, reason });
    this.#set([...list, window]);
    this.settle();
    return { window: this.#shown(window) };
  }

  unreserve(caller: Caller, name: string): Answer<{ readonly window: Window }> {
    const refusal = this.#refuseStranger(caller, "remove a window");
    if (refusal !== undefined) return refusal;
    this.settle();
    const window = this.#windows.list.find((other) => other.name === name);
    if (window === undefined) {
      return refuse(
        "not-found",
        `Cannot remove window ${JSON.stringify(name)}: there is no window of this name that is not over; tutti window list lists them`,
      );
    }
    const { clock, feed } = this.#context;
    const shown = this.#shown(window);
    feed.add("unreserved", clock.unixMs(), undefined, { name, by: caller.user });
    this.#set(this.#windows.list.filter((other) => other !== window));
    return { window: shown };
  }

  /** Begins and ends the windows whose time has come. Called in every cycle, before decisions. */
  settle(): void {
    const { clock, feed, scheduler } = this.#context;
    const { list } = this.#windows;
    if (list.length === 0) return;
    const unixMs = clock.unixMs();
    const nowAheadMs = aheadMs(clock);
    if (Math.abs(nowAheadMs - this.#aheadMs) > STEP_MS) {
      this.#aheadMs = nowAheadMs;
      scheduler.reconsider(clock.nowMs());
    }
    if (this.nextDueMs() > unixMs) return;
    const left: KeptWindow[] = [];
    for (const window of list) {
      const { name, fromMs, untilMs } = window;
      const begins = !window.hasBegun && fromMs <= unixMs;
      if (begins) {
        const { running = 0, jobs = [] } = this.#shown(window);
        const data = { name, running, ...(jobs.length > 0 && { jobs }) };
        feed.add("window-began", unixMs, undefined, data);
      }
      if (untilMs <= unixMs) feed.add("window-ended", unixMs, undefined, { name });
      else left.push(begins ? { ...window, hasBegun: true } : window);
    }
    this.#set(left);
  }

  /** Unix time at which the next window begins or ends; or Infinity. */
  nextDueMs(): number {
    return this.#windows.list.reduce(
      (earliest, { hasBegun, fromMs, untilMs }) => Math.min(earliest, hasBegun ? untilMs : fromMs),
      Number.POSITIVE_INFINITY,
    );
  }

  #set(windows: readonly KeptWindow[]): void {
    const { store, book, scheduler, clock } = this.#context;
    const before = this.#windows.list;
    store.setMeta(META, JSON.stringify(windows));
    book.alsoUndo(() => this.#windows.set(before));
    this.#windows.set(windows);
    scheduler.reconsider(clock.nowMs());
  }

  /** With the jobs that have started, if the window has begun. */
  #shown({ hasBegun: _, ...window }: KeptWindow): Window {
    const { book, clock } = this.#context;
    if (clock.unixMs() < window.fromMs) return window;
    const jobs: number[] = [];
    for (const record of book.withProcess()) if (!isNamed(window, record)) jobs.push(record.job);
    if (jobs.length === 0) return window;
    jobs.sort((a, b) => a - b);
    return { ...window, running: jobs.length, jobs: jobs.slice(0, MAX_JOBS_IN_WINDOW) };
  }

  #refuseStranger(caller: Caller, verb: string): Refusal | undefined {
    const refusal = refuseOthers(caller, verb);
    if (refusal !== undefined) return refusal;
    const { beginsAtOnce } = this.#context.executor.capabilities;
    return beginsAtOnce === true ? undefined : refuse("wrong-state", `Cannot ${verb} here: ${beginsAtOnce}`);
  }

  #refuseBody({ name, fromMs, untilMs, users = [], queues = [] }: WindowBody): Refusal | undefined {
    const { clock, config } = this.#context;
    const refused = (why: string) => refuse("invalid", `Cannot add window "${name}": ${why}`);
    const iso = (unixMs: number) => new Date(unixMs).toISOString();
    if (Math.max(fromMs ?? 0, untilMs) > LAST_MS) {
      return refused("it would begin or end after the year 9999, expected Unix times in ms");
    }
    if (fromMs !== undefined && untilMs <= fromMs) {
      return refused(
        `it would end at ${iso(untilMs)} and begin at ${iso(fromMs)}, expected an end after the begin`,
      );
    }
    if (untilMs <= clock.unixMs()) {
      return refused(`it would end at ${iso(untilMs)}, expected an end in the future`);
    }
    const queue = queues.find((one) => config.queues.every(({ queueClass }) => queueClass.name !== one));
    if (queue !== undefined) {
      const known = config.queues.map(({ queueClass }) => queueClass.name).join(", ");
      return refused(`there is no queue ${JSON.stringify(queue)}, expected some of ${known}`);
    }
    const user = users.find((one) => !this.#isUser(one));
    if (user === undefined) return undefined;
    return refused(
      `no user ${JSON.stringify(user)} can have jobs here, expected names of users of this scheduler`,
    );
  }
}
