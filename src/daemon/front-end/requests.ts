/** Handles users' requests inside a cycle: changes the job book, or refuses without a change. */
import type { PolicyChoice } from "../../core/policy.ts";
import type { JobNumber } from "../../protocol/attempts.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "../../protocol/refusal.ts";
import type { Job, SubmitJob } from "../../protocol/schema.ts";
import { hasProcess, isEnded } from "../../protocol/states.ts";
import { infoOf, type JobRecord, mayAccess } from "../contract/record.ts";
import type { Caller, Change } from "../contract/service.ts";
import { chooseQueue, jobCount, type Submission } from "../contract/submission.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { recordOfStray } from "../dispatch/strays.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { whyRefused } from "../scheduling/job-check.ts";
import { isLost } from "../store/lost-jobs.ts";
import { type Accepted, enterJobs } from "./new-jobs.ts";
import { needsOf, refuseOverShare, refuseWhenFull } from "./share.ts";

const LOST =
  "the store is older than this job, so it is unknown whether and how it ended; its folder in jobs/ may show it";

export class Requests {
  readonly #context: FrontEndParts;
  readonly #dispatcher: Dispatcher;

  constructor(context: FrontEndParts, dispatcher: Dispatcher) {
    this.#context = context;
    this.#dispatcher = dispatcher;
  }

  /**
   * A job that the caller may see. Other users' jobs are refused with the same message as jobs that do not
   * exist.
   */
  find(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = Number.isSafeInteger(job) ? this.#context.book.find(job) : undefined;
    if (record !== undefined && mayAccess(caller, record)) return record;
    const gone = this.#whyGone(job) ?? "there is no such job; `tutti jobs` lists yours";
    return refuse("not-found", `Cannot find job ${job}: ${gone}`);
  }

  submit(
    caller: Caller,
    batch: readonly Submission[],
    key: string | undefined,
    nowMs: number,
  ): Answer<{ readonly jobs: readonly Job[] }> {
    if (key !== undefined) {
      const before = this.#context.store.jobsByKey(caller.uid, key);
      if (before.length > 0) return { jobs: before.map((record) => infoOf(record)) };
    }
    const accepted = this.check(caller, batch);
    if (isRefusal(accepted)) return accepted;
    return { jobs: enterJobs(this.#context, caller, accepted, key, nowMs).map((record) => infoOf(record)) };
  }

  /** What a submit would enter, or why it would be refused; changes nothing. */
  check(
    caller: Caller,
    batch: readonly Submission[],
    choice = this.#context.scheduler.choice,
  ): Answer<readonly Accepted[]> {
    const { store, scheduler } = this.#context;
    const full = refuseWhenFull(this.#context, jobCount(batch));
    if (full !== undefined) return full;
    const needs = batch.map(({ request }) => needsOf(request, store));
    const overShare = refuseOverShare(this.#context, caller, batch, needs);
    if (overShare !== undefined) return overShare;
    const accepted: Accepted[] = [];
    /** Jobs that the batch waits for, each looked up once. */
    const others = new Map<JobNumber, JobRecord | "forgotten">();
    for (const [i, submission] of batch.entries()) {
      const { request } = submission;
      const queue = chooseQueue(request, this.#context.limits);
      if (isRefusal(queue)) return queue;
      const { tasks = 1, memoryBytes } = request;
      const why = whyRefused(scheduler, choice, { tasks, memoryBytes, ...queue });
      if (why !== undefined) {
        return refuse("too-large", `Cannot submit under policy "${choice.label}": the job ${why}`);
      }
      for (const { job, ok } of request.after ?? []) {
        const other = others.get(job) ?? this.#waitedFor(caller, job);
        // A forgotten job has ended, but it is unknown whether it succeeded.
        if (other === undefined || (other === "forgotten" && ok)) return this.#cannotWaitFor(job);
        others.set(job, other);
      }
      accepted.push({ ...submission, needs: needs[i], queue, unmet: unmetOf(request, others) });
    }
    return accepted;
  }

  change(caller: Caller, change: Change, job: JobNumber): Answer<JobRecord> {
    return change.action === "priority"
      ? this.setPriority(caller, job, change.priority)
      : this[change.action](caller, job);
  }

  cancel(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    const strays = this.#dispatcher.strays.of(job).filter((stray) => mayAccess(caller, stray));
    this.#dispatcher.cancelStrays(strays, caller.user);
    const hasGone = isRefusal(record) || isEnded(record.state);
    if (hasGone && strays.length > 0) return recordOfStray(strays[0], this.#context.clock.nowMs());
    if (isRefusal(record)) return record;
    if (isEnded(record.state)) return wrongState("cancel", record, "it has ended");
    return this.#dispatcher.cancel(record, `cancelled by ${caller.user}`);
  }

  hold(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.state === "held") return record;
    if (record.state !== "queued") return wrongState("hold", record, "only waiting jobs can be held");
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "is held");
    const held = book.change(record, { state: "held" });
    feed.add("held", clock.unixMs(), held, undefined);
    return held;
  }

  release(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.state === "queued") return record;
    if (record.state !== "held") return wrongState("release", record, "only held jobs can be released");
    const { book, feed, scheduler, clock } = this.#context;
    // The next attempt gets a number that no started attempt had.
    const attempt = Math.max(record.attempt, this.#dispatcher.earlierStarts.latestOf(job));
    const isRaised = attempt > record.attempt;
    const released = book.change(record, {
      state: "queued",
      queueRank: book.nextQueueRank(),
      reason: undefined,
      attempt,
      ...(isRaised && { identity: undefined }),
    });
    feed.add("released", clock.unixMs(), released, undefined);
    if (book.isEligible(released)) scheduler.arrived(released);
    return released;
  }

  requeue(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record)) return record;
    if (!hasProcess(record.state) || record.state === "ending") {
      return wrongState("requeue", record, "only running jobs can be requeued");
    }
    if (record.attempt > record.retries) {
      return refuse(
        "wrong-state",
        `Cannot requeue job ${job}: it has been started ${plural(record.attempt, "time")}, and its retries allow ${plural(record.retries, "restart")}; submit it again with more retries`,
      );
    }
    return this.#dispatcher.stop(record, "requeued");
  }

  setPriority(caller: Caller, job: JobNumber, priority: number): Answer<JobRecord> {
    const record = this.find(caller, job);
    if (isRefusal(record) || record.priority === priority) return record;
    if (record.state !== "queued" && record.state !== "held") {
      return wrongState("change the priority of", record, "only waiting jobs can get another priority");
    }
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "has another priority");
    const changed = book.change(record, { priority });
    feed.add("priority", clock.unixMs(), changed, { before: record.priority, after: priority });
    if (book.isEligible(changed)) scheduler.arrived(changed);
    return changed;
  }

  setPolicy(caller: Caller, choice: PolicyChoice): Answer<{ readonly policy: string }> {
    const { store, feed, scheduler, clock, book } = this.#context;
    for (const record of choice.definition.jobCheck === undefined ? [] : book.all()) {
      const why = whyRefused(scheduler, choice, record);
      if (why === undefined) continue;
      return refuse("wrong-state", `Cannot switch to policy "${choice.label}": job ${record.job} ${why}`);
    }
    const before = scheduler.choice.label;
    store.setMeta("policy", choice.label);
    feed.add("policy", clock.unixMs(), undefined, { before, after: choice.label, by: caller.user });
    this.#dispatcher.switchPolicy(choice);
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
    const gone = this.#whyGone(job) ?? "there is no such job";
    const advice = this.#isForgotten(job)
      ? `, so it is unknown whether it succeeded; leave it out, or accept any end (any:${job})`
      : isLost(this.#context.store, job)
        ? "; leave it out"
        : "";
    return refuse("invalid", `Cannot wait for job ${job}: ${gone}${advice}`);
  }

  /** As text; undefined if no job ever had this number, or if it belongs to another user. */
  #whyGone(job: JobNumber): string | undefined {
    const { store, config } = this.#context;
    if (isLost(store, job)) return LOST;
    if (!this.#isForgotten(job)) return undefined;
    return `it has ended and was forgotten (ended jobs are kept for ${config.keepDays} days, at most ${config.keepJobs} of them)`;
  }
}

/** The first dependency that should have succeeded but did not. */
function unmetOf(
  { after = [] }: SubmitJob,
  others: ReadonlyMap<JobNumber, JobRecord | "forgotten">,
): JobNumber | undefined {
  const unmet = after.find(({ job, ok }) => {
    const other = others.get(job);
    return ok && typeof other === "object" && (other.state === "failed" || other.state === "cancelled");
  });
  return unmet?.job;
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function wrongState(action: string, record: JobRecord, why: string): Answer<never> {
  return refuse("wrong-state", `Cannot ${action} job ${record.job}: it is ${record.state}; ${why}`);
}
