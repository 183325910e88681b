/**
 * Whether the world in a front end's memory is the one that it would rebuild from its record. A change that
 * one of them misses shows here at once, and to users only after the next restart, if at all.
 */
import { JobBook } from "@tutti/live/daemon/book/job-book.ts";
import { JobLimits } from "@tutti/live/daemon/book/job-limits.ts";
import type { FrontEnd } from "@tutti/live/daemon/front-end/front-end.ts";

const TEXT_LENGTH = 200;

/**
 * Must be called between two cycles, when nothing is half written.
 * @returns what differs, in words
 */
export function differencesFromRecord({ context }: FrontEnd): string[] {
  const { store, config, book } = context;
  const inMemory = worldOf(book);
  const fresh = new JobBook(store, book.latestJob, new JobLimits(config));
  // The record does not say whether dependents of ended jobs were handled: the first cycle does that again.
  for (const job of [...fresh.unsettled.keys()]) if (!book.unsettled.has(job)) fresh.settled(job);
  const rebuilt = worldOf(fresh);
  return [...new Set([...inMemory.keys(), ...rebuilt.keys()])].flatMap((what) => {
    const [here, there] = [inMemory.get(what), rebuilt.get(what)];
    return here === there ? [] : [`${what}: in memory ${shown(here)}, by the record ${shown(there)}`];
  });
}

/** What it knows, as text by name. */
function worldOf(book: JobBook): Map<string, string> {
  const known = new Map<string, string>();
  const note = (what: string, value: unknown) => known.set(what, textOf(value));
  const records = [...book.all()].sort((a, b) => a.job - b.job);
  for (const record of records) {
    const { job } = record;
    note(`record of job ${job}`, record);
    note(`whether job ${job} is ready`, book.isReady(record));
    note(`what job ${job} waits for`, book.waitsFor(record));
    note(`dependents of job ${job}`, sorted([...book.dependentsOf(job)].map((one) => one.job)));
    note(`next job of the name of job ${job}`, book.nextOfSameName(record)?.job);
  }
  note("numbers of states", book.counts);
  note("jobs with a process", sorted([...book.withProcess()].map(({ job }) => job)));
  note("memory of jobs with a process", book.usedMemoryBytes());
  note("jobs that wait for a time", sorted(book.timed.map(({ job }) => job)));
  note("the time of the next job that waits for one", String(book.nextDueMs()));
  note("ended jobs with dependents", sorted([...book.unsettled.keys()]));
  for (const uid of new Set(records.map((record) => record.uid))) {
    note(`holdings of user ${uid}`, book.holdings.of(uid));
    note(`bytes of user ${uid} in the store`, book.storeBytesOf(uid));
  }
  return known;
}

/** The same for equal values: fields in order, and without those that are undefined. */
function textOf(value: unknown): string {
  const inOrder = (_: string, one: unknown) =>
    one !== null && typeof one === "object" && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one;
  return JSON.stringify(value, inOrder) ?? "undefined";
}

function sorted(numbers: readonly number[]): number[] {
  return numbers.toSorted((a, b) => a - b);
}

function shown(text: string | undefined): string {
  return text === undefined ? "nothing" : text.slice(0, TEXT_LENGTH);
}
