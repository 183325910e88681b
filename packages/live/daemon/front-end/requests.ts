/** Handles users' requests inside a cycle: changes the job book, or refuses without a change. */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import { type Answer, isRefusal, type Refusal, refuse } from "@tutti/protocol/refusal.ts";
import type { Job, SignalBody } from "@tutti/protocol/schema.ts";
import { hasProcess, isEnded } from "@tutti/protocol/states.ts";
import { refuseOverLimits } from "../book/limit-refusal.ts";
import { chargedStarts, infoOf, type JobRecord } from "../contract/record.ts";
import { mayAccess } from "../contract/rights.ts";
import type { Caller, Change } from "../contract/service.ts";
import { chooseQueue, jobCount, refuseBegin, type Submission } from "../contract/submission.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { pauseJob, resumeJob, withoutPause } from "../dispatch/pauses.ts";
import { recordOfStray } from "../dispatch/strays.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import { whyRefused } from "../scheduling/job-check.ts";
import { isLost } from "../store/lost-jobs.ts";
import { type Accepted, enterJobs } from "./new-jobs.ts";
import { repetitionsOf } from "./reruns.ts";
import { needsOf, refuseMoreHistory, refuseOverShare, refuseWhenFull } from "./share.ts";
import { updateJob } from "./updates.ts";
import { waitsOf } from "./waits.ts";

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

  /** Runs ended jobs again, all or none. The new jobs belong to the owners of the old ones. */
  rerun(
    caller: Caller,
    jobs: readonly JobNumber[],
    key: string | undefined,
    nowMs: number,
  ): Answer<{ readonly jobs: readonly Job[] }> {
    const records: JobRecord[] = [];
    for (const job of jobs) {
      const record = this.find(caller, job);
      if (isRefusal(record)) return record;
      records.push(record);
    }
    if (key !== undefined) {
      const owners = new Set([caller.uid, ...records.map(({ uid }) => uid)]);
      const before = [...owners].flatMap((uid) => this.#context.store.jobsByKey(uid, key));
      if (before.length > 0) return { jobs: before.map((record) => infoOf(record)) };
    }
    const repetitions = repetitionsOf(this.#context, caller, records);
    if (isRefusal(repetitions)) return repetitions;
    const accepted: (readonly [Caller, readonly Accepted[]])[] = [];
    for (const { owner, batch } of repetitions) {
      const checked = this.check(owner, batch);
      if (isRefusal(checked)) return checked;
      accepted.push([owner, checked]);
    }
    const entered = accepted.flatMap(([owner, batch]) => enterJobs(this.#context, owner, batch, key, nowMs));
    return { jobs: entered.map((record) => infoOf(record)) };
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
    const others = new Map<JobNumber, JobRecord | "forgotten" | undefined>();
    for (const [i, submission] of batch.entries()) {
      const { request } = submission;
      const queue = chooseQueue(request, this.#context.limits);
      if (isRefusal(queue)) return queue;
      const { tasks = 1, threads, memoryBytes, use } = request;
      const why = whyRefused(scheduler.options, choice, { tasks, threads, memoryBytes, use, ...queue });
      if (why !== undefined) {
        return refuse("too-large", `Cannot submit under policy "${choice.label}": the job ${why}`);
      }
      const tooLate =
        request.beginAtMs === undefined ? undefined : refuseBegin(request, this.#context.clock.unixMs());
      if (tooLate !== undefined) return tooLate;
      const waits = waitsOf(submission, (job) => {
        if (!others.has(job)) others.set(job, this.#waitedFor(caller, job));
        return others.get(job);
      });
      if (typeof waits === "number") return this.#cannotWaitFor(waits);
      if (isRefusal(waits)) return waits;
      accepted.push({ ...submission, needs: needs[i], queue, waits });
    }
    const overLimits = refuseOverLimits(this.#context.book.limits, caller, accepted);
    if (overLimits !== undefined) return overLimits;
    return accepted;
  }

  change(caller: Caller, change: Change, job: JobNumber): Answer<JobRecord> {
    if (change.action === "cancel") return this.cancel(caller, job);
    const record = this.find(caller, job);
    if (isRefusal(record)) return record;
    if (change.action === "signal") return this.#signal(record, change.signal);
    const refusal = refuseMoreHistory(this.#context, caller, record);
    if (refusal !== undefined) return refusal;
    switch (change.action) {
      case "hold":
        return this.#hold(record);
      case "release":
        return this.#release(record);
      case "requeue":
        return this.#requeue(record, change.hold === true);
      case "pause":
        return this.#pause(caller, record, change.release === true);
      case "resume":
        return this.#resume(caller, record);
      case "priority":
        return this.#setPriority(record, change.priority);
      case "update":
        return updateJob(this.#context, caller, record, change.update);
    }
  }

  cancel(caller: Caller, job: JobNumber): Answer<JobRecord> {
    const record = this.find(caller, job);
    const strays = this.#dispatcher.strays.of(job).filter((stray) => mayAccess(caller, stray));
    this.#dispatcher.cancelStrays(strays, caller.user);
    const hasGone = isRefusal(record) || isEnded(record.state);
    if (hasGone && strays.length > 0) return recordOfStray(strays[0], this.#context.clock.nowMs());
    if (isRefusal(record)) return record;
    if (isEnded(record.state))
      return wrongState("cancel", record, "only waiting and running jobs can be cancelled");
    return this.#dispatcher.cancel(record, `cancelled by ${caller.user}`);
  }

  #hold(record: JobRecord): Answer<JobRecord> {
    if (record.state === "held") return record;
    if (record.state !== "queued") {
      const next = record.state === "running" ? "; tutti pause stops it" : "";
      return wrongState("hold", record, `only waiting jobs can be held${next}`);
    }
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "is held");
    const held = book.change(record, { state: "held" });
    feed.add("held", clock.unixMs(), held, undefined);
    return held;
  }

  #release(record: JobRecord): Answer<JobRecord> {
    if (record.state === "queued") return record;
    if (record.state !== "held") {
      const next = record.state === "paused" ? "; tutti resume continues it" : "";
      return wrongState("release", record, `only held jobs can be released${next}`);
    }
    const { book, feed, scheduler, clock } = this.#context;
    // The next attempt gets a number that no started attempt had.
    const attempt = Math.max(record.attempt, this.#dispatcher.earlierStarts.latestOf(record.job));
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

  #requeue(record: JobRecord, hold: boolean): Answer<JobRecord> {
    if (!hasProcess(record.state) || record.state === "ending") {
      return wrongState("requeue", record, "only running jobs can be requeued");
    }
    const starts = chargedStarts(record);
    if (starts > record.retries) {
      return refuse(
        "wrong-state",
        `Cannot requeue job ${record.job}: it has been started ${plural(starts, "time")}, and its retries allow ${plural(record.retries, "restart")}; submit it again with more retries`,
      );
    }
    const { book, clock } = this.#context;
    // A job whose attempt ends while it is paused is held. Otherwise, it starts again, also a paused one.
    const pause = hold ? { pausedAtMs: record.pausedAtMs ?? clock.unixMs() } : withoutPause(record);
    return this.#dispatcher.stop(book.change(record, pause), "requeued");
  }

  #pause(caller: Caller, record: JobRecord, release: boolean): Answer<JobRecord> {
    if (record.state === "paused") return record;
    if (record.state !== "running" && record.state !== "starting") {
      const next = record.state === "queued" ? "; tutti hold keeps it waiting" : "";
      return wrongState("pause", record, `only running jobs can be paused${next}`);
    }
    const { executor, scheduler } = this.#context;
    const { canPause } = executor.capabilities;
    if (canPause !== true) return refuse("wrong-state", `Cannot pause job ${record.job}: ${canPause}`);
    if (release && !scheduler.machine.movesGangs) {
      return refuse(
        "wrong-state",
        `Cannot release the CPUs of job ${record.job}: its processes cannot move to CPUs of other nodes; pause it without --release`,
      );
    }
    const paused = pauseJob(this.#context, record, release, caller.user);
    this.#dispatcher.sendPauses();
    return paused;
  }

  #resume(caller: Caller, record: JobRecord): Answer<JobRecord> {
    if (record.state === "running") return record;
    if (record.state !== "paused") {
      const next = record.state === "held" ? "; tutti release lets it start" : "";
      return wrongState("resume", record, `only paused jobs can be resumed${next}`);
    }
    return resumeJob(this.#context, record, caller.user);
  }

  #signal(record: JobRecord, { name, to }: SignalBody): Answer<JobRecord> {
    if (record.state !== "running") {
      const next = { queued: "; tutti cancel ends it", paused: "; tutti resume continues it" };
      const advice = record.state in next ? next[record.state as keyof typeof next] : "";
      return wrongState(`send ${name} to`, record, `only running jobs get signals${advice}`);
    }
    const { signalsBeforeLimit } = this.#context.executor.capabilities;
    const why = signalsBeforeLimit === true ? this.#dispatcher.health.trouble : signalsBeforeLimit;
    if (why !== undefined) return refuse("wrong-state", `Cannot send ${name} to job ${record.job}: ${why}`);
    this.#dispatcher.signal(record, name, to);
    return record;
  }

  #setPriority(record: JobRecord, priority: number): Answer<JobRecord> {
    if (record.priority === priority) return record;
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
    for (const record of book.all()) {
      const why = whyRefused(scheduler.options, choice, record);
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

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function wrongState(action: string, record: JobRecord, why: string): Answer<never> {
  return refuse("wrong-state", `Cannot ${action} job ${record.job}: it is ${record.state}; ${why}`);
}
