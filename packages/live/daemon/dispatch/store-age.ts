/**
 * Finds out at the start whether the store misses something that has already happened. Three other sources
 * may know more: the file with the highest numbers, the folders in `jobs/`, and the attempts that the
 * conductor lists when it connects. If the store is older than any of them, new numbers begin above all known
 * ones, and people are warned. No job is changed, killed or run again.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { EventFeed } from "../book/event-feed.ts";
import type { Launcher } from "../executor/launcher.ts";
import type { Numbers, NumbersFile } from "../state/numbers.ts";
import { latestAccountedFor, noteLostUpTo, passOver } from "../store/lost-jobs.ts";
import type { Store } from "../store/store.ts";

/** Key in the store's `meta`: a file with the highest numbers exists. */
const HAS_NUMBERS = "has numbers";
/** The same: since the store was found to be older, no executor has said what it has noted since. */
const BEHIND = "behind";

export class StoreAge {
  /** New numbers begin above these. */
  readonly latestJob: JobNumber;
  readonly latestEvent: number;
  /** Warnings for people, one or more sentences each. */
  readonly warnings: string[] = [];
  /** Why the store is considered older; kept as long as this front end runs. */
  trouble: string | undefined;
  readonly #store: Store;
  readonly #hasNumbers: boolean;
  /** Highest number of a lost job; 0: no job is lost. */
  readonly #lostUpTo: JobNumber;
  #isNoted = false;

  constructor(store: Store, launcher: Launcher, numbers?: NumbersFile) {
    this.#store = store;
    this.#hasNumbers = numbers !== undefined;
    const found = numbers?.found;
    const knownJob = latestAccountedFor(store);
    const knownEvent = store.latestEvent();
    const beyond = launcher.jobsWithFolders().filter((job) => job > knownJob);
    const folder = Math.max(0, ...beyond);
    this.latestJob = Math.max(knownJob, numbers?.givenAtMost ?? 0, folder);
    this.latestEvent = Math.max(knownEvent, found?.event ?? 0);
    const isBehind = found !== undefined && (found.job > knownJob || found.event > knownEvent);
    // A folder alone is no proof: a front end that died before its commit leaves a folder in which nothing
    // was started.
    const isOlder = isBehind || beyond.some((job) => launcher.latestStart(job) > 0);
    if (isOlder) {
      const known = `its last job is ${knownJob} and its last event ${knownEvent}`;
      const proof = isBehind
        ? `job ${found.job} and event ${found.event} were confirmed`
        : `jobs up to ${folder} have folders`;
      this.trouble = `the store is out of date: ${known}, but ${proof}. A backup was restored, or files were lost. ${
        this.latestJob > knownJob
          ? `${jobsText(knownJob + 1, this.latestJob)} unknown; new jobs get higher numbers`
          : "What happened to its jobs afterwards is unknown"
      }`;
    }
    this.#lostUpTo = isOlder ? this.latestJob : 0;
    if (this.trouble !== undefined) this.warnings.push(this.trouble);
    const problem = numbers?.problem;
    if (problem === "damaged" || (problem === "missing" && store.meta(HAS_NUMBERS) !== undefined)) {
      this.warnings.push(
        `the file "numbers" in the state folder is ${problem}; it was rebuilt from the store and the folders in jobs/, and new jobs get numbers above ${this.latestJob}`,
      );
    }
  }

  /** Writes the warnings and numbers to the store, in the first cycle that can be committed. */
  note(feed: EventFeed, atMs: number): void {
    if (this.#isNoted) return;
    for (const because of this.warnings) feed.add("recovered", atMs, undefined, { because });
    noteLostUpTo(this.#store, this.#lostUpTo);
    passOver(this.#store, this.latestJob);
    if (this.trouble !== undefined) this.#store.setMeta(BEHIND, "1");
    if (this.#hasNumbers) this.#store.setMeta(HAS_NUMBERS, "1");
  }

  /** Once, when the executor connects: whether what it has noted is newer than the store. In a cycle. */
  takeBehind(): boolean {
    const isBehind = this.#store.meta(BEHIND) === "1";
    if (isBehind) this.#store.setMeta(BEHIND, "0");
    return isBehind;
  }

  /** After the first committed cycle: the numbers for the file, for the check at the next start. */
  commit(event: number): Numbers | undefined {
    if (this.#isNoted) return undefined;
    this.#isNoted = true;
    return { reserved: this.latestJob, job: latestAccountedFor(this.#store), event };
  }

  /** The conductor has attempts of jobs up to this number. Must be called inside a cycle. */
  named(job: JobNumber): void {
    const known = latestAccountedFor(this.#store);
    if (job <= known) return;
    noteLostUpTo(this.#store, job);
    this.trouble ??= `the store is out of date: its last job is ${known}, but the conductor runs job ${job}. A backup was restored, files were lost, or tutti serve --attach has taken the pilot of another state folder`;
  }
}

function jobsText(first: JobNumber, last: JobNumber): string {
  return first === last ? `Job ${first} is` : `Jobs ${first} to ${last} are`;
}
