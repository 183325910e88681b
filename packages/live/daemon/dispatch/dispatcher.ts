/**
 * Connects the job book and the executor: the executor's reports become changes of jobs, and the scheduler's
 * decisions become commands. Commands are collected during a cycle and sent when the cycle is on disk.
 *
 * An attempt is on disk before the executor receives it. The executor launches an attempt only once, even if
 * the command is repeated, because only one shim can have the claim in the attempt's folder. So after any
 * crash, an attempt that the executor does not know is simply launched again: if it never started, it starts
 * now; otherwise the executor reports its end. Only after a reboot of the machine that runs the jobs does
 * such an attempt count as lost, because more may have happened in its folder than was synced.
 *
 * Reports about an attempt are accepted only with the identity that we made for it (protocol/attempts.ts). An
 * attempt that runs but is not in the store is a stray (strays.ts): it is kept, and its reports do not affect
 * the job with the same number.
 */
import { randomBytes } from "@tutti/host/ports/crypto.ts";
import { areSameCpus } from "@tutti/kernel/core/machine.ts";
import { type PolicyChoice, START_RULE_NAMES } from "@tutti/kernel/core/policy.ts";
import type { AttemptEnd, AttemptKey, AttemptState } from "@tutti/protocol/attempts.ts";
import type { SignalBody } from "@tutti/protocol/schema.ts";
import { hasProcess } from "@tutti/protocol/states.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Command, Connected, Report } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { Start } from "../scheduling/live-driver.ts";
import type { Outcome } from "../scheduling/outcome.ts";
import { chooseUnits } from "../scheduling/units.ts";
import { EarlierStarts } from "./earlier-starts.ts";
import { ExecutorHealth } from "./executor-health.ts";
import { GpuReports } from "./gpu-reports.ts";
import { MatrixSender } from "./matrix-sender.ts";
import { NodeReports } from "./node-reports.ts";
import { followNoted, notedEnd, notedStart, noteStart } from "./noted.ts";
import { isFree, lostEnd, outcomeOf, refusedEnd, sentReason, usageOf } from "./outcome.ts";
import { hasCpusAgain, reasonToHoldPaused, withoutPause } from "./pauses.ts";
import { delayBeginsMs } from "./retry-delays.ts";
import type { StoreAge } from "./store-age.ts";
import { type NamedAttempt, nameOf, recordOfStray, type Stray, Strays, strayOf } from "./strays.ts";
import { WaitingJobs } from "./waiting-jobs.ts";

export class Dispatcher {
  readonly strays = new Strays();
  readonly earlierStarts: EarlierStarts;
  readonly waiting: WaitingJobs;
  readonly #context: FrontEndParts;
  readonly #storeAge: StoreAge;
  #outbox: Command[] = [];
  #refused: AttemptEnd[] = [];
  readonly matrix: MatrixSender;
  readonly health: ExecutorHealth;
  readonly nodes: NodeReports;
  readonly gpus: GpuReports;
  /** Whether the attempts on disk belong to the current boot of the machine. */
  #isSameBoot: boolean;
  /** Values before the cycle, for `rollback`. */
  #before: { readonly choice: PolicyChoice; readonly isSameBoot: boolean } | undefined;

  constructor(context: FrontEndParts, past: StoreAge) {
    this.#context = context;
    this.#storeAge = past;
    this.earlierStarts = new EarlierStarts(context, this.strays);
    this.waiting = new WaitingJobs(context, (record, reason) => this.cancel(record, reason));
    this.matrix = new MatrixSender(context);
    this.health = new ExecutorHealth(context);
    this.nodes = new NodeReports(context);
    this.gpus = new GpuReports(() => context.clock.nowMs());
    this.#isSameBoot = context.store.meta("boot") === context.bootId;
  }

  disconnected(reason: string): void {
    this.health.disconnected(reason);
    this.nodes.disconnected();
    this.#context.scheduler.invalidate("the conductor was disconnected");
  }

  /** Called when the cycle is on disk. @returns the commands to send */
  commit(): Command[] {
    this.health.setHasGangs(
      this.#context.scheduler.layout().rows.some((placements) => placements.length > 0),
    );
    const outbox = this.#outbox;
    this.#outbox = [];
    this.#before = undefined;
    this.matrix.commit();
    this.strays.commit();
    return outbox;
  }

  /**
   * Ends of attempts that could not be launched, in the form of reports. The executor never received these
   * attempts.
   */
  takeRefused(): Report[] {
    return this.#refused.splice(0).map((end) => ({ type: "ended", end }));
  }

  rollback(): void {
    this.#outbox = [];
    this.#refused = [];
    this.matrix.rollback();
    this.strays.rollback();
    if (this.#before === undefined) return;
    this.#isSameBoot = this.#before.isSameBoot;
    this.#context.scheduler.setChoice(this.#before.choice, "a cycle was rolled back");
    this.#before = undefined;
  }

  onReport(report: Report, nowMs: number): void {
    const { feed, clock } = this.#context;
    this.health.onReport(report, nowMs);
    this.nodes.onReport(report, nowMs);
    this.gpus.onReport(report, nowMs);
    switch (report.type) {
      case "connected":
        this.#reconcile(report, nowMs);
        return;
      case "launched":
        this.#launched(report.attempt, report.identity, report.startedAtMs);
        return;
      case "ended":
        this.#ended(report.end, nowMs);
        return;
      case "node-clean":
        this.#outbox.push(...this.nodes.admission(report));
        return;
      case "make-room": {
        const { machine } = this.#context.scheduler;
        const part = machine.part(report.part);
        if (part === undefined) return;
        part.close(nowMs);
        this.#context.scheduler.invalidate(report.reason);
        for (const record of [...this.#context.book.withProcess()]) {
          const isThere = part === machine || part.isUsedBy(record.nodes);
          if (record.state !== "ending" && isThere) this.stop(record, "made-room");
        }
        return;
      }
      case "refused":
        // The message may name jobs and their folders, so only administrators see it.
        feed.add("conductor", clock.unixMs(), undefined, undefined, {
          data: { refused: report.message },
          of: undefined,
        });
    }
  }

  /** Cancels a waiting job, or asks a running one to end; the second time, kills it without a grace time. */
  cancel(record: JobRecord, reason: string): JobRecord {
    if (hasProcess(record.state)) return this.stop(record, "cancelled");
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record, "was cancelled");
    scheduler.jobs.forget(record.job);
    const cancelled = book.change(record, { state: "cancelled", endedAtMs: clock.unixMs(), reason });
    feed.add("cancelled", clock.unixMs(), cancelled, { reason });
    this.#context.news.ended(cancelled);
    return cancelled;
  }

  stop(record: JobRecord, reason: NonNullable<JobRecord["ending"]>): JobRecord {
    const { book, feed, clock } = this.#context;
    const isAgain = record.state === "ending";
    this.#outbox.push({ type: "stop", ...namedBy(record), kill: isAgain, reason: sentReason(reason) });
    if (isAgain && record.ending === reason) return record;
    const ending = book.change(record, { state: "ending", ending: reason });
    if (reason === "cancelled") feed.add("cancelled", clock.unixMs(), ending, undefined);
    return ending;
  }

  /** Sends a signal once. A job without a script has no shell around its steps. */
  signal(record: JobRecord, name: SignalBody["name"], to: SignalBody["to"]): void {
    const target =
      to === "script" ? "first" : to === "steps" && record.script !== undefined ? "steps" : "all";
    this.#outbox.push({ type: "signal", ...namedBy(record), name, to: target });
  }

  /** Asks strays to end; the second time, they are killed without a grace time. */
  cancelStrays(strays: readonly Stray[], by: string): void {
    const { feed, clock } = this.#context;
    for (const stray of strays) {
      const kill = stray.isEnding;
      this.#outbox.push({ type: "stop", ...namedBy(stray), kill, reason: "cancelled" });
      this.strays.ending(stray);
      feed.add("cancelled", clock.unixMs(), stray, { attempt: stray.attempt, stray: true, by });
    }
  }

  switchPolicy(choice: PolicyChoice): void {
    this.#remember();
    this.#context.scheduler.setChoice(choice, "the policy was switched");
  }

  /** Writes a decision and prepares its commands for the executor. */
  apply(outcome: Outcome, nowMs: number): void {
    const { feed, clock, scheduler } = this.#context;
    const atMs = clock.unixMs();
    if (outcome.fellBack !== undefined) {
      // The error of a policy may name jobs, so only administrators see it.
      this.#remember(outcome.fellBack.choice);
      const secret = { data: { because: outcome.fellBack.because }, of: undefined };
      feed.add("policy", atMs, undefined, { after: scheduler.choice.label }, secret);
    }
    if (outcome.adoption !== undefined) this.#noteAdoption(outcome.adoption, atMs);
    for (const start of outcome.starts) this.#begin(start, nowMs);
    for (const { kind, job, row } of outcome.notes) {
      feed.add(kind, atMs, this.#context.book.live(job), { row });
    }
    const matrix = this.matrix.next(outcome.adoption !== undefined, atMs);
    if (matrix !== undefined) this.#outbox.push({ type: "matrix", matrix });
  }

  /** A paused gang stops at once, although the policy decides only at the next boundary of slots. */
  sendPauses(): void {
    const { scheduler, clock } = this.#context;
    if (scheduler.isStale) return;
    const matrix = this.matrix.next(true, clock.unixMs());
    if (matrix !== undefined) this.#outbox.push({ type: "matrix", matrix });
  }

  #noteAdoption({ because, stopped }: NonNullable<Outcome["adoption"]>, atMs: number): void {
    const { feed, book, scheduler } = this.#context;
    const { text, visibleTo } = because;
    const adopted = { adopted: text };
    const policy = scheduler.choice.label;
    if (visibleTo === undefined) feed.add("policy", atMs, undefined, { policy, ...adopted });
    else {
      const of = visibleTo === "administrators" ? undefined : visibleTo;
      feed.add("policy", atMs, undefined, { policy }, { data: adopted, of });
    }
    for (const job of stopped) feed.add("removed", atMs, book.live(job), { because: "no room for now" });
    for (const { job, nodes } of this.matrix.placements().flat()) {
      const record = book.live(job);
      if (record === undefined || !hasProcess(record.state)) continue;
      if (areSameCpus(record.nodes, nodes) && record.released === undefined) continue;
      const moved = book.change(record, { nodes, ...hasCpusAgain(record) });
      feed.add("placed", atMs, moved, { nodes, before: record.nodes });
    }
  }

  #begin({ job, rule, processors }: Start, nowMs: number): void {
    const { book, feed, store, clock, scheduler } = this.#context;
    const record = book.live(job);
    if (record === undefined)
      throw new Error(`Broken invariant: job ${job} was started, but it does not exist`);
    const nodes = scheduler.machine.nodes.cpusAt(processors);
    const atMs = clock.unixMs();
    if (hasProcess(record.state)) {
      const placed =
        areSameCpus(record.nodes, nodes) && record.released === undefined
          ? record
          : book.change(record, { nodes, ...hasCpusAgain(record) });
      feed.add("placed", atMs, placed, { nodes, rule: START_RULE_NAMES[rule] });
      return;
    }
    const identity = randomBytes(16).toString("hex");
    const units = chooseUnits({ ...record, nodes }, scheduler.machine.resources, [...book.withProcess()]);
    const started = book.change(record, {
      state: "starting",
      attempt: record.attempt + 1,
      identity,
      nodes,
      units,
      startedAtMs: undefined,
      ranMs: 0,
    });
    scheduler.jobs.noteRan(job, 0);
    store.insertAttempt(started, nodes, atMs, identity, units);
    store.noteForecastStart(job, atMs);
    feed.add("starting", atMs, started, {
      attempt: started.attempt,
      nodes,
      units,
      rule: START_RULE_NAMES[rule],
      timeMs: nowMs,
    });
    this.#launch(started);
  }

  #launch(record: JobRecord): void {
    const { store, launcher, clock } = this.#context;
    const refusal = launcher.refusal(record);
    if (refusal !== undefined) {
      this.#refused.push(refusedEnd(record, refusal, clock.unixMs()));
      return;
    }
    launcher.prepare(record, record.script === undefined ? undefined : store.contents.script(record.script));
    this.#outbox.push({
      type: "launch",
      spec: launcher.spec(record, store.contents.environment(record.environment)),
    });
  }

  /** The job that has this as its current attempt. */
  #jobOf(key: AttemptKey, identity: string | undefined): JobRecord | undefined {
    const record = this.#context.book.live(key.job);
    const isIts = record?.attempt === key.attempt && record.identity === identity;
    return isIts && hasProcess(record.state) ? record : undefined;
  }

  #launched(attempt: AttemptKey, identity: string | undefined, startedAtMs: number): void {
    const { clock, executor, scheduler } = this.#context;
    const record = this.#jobOf(attempt, identity);
    if (record === undefined || record.startedAtMs !== undefined) return;
    noteStart(this.#context, record, startedAtMs);
    // On other executors, slots are counted from the first one that the gang gets.
    if (executor.capabilities.timeSharing) return;
    const ranMs = Math.max(0, clock.unixMs() - startedAtMs);
    scheduler.beganAt(record.job, clock.nowMs() - ranMs);
    scheduler.invalidate(`job ${record.job} began later than it was decided`, record.uid);
    scheduler.jobs.noteRan(record.job, ranMs);
  }

  #ended(end: AttemptEnd, nowMs: number): void {
    const { book, feed, store, scheduler, shares } = this.#context;
    this.#outbox.push({ type: "forget", ...namedBy(end) });
    const stray = this.strays.find(end, end.identity);
    if (stray !== undefined) this.#strayEnded(stray, end, nowMs);
    const known = this.#jobOf(end, end.identity);
    if (known === undefined) return;
    const record = noteStart(this.#context, known, end.startedAtMs);
    store.noteAttemptEnd(end);
    shares.charge(record, end);
    scheduler.departed(end.job, nowMs);
    const outcome = outcomeOf(record, end);
    const data = { attempt: end.attempt, ...dataOf(end, outcome.reason) };
    const outrun = outcome.state === "cancelled" ? undefined : this.earlierStarts.reasonToHold(record);
    if (outcome.state === "queued" || (outrun !== undefined && end.lost !== undefined)) {
      const toHold = outrun ?? reasonToHoldPaused(record, outcome.reason);
      const { delayMs } = outcome;
      const nextAtMs = delayMs === undefined ? undefined : delayBeginsMs(this.#context, end) + delayMs;
      const queued = book.change(record, {
        state: toHold === undefined ? "queued" : "held",
        nodes: [],
        units: undefined,
        ...(isFree(record, end) && { uncharged: (record.uncharged ?? 0) + 1 }),
        ending: undefined,
        ranMs: 0,
        startedAtMs: undefined,
        ...withoutPause(record),
        reason: toHold ?? `queued again: ${outcome.reason}`,
        ...(nextAtMs !== undefined && { notBeforeMs: nextAtMs }),
      });
      feed.add("requeued", end.endedAtMs, queued, { ...data, nextAtMs });
      if (book.isEligible(queued)) scheduler.arrived(queued);
      return;
    }
    scheduler.jobs.forget(record.job);
    const ended = book.change(record, {
      state: outcome.state,
      endedAtMs: end.endedAtMs,
      ranMs: end.ranMs,
      usage: usageOf(end),
      code: end.code,
      signal: end.signal,
      reason: outcome.reason,
      ending: undefined,
      ...withoutPause(record),
    });
    feed.add("ended", end.endedAtMs, ended, { ...data, state: outcome.state });
    this.#context.news.ended(ended);
  }

  /**
   * Changes no job, but launches the current attempt of the job with this number, which waited for the
   * stray's end.
   */
  #strayEnded(stray: Stray, end: AttemptEnd, nowMs: number): void {
    const { job, attempt } = stray;
    const { reason } = outcomeOf(recordOfStray(stray, nowMs), end);
    this.#context.feed.add("ended", end.endedAtMs, stray, { attempt, stray: true, ...dataOf(end, reason) });
    this.strays.remove(stray);
    this.earlierStarts.noteEnd(stray, end);
    const record = this.#context.book.live(job);
    if (record?.attempt === attempt && hasProcess(record.state)) this.#launch(record);
  }

  /** The executor has connected and listed its attempts: brings the book and the executor into agreement. */
  #reconcile(connected: Connected, nowMs: number): void {
    const { book, feed, scheduler, clock, store, bootId } = this.#context;
    this.#remember();
    this.matrix.connected(connected.sequence);
    scheduler.setEpoch(connected.epochMs);
    scheduler.invalidate("the conductor has connected");
    feed.add("conductor", clock.unixMs(), undefined, {
      pid: connected.facts.pid,
      attempts: connected.attempts.length,
    });
    const named = new Map(connected.attempts.map((attempt) => [nameOf(attempt), attempt]));
    const jobs = [...book.withProcess()].map((record) => ({ record, attempt: named.get(nameOf(record)) }));
    for (const { record } of jobs) named.delete(nameOf(record));
    this.#meetUnknown([...named.values()], nowMs);
    const isBehind = this.#storeAge.takeBehind();
    for (const { record, attempt } of jobs) {
      const followed = isBehind ? followNoted(this.#context, record, attempt, nowMs) : record;
      this.#reconcileJob(followed, attempt, nowMs);
    }
    store.setMeta("boot", bootId);
    this.#isSameBoot = true;
    this.earlierStarts.holdWaiting();
  }

  /**
   * Handles attempts that belong to no job: keeps running ones until they end, reports and forgets ended
   * ones.
   */
  #meetUnknown(attempts: readonly AttemptState[], nowMs: number): void {
    const { book, feed, store, clock } = this.#context;
    const highest = Math.max(0, ...attempts.map(({ job }) => job));
    this.#storeAge.named(highest);
    book.raise(highest);
    const strays = attempts.map((attempt) => ({ attempt, stray: strayOf(attempt, nowMs) }));
    for (const { attempt, stray } of strays) {
      if (attempt.phase !== "ended") this.#outbox.push({ type: "keep", ...namedBy(attempt) });
      else if (attempt.end !== undefined && !store.knowsAttempt(attempt, attempt.identity)) {
        this.#strayEnded(stray, notedEnd(attempt)!, nowMs);
      }
      if (attempt.phase === "ended") this.#outbox.push({ type: "forget", ...namedBy(attempt) });
    }
    const running = strays.filter(({ attempt }) => attempt.phase !== "ended").map(({ stray }) => stray);
    for (const stray of this.strays.replace(running)) {
      const data = { attempt: stray.attempt, stray: true, command: stray.command.join(" ").slice(0, 200) };
      feed.add("recovered", clock.unixMs(), stray, data);
    }
  }

  #reconcileJob(record: JobRecord, attempt: AttemptState | undefined, nowMs: number): void {
    const { feed, scheduler, clock, launcher, executor } = this.#context;
    // A reboot of this machine says nothing about other nodes.
    const isSameBoot = this.#isSameBoot || !executor.capabilities.endsWithReboot;
    // If a later attempt was started, its folder does not say why this one ended.
    const isOutrun = this.earlierStarts.latestOf(record.job) > record.attempt;
    if (attempt === undefined && isSameBoot && !isOutrun && launcher.isPrepared(record)) {
      // Cannot be launched while a stray of the same number runs; #strayEnded() does it then.
      if (this.strays.of(record.job).every((stray) => stray.attempt !== record.attempt)) this.#launch(record);
    } else if (attempt === undefined) {
      feed.add("recovered", clock.unixMs(), record, { attempt: record.attempt, found: false });
      this.#ended(lostEnd(record, scheduler.ranMs(record.job, nowMs), clock.unixMs()), nowMs);
      return;
    } else if (attempt.phase === "ended") {
      const end = notedEnd(attempt) ?? lostEnd(record, attempt.ranMs, clock.unixMs());
      feed.add("recovered", clock.unixMs(), record, { attempt: record.attempt, found: true });
      this.#ended(end, nowMs);
      return;
    } else {
      scheduler.jobs.noteRan(record.job, attempt.ranMs);
      if (attempt.phase !== "launching") {
        this.#launched(attempt, attempt.identity, notedStart(attempt) ?? clock.unixMs());
      }
    }
    if (record.ending !== undefined) {
      this.#outbox.push({ type: "stop", ...namedBy(record), kill: false, reason: sentReason(record.ending) });
    }
  }

  #remember(choice = this.#context.scheduler.choice): void {
    this.#before ??= { choice, isSameBoot: this.#isSameBoot };
  }
}

/** The fields that name an attempt in a command. */
function namedBy({ job, attempt, identity }: NamedAttempt) {
  return { attempt: { job, attempt }, identity };
}

/** The end of an attempt as data of an event. */
function dataOf(end: AttemptEnd, reason: string) {
  const { ranMs, cpuMs, gpus, gpuShare = 0, code, signal } = end;
  const gpuMs = gpus === undefined ? undefined : Math.round(gpus * gpuShare * ranMs);
  return { reason, ranMs, cpuMs, gpuMs, code, signal };
}
