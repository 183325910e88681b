/**
 * Brings news of jobs to hooks. An entry is written in the transaction of the event, and removed
 * when the hook has ended, so each hook is run at least once, whatever is killed in between. The runner, a
 * separate process (runner.ts), starts the hooks. The desk gives it at most four of a user at a time, so
 * slow hooks of one user delay only that user's.
 *
 * A command is run once: how it ends is noted, and that is all. A webhook that was not reached, and a mail
 * that was not taken, are tried again, a few times.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { Clock } from "../../host/clock.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import type { NewsEvent, NewsOutcome } from "../../protocol/news/news.ts";
import type { HookResult, HookTask } from "../../protocol/news/runner.ts";
import type { Config } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Launcher } from "../executor/launcher.ts";
import type { ArrayNews, PendingNews } from "../store/news.ts";
import type { Store } from "../store/store.ts";
import { mailOf } from "./mail.ts";
import { findSendmail } from "./sendmail.ts";

/** Runs hooks. Calls back once for each task, unless it is closed before. */
export interface HookRunner {
  run(task: HookTask): void;
  close(): void;
}

export type StartRunner = (onResult: (result: HookResult) => void) => HookRunner;

type Turn = PendingNews["uid"];

/** Hooks of one user, or of the machine, that run at a time. */
const AT_ONCE = 4;
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
  /** Ids of what waits, by whose turn it takes, the oldest first. */
  readonly #queues = new Map<Turn, string[]>();
  readonly #running = new Map<string, PendingNews>();
  /** Outcomes that are not on disk yet. */
  #results: HookResult[] = [];
  readonly #timers = new Set<() => void>();
  #isDue = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins to run hooks, first what an earlier front end has left. */
  start(startRunner: StartRunner): void {
    this.#runner = startRunner((result) => this.#ended(result));
    for (const news of this.#parts.store.news.pending()) this.#queueLater(news);
    this.#wake();
  }

  /** Hooks that run go on; the next front end runs them again if it does not learn how they ended. */
  stop(): void {
    for (const cancel of this.#timers) cancel();
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
      if (hooks[hook] !== undefined) this.#add(record, event, hook, undefined);
      if (hooks.jobs && record[hook] !== undefined) this.#add(record, event, hook, record[hook]);
    }
    const { webhook, notify = ["end"] } = record;
    if (hooks.jobs && webhook !== undefined && notify.includes(event)) {
      this.#add(record, event, "webhook", webhook);
    }
    if (record.mail === undefined) return;
    if (record.array !== undefined) this.#noteMailOfArray(record, record.array, event, notify);
    // The mail about the end says that the job has failed.
    else if (notify.includes(event) && !(event === "fail" && notify.includes("end"))) {
      this.#add(record, event, "mail", record.mail);
    }
  }

  /** One mail when its first job begins, and one when its last job has ended, as Slurm sends them. */
  #noteMailOfArray(record: JobRecord, job: JobNumber, event: NewsEvent, notify: readonly NewsEvent[]): void {
    const { news } = this.#parts.store;
    // Counting the jobs of an array takes long, so it is done only for a mail.
    const isAsked = event === "start" ? notify.includes("start") : notify.some((one) => one !== "start");
    if (!isAsked || event === "fail" || (event === "end" && news.isLive(job))) return;
    const told = news.outcomesOf(job).find(({ hook }) => hook === "mail");
    if (told !== undefined && (event === "start" || told.event !== "start")) return;
    // The outcome is forgotten with the first job, which has ended: the array began long ago.
    if (event === "start" && this.#parts.store.job(job) === undefined) return;
    const array = news.arrayOf(job);
    const isFailure = event === "end" && !notify.includes("end") && (array.states.failed ?? 0) > 0;
    const shown = isFailure ? "fail" : event;
    if (notify.includes(shown)) this.#add({ ...record, job }, shown, "mail", record.mail, array);
  }

  #add(
    record: JobRecord,
    event: NewsEvent,
    hook: NewsOutcome["hook"],
    target: string | undefined,
    array?: ArrayNews,
  ): void {
    const { store, clock } = this.#parts;
    // Also if it is learned late.
    const atMs = (event === "start" ? record.startedAtMs : record.endedAtMs) ?? clock.unixMs();
    const id = `${String(Math.trunc(atMs)).padStart(14, "0")}-${randomBytes(12).toString("hex")}`;
    const { job, uid, user } = record;
    const news: PendingNews = {
      ...{ id, job, hook, event, user, tries: 0, notBeforeMs: 0 },
      uid: target === undefined ? "machine" : uid,
      data: { ...dataOf(record, event, atMs), TUTTI_EVENT_ID: id },
      ...(target !== undefined && { target }),
      ...(array !== undefined && { array }),
    };
    store.news.put(news);
    const isShown = target !== undefined && (array === undefined || store.job(job) !== undefined);
    if (isShown) store.news.putOutcome(job, { hook, event, id, state: "waiting" });
    // If the cycle is rolled back, the entry is not in the store when its turn comes.
    this.#queue(news);
    this.#wake();
  }

  #queue({ uid, id }: PendingNews): void {
    const queue = this.#queues.get(uid);
    if (queue === undefined) this.#queues.set(uid, [id]);
    else queue.push(id);
  }

  #queueLater(news: PendingNews): void {
    const { clock } = this.#parts;
    // Not longer than the whole pause, also if the wall clock was set back.
    const waitMs = Math.min(news.notBeforeMs - clock.unixMs(), RETRY_MS[news.tries - 1] ?? 0);
    if (waitMs <= 0) {
      this.#queue(news);
      return;
    }
    const cancel = clock.at(clock.nowMs() + waitMs, () => {
      this.#timers.delete(cancel);
      this.#queue(news);
      this.#wake();
    });
    this.#timers.add(cancel);
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
    const running = new Map<Turn, number>();
    for (const { uid } of this.#running.values()) running.set(uid, (running.get(uid) ?? 0) + 1);
    for (const [turn, queue] of this.#queues) {
      let free = AT_ONCE - (running.get(turn) ?? 0);
      while (free > 0 && queue.length > 0 && this.#runner !== undefined) {
        const news = this.#parts.store.news.find(queue.shift()!);
        if (news === undefined || this.#running.has(news.id)) continue;
        this.#running.set(news.id, news);
        free--;
        const task = this.#taskOrFault(news);
        if ("id" in task) this.#runner.run(task);
        else this.#ended({ id: news.id, state: "failed", text: task.refused, isFinal: true });
      }
      if (queue.length === 0) this.#queues.delete(turn);
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
    const { launcher, config } = this.#parts;
    const { id, uid, hook, job, data, target, user } = news;
    const folder = launcher.folderOf(job);
    const common = { id, data, folder, output: outputName(news) };
    if (uid === "machine") {
      const command = hook === "webhook" || hook === "mail" ? undefined : config.hooks[hook];
      if (command === undefined) return { refused: "the hook is no longer in the configuration" };
      return { ...common, command };
    }
    if (!config.hooks.jobs) return { refused: "the administrator has turned the hooks of jobs off" };
    const account = launcher.accountFor({ uid, user });
    if ("refused" in account) return account;
    if (hook === "mail") {
      const sendmail = findSendmail();
      if (sendmail === undefined) return { refused: "the machine of the scheduler has no program sendmail" };
      const mail = { message: mailOf(news, hostname()), sendmail };
      return { ...common, account: { ...account, user }, mail };
    }
    if (hook === "webhook") return { ...common, account: { ...account, user }, url: target! };
    return { ...common, account: { ...account, user }, command: ["/bin/sh", "-c", target!] };
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
    const again: PendingNews[] = [];
    const isDone = store.tryTransaction(() => {
      for (const { id, state, text, isFinal, hasOutput } of results) {
        const news = this.#running.get(id)!;
        const { job, hook, event, tries } = news;
        const isTriedAgain = (hook === "webhook" || hook === "mail") && state === "failed" && !isFinal;
        const waitMs = isTriedAgain ? RETRY_MS[tries] : undefined;
        if (waitMs === undefined) store.news.remove(id);
        else {
          const next = { ...news, tries: tries + 1, notBeforeMs: clock.unixMs() + waitMs };
          store.news.put(next);
          again.push(next);
        }
        if (news.uid === "machine" || store.job(job) === undefined) continue;
        // The hook already has a later event.
        if (store.news.outcomesOf(job).some((last) => last.hook === hook && last.id !== id)) continue;
        store.news.putOutcome(job, {
          ...{ hook, event, id },
          state: waitMs === undefined ? state : "waiting",
          atMs: Math.trunc(clock.unixMs()),
          text: waitMs === undefined ? text : `${text}; try ${tries + 2} of ${RETRY_MS.length + 1} follows`,
          ...(hasOutput && { output: `${launcher.folderOf(job)}/${outputName(news)}` }),
        });
      }
    });
    if (!isDone) {
      const cancel = clock.at(clock.nowMs() + STORE_RETRY_MS, () => {
        this.#timers.delete(cancel);
        this.#wake();
      });
      this.#timers.add(cancel);
      return;
    }
    this.#results = [];
    for (const { id } of results) this.#running.delete(id);
    for (const news of again) this.#queueLater(news);
  }
}

/** Name of the file with the output of a hook, in the job's folder. */
function outputName({ uid, hook }: PendingNews): string {
  return uid === "machine" ? `machine-${hook}.log` : `${hook}.log`;
}

/** What a hook learns, as variables. */
function dataOf(record: JobRecord, event: NewsEvent, atMs: number): Record<string, string> {
  const { job, name, user, state, attempt, code, signal, reason, array, arrayIndex, cwd } = record;
  const variables: Record<string, string | number | undefined> = {
    TUTTI_JOB: job,
    TUTTI_EVENT: event,
    TUTTI_AT_MS: Math.trunc(atMs),
    TUTTI_JOB_NAME: name,
    TUTTI_USER: user,
    TUTTI_STATE: state,
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
