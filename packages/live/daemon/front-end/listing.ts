/**
 * Lists jobs in any number: a generator yields one page per step. A step takes a few ms, and requests of
 * other users run between two steps. Live and ended jobs come together in ascending order of their numbers. A
 * job that exists throughout is listed exactly once, in the state that it has when its page is made. Between
 * pages, only a number is remembered, never a position in a list.
 */
import { matchesGlob } from "@tutti/kernel/core/glob.ts";
import type { NumberRange } from "@tutti/kernel/core/number-ranges.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { LoggedEvent } from "@tutti/protocol/events.ts";
import type { Job, MissingJobs } from "@tutti/protocol/schema.ts";
import { isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import { exportedLimits } from "../book/exported-limits.ts";
import { namesOf, sharesOf } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Caller, JobQuery, ListEnd } from "../contract/service.ts";
import { retainedBytes, unlimitedMs } from "../contract/submission.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { JobKey } from "../store/kept.ts";
import { exportJsonl } from "./jsonl-export.ts";
import { exportSwf } from "./swf-export.ts";

interface PageSizes {
  /** Numbers examined per step; a thousand take about a millisecond. */
  readonly window: number;
  /** Jobs per page; a hundred take about a millisecond, including their JSON. */
  readonly jobs: number;
  /** Bytes of commands and paths per page; a job may have a megabyte, read from disk. */
  readonly bytes: number;
}

const SIZES: PageSizes = { window: 2000, jobs: 150, bytes: 128 * 1024 };
const EVENTS_PER_PAGE = 500;
const ALL_NUMBERS: readonly NumberRange[] = [{ first: 1, last: Number.MAX_SAFE_INTEGER }];

export class Listing {
  readonly #context: FrontEndParts;
  readonly #infoOf: (record: JobRecord) => Job;
  readonly #sizes: PageSizes;

  constructor(context: FrontEndParts, infoOf: (record: JobRecord) => Job, sizes = SIZES) {
    this.#context = context;
    this.#infoOf = infoOf;
    this.#sizes = sizes;
  }

  *list(caller: Caller, query: JobQuery): Generator<readonly Job[], ListEnd, void> {
    const pages = this.#records(caller, query);
    for (;;) {
      const { done, value } = pages.next();
      if (done) return value;
      yield value.map((record) => this.#infoOf(record));
    }
  }

  *#records(caller: Caller, query: JobQuery): Generator<readonly JobRecord[], ListEnd, void> {
    const { states = JOB_STATES, most = Number.POSITIVE_INFINITY, last, lastEnded } = query;
    const missing: MissingJobs[] = [];
    const { after = 0 } = query;
    const first = last === undefined ? after : Math.max(after, yield* this.#before(caller, states, last));
    const firstEnded =
      lastEnded === undefined ? 1 : 1 + (yield* this.#before(caller, states.filter(isEnded), lastEnded));
    const queues = this.#namesOfQueue(query.queue);
    let page: JobRecord[] = [];
    let bytes = 0;
    let count = 0;
    let latest = after;
    for (const keys of this.#windows(caller, { ...query, after: first }, firstEnded, missing)) {
      for (const { job } of keys) {
        // The job may have changed or been forgotten since the window was read.
        const record = this.#context.book.find(job);
        if (record === undefined || !states.includes(record.state) || !matches(record, query, queues))
          continue;
        if (count === most) {
          yield page;
          return endOf(
            query,
            missing.filter((gap) => gap.first < latest),
            latest,
          );
        }
        page.push(record);
        count++;
        latest = job;
        bytes += isEnded(record.state) ? retainedBytes(record) : 0;
        if (page.length < this.#sizes.jobs && bytes < this.#sizes.bytes) continue;
        yield page;
        page = [];
        bytes = 0;
      }
      yield page;
      page = [];
      bytes = 0;
    }
    return endOf(query, missing);
  }

  /** Jobs from before a queue was renamed may have the old name, which is an alias now. */
  #namesOfQueue(queue: string | undefined): readonly string[] | undefined {
    if (queue === undefined) return undefined;
    const { queues } = this.#context.config;
    return queues.map(namesOf).find((names) => names.includes(queue)) ?? [queue];
  }

  /** The numbers of the jobs that `list` would return. */
  *numbers(caller: Caller, query: Pick<JobQuery, "states" | "numbers">): Generator<undefined, JobNumber[]> {
    const result: JobNumber[] = [];
    for (const keys of this.#windows(caller, query, 1)) {
      for (const { job } of keys) result.push(job);
      yield undefined;
    }
    return result;
  }

  exportSwf(caller: Caller): Generator<string, void, void> {
    const { book, config, scheduler, store } = this.#context;
    return exportSwf(this.#records(caller, {}), (job) => book.find(job), {
      cpus: scheduler.machine.mostProcessors,
      policy: scheduler.choice.label,
      queues: config.queues.map(({ queueClass }) => queueClass.name),
      keptSinceMs: store.kept.sinceMs(caller.isAdministrator ? undefined : caller.uid),
    });
  }

  exportJsonl(caller: Caller): Generator<string, void, void> {
    const { book, config, scheduler, store } = this.#context;
    const { queues, resources } = config;
    const uid = caller.isAdministrator ? undefined : caller.uid;
    const names = queues.map(({ queueClass }) => queueClass.name);
    // Any number of jobs may hold a unit of the shared ones.
    const counted = resources.filter(({ isShared }) => !isShared);
    const amounts = Object.fromEntries(counted.map(({ name, units }) => [name, units.length]));
    return exportJsonl(
      this.#records(caller, {}),
      (job) => book.find(job),
      () => eventPages(store, uid),
      {
        headOf: (owners, startedAt) => ({
          name: "Tutti",
          processors: scheduler.machine.mostProcessors,
          resources: counted.length === 0 ? undefined : amounts,
          // Other users' shares are nobody's business.
          shares: caller.isAdministrator && config.shares !== undefined ? sharesOf(config) : undefined,
          limits: exportedLimits(book.limits, owners, names),
          quotas: book.limits.hasQuotas || undefined,
          startedAt,
          policy: scheduler.choice.label,
          slotS: config.slotMs / 1000,
        }),
        unlimitedMs: (name) => unlimitedMs(queues.find(({ queueClass }) => queueClass.name === name)),
      },
    );
  }

  /** The jobs that the caller may see and that are in one of the states, one window of numbers at a time. */
  *#windows(
    caller: Caller,
    { numbers = ALL_NUMBERS, states = JOB_STATES, after = 0 }: JobQuery,
    firstEnded: JobNumber,
    missing?: MissingJobs[],
  ): Generator<readonly JobKey[], void, void> {
    const isAsked = numbers !== ALL_NUMBERS && missing !== undefined;
    // Needs all users' jobs to find missing numbers: the number of another user's job is not missing.
    const uid = caller.isAdministrator || isAsked ? undefined : caller.uid;
    const kinds = {
      live: isAsked || states.some((state) => !isEnded(state)),
      ended: isAsked || states.some(isEnded),
    };
    const { window } = this.#sizes;
    let looked = 0;
    let seen: JobKey[] = [];
    for (const range of numbers) {
      let first = Math.max(range.first, after + 1);
      for (let isWhole = false; !isWhole && first <= range.last; ) {
        const keys = this.#keys(uid, first, range.last, kinds, firstEnded);
        isWhole = keys.length < window;
        for (const key of keys) {
          if (isAsked && key.job > first) this.#noteGap(missing, first, key.job - 1);
          first = key.job + 1;
          if (states.includes(key.state) && (caller.isAdministrator || key.uid === caller.uid))
            seen.push(key);
        }
        if (isWhole && isAsked && first <= range.last) this.#noteGap(missing, first, range.last);
        // A query costs time even if it finds nothing.
        looked += keys.length + window / 50;
        if (looked < window) continue;
        yield seen;
        looked = 0;
        seen = [];
      }
    }
    yield seen;
  }

  /** The first jobs from `first` to `last`, at most a window of them. */
  #keys(
    uid: number | undefined,
    first: JobNumber,
    last: JobNumber,
    { live, ended }: { readonly live: boolean; readonly ended: boolean },
    firstEnded: JobNumber,
  ): readonly JobKey[] {
    const { book, store } = this.#context;
    const { window } = this.#sizes;
    const ofLive = live
      ? book.numbers
          .of(uid)
          .rising(first, last, window)
          .map((job) => this.#liveKey(job))
      : [];
    const ofEnded = ended ? store.kept.endedFrom(uid, Math.max(first, firstEnded), last, window) : [];
    if (ofLive.length === 0) return ofEnded;
    return [...ofLive, ...ofEnded].sort((a, b) => a.job - b.job).slice(0, window);
  }

  /** The greatest number that still has `last` jobs in these states after it; 0 if there are fewer jobs. */
  *#before(
    caller: Caller,
    states: readonly JobState[],
    last: number,
  ): Generator<readonly never[], JobNumber, void> {
    const { book, store } = this.#context;
    const uid = caller.isAdministrator ? undefined : caller.uid;
    const { window } = this.#sizes;
    let remaining = last;
    let upTo = Number.MAX_SAFE_INTEGER;
    if (remaining === 0) return upTo;
    for (;;) {
      const live = book.numbers
        .of(uid)
        .falling(upTo, window)
        .map((job) => this.#liveKey(job));
      const ended = store.kept.endedUpTo(uid, upTo, window);
      const keys = [...live, ...ended].sort((a, b) => b.job - a.job).slice(0, window);
      for (const { job, state } of keys) {
        if (states.includes(state)) remaining--;
        if (remaining === 0) return job - 1;
        upTo = job - 1;
      }
      if (keys.length < window) return 0;
      yield [];
    }
  }

  #liveKey(job: JobNumber): JobKey {
    const { uid, state } = this.#context.book.live(job)!;
    return { job, uid, state };
  }

  /** Notes that no job has these numbers, because they were forgotten or never given. */
  #noteGap(missing: MissingJobs[], first: JobNumber, last: JobNumber): void {
    const { latestJob } = this.#context.book;
    const note = (from: JobNumber, to: JobNumber, because: MissingJobs["because"]) => {
      if (from <= to) missing.push({ first: from, last: to, because });
    };
    note(first, Math.min(last, latestJob), "forgotten");
    note(Math.max(first, latestJob + 1), last, "not given");
  }
}

function matches(
  record: JobRecord,
  { name, user }: JobQuery,
  queues: readonly string[] | undefined,
): boolean {
  return (
    (queues?.includes(record.queue) ?? true) &&
    (user === undefined || record.user === user) &&
    (name === undefined || matchesGlob(record.name, name))
  );
}

function endOf({ numbers }: JobQuery, missing: readonly MissingJobs[], next?: JobNumber): ListEnd {
  return { next, ...(numbers !== undefined && { missing }) };
}

/** All stored events; of jobs, only those of the user. */
function* eventPages(
  store: FrontEndParts["store"],
  uid: number | undefined,
): Generator<readonly LoggedEvent[], void, void> {
  for (let last = 0; ; ) {
    const page = store.eventsAfter(last, EVENTS_PER_PAGE, uid).map(({ event }) => event);
    if (page.length === 0) return;
    last = page[page.length - 1].sequence;
    yield page;
  }
}
