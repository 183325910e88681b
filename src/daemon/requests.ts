/** What users ask for, handled inside a turn: changes of the job book, or a refusal that changes nothing. */
import type { PolicyChoice } from "../core/policy.ts";
import type { ConductorDesk } from "./conductor-desk.ts";
import type { Context } from "./context.ts";
import { isLost } from "./lost-jobs.ts";
import type { JobNumber } from "./protocol.ts";
import { hasEnded, hasProcess, infoOf, type JobRecord, mayTouch } from "./record.ts";
import type { Answer, Caller, Change, JobInfo, Refusal, SubmitRequest } from "./service.ts";
import { type Needs, needsOf, refuseOverShare } from "./share.ts";
import { recordOfStray } from "./strays.ts";
import { type ChosenQueue, chooseQueue, isRefusal, nameOf, refuse } from "./submission.ts";

const LOST =
  "the store is older than this job, so nobody knows whether it has ended, and how; its folder in jobs/ may tell";

export class Requests {
  readonly #context: Context;
  readonly #desk: ConductorDesk;

  constructor(context: Context, desk: ConductorDesk) {
    this.#context = context;
    this.#desk = desk;
  }

  /** A job that the caller may see; others do not exist for them. */
  find(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = Number.isSafeInteger(job) ? this.#context.book.find(job) : undefined;
    if (record !== undefined && mayTouch(caller, record)) return record;
    if (isLost(this.#context.store, job)) return refuse("not-found", `Cannot find job ${job}: ${LOST}`);
    return this.#isForgotten(job)
      ? refuse("not-found", `Cannot find job ${job}: ${this.#forgotten()}`)
      : refuse("not-found", `Cannot find job ${job}: there is no such job; \`tutti jobs\` lists yours`);
  }

  submit(
    caller: Caller,
    batch: readonly SubmitRequest[],
    nowMs: number,
  ): Answer<{ readonly jobs: readonly JobInfo[] }> {
    const { book, store, mostJobs } = this.#context;
    const [{ key }] = batch;
    if (key !== undefined) {
      const before = store.jobsByKey(caller.uid, key);
      if (before.length > 0) return { jobs: before.map((record) => infoOf(record)) };
    }
    if (book.liveCount + batch.length > mostJobs) {
      return refuse(
        "full",
        `Cannot accept ${batch.length} jobs: ${book.liveCount} have not ended, and the scheduler keeps at most ${mostJobs}; try again when some have ended`,
      );
    }
    const needs = needsOf(batch, store);
    const overShare = refuseOverShare(this.#context, caller, batch, needs);
    if (overShare !== undefined) return overShare;
    const queues: ChosenQueue[] = [];
    /** Jobs that are waited for, each looked up once. */
    const others = new Map<JobNumber, JobRecord | "forgotten">();
    for (const request of batch) {
      const queue = chooseQueue(request, this.#context.limits);
      if (isRefusal(queue)) return queue;
      for (const { job, ok } of request.after ?? []) {
        const other = others.get(job) ?? this.#waitedFor(caller, job);
        // One that is forgotten has ended, however it did.
        if (other === undefined || (other === "forgotten" && ok)) return this.#cannotWaitFor(job);
        others.set(job, other);
      }
      queues.push(queue);
    }
    const first = book.nextJob();
    const records = batch.map((request, i) =>
      this.#enter(caller, request, needs[i], queues[i], i === 0 ? first : book.nextJob(), first),
    );
    return { jobs: records.map((record) => infoOf(this.#afterSubmit(record, others, nowMs))) };
  }

  change(caller: Caller, change: Change, job: JobNumber): Answer<JobRecord> {
    return change.action === "priority"
      ? this.setPriority(caller, job, change.priority)
      : this[change.action](caller, job);
  }

  cancel(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    const strays = this.#desk.strays.of(job).filter((stray) => mayTouch(caller, stray));
    this.#desk.cancelStrays(strays, caller.user);
    const hasGone = isRefusal(record) || hasEnded(record.state);
    if (hasGone && strays.length > 0) return recordOfStray(strays[0], this.#context.clock.nowMs());
    if (isRefusal(record)) return record;
    if (hasEnded(record.state)) return wrongState("cancel", record, "it has ended");
    return this.#desk.cancel(record, `cancelled by ${caller.user}`);
  }

  hold(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.state === "held") return record;
    if (record.state !== "queued") return wrongState("hold", record, "only a job that waits can be held");
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "is held");
    const held = book.change(record, { state: "held" });
    feed.add("held", clock.unixMs(), held);
    return held;
  }

  release(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.state === "queued") return record;
    if (record.state !== "held")
      return wrongState("release", record, "only a job that is held can be released");
    const { book, feed, scheduler, clock } = this.#context;
    // Numbers of attempts that were started are not given again.
    const attempt = Math.max(record.attempt, this.#desk.earlierStarts.latestOf(job));
    const isRaised = attempt > record.attempt;
    const released = book.change(record, {
      state: "queued",
      place: book.nextPlace(),
      reason: undefined,
      attempt,
      ...(isRaised && { identity: undefined }),
    });
    feed.add("released", clock.unixMs(), released);
    if (book.isEligible(released)) scheduler.arrived(released);
    return released;
  }

  requeue(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record)) return record;
    if (!hasProcess(record.state) || record.state === "ending") {
      return wrongState("requeue", record, "only a job that runs can be requeued");
    }
    if (record.attempt > record.retries) {
      return refuse(
        "wrong-state",
        `Cannot requeue job ${job}: it has been started ${times(record.attempt)}, and may be started anew ${times(record.retries)}; submit it again, with more retries if it shall be requeued`,
      );
    }
    return this.#desk.stop(record, "requeued");
  }

  setPriority(caller: Caller, job: JobNumber, priority: number): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.priority === priority) return record;
    if (record.state !== "queued" && record.state !== "held") {
      return wrongState("change the priority of", record, "only that of a job that waits can be changed");
    }
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "has another priority");
    const changed = book.change(record, { priority });
    feed.add("priority", clock.unixMs(), changed, { before: record.priority, after: priority });
    if (book.isEligible(changed)) scheduler.arrived(changed);
    return changed;
  }

  setPolicy(caller: Caller, choice: PolicyChoice): Answer<{ readonly policy: string }> {
    const { store, feed, scheduler, clock } = this.#context;
    const before = scheduler.choice.label;
    store.setMeta("policy", choice.label);
    feed.add("policy", clock.unixMs(), undefined, { before, after: choice.label, by: caller.user });
    this.#desk.switchPolicy(choice);
    return { policy: choice.label };
  }

  #isForgotten(job: JobNumber): boolean {
    const { book, store } = this.#context;
    const isPast = Number.isSafeInteger(job) && job >= 1 && job <= store.kept.latestForgotten();
    return isPast && book.find(job) === undefined && !isLost(store, job);
  }

  #waitedFor(caller: Caller, job: JobNumber): JobRecord | "forgotten" | undefined {
    const record = this.find(caller, job);
    if (!isRefusal(record)) return record;
    return this.#isForgotten(job) ? "forgotten" : undefined;
  }

  #cannotWaitFor(job: JobNumber): Refusal {
    if (isLost(this.#context.store, job)) {
      return refuse("invalid", `Cannot wait for job ${job}: ${LOST}; leave it out`);
    }
    return refuse(
      "invalid",
      this.#isForgotten(job)
        ? `Cannot wait for job ${job}: ${this.#forgotten()}, so nobody knows whether it ended well; leave it out, or wait for it however it ended (any:${job})`
        : `Cannot wait for job ${job}: there is no such job`,
    );
  }

  #forgotten(): string {
    const { keepDays, keepJobs } = this.#context.config;
    return `it has ended and is forgotten (ended jobs are kept for ${keepDays} days, the last ${keepJobs} at most)`;
  }

  #enter(
    caller: Caller,
    request: SubmitRequest,
    { environment, script }: Needs,
    { queue, reason, estimateMs }: ChosenQueue,
    job: JobNumber,
    first: JobNumber,
  ): JobRecord {
    const { book, store, launcher, clock } = this.#context;
    const names = {
      job,
      ...(request.arrayIndex !== undefined && { array: first }),
      arrayIndex: request.arrayIndex,
      arrayAtOnce: request.arrayAtOnce,
      name: nameOf(request),
      user: caller.user,
      cwd: request.cwd,
    };
    const record: JobRecord = {
      ...names,
      uid: caller.uid,
      queue,
      queueReason: reason,
      state: request.held ? "held" : "queued",
      tasks: request.tasks ?? 1,
      priority: request.priority ?? 0,
      command: [...request.command],
      ...(script !== undefined && {
        script: store.contents.keep(script),
        scriptWord: request.script?.word,
      }),
      limitMs: request.limitMs,
      estimateMs,
      memoryBytes: request.memoryBytes,
      stdout: launcher.outputPath(request.stdout, "stdout", names),
      stderr: launcher.outputPath(request.stderr, "stderr", names),
      after: (request.after ?? []).map(({ job: other, ok }) => ({ job: other, ok })),
      retries: request.retries ?? 0,
      key: request.key,
      environment: store.contents.keep(environment),
      submittedAtMs: clock.unixMs(),
      place: book.nextPlace(),
      attempt: 0,
      cpus: [],
      ranMs: 0,
    };
    book.add(record);
    return record;
  }

  /** Tells of a new job; one whose condition cannot be met any more is cancelled at once. */
  #afterSubmit(
    record: JobRecord,
    others: ReadonlyMap<JobNumber, JobRecord | "forgotten">,
    nowMs: number,
  ): JobRecord {
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.noteSubmit(record.job, nowMs);
    feed.add("submitted", clock.unixMs(), record, { tasks: record.tasks, queue: record.queue });
    const failed = record.after.find(({ job, ok }) => {
      const other = others.get(job);
      if (!ok || other === undefined || other === "forgotten") return false;
      return other.state === "failed" || other.state === "cancelled";
    });
    if (failed !== undefined) return this.#desk.cancel(record, `job ${failed.job} did not end well`);
    if (book.isEligible(record)) scheduler.arrived(record);
    return record;
  }
}

function times(count: number): string {
  return `${count} ${count === 1 ? "time" : "times"}`;
}

function wrongState(action: string, record: JobRecord, why: string): Answer<never> {
  return refuse("wrong-state", `Cannot ${action} job ${record.job}: it is ${record.state}, ${why}`);
}
