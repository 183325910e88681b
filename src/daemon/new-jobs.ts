/** From accepted requests to jobs in the book, with their numbers. Up to 10,000 come in one turn, so what they have alike is worked out once. */

import type { JobNumber } from "../protocol/attempts.ts";
import type { Context } from "./context.ts";
import { hasEnded, type JobRecord } from "./record.ts";
import type { Caller, SubmitRequest } from "./service.ts";
import type { Needs } from "./share.ts";
import type { Content } from "./store/contents.ts";
import { type ChosenQueue, maskOf, nameOf } from "./submission.ts";

/** A request, and what was found out about it. */
export interface Accepted {
  readonly request: SubmitRequest;
  readonly needs: Needs;
  readonly queue: ChosenQueue;
  /** A job that it waits for and that has not ended well, as it should have. */
  readonly unmet: JobNumber | undefined;
}

export class NewJobs {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Enters a batch and tells of it. A job whose condition cannot be met any more is cancelled at once. */
  enter(caller: Caller, batch: readonly Accepted[], nowMs: number): JobRecord[] {
    const { book, feed, scheduler, clock } = this.#context;
    const atMs = clock.unixMs();
    const alike = new Alike();
    const first = book.nextJob();
    const records = batch.map((accepted, i) => {
      const record = this.#recordOf(caller, accepted, i === 0 ? first : book.nextJob(), first, atMs, alike);
      book.add(record);
      return record;
    });
    for (const record of records) {
      const { tasks, queue, reason } = record;
      feed.add("submitted", atMs, record, { tasks, queue });
      if (hasEnded(record.state)) feed.add("cancelled", atMs, record, { reason: reason ?? null });
      else {
        scheduler.noteSubmit(record.job, nowMs);
        if (book.isEligible(record)) scheduler.arrived(record);
      }
    }
    return records;
  }

  #recordOf(
    caller: Caller,
    { request, needs, queue, unmet }: Accepted,
    job: JobNumber,
    first: JobNumber,
    submittedAtMs: number,
    alike: Alike,
  ): JobRecord {
    const { book, launcher } = this.#context;
    const names = {
      job,
      ...(request.arrayIndex !== undefined && { array: first }),
      arrayIndex: request.arrayIndex,
      arrayAtOnce: request.arrayAtOnce,
      name: nameOf(request),
      user: caller.user,
      cwd: request.cwd,
    };
    return {
      ...names,
      uid: caller.uid,
      queue: queue.queue,
      queueReason: queue.reason,
      tasks: request.tasks ?? 1,
      priority: request.priority ?? 0,
      command: alike.of(request.command, (words) => [...words]),
      ...(request.script !== undefined && { scriptWord: request.script.word }),
      limitMs: request.limitMs,
      estimateMs: queue.estimateMs,
      memoryBytes: request.memoryBytes,
      stdout: launcher.outputPath(request.stdout, "stdout", names),
      stderr: launcher.outputPath(request.stderr, "stderr", names),
      after: alike.of(request.after ?? NONE, (others) =>
        others.map(({ job: other, ok }) => ({ job: other, ok })),
      ),
      retries: request.retries ?? 0,
      umask: maskOf(request),
      key: request.key,
      submittedAtMs,
      place: book.nextPlace(),
      attempt: 0,
      cpus: NONE,
      ranMs: 0,
      ...(unmet === undefined ? this.#waiting(request, needs, alike) : this.#cancelled(unmet, submittedAtMs)),
    };
  }

  #waiting({ held }: SubmitRequest, { environment, script }: Needs, alike: Alike) {
    const { contents } = this.#context.store;
    const keep = (content: Content) => contents.keep(content);
    return {
      state: held ? "held" : "queued",
      environment: alike.of(environment, keep),
      ...(script !== undefined && { script: alike.of(script, keep) }),
    } as const;
  }

  #cancelled(unmet: JobNumber, endedAtMs: number) {
    return {
      state: "cancelled",
      reason: `job ${unmet} did not end well`,
      endedAtMs,
      environment: this.#context.store.contents.nothing(),
    } as const;
  }
}

const NONE: readonly never[] = [];

/** What was made of a value; of the very same one nothing is made a second time. */
class Alike {
  readonly #made = new Map<object, unknown>();

  of<From extends object, To>(from: From, make: (from: From) => To): To {
    if (!this.#made.has(from)) this.#made.set(from, make(from));
    return this.#made.get(from) as To;
  }
}
