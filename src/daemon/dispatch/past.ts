/**
 * What was, as far as it can be known at the start: the store, and all that may know more than it: the file with the highest numbers,
 * the folders in `jobs/`, and the attempts that the conductor names when it is connected to. A store that knows less is an older
 * one. Then numbers go on above all that was given, and people are told; nothing is concluded, killed or run again.
 */

import type { JobNumber } from "../../protocol/attempts.ts";
import type { EventFeed } from "../book/event-feed.ts";
import type { Launcher } from "../executor/launcher.ts";
import type { Numbers, NumbersFile } from "../state/numbers.ts";
import { latestAccountedFor, noteLostUpTo, passOver } from "../store/lost-jobs.ts";
import type { Store } from "../store/store.ts";

/** Name in the store's `meta`: there is a file with the highest numbers. */
const HAS_NUMBERS = "has numbers";

export class Past {
  /** Numbers go on above these. */
  readonly latestJob: JobNumber;
  readonly latestEvent: number;
  /** What people must know, a sentence or more each. */
  readonly warnings: string[] = [];
  /** Why the store is an older one, for as long as this front end lives. */
  trouble: string | undefined;
  readonly #store: Store;
  readonly #hasNumbers: boolean;
  /** Jobs up to this one were given out. */
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
    // A front end that dies before its commit leaves a folder, in which nothing was started.
    const isOlder = isBehind || beyond.some((job) => launcher.latestStart(job) > 0);
    if (isOlder) {
      const known = `job ${knownJob} and event ${knownEvent}`;
      const proof = isBehind
        ? `job ${found.job} and event ${found.event} were confirmed`
        : `jobs up to ${folder} have folders`;
      this.trouble = `the store is older than what has happened: it ends with ${known}, and ${proof}. A backup was put back, or files were lost. ${
        this.latestJob > knownJob
          ? `Nothing is known here of ${jobsText(knownJob + 1, this.latestJob)}; new ones get later numbers`
          : "How its jobs went on is not known here"
      }`;
    }
    this.#lostUpTo = isOlder ? this.latestJob : 0;
    if (this.trouble !== undefined) this.warnings.push(this.trouble);
    const problem = numbers?.problem;
    if (problem === "damaged" || (problem === "missing" && store.meta(HAS_NUMBERS) !== undefined)) {
      this.warnings.push(
        `the file "numbers" in the state folder is ${problem}; it is made again from the store and the folders in jobs/, and numbers go on above job ${this.latestJob}`,
      );
    }
  }

  /** Writes down what was found, in the first cycle that can be written. */
  note(feed: EventFeed, atMs: number): void {
    if (this.#isNoted) return;
    for (const because of this.warnings) feed.add("recovered", atMs, undefined, { because });
    noteLostUpTo(this.#store, this.#lostUpTo);
    passOver(this.#store, this.latestJob);
    if (this.#hasNumbers) this.#store.setMeta(HAS_NUMBERS, "1");
  }

  /** The first cycle is on disk: the numbers from which the next start is judged, undefined after any other cycle. */
  commit(event: number): Numbers | undefined {
    if (this.#isNoted) return undefined;
    this.#isNoted = true;
    return { reserved: this.latestJob, job: latestAccountedFor(this.#store), event };
  }

  /** The conductor has attempts of jobs up to this one. Inside a cycle. */
  named(job: JobNumber): void {
    const known = latestAccountedFor(this.#store);
    if (job <= known) return;
    noteLostUpTo(this.#store, job);
    this.trouble ??= `the store is older than what has happened: it ends with job ${known}, and the conductor runs job ${job}. A backup was put back, or files were lost`;
  }
}

function jobsText(first: JobNumber, last: JobNumber): string {
  return first === last ? `job ${first}` : `jobs ${first} to ${last}`;
}
