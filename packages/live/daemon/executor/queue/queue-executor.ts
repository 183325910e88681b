/**
 * Runs each attempt as a job of its own in a batch system, such as Slurm, for sites that forbid pilots. The
 * job is submitted held, with the attempt's mark, and released at once when it is known; so a submission
 * whose answer was lost has started nothing, is found by its mark, and is not repeated. The batch system
 * places and starts it. What the batch system does on its own is read back and wins: another start, a hold,
 * a requeue, a cancel. In Slurm:
 *
 *   front end ── launch ──▶ sbatch --hold ──▶ scontrol release ──▶ RUNNING after Slurm's own 2.5 to 3 s
 *             ◀─ launched, ended ── squeue every second, scontrol show job at the end
 *
 * While the batch system does not answer, the executor is disconnected: running jobs continue, nothing is
 * submitted. When it answers again, the front end repeats what it wants.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import type {
  AttemptEnd,
  AttemptKey,
  EndReason,
  IdentifiedAttempt,
  LaunchSpec,
} from "@tutti/protocol/attempts.ts";
import type { Capabilities, Capacity, Command, Executor, Hindrance, Report } from "../executor.ts";
import { type KeptStore, newOwner } from "../kept-file.ts";
import { ProviderError } from "../provider.ts";
import { type BatchJob, type BatchSystem, inQueueOf } from "./batch-system.ts";
import type { QueueContent } from "./queue-file.ts";
import {
  attemptOf,
  beganFolder,
  blockBeginning,
  endOf,
  lostEnd,
  markOf,
  prefixOf,
  type QueuedAttempt,
  stateOf,
  storedOf,
} from "./queued-attempt.ts";

interface QueueSetup {
  readonly system: BatchSystem;
  readonly nodes: readonly { readonly node: string; readonly cpus: number; readonly memoryMib: number }[];
  readonly store: KeptStore<QueueContent>;
  readonly clock: Clock;
  /** With the provider's words; left out: those of any batch system. */
  readonly capabilities?: Capabilities;
}

type OnReport = (report: Report) => void;
type OnDisconnect = (reason: string) => void;

const POLL_MS = 1000;
/** Polls in a row without a job until it counts as forgotten. */
const FORGOTTEN_POLLS = 3;
/** A held job with our mark that no front end asks for is cancelled after this time. */
const STRAY_MS = 60_000;
/** A front end counts an executor that is silent for 10 s as stuck. */
const NODES_MS = 5000;
/** KILL is repeated after this time. */
const AGAIN_MS = 5000;

export class QueueExecutor implements Executor {
  readonly capabilities: Capabilities;
  readonly capacity: Capacity;
  readonly #setup: QueueSetup;
  readonly #owner: string;
  readonly #attempts = new Map<string, QueuedAttempt>();
  readonly #listeners = new Set<readonly [OnReport, OnDisconnect]>();
  /** Held jobs with our mark without an attempt, by id: since when they were seen. */
  readonly #strays = new Map<string, number>();
  #jobs: readonly BatchJob[] = [];
  /** Orders, one after the other, so that jobs are released in the order of the decisions. */
  #orders: Promise<void> = Promise.resolve();
  #isConnected = false;
  #trouble: string | undefined;
  #sequence = 0;
  #isClosed = false;
  #nodesReportedMs = Number.NEGATIVE_INFINITY;
  #stopTimer = () => {};

  constructor(setup: QueueSetup) {
    this.#setup = setup;
    this.capabilities = setup.capabilities ?? inQueueOf(setup.system.name);
    const { owner = newOwner(), attempts = [] } = setup.store.read() ?? {};
    this.#owner = owner;
    for (const stored of attempts) {
      const mark = markOf(owner, stored);
      const { endReason: reason, graceMs } = stored;
      const stop = reason && { reason, killAtMs: setup.clock.nowMs() + graceMs };
      this.#attempts.set(mark, { ...stored, mark, missing: 0, stop });
    }
    this.#save();
    this.capacity = {
      nodes: new NodeTable(
        setup.nodes.map(({ node, cpus }) => ({ node, cpus: Array.from({ length: cpus }, (_, i) => i) })),
      ),
      memoryBytes: setup.nodes.reduce((sum, { memoryMib }) => sum + memoryMib, 0) * 2 ** 20,
      placesTasks: true,
    };
    setup.clock.soon(() => void this.#poll());
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  hindrance(key: IdentifiedAttempt): Hindrance | undefined {
    const { note: message, startedAtMs } = this.#live(key) ?? {};
    return startedAtMs !== undefined || message === undefined ? undefined : { kind: "launch", message };
  }

  runsAs(key: IdentifiedAttempt): string | undefined {
    const attempt = this.#live(key);
    return attempt?.startedAtMs === undefined ? undefined : attempt.note;
  }

  /** @param key with its identity, it is found at once */
  #live(key: IdentifiedAttempt): QueuedAttempt | undefined {
    const { job, attempt } = key;
    const named = this.#attempts.get(markOf(this.#owner, key));
    if (named !== undefined && named.end === undefined) return named;
    const live = [...this.#attempts.values()].filter(({ end }) => end === undefined);
    return live.find((one) => one.job === job && one.attempt === attempt);
  }

  apply(commands: readonly Command[]): void {
    if (!this.#isConnected) return;
    for (const command of commands) this.#apply(command);
  }

  #apply(command: Command): void {
    switch (command.type) {
      case "matrix":
        this.#sequence = command.matrix.sequence;
        return;
      case "launch":
        this.#launch(command.spec);
        return;
      case "stop": {
        const attempt = this.#find(command.attempt, command.identity);
        if (attempt !== undefined) this.#stop(attempt, command.reason, command.kill);
        return;
      }
      case "forget": {
        const attempt = this.#find(command.attempt, command.identity);
        if (attempt?.end !== undefined) this.#attempts.delete(attempt.mark);
        this.#save();
        return;
      }
      case "shutdown":
        if (!command.killJobs) return;
        for (const attempt of this.#attempts.values()) this.#stop(attempt, "shutdown", true);
    }
  }

  listen(onReport: OnReport, onDisconnect: OnDisconnect): () => void {
    const listener = [onReport, onDisconnect] as const;
    this.#listeners.add(listener);
    if (this.#isConnected) this.#setup.clock.soon(() => this.#reportState());
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    this.#listeners.clear();
  }

  #report(report: Report): void {
    for (const [onReport] of this.#listeners) onReport(report);
  }

  #disconnect(because: string): void {
    this.#trouble = because;
    if (!this.#isConnected) return;
    this.#isConnected = false;
    for (const [, onDisconnect] of this.#listeners) onDisconnect(because);
  }

  #reportState(): void {
    const { clock } = this.#setup;
    // An attempt that was not released has not begun: the front end launches it again.
    const known = [...this.#attempts.values()].filter(
      ({ releasedAtMs, end }) => releasedAtMs !== undefined || end !== undefined,
    );
    this.#report({
      type: "connected",
      attempts: known.map((attempt) => stateOf(attempt, clock.unixMs())),
      sequence: this.#sequence,
      epochMs: 0,
      facts: {},
    });
  }

  /** Also shows that the batch system still answers. */
  #reportNodes(): void {
    const nowMs = this.#setup.clock.nowMs();
    if (nowMs - this.#nodesReportedMs < NODES_MS) return;
    this.#nodesReportedMs = nowMs;
    const nodes = this.#setup.nodes.map(({ node }) => ({ node, state: "up" as const }));
    this.#report({ type: "nodes", nodes });
  }

  #find({ job, attempt }: AttemptKey, identity: string | undefined): QueuedAttempt | undefined {
    if (identity !== undefined) return this.#attempts.get(markOf(this.#owner, { job, attempt, identity }));
    return [...this.#attempts.values()].find((one) => one.job === job && one.attempt === attempt);
  }

  #save(): void {
    const attempts = [...this.#attempts.values()].map(storedOf);
    this.#setup.store.write({ schema: "tutti.native/1", owner: this.#owner, attempts });
  }

  #launch(spec: LaunchSpec): void {
    const mark = markOf(this.#owner, spec);
    const known = this.#attempts.get(mark);
    if (known?.end !== undefined) {
      this.#report({ type: "ended", end: known.end });
      return;
    }
    if (known?.startedAtMs !== undefined) this.#reportStart(known, known.startedAtMs);
    if (known?.spec !== undefined || known?.releasedAtMs !== undefined) return;
    const attempt = known ?? attemptOf(this.#owner, spec);
    attempt.spec = spec;
    attempt.note = `${this.#setup.system.name} is asked to take it`;
    this.#attempts.set(mark, attempt);
    this.#save();
    this.#order(() => this.#begin(attempt, spec));
  }

  /** Carries out an order when all earlier ones are done. Without an answer, all is asked again later. */
  #order(work: () => Promise<void>): void {
    this.#orders = this.#orders.then(async () => {
      if (this.#isClosed) return;
      try {
        await work();
      } catch (error) {
        this.#failed(error);
      }
    });
  }

  #failed(error: unknown): void {
    const because = error instanceof Error ? error.message : String(error);
    // What was not released is launched again after the next `connected`.
    for (const attempt of this.#attempts.values()) {
      if (attempt.releasedAtMs === undefined) delete attempt.spec;
    }
    this.#disconnect(because);
  }

  async #begin(attempt: QueuedAttempt, spec: LaunchSpec): Promise<void> {
    if (attempt.spec !== spec) return;
    const { system, clock } = this.#setup;
    try {
      if (attempt.stop === undefined && attempt.id === undefined) {
        // The last poll is younger than every submission whose answer was lost.
        const found = this.#jobs.find(({ mark }) => mark === attempt.mark);
        attempt.id = found?.id ?? (await system.submit(spec, attempt.mark));
        this.#save();
      }
      if (attempt.stop !== undefined) {
        if (attempt.id !== undefined) await system.give(attempt.id, "cancel");
        this.#ended(attempt, lostEnd(attempt, "it was stopped before its start", clock.unixMs(), false));
        return;
      }
      await system.give(attempt.id!, "release");
      attempt.releasedAtMs = clock.unixMs();
      attempt.note = `${system.name} was asked to start it as job ${attempt.id}, and takes ${system.startsAfter} for that`;
      this.#save();
    } catch (error) {
      if (!(error instanceof ProviderError) || error.isAway) throw error;
      if (attempt.id !== undefined) await system.give(attempt.id, "cancel");
      this.#ended(attempt, lostEnd(attempt, error.message, clock.unixMs(), false));
    }
  }

  #stop(attempt: QueuedAttempt, reason: EndReason, kill: boolean): void {
    if (attempt.end !== undefined) return;
    const nowMs = this.#setup.clock.nowMs();
    const isNew = attempt.stop === undefined;
    attempt.stop ??= { reason, killAtMs: Number.POSITIVE_INFINITY };
    if (isNew) this.#save();
    const { system } = this.#setup;
    const { id, stop } = attempt;
    if (id === undefined || attempt.releasedAtMs === undefined) return;
    // A batch system can use an id again after it has lost its state.
    if (this.#jobs.some((job) => job.id === id && job.mark !== attempt.mark)) return;
    if (attempt.startedAtMs === undefined) this.#order(() => system.give(id, "cancel"));
    else if (kill) {
      stop.killAtMs = nowMs + AGAIN_MS;
      this.#order(() => system.give(id, "KILL"));
    } else if (isNew) {
      stop.killAtMs = nowMs + attempt.graceMs;
      this.#order(() => system.give(id, "TERM"));
    }
  }

  async #poll(): Promise<void> {
    const { system, clock } = this.#setup;
    const askedMs = clock.unixMs();
    try {
      // Orders that were given before are done, so what the batch system says is not older than they are.
      await this.#orders;
      this.#jobs = await system.queue();
      for (const attempt of [...this.#attempts.values()]) await this.#compare(attempt, askedMs);
      await this.#cancelStrays();
      this.#trouble = undefined;
      if (!this.#isConnected && !this.#isClosed) {
        this.#isConnected = true;
        this.#reportState();
      }
      this.#reportNodes();
    } catch (error) {
      this.#failed(error);
    }
    if (!this.#isClosed) this.#stopTimer = clock.at(clock.nowMs() + POLL_MS, () => void this.#poll());
  }

  /** Learns what the batch system has done with an attempt. */
  async #compare(attempt: QueuedAttempt, askedMs: number): Promise<void> {
    const { id, mark, releasedAtMs, end } = attempt;
    if (end !== undefined || id === undefined) return;
    const job = this.#jobs.find((one) => one.id === id && one.mark === mark);
    attempt.missing = job === undefined ? attempt.missing + 1 : 0;
    if (job === undefined) {
      if (attempt.missing >= FORGOTTEN_POLLS) await this.#explain(attempt);
      return;
    }
    if (releasedAtMs === undefined) return;
    // Released since the question; one that is later than now was released before the clock was set back.
    if (releasedAtMs > askedMs && releasedAtMs <= this.#setup.clock.unixMs()) return;
    if (job.phase === "ended") return this.#explain(attempt);
    if (job.phase === "again") return this.#requeued(attempt);
    attempt.note = job.note;
    if (job.phase === "running" && job.startedAtMs !== undefined && attempt.startedAtMs === undefined)
      this.#reportStart(attempt, job.startedAtMs);
    if (attempt.startedAtMs !== undefined) this.#watchTime(attempt, attempt.startedAtMs);
  }

  #reportStart(attempt: QueuedAttempt, startedAtMs: number): void {
    const isNew = attempt.startedAtMs === undefined;
    attempt.startedAtMs = startedAtMs;
    if (isNew) this.#save();
    const { job, identity } = attempt;
    this.#report({
      type: "launched",
      attempt: { job, attempt: attempt.attempt },
      identity,
      // No process of this machine: the batch system's id of the job.
      shim: { bootId: this.#setup.system.kind, pid: Number(attempt.id), startTicks: 0 },
      startedAtMs,
    });
  }

  /** The limits of batch systems may be whole minutes and late; ours are exact. */
  #watchTime(attempt: QueuedAttempt, startedAtMs: number): void {
    const { clock } = this.#setup;
    const { limitMs = Number.POSITIVE_INFINITY, stop } = attempt;
    attempt.runsSinceMs ??= clock.nowMs() - Math.max(0, clock.unixMs() - startedAtMs);
    if (stop === undefined && clock.nowMs() - attempt.runsSinceMs >= limitMs)
      this.#stop(attempt, "time-limit", false);
    if (stop !== undefined && clock.nowMs() >= stop.killAtMs) this.#stop(attempt, stop.reason, true);
  }

  /** The job has ended, or the batch system does not list it any longer. */
  async #explain(attempt: QueuedAttempt): Promise<void> {
    const { system, clock } = this.#setup;
    const shown = await system.shown(attempt.id!);
    if (shown === undefined || (shown.mark !== attempt.mark && shown.mark !== "")) {
      const lost = `${system.name} no longer knows its job ${attempt.id}, so how it ended is unknown`;
      this.#ended(attempt, lostEnd(attempt, lost, clock.unixMs(), !blockBeginning(attempt)));
      return;
    }
    if (!shown.hasEnded) return;
    const began = attempt.startedAtMs !== undefined || existsSync(beganFolder(attempt));
    if (began && attempt.startedAtMs === undefined && shown.startedAtMs !== undefined)
      this.#reportStart(attempt, shown.startedAtMs);
    if (shown.reason === "cancelled" && attempt.stop === undefined)
      this.#notice(attempt, `${system.name}'s job ${attempt.id} was cancelled outside of Tutti`);
    this.#ended(attempt, endOf(attempt, shown, began, system.name));
  }

  /**
   * The batch system has queued the job again, and would start it later. Tutti's policy decides about the
   * next start, so this job of the batch system ends here.
   */
  async #requeued(attempt: QueuedAttempt): Promise<void> {
    const { system, clock } = this.#setup;
    await system.give(attempt.id!, "cancel");
    const { job, identity, startedAtMs, stop } = attempt;
    const nowMs = clock.unixMs();
    this.#notice(attempt, `${system.name} has queued its job ${attempt.id} again`);
    this.#ended(attempt, {
      ...{ job, attempt: attempt.attempt, reason: stop?.reason ?? "requeued", endedAtMs: nowMs },
      identity,
      ranMs: startedAtMs === undefined ? 0 : Math.max(0, nowMs - startedAtMs),
      signal: "SIGTERM",
    });
  }

  #notice({ job }: QueuedAttempt, text: string): void {
    this.#report({ type: "notice", kind: this.#setup.system.kind, text: `job ${job}: ${text}` });
  }

  #ended(attempt: QueuedAttempt, end: AttemptEnd): void {
    attempt.end = end;
    this.#report({ type: "ended", end });
  }

  /**
   * Cancels held jobs with our mark that nobody waits for: of a submission that was repeated because its
   * answer came too late, or of an attempt that the store does not know.
   */
  async #cancelStrays(): Promise<void> {
    const { system, clock } = this.#setup;
    const prefix = prefixOf(this.#owner);
    const held = this.#jobs.filter(({ mark, isHeld }) => isHeld && mark.startsWith(prefix));
    const ids = new Set(held.map(({ id }) => id));
    for (const id of this.#strays.keys()) if (!ids.has(id)) this.#strays.delete(id);
    for (const { id, mark } of held) {
      const attempt = this.#attempts.get(mark);
      if (attempt !== undefined && (attempt.id === id || attempt.id === undefined)) {
        this.#strays.delete(id);
        continue;
      }
      const sinceMs = this.#strays.get(id) ?? clock.nowMs();
      this.#strays.set(id, sinceMs);
      if (clock.nowMs() - sinceMs >= STRAY_MS) await system.give(id, "cancel");
    }
  }
}
