/**
 * Brings news of jobs to hooks. An entry is written in the transaction of the event, and removed
 * when the hook has ended, so each hook is run at least once, whatever is killed in between. The runner, a
 * separate process (runner.ts), starts the hooks. The desk gives it at most four of a user at a time, so
 * slow hooks of one user delay only that user's.
 *
 * A command is run once: how it ends is noted, and that is all. A webhook that was not reached, and a mail
 * that was not taken, are tried again, a few times.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { randomBytes } from "@tutti/host/ports/crypto.ts";
import { hostname } from "@tutti/host/ports/os.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { NewsEvent } from "@tutti/protocol/news/news.ts";
import type { NewsOutcome } from "@tutti/protocol/news/outcome.ts";
import type { HookResult, HookTask } from "@tutti/protocol/news/runner.ts";
import type { Config } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Launcher } from "../executor/launcher.ts";
import type { PendingNews, Turn } from "../store/news.ts";
import type { Store } from "../store/store.ts";
import { mailOf, withoutControls } from "./mail.ts";
import { findSendmail } from "./sendmail.ts";

/** Runs hooks. Calls back once for each task, unless it is closed before. */
export interface HookRunner {
  run(task: HookTask): void;
  close(): void;
}

export type StartRunner = (onResult: (result: HookResult) => void) => HookRunner;

/** Hooks of one user, or of the machine, that run at a time. */
const AT_ONCE = 4;
/** Begins the names of the machine's turns. */
const MACHINE = "machine";
/** Waits before a webhook or a mail is tried again. After the last one, it has failed. */
const RETRY_MS = [5_000, 30_000, 120_000, 600_000, 3_600_000];
/** Pause after the disk has refused to note an outcome. */
const STORE_RETRY_MS = 1000;
const EVENTS_OF: Readonly<Record<"onStart" | "onEnd" | "onFail", NewsEvent>> = {
  onStart: "start",
  onEnd: "end",
  onFail: "fail",
};

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly launcher: Launcher;
  readonly config: Config;
}

export class NewsDesk {
  readonly #parts: Parts;
  #runner: HookRunner | undefined;
  /**
   * Those that may have news that is due, the next one first. The news itself is read when its turn comes:
   * there may be very much of it.
   */
  readonly #turns = new Map<string, Turn>();
  /** By id. */
  readonly #running = new Map<string, PendingNews>();
  /** Outcomes that are not on disk yet. */
  #results: HookResult[] = [];
  /** Each turn whose first news waits for a time, and each write that is tried again, has one. */
  readonly #timers = new Map<string, () => void>();
  /** Unix time minus monotonic time at the start: pauses go on although the wall clock is set. */
  readonly #aheadMs: number;
  #isDue = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#aheadMs = parts.clock.unixMs() - parts.clock.nowMs();
  }

  /** Begins to run hooks, first what an earlier front end has left. */
  start(startRunner: StartRunner): void {
    const { store } = this.#parts;
    this.#runner = startRunner((result) => this.#ended(result));
    store.tryTransaction(() => store.news.hasten(this.#nowMs(), RETRY_MS));
    for (const turn of store.news.turns()) this.#turns.set(nameOf(turn), turn);
    this.#wake();
  }

  /** Hooks that run go on; the next front end runs them again if it does not learn how they ended. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#runner?.close();
    this.#runner = undefined;
  }

  /** Called in the cycle in which an attempt begins. */
  started(record: JobRecord): void {
    this.#note(record, "start");
  }

  /** Called in the cycle in which a job ends. */
  ended(record: JobRecord): void {
    this.#note(record, "end");
    if (record.state === "failed") this.#note(record, "fail");
  }

  /** Whether jobs may ask for mail, and the machine can send it. */
  get sendsMail(): boolean {
    return this.#parts.config.hooks.jobs && findSendmail() !== undefined;
  }

  outcomesOf({ job }: Pick<JobRecord, "job">): readonly NewsOutcome[] {
    return this.#parts.store.news.outcomesOf(job);
  }

  #note(record: JobRecord, event: NewsEvent): void {
    const { hooks } = this.#parts.config;
    for (const hook of ["onStart", "onEnd", "onFail"] as const) {
      if (EVENTS_OF[hook] !== event) continue;
      if (hooks[hook] !== undefined) this.#add(record, event, hook, { isMachines: true });
      if (hooks.jobs && record[hook] !== undefined) this.#add(record, event, hook);
    }
    const { webhook, notify = ["end"] } = record;
    if (hooks.jobs && webhook !== undefined && notify.includes(event)) this.#add(record, event, "webhook");
    if (record.mail === undefined) return;
    if (record.array !== undefined) this.#noteMailOfArray(record, record.array, event, notify);
    // The mail about the end says that the job has failed.
    else if (notify.includes(event) && !(event === "fail" && notify.includes("end"))) {
      this.#add(record, event, "mail");
    }
  }

  /** One mail when its first job begins, and one when its last job has ended, as Slurm sends them. */
  #noteMailOfArray(
    record: JobRecord,
    array: JobNumber,
    event: NewsEvent,
    notify: readonly NewsEvent[],
  ): void {
    const { news } = this.#parts.store;
    // Counting the jobs of an array takes long, so it is done only for a mail.
    const isAsked = event === "start" ? notify.includes("start") : notify.some((one) => one !== "start");
    if (!isAsked || event === "fail" || (event === "end" && news.isLive(array))) return;
    const told = news.outcomesOf(array).find(({ hook }) => hook === "mail");
    if (told !== undefined && (event === "start" || told.event !== "start")) return;
    // The outcome is forgotten with the first job, which has ended: the array began long ago.
    if (event === "start" && this.#parts.store.job(array) === undefined) return;
    const states = news.arrayOf(array);
    const isFailure = event === "end" && !notify.includes("end") && (states.states.failed ?? 0) > 0;
    const shown = isFailure ? "fail" : event;
    if (notify.includes(shown)) this.#add(record, shown, "mail", { array, states });
  }

  #add(
    record: JobRecord,
    event: NewsEvent,
    hook: NewsOutcome["hook"],
    more: Partial<Pick<PendingNews, "isMachines" | "array" | "states">> = {},
  ): void {
    const { store, clock } = this.#parts;
    const { job, uid, attempt } = record;
    // Also if it is learned late.
    const atMs = (event === "start" ? record.startedAtMs : record.endedAtMs) ?? clock.unixMs();
    const id = `${String(Math.trunc(atMs)).padStart(14, "0")}-${randomBytes(12).toString("hex")}`;
    const turn = { uid, isMachines: more.isMachines ?? false };
    store.news.put({ ...more, ...turn, id, job, hook, event, attempt, atMs, dueMs: this.#nowMs() });
    // If the cycle is rolled back, the entry is not in the store when its turn comes.
    this.#turns.set(nameOf(turn), turn);
    this.#wake();
  }

  #nowMs(): number {
    return this.#parts.clock.nowMs() + this.#aheadMs;
  }

  #later(name: string, waitMs: number, then: () => void): void {
    const { clock } = this.#parts;
    this.#timers.get(name)?.();
    const cancel = clock.at(clock.nowMs() + waitMs, () => {
      this.#timers.delete(name);
      then();
      this.#wake();
    });
    this.#timers.set(name, cancel);
  }

  #wake(): void {
    if (this.#isDue || this.#runner === undefined) return;
    this.#isDue = true;
    this.#parts.clock.soon(() => {
      this.#isDue = false;
      this.#noteResults();
      this.#give();
    });
  }

  #give(): void {
    /** Hooks that run, by turn; those of the machine share one place. */
    const running = new Map<string, number>();
    const count = (name: string) => running.set(name, (running.get(name) ?? 0) + 1);
    for (const news of this.#running.values()) {
      count(nameOf(news));
      if (news.isMachines) count(MACHINE);
    }
    for (const [name, turn] of this.#turns) {
      if (this.#runner === undefined) return;
      const own = running.get(name) ?? 0;
      const free = AT_ONCE - (turn.isMachines ? (running.get(MACHINE) ?? 0) : own);
      if (free <= 0) continue;
      this.#turns.delete(name);
      // One of each user in turn: a user with many jobs does not keep the machine's hooks from others'.
      const most = turn.isMachines ? 1 : free;
      let given = 0;
      for (const news of this.#parts.store.news.next(turn, own + most)) {
        if (given === most || this.#running.has(news.id)) continue;
        const waitMs = news.dueMs - this.#nowMs();
        if (waitMs > 0) {
          this.#later(name, waitMs, () => this.#turns.set(name, turn));
          break;
        }
        this.#running.set(news.id, news);
        count(name);
        if (turn.isMachines) count(MACHINE);
        given++;
        const task = this.#taskOrFault(news);
        if ("id" in task) this.#runner.run(task);
        else this.#ended({ id: news.id, state: "failed", text: task.refused, isFinal: true });
      }
      if (given === most) this.#turns.set(name, turn);
    }
  }

  /** News is kept until it has ended, so an error here would end the scheduler again at each start. */
  #taskOrFault(news: PendingNews): HookTask | { readonly refused: string } {
    try {
      return this.#taskOf(news);
    } catch (error) {
      return { refused: `a fault of the scheduler: ${(error as Error).message}` };
    }
  }

  #taskOf(news: PendingNews): HookTask | { readonly refused: string } {
    const { launcher, config, store } = this.#parts;
    const { id, uid, isMachines, hook, states } = news;
    const record = store.job(news.job);
    if (record === undefined) return { refused: "the job is forgotten" };
    const { user } = record;
    const job = aboutOf(news);
    const data = dataOf(record, news);
    const common = { id, data, folder: launcher.folderOf(job), output: outputName(news) };
    if (isMachines) {
      const command = hook === "webhook" || hook === "mail" ? undefined : config.hooks[hook];
      if (command === undefined) return { refused: "the hook is no longer in the configuration" };
      // It may show on a terminal, or write into a log, what the user of the job chose.
      const plain = Object.entries(data).map(([key, value]) => [key, withoutControls(value)]);
      return { ...common, data: Object.fromEntries(plain), command };
    }
    if (!config.hooks.jobs) return { refused: "the administrator has turned the hooks of jobs off" };
    const target = record[hook];
    if (target === undefined) return { refused: "the job no longer has this hook" };
    const account = launcher.accountFor({ uid, user });
    if ("refused" in account) return account;
    if (hook === "mail") {
      const sendmail = findSendmail();
      if (sendmail === undefined) return { refused: "the machine of the scheduler has no program sendmail" };
      const message = mailOf({ id, data, target, job, array: states }, hostname());
      return { ...common, account: { ...account, user }, mail: { message, sendmail } };
    }
    if (hook === "webhook") return { ...common, account: { ...account, user }, url: target };
    return { ...common, account: { ...account, user }, command: ["/bin/sh", "-c", target] };
  }

  #ended(result: HookResult): void {
    if (!this.#running.has(result.id)) return;
    this.#results.push(result);
    this.#wake();
  }

  /** Writes outcomes to disk. Until then, they count as running. */
  #noteResults(): void {
    if (this.#results.length === 0) return;
    const { store, clock, launcher } = this.#parts;
    const results = this.#results;
    const isDone = store.tryTransaction(() => {
      for (const { id, state, text, isFinal, hasOutput } of results) {
        const news = this.#running.get(id)!;
        const { uid, hook, event, tries, sequence } = news;
        const isTriedAgain = (hook === "webhook" || hook === "mail") && state === "failed" && !isFinal;
        const waitMs = isTriedAgain ? RETRY_MS[tries] : undefined;
        const job = aboutOf(news);
        // The hook may already have a later event.
        const isShown = !news.isMachines && store.job(job) !== undefined && store.news.isLatest(news, job);
        if (waitMs === undefined) store.news.remove(news);
        else store.news.postpone(news, tries + 1, this.#nowMs() + waitMs);
        if (!isShown) continue;
        store.news.putOutcome(uid, job, sequence, {
          ...{ hook, event, id },
          state: waitMs === undefined ? state : "waiting",
          atMs: Math.trunc(clock.unixMs()),
          text: waitMs === undefined ? text : `${text}; try ${tries + 2} of ${RETRY_MS.length + 1} follows`,
          ...(hasOutput && { output: `${launcher.folderOf(job)}/${outputName(news)}` }),
        });
      }
    });
    if (!isDone) {
      this.#later("store", STORE_RETRY_MS, () => {});
      return;
    }
    this.#results = [];
    for (const { id } of results) {
      const { uid, isMachines } = this.#running.get(id)!;
      this.#running.delete(id);
      const turn = { uid, isMachines };
      this.#turns.set(nameOf(turn), turn);
    }
  }
}

function nameOf({ uid, isMachines }: Turn): string {
  return `${isMachines ? MACHINE : "user"} ${uid}`;
}

/** The job at which people look for the news: the first of an array. */
function aboutOf({ job, array }: PendingNews): JobNumber {
  return array ?? job;
}

/** Name of the file with the output of a hook, in the job's folder. */
function outputName({ isMachines, hook }: PendingNews): string {
  return isMachines ? `machine-${hook}.log` : `${hook}.log`;
}

/** What a hook learns, as variables. */
function dataOf(record: JobRecord, news: PendingNews): Record<string, string> {
  const { name, user, code, signal, reason, array, arrayIndex, cwd } = record;
  const { id, event, attempt, atMs } = news;
  const variables: Record<string, string | number | undefined> = {
    TUTTI_EVENT_ID: id,
    TUTTI_JOB: aboutOf(news),
    TUTTI_EVENT: event,
    TUTTI_AT_MS: atMs,
    TUTTI_JOB_NAME: name,
    TUTTI_USER: user,
    // By now, the job may have ended.
    TUTTI_JOB_STATE: event === "start" ? "running" : record.state,
    TUTTI_ATTEMPT: attempt,
    TUTTI_EXIT_CODE: event === "start" ? undefined : code,
    TUTTI_SIGNAL: event === "start" ? undefined : signal,
    TUTTI_REASON: event === "start" ? undefined : reason,
    TUTTI_ARRAY_JOB_ID: array,
    TUTTI_ARRAY_INDEX: arrayIndex,
    TUTTI_CWD: cwd,
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, String(value).replaceAll("\0", "")]],
    ),
  );
}
