/**
 * All dealings with the conductor: what it tells becomes changes of the job book, what the scheduler decides becomes messages to it.
 * Messages are collected during a turn and sent when the turn is on disk.
 *
 * An attempt is on disk before the conductor hears of it, and the conductor launches an attempt only once, however often it is
 * told to, since the attempt's folder says who has it. So after any crash an attempt that the conductor does not know is simply
 * launched again: it starts if it never did, else the conductor tells how it ended. Only when the machine itself was started anew
 * is such an attempt lost: what its folder said may not have reached the disk.
 */
import type { PolicyChoice } from "../core/policy.ts";
import { START_RULE_NAMES } from "../core/policy.ts";
import type { Context } from "./context.ts";
import { fateOf, lostEnd } from "./fate.ts";
import type { Layout, Start } from "./live-driver.ts";
import type {
  AttemptEnd,
  AttemptKey,
  AttemptState,
  EndReason,
  FromConductor,
  JobNumber,
  SlotStatistics,
  ToConductor,
  TurningMatrix,
} from "./protocol.ts";
import { hasProcess, type JobRecord } from "./record.ts";
import type { Outcome } from "./scheduler.ts";

/** A conductor that turns gangs reports every second, or with each slot that is longer. */
const SILENCE_MS = 10_000;
const SILENT_SLOTS = 2;

export class ConductorDesk {
  readonly #context: Context;
  #outbox: ToConductor[] = [];
  #sequence: number;
  #sentRows = "";
  #state: Extract<FromConductor, { type: "state" }> | undefined;
  #statistics: SlotStatistics | undefined;
  #lostBecause = "the conductor has not answered yet";
  /** When it was heard last, or, if that is later, when it got something to turn. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #isTurning = false;
  /** Whether attempts that are on disk belong to this start of the machine. */
  #isSameBoot: boolean;
  /** Values before the turn, for `rollback`. */
  #before: { sequence: number; sentRows: string; choice: PolicyChoice; isSameBoot: boolean } | undefined;

  constructor(context: Context) {
    this.#context = context;
    const stored = context.store.meta("matrix");
    const matrix: TurningMatrix | undefined = stored === undefined ? undefined : JSON.parse(stored);
    this.#sequence = matrix?.sequence ?? 0;
    this.#isSameBoot = context.store.meta("boot") === context.bootId;
    if (matrix !== undefined) {
      context.scheduler.setLayout(this.#layoutOf(matrix), matrix.fromSlot ?? 0);
    }
  }

  get isConnected(): boolean {
    return this.#state !== undefined;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Why nothing can be started; undefined while the conductor is there and answers. */
  get trouble(): string | undefined {
    if (!this.isConnected) return this.#lostBecause;
    const silentMs = this.#silentMs();
    return silentMs === undefined
      ? undefined
      : `the conductor does not answer, for ${Math.round(silentMs / 1000)} s now`;
  }

  /** For how long it has said nothing; undefined while that is no wonder. */
  #silentMs(): number | undefined {
    const { clock, config } = this.#context;
    const silentMs = clock.nowMs() - this.#heardMs;
    const isWonder = silentMs > Math.max(SILENCE_MS, SILENT_SLOTS * config.slotMs);
    return this.isConnected && this.#isTurning && isWonder ? silentMs : undefined;
  }

  status() {
    const silentMs = this.#silentMs();
    return {
      connected: this.isConnected,
      ...(silentMs !== undefined && { silentMs }),
      ...(this.#state !== undefined && { pid: this.#state.pid, freezer: this.#state.freezer }),
      ...(this.#statistics !== undefined && { lateP99Ms: this.#statistics.lateP99Ms }),
    };
  }

  /** The last the conductor told of how it keeps its clock. */
  get statistics(): SlotStatistics | undefined {
    return this.#statistics;
  }

  disconnected(reason: string): void {
    this.#state = undefined;
    this.#lostBecause = reason;
    this.#context.scheduler.invalidate("the conductor was away");
  }

  /** Gives out what is to be sent, now that the turn is on disk. */
  commit(): ToConductor[] {
    const { scheduler, clock } = this.#context;
    const isTurning = scheduler.layout().rows.some((seats) => seats.length > 0);
    if (isTurning && !this.#isTurning) this.#heardMs = clock.nowMs();
    this.#isTurning = isTurning;
    const outbox = this.#outbox;
    this.#outbox = [];
    this.#before = undefined;
    return outbox;
  }

  rollback(): void {
    this.#outbox = [];
    if (this.#before === undefined) return;
    this.#sequence = this.#before.sequence;
    this.#sentRows = this.#before.sentRows;
    this.#isSameBoot = this.#before.isSameBoot;
    this.#context.scheduler.setChoice(this.#before.choice, "a turn was taken back");
    this.#before = undefined;
  }

  hear(message: FromConductor, nowMs: number): void {
    const { feed, clock } = this.#context;
    this.#heardMs = nowMs;
    switch (message.type) {
      case "state":
        this.#reconcile(message, nowMs);
        return;
      case "launched":
        this.#launched(message.attempt, message.startedAtMs);
        return;
      case "ended":
        this.#ended(message.end, nowMs);
        return;
      case "slots":
        this.#statistics = message.statistics;
        return;
      case "refused":
        feed.add("conductor", clock.unixMs(), undefined, { refused: message.message });
    }
  }

  /** Makes a waiting job ended, or asks for the end of a running one; asked again, it is killed without grace. */
  cancel(record: JobRecord, reason: string): JobRecord {
    if (hasProcess(record.state)) return this.stop(record, "cancelled");
    const { book, feed, scheduler, clock } = this.#context;
    scheduler.withdrawn(record.job, `job ${record.job} was cancelled`);
    scheduler.forget(record.job);
    const cancelled = book.change(record, { state: "cancelled", endedAtMs: clock.unixMs(), reason });
    feed.add("cancelled", clock.unixMs(), cancelled, { reason });
    this.#tellDependents(cancelled);
    return cancelled;
  }

  stop(record: JobRecord, reason: EndReason): JobRecord {
    const { book, feed, clock } = this.#context;
    const isAgain = record.state === "ending";
    this.#outbox.push({ type: "stop", attempt: keyOf(record), kill: isAgain, reason });
    if (isAgain && record.ending === reason) return record;
    const ending = book.change(record, { state: "ending", ending: reason });
    if (reason === "cancelled") feed.add("cancelled", clock.unixMs(), ending);
    return ending;
  }

  switchPolicy(choice: PolicyChoice): void {
    this.#remember();
    this.#context.scheduler.setChoice(choice, "the policy was switched");
  }

  /** Writes a decision and prepares what the conductor has to do for it. */
  carryOut(outcome: Outcome, nowMs: number): void {
    const { feed, clock, scheduler } = this.#context;
    const atMs = clock.unixMs();
    if (outcome.fellBack !== undefined) {
      feed.add("policy", atMs, undefined, { after: scheduler.choice.label, because: outcome.fellBack });
    }
    if (outcome.adoption !== undefined) this.#noteAdoption(outcome.adoption, atMs);
    for (const start of outcome.starts) this.#begin(start, nowMs);
    for (const { kind, job, row } of outcome.notes) {
      feed.add(kind, atMs, this.#context.book.live(job), { row });
    }
    this.#sendMatrix(outcome.adoption !== undefined, atMs);
  }

  #noteAdoption({ because, stopped }: NonNullable<Outcome["adoption"]>, atMs: number): void {
    const { feed, book, scheduler } = this.#context;
    feed.add("policy", atMs, undefined, { policy: scheduler.choice.label, adopted: because });
    for (const job of stopped) feed.add("removed", atMs, book.live(job), { because: "no room for now" });
    for (const { job, cpus } of this.#seats()) {
      const record = book.live(job);
      if (record === undefined || !hasProcess(record.state) || sameNumbers(record.cpus, cpus)) continue;
      const moved = book.change(record, { cpus });
      feed.add("placed", atMs, moved, { cpus: cpus.join(","), before: record.cpus.join(",") });
    }
  }

  #begin({ job, rule, processors }: Start, nowMs: number): void {
    const { book, feed, store, clock, scheduler } = this.#context;
    const record = book.live(job);
    if (record === undefined) throw new Error(`job ${job} was started, but there is none`);
    const cpus = processors.map((one) => scheduler.options.cpus[one]);
    const atMs = clock.unixMs();
    if (hasProcess(record.state)) {
      const placed = sameNumbers(record.cpus, cpus) ? record : book.change(record, { cpus });
      feed.add("placed", atMs, placed, { cpus: cpus.join(","), rule: START_RULE_NAMES[rule] });
      return;
    }
    const started = book.change(record, {
      state: "starting",
      attempt: record.attempt + 1,
      cpus,
      startedAtMs: undefined,
      ranMs: 0,
    });
    scheduler.noteRan(job, 0);
    store.insertAttempt(keyOf(started), cpus, atMs);
    store.noteForecastStart(job, atMs);
    feed.add("starting", atMs, started, {
      attempt: started.attempt,
      cpus: cpus.join(","),
      rule: START_RULE_NAMES[rule],
      timeMs: nowMs,
    });
    this.#launch(started);
  }

  #launch(record: JobRecord): void {
    const { store, launcher } = this.#context;
    launcher.prepare(record, record.script === undefined ? undefined : store.script(record.script));
    this.#outbox.push({ type: "launch", spec: launcher.spec(record, store.environment(record.environment)) });
  }

  #launched(attempt: AttemptKey, startedAtMs: number): void {
    const { book, feed, store, clock } = this.#context;
    const record = book.live(attempt.job);
    if (record === undefined || record.attempt !== attempt.attempt) return;
    if (record.startedAtMs !== undefined || !hasProcess(record.state)) return;
    store.noteAttemptStart(attempt, startedAtMs);
    const state = record.state === "starting" ? "running" : record.state;
    const running = book.change(record, { state, startedAtMs });
    feed.add("started", clock.unixMs(), running, { attempt: attempt.attempt, startedAtMs });
  }

  #ended(end: AttemptEnd, nowMs: number): void {
    const { book, feed, store, scheduler } = this.#context;
    this.#outbox.push({ type: "forget", attempt: { job: end.job, attempt: end.attempt } });
    const record = book.live(end.job);
    if (record === undefined || record.attempt !== end.attempt || !hasProcess(record.state)) return;
    store.noteAttemptEnd(end);
    scheduler.departed(end.job, nowMs);
    const fate = fateOf(record, end);
    const told = {
      attempt: end.attempt,
      reason: fate.reason,
      ranMs: end.ranMs,
      ...(end.code !== undefined && { code: end.code }),
      ...(end.signal !== undefined && { signal: end.signal }),
    };
    if (fate.state === "queued") {
      const queued = book.change(record, {
        state: "queued",
        cpus: [],
        ending: undefined,
        ranMs: 0,
        startedAtMs: undefined,
        reason: `started anew: ${fate.reason}`,
      });
      feed.add("requeued", end.endedAtMs, queued, told);
      if (book.isEligible(queued)) scheduler.arrived(queued);
      return;
    }
    scheduler.forget(record.job);
    const ended = book.change(record, {
      state: fate.state,
      endedAtMs: end.endedAtMs,
      ranMs: end.ranMs,
      code: end.code,
      signal: end.signal,
      reason: fate.reason,
      ending: undefined,
    });
    feed.add("ended", end.endedAtMs, ended, { ...told, state: fate.state });
    this.#tellDependents(ended);
  }

  /** Jobs that waited for this one go on, or are cancelled when it should have ended well and has not. */
  #tellDependents(ended: JobRecord): void {
    const { book, scheduler } = this.#context;
    for (const dependent of book.dependentsOf(ended.job)) {
      const mustBeOk = dependent.after.some(({ job, ok }) => job === ended.job && ok);
      if (mustBeOk && ended.state !== "done") {
        if (!hasProcess(dependent.state)) this.cancel(dependent, `job ${ended.job} did not end well`);
      } else if (book.isEligible(dependent)) scheduler.arrived(dependent);
    }
  }

  /** The conductor has told what it knows; book and conductor are brought to agree. */
  #reconcile(state: Extract<FromConductor, { type: "state" }>, nowMs: number): void {
    const { book, feed, scheduler, clock, store, bootId } = this.#context;
    this.#remember();
    this.#state = state;
    this.#sequence = Math.max(this.#sequence, state.sequence);
    this.#sentRows = "";
    scheduler.setEpoch(state.epochMs);
    scheduler.invalidate("the conductor has connected");
    feed.add("conductor", clock.unixMs(), undefined, { pid: state.pid, attempts: state.attempts.length });
    const known = new Map(state.attempts.map((attempt) => [`${attempt.job}/${attempt.attempt}`, attempt]));
    for (const record of [...book.withProcess()]) {
      const key = `${record.job}/${record.attempt}`;
      this.#reconcileJob(record, known.get(key), nowMs);
      known.delete(key);
    }
    store.setMeta("boot", bootId);
    this.#isSameBoot = true;
    for (const { job, attempt, phase } of known.values()) {
      const key = { job, attempt };
      if (phase === "ended") this.#outbox.push({ type: "forget", attempt: key });
      else this.#outbox.push({ type: "stop", attempt: key, kill: true, reason: "cancelled" });
    }
  }

  #reconcileJob(record: JobRecord, attempt: AttemptState | undefined, nowMs: number): void {
    const { feed, scheduler, clock } = this.#context;
    if (attempt === undefined && this.#isSameBoot) {
      this.#launch(record);
    } else if (attempt === undefined) {
      feed.add("recovered", clock.unixMs(), record, { attempt: record.attempt, found: false });
      this.#ended(lostEnd(record, scheduler.ranMs(record.job, nowMs), clock.unixMs()), nowMs);
      return;
    } else if (attempt.phase === "ended") {
      const end = attempt.end ?? lostEnd(record, attempt.ranMs, clock.unixMs());
      feed.add("recovered", clock.unixMs(), record, { attempt: record.attempt, found: true });
      this.#ended(end, nowMs);
      return;
    } else {
      scheduler.noteRan(record.job, attempt.ranMs);
      if (attempt.phase !== "launching") this.#launched(attempt, clock.unixMs());
    }
    if (record.ending !== undefined) {
      this.#outbox.push({ type: "stop", attempt: keyOf(record), kill: false, reason: record.ending });
    }
  }

  #sendMatrix(always: boolean, atMs: number): void {
    const { store, config, feed, scheduler } = this.#context;
    const { rows, slot } = scheduler.layout();
    const placed = rows.map((seats) =>
      seats.flatMap(({ job, processors }) => {
        const record = this.#context.book.live(job);
        if (record === undefined) return [];
        return [{ ...keyOf(record), cpus: processors.map((one) => scheduler.options.cpus[one]) }];
      }),
    );
    const rowsText = JSON.stringify(placed);
    // With more than one row the text changes with the turn; then it is sent at every decision.
    if (!always && rows.length <= 1 && rowsText === this.#sentRows) return;
    this.#remember();
    this.#sentRows = rowsText;
    const matrix: TurningMatrix = {
      sequence: ++this.#sequence,
      slotMs: config.slotMs,
      mode: config.mode,
      fromSlot: slot,
      rows: placed,
    };
    store.setMeta("matrix", JSON.stringify(matrix));
    feed.add("matrix", atMs, undefined, {
      sequence: matrix.sequence,
      fromSlot: slot,
      rows: rows.length,
      jobs: placed.map((row) => row.map(({ job }) => job).join(" ")).join(" | "),
    });
    this.#outbox.push({ type: "matrix", matrix });
  }

  #seats(): { readonly job: JobNumber; readonly cpus: readonly number[] }[] {
    const { scheduler } = this.#context;
    return scheduler.layout().rows.flatMap((seats) =>
      seats.map(({ job, processors }) => ({
        job,
        cpus: processors.map((one) => scheduler.options.cpus[one]),
      })),
    );
  }

  #layoutOf({ rows }: TurningMatrix): Layout {
    const { cpus } = this.#context.scheduler.options;
    return rows.map((gangs) =>
      gangs
        .map((gang) => ({ job: gang.job, processors: gang.cpus.map((cpu) => cpus.indexOf(cpu)) }))
        .filter(({ processors }) => processors.length > 0 && processors.every((one) => one >= 0)),
    );
  }

  #remember(): void {
    this.#before ??= {
      sequence: this.#sequence,
      sentRows: this.#sentRows,
      choice: this.#context.scheduler.choice,
      isSameBoot: this.#isSameBoot,
    };
  }
}

function keyOf({ job, attempt }: JobRecord): AttemptKey {
  return { job, attempt };
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}
