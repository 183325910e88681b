/**
 * Compares lists of jobs with naive lists, at rest and while jobs come, change, end and are forgotten between
 * two pages.
 */

import { matchesGlob } from "@tutti/kernel/core/glob.ts";
import { holds, mergeRanges } from "@tutti/kernel/core/number-ranges.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { isEnded, JOB_STATES, type JobState } from "@tutti/protocol/states.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JobBook } from "../book/job-book.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { infoOf, type JobRecord } from "../contract/record.ts";
import { mayAccess } from "../contract/rights.ts";
import type { Caller, JobQuery } from "../contract/service.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { Store } from "../store/store.ts";
import { ANNA, BEN, ROOT } from "./front-end-for-tests.ts";
import { Listing } from "./listing.ts";

/** A book with its store, and methods that change its jobs. */
class Jobs {
  readonly store = new Store(":memory:");
  readonly book = new JobBook(this.store);
  /** All stored jobs by number. */
  readonly kept = new Map<number, JobRecord>();
  readonly listing = new Listing(
    { book: this.book, store: this.store, config: DEFAULT_CONFIG } as FrontEndParts,
    (record) => infoOf(record),
    {
      window: 4,
      jobs: 3,
      bytes: 100,
    },
  );

  add(user: Caller, name: string, command: string): void {
    const job = this.book.nextJob();
    const record: JobRecord = {
      ...{
        job,
        name,
        uid: user.uid,
        user: user.user,
        queue: job % 3 === 0 ? "short" : "main",
        state: "queued",
      },
      ...{
        tasks: 1,
        priority: 0,
        command: [command],
        cwd: "/",
        estimateMs: 1,
        stdout: "o",
        stderr: "e",
        after: [],
      },
      ...{
        retries: 0,
        environment: this.#write(() => this.store.contents.nothing()),
        submittedAtMs: 1,
        queueRank: job,
      },
      ...{ attempt: 0, nodes: [], ranMs: 0 },
    };
    this.#write(() => this.book.add(record));
    this.kept.set(job, record);
  }

  change(job: number, state: JobState): void {
    const record = this.kept.get(job);
    if (record === undefined || isEnded(record.state)) return;
    const changed = this.#write(() =>
      this.book.change(record, { state, ...(isEnded(state) && { endedAtMs: this.kept.size }) }),
    );
    this.kept.set(job, changed);
  }

  /** Ends the job if necessary, and forgets it. */
  forget(job: number): void {
    this.change(job, "done");
    const record = this.kept.get(job);
    if (record === undefined) return;
    const { uid, state, endedAtMs = 0 } = record;
    this.#write(() =>
      this.store.kept.forgetJobs([{ job, uid, state, endedAtMs, wasStarted: false, bytes: 0 }]),
    );
    this.kept.delete(job);
  }

  #write<Result>(work: () => Result): Result {
    this.store.begin();
    const result = work();
    this.store.commit();
    this.book.commit();
    return result;
  }
}

type Step =
  | { kind: "add"; who: number; name: string; command: string }
  | { kind: "change"; which: number; state: JobState }
  | { kind: "forget"; which: number };

const USERS = [ANNA, BEN];
const number = fc.integer({ min: 1, max: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      who: fc.nat(1),
      name: fc.constantFrom("sim-a", "sim-b", "x"),
      command: fc.constantFrom("short", "long".repeat(60)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("change" as const),
      which: number,
      state: fc.constantFrom<JobState>("held", "running", "queued", "done", "failed", "cancelled"),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("forget" as const), which: number }) },
);
const query: fc.Arbitrary<JobQuery> = fc
  .record(
    {
      states: fc.subarray([...JOB_STATES], { minLength: 1 }),
      numbers: fc
        .array(fc.tuple(number, fc.nat(20)), { minLength: 1, maxLength: 5 })
        .map((pairs) => mergeRanges(pairs.map(([first, more]) => ({ first, last: first + more })))),
      name: fc.constantFrom("sim*", "*a", "x", "*"),
      queue: fc.constantFrom("main", "short"),
      user: fc.constantFrom("anna", "ben"),
      after: fc.nat(40),
    },
    { requiredKeys: [] },
  )
  .map((fields) => fields as JobQuery);
const caller = fc.constantFrom(ANNA, BEN, ROOT);

function take(jobs: Jobs, one: Step): void {
  if (one.kind === "add") jobs.add(USERS[one.who], one.name, one.command);
  else if (one.kind === "change") jobs.change(one.which, one.state);
  else jobs.forget(one.which);
}

function isMeant(
  record: JobRecord,
  who: Caller,
  { states, numbers, name, queue, user, after = 0 }: JobQuery,
) {
  return (
    mayAccess(who, record) &&
    record.job > after &&
    (states ?? JOB_STATES).includes(record.state) &&
    (numbers === undefined || holds(numbers, record.job)) &&
    (name === undefined || matchesGlob(record.name, name)) &&
    (queue ?? record.queue) === record.queue &&
    (user ?? record.user) === record.user
  );
}

function meant(jobs: Jobs, who: Caller, asked: JobQuery): number[] {
  const found = [...jobs.kept.values()].filter((record) => isMeant(record, who, asked));
  return found.map(({ job }) => job).sort((a, b) => a - b);
}

/** Collects all pages; calls `between` after each step. */
function read(jobs: Jobs, who: Caller, asked: JobQuery, between = () => {}) {
  const listed: Job[] = [];
  const list = jobs.listing.list(who, asked);
  for (;;) {
    const { done, value } = list.next();
    if (done) return { listed, end: value };
    expect(value.length).toBeLessThanOrEqual(3);
    listed.push(...value);
    between();
  }
}

const numbersOf = (listed: readonly Job[]) => listed.map(({ job }) => job);

describe("Listing", () => {
  test("at rest, a list equals a filter over all jobs, with the missing numbers and the next page", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 80, size: "max" }),
        query,
        caller,
        fc.integer({ min: 1, max: 9 }),
        (steps, asked, who, most) => {
          const jobs = new Jobs();
          for (const step of steps) take(jobs, step);
          const all = meant(jobs, who, asked);
          const { listed, end } = read(jobs, who, asked);
          expect(numbersOf(listed)).toEqual(all);
          expect(end.next).toBeUndefined();
          const missing = (end.missing ?? []).flatMap(({ first, last, because }) =>
            Array.from({ length: last - first + 1 }, (_, i) => `${first + i} ${because}`),
          );
          const expected: string[] = [];
          for (let job = (asked.after ?? 0) + 1; job <= 80; job++) {
            if (asked.numbers === undefined || !holds(asked.numbers, job) || jobs.kept.has(job)) continue;
            expected.push(`${job} ${job > jobs.book.latestJob ? "not given" : "forgotten"}`);
          }
          expect(missing).toEqual(expected);
          // The same in pages: no job twice, none missing, and no empty page unless it is the only one.
          const paged: number[] = [];
          const gaps: unknown[] = [];
          for (let after: number | undefined = asked.after ?? 0; after !== undefined; ) {
            const page = read(jobs, who, { ...asked, after, most });
            paged.push(...numbersOf(page.listed));
            gaps.push(...(page.end.missing ?? []));
            expect(page.listed).toHaveLength(page.end.next === undefined ? page.listed.length : most);
            after = page.end.next;
          }
          expect(paged).toEqual(all);
          expect(gaps).toEqual(end.missing ?? []);
          jobs.store.close();
        },
      ),
      { numRuns: 200 },
    );
  });

  test("last returns the end of the list; lastEnded limits only the ended jobs", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 80, size: "max" }),
        fc.subarray([...JOB_STATES], { minLength: 1 }),
        caller,
        fc.nat(12),
        (steps, states, who, last) => {
          const jobs = new Jobs();
          for (const step of steps) take(jobs, step);
          const all = meant(jobs, who, { states });
          expect(numbersOf(read(jobs, who, { states, last }).listed)).toEqual(
            all.slice(Math.max(0, all.length - last)),
          );
          const ended = all.filter((job) => isEnded(jobs.kept.get(job)!.state));
          const left = new Set(ended.slice(0, Math.max(0, ended.length - last)));
          expect(numbersOf(read(jobs, who, { states, lastEnded: last }).listed)).toEqual(
            all.filter((job) => !left.has(job)),
          );
          const numbers = [{ first: 3, last: 30 }];
          const few = jobs.listing.numbers(who, { states, numbers });
          let found = few.next();
          while (!found.done) found = few.next();
          expect(found.value).toEqual(meant(jobs, who, { states, numbers }));
          jobs.store.close();
        },
      ),
      { numRuns: 200 },
    );
  });

  test("while jobs come and go between pages, jobs that always match come once, in order, and no other users' jobs", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60, size: "max" }),
        fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 30, size: "max" }),
        query,
        caller,
        fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
        (steps, changes, asked, who, most) => {
          const jobs = new Jobs();
          for (const step of steps) take(jobs, step);
          let throughout = new Set(meant(jobs, who, asked));
          const ever = new Set(throughout);
          const between = () => {
            for (const one of changes.shift() ?? []) {
              take(jobs, one);
              const now = meant(jobs, who, asked);
              throughout = new Set(now.filter((job) => throughout.has(job)));
              for (const job of now) ever.add(job);
            }
          };
          const listed: number[] = [];
          for (let after: number | undefined = asked.after ?? 0; after !== undefined; ) {
            const page = read(jobs, who, { ...asked, after, ...(most !== undefined && { most }) }, between);
            listed.push(...numbersOf(page.listed));
            after = page.end.next;
          }
          expect(listed).toEqual([...new Set(listed)].sort((a, b) => a - b));
          expect([...throughout].filter((job) => !listed.includes(job))).toEqual([]);
          expect(listed.filter((job) => !ever.has(job))).toEqual([]);
          jobs.store.close();
        },
      ),
      { numRuns: 300 },
    );
  });
});
