/**
 * Runs each attempt as a job of Slurm of its own, for sites that forbid pilots. The job is submitted held,
 * with the attempt's mark as its comment, and released at once when it is known; so a submission whose
 * answer was lost has started nothing, is found by its mark, and is not repeated. Slurm places and starts
 * it. What Slurm does on its own is read back and wins: another start, a hold, a requeue, a cancel.
 *
 *   front end ── launch ──▶ sbatch --hold ──▶ scontrol release ──▶ RUNNING after Slurm's own 2.5 to 3 s
 *             ◀─ launched, ended ── squeue every second, scontrol show job at the end
 *
 * While Slurm does not answer, the executor is disconnected: running jobs continue, nothing is submitted.
 * When it answers again, the front end repeats what it wants.
 */
import { existsSync, writeFileSync } from "node:fs";
import { NodeTable } from "../../../../core/machine.ts";
import type { Clock } from "../../../../host/clock.ts";
import type { AttemptEnd, AttemptKey, EndReason, LaunchSpec } from "../../../../protocol/attempts.ts";
import { type Capacity, type Command, type Executor, ON_SLURM, type Report } from "../../executor.ts";
import { SlurmError } from "../commands.ts";
import type { SlurmNode } from "../formats/nodes.ts";
import type { QueuedJob } from "../formats/queue.ts";
import { type KeptStore, newOwner } from "../kept-file.ts";
import type { JobsOfSlurm } from "../slurm.ts";
import {
  attemptOf,
  attemptScript,
  batchScript,
  beganFolder,
  blockBeginning,
  endOf,
  lostEnd,
  markOf,
  type NativeAttempt,
  noteOn,
  phaseOf,
  prefixOf,
  scriptFile,
  stateOf,
  storedOf,
  submitOptions,
} from "./attempt.ts";
import type { NativeContent } from "./file.ts";

interface NativeSetup {
  readonly slurm: JobsOfSlurm;
  readonly nodes: readonly SlurmNode[];
  readonly store: KeptStore<NativeContent>;
  readonly clock: Clock;
  /** More options for sbatch, such as --partition=long. */
  readonly sbatch: readonly string[];
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

export class NativeExecutor implements Executor {
  readonly capabilities = { ...ON_SLURM, canPause: false, beginsAtOnce: false, timeSharing: false };
  readonly capacity: Capacity;
  readonly #setup: NativeSetup;
  readonly #owner: string;
  readonly #attempts = new Map<string, NativeAttempt>();
  readonly #listeners = new Set<readonly [OnReport, OnDisconnect]>();
  /** Held jobs with our mark without an attempt, by id: since when they were seen. */
  readonly #strays = new Map<string, number>();
  #jobs: readonly QueuedJob[] = [];
  /** Orders to Slurm, one after the other, so that jobs are released in the order of the decisions. */
  #orders: Promise<void> = Promise.resolve();
  #isConnected = false;
  #trouble: string | undefined;
  #sequence = 0;
  #isClosed = false;
  #nodesReportedMs = Number.NEGATIVE_INFINITY;
  #stopTimer = () => {};

  constructor(setup: NativeSetup) {
    this.#setup = setup;
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

  waitsFor(key: AttemptKey): string | undefined {
    const attempt = this.#live(key);
    return attempt?.startedAtMs === undefined ? attempt?.note : undefined;
  }

  runsAs(key: AttemptKey): string | undefined {
    const attempt = this.#live(key);
    return attempt?.startedAtMs === undefined ? undefined : attempt.note;
  }

  #live({ job, attempt }: AttemptKey): NativeAttempt | undefined {
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

  /** Also shows that Slurm still answers. */
  #reportNodes(): void {
    const nowMs = this.#setup.clock.nowMs();
    if (nowMs - this.#nodesReportedMs < NODES_MS) return;
    this.#nodesReportedMs = nowMs;
    const nodes = this.#setup.nodes.map(({ node }) => ({ node, state: "up" as const }));
    this.#report({ type: "nodes", nodes });
  }

  #find({ job, attempt }: AttemptKey, identity: string | undefined): NativeAttempt | undefined {
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
    attempt.note = "Slurm is asked to take it";
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

  async #begin(attempt: NativeAttempt, spec: LaunchSpec): Promise<void> {
    if (attempt.spec !== spec) return;
    const { slurm, clock, sbatch } = this.#setup;
    try {
      if (attempt.stop === undefined && attempt.id === undefined) {
        // The last poll is younger than every submission whose answer was lost.
        const found = this.#jobs.find(({ comment }) => comment === attempt.mark);
        writeFileSync(scriptFile(spec), attemptScript(spec), { mode: 0o600 });
        attempt.id =
          found === undefined
            ? await slurm.submit([...submitOptions(spec, attempt.mark), ...sbatch], batchScript(spec))
            : found.id;
        this.#save();
      }
      if (attempt.stop !== undefined) {
        if (attempt.id !== undefined) await slurm.cancel(attempt.id);
        this.#ended(attempt, lostEnd(attempt, "it was stopped before its start", clock.unixMs(), false));
        return;
      }
      await slurm.release(attempt.id!);
      attempt.releasedAtMs = clock.unixMs();
      attempt.note = `Slurm was asked to start it as job ${attempt.id}, and takes about 3 s for that`;
      this.#save();
    } catch (error) {
      if (!(error instanceof SlurmError) || error.isAway) throw error;
      if (attempt.id !== undefined) await slurm.cancel(attempt.id);
      this.#ended(attempt, lostEnd(attempt, error.message, clock.unixMs(), false));
    }
  }

  #stop(attempt: NativeAttempt, reason: EndReason, kill: boolean): void {
    if (attempt.end !== undefined) return;
    const nowMs = this.#setup.clock.nowMs();
    const isNew = attempt.stop === undefined;
    attempt.stop ??= { reason, killAtMs: Number.POSITIVE_INFINITY };
    if (isNew) this.#save();
    const { slurm } = this.#setup;
    const { id, stop } = attempt;
    if (id === undefined || attempt.releasedAtMs === undefined) return;
    // Slurm can use an id again after it has lost its state.
    if (this.#jobs.some((job) => job.id === id && job.comment !== attempt.mark)) return;
    if (attempt.startedAtMs === undefined) this.#order(() => slurm.cancel(id));
    else if (kill) {
      stop.killAtMs = nowMs + AGAIN_MS;
      this.#order(() => slurm.signal(id, "KILL"));
    } else if (isNew) {
      stop.killAtMs = nowMs + attempt.graceMs;
      this.#order(() => slurm.signal(id, "TERM"));
    }
  }

  async #poll(): Promise<void> {
    const { slurm, clock } = this.#setup;
    const askedMs = clock.unixMs();
    try {
      // Orders that were given before are done, so what Slurm says is not older than they are.
      await this.#orders;
      this.#jobs = await slurm.queue();
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

  /** Learns what Slurm has done with an attempt. */
  async #compare(attempt: NativeAttempt, askedMs: number): Promise<void> {
    const { id, mark, releasedAtMs, end } = attempt;
    if (end !== undefined || id === undefined) return;
    const job = this.#jobs.find((one) => one.id === id && one.comment === mark);
    attempt.missing = job === undefined ? attempt.missing + 1 : 0;
    if (job === undefined) {
      if (attempt.missing >= FORGOTTEN_POLLS) await this.#explain(attempt);
      return;
    }
    if (releasedAtMs === undefined) return;
    // Released since the question; one that is later than now was released before the clock was set back.
    if (releasedAtMs > askedMs && releasedAtMs <= this.#setup.clock.unixMs()) return;
    const phase = phaseOf(job.state);
    if (phase === "ended") return this.#explain(attempt);
    if (phase === "again" || job.restarts > 0) return this.#requeued(attempt);
    attempt.note = noteOn(attempt, job);
    if (phase === "running" && job.startS !== undefined && attempt.startedAtMs === undefined)
      this.#reportStart(attempt, job.startS * 1000);
    if (attempt.startedAtMs !== undefined) this.#watchTime(attempt, attempt.startedAtMs);
  }

  #reportStart(attempt: NativeAttempt, startedAtMs: number): void {
    const isNew = attempt.startedAtMs === undefined;
    attempt.startedAtMs = startedAtMs;
    if (isNew) this.#save();
    const { job, identity } = attempt;
    this.#report({
      type: "launched",
      attempt: { job, attempt: attempt.attempt },
      identity,
      // No process of this machine: Slurm's id of the job.
      shim: { bootId: "slurm", pid: Number(attempt.id), startTicks: 0 },
      startedAtMs,
    });
  }

  /** Slurm's limits are whole minutes and late; ours are exact. */
  #watchTime(attempt: NativeAttempt, startedAtMs: number): void {
    const { clock } = this.#setup;
    const { limitMs = Number.POSITIVE_INFINITY, stop } = attempt;
    attempt.runsSinceMs ??= clock.nowMs() - Math.max(0, clock.unixMs() - startedAtMs);
    if (stop === undefined && clock.nowMs() - attempt.runsSinceMs >= limitMs)
      this.#stop(attempt, "time-limit", false);
    if (stop !== undefined && clock.nowMs() >= stop.killAtMs) this.#stop(attempt, stop.reason, true);
  }

  /** The job has ended, or Slurm does not list it any longer. */
  async #explain(attempt: NativeAttempt): Promise<void> {
    const { slurm, clock } = this.#setup;
    const shown = await slurm.shown(attempt.id!);
    // The accounting does not keep comments.
    if (shown === undefined || (shown.comment !== attempt.mark && shown.comment !== "")) {
      const lost = `Slurm no longer knows its job ${attempt.id}, so how it ended is unknown`;
      this.#ended(attempt, lostEnd(attempt, lost, clock.unixMs(), !blockBeginning(attempt)));
      return;
    }
    if (phaseOf(shown.state) !== "ended") return;
    const began = attempt.startedAtMs !== undefined || existsSync(beganFolder(attempt));
    if (began && attempt.startedAtMs === undefined && shown.startS !== undefined)
      this.#reportStart(attempt, shown.startS * 1000);
    if (shown.state === "CANCELLED" && attempt.stop === undefined)
      this.#notice(attempt, `Slurm's job ${attempt.id} was cancelled outside of Tutti`);
    this.#ended(attempt, endOf(attempt, shown, began));
  }

  /**
   * Slurm has queued the job again, and would start it after two minutes. Tutti's policy decides about its
   * next start, so this job of Slurm ends here.
   */
  async #requeued(attempt: NativeAttempt): Promise<void> {
    const { slurm, clock } = this.#setup;
    await slurm.cancel(attempt.id!);
    const { job, identity, startedAtMs, stop } = attempt;
    const nowMs = clock.unixMs();
    this.#notice(attempt, `Slurm has queued its job ${attempt.id} again`);
    this.#ended(attempt, {
      ...{ job, attempt: attempt.attempt, reason: stop?.reason ?? "requeued", endedAtMs: nowMs },
      identity,
      ranMs: startedAtMs === undefined ? 0 : Math.max(0, nowMs - startedAtMs),
      signal: "SIGTERM",
    });
  }

  #notice({ job }: NativeAttempt, text: string): void {
    this.#report({ type: "notice", kind: "slurm", text: `job ${job}: ${text}` });
  }

  #ended(attempt: NativeAttempt, end: AttemptEnd): void {
    attempt.end = end;
    this.#report({ type: "ended", end });
  }

  /**
   * Cancels held jobs with our mark that nobody waits for: of a submission that was repeated because its
   * answer came too late, or of an attempt that the store does not know.
   */
  async #cancelStrays(): Promise<void> {
    const { slurm, clock } = this.#setup;
    const prefix = prefixOf(this.#owner);
    const held = this.#jobs.filter(
      ({ comment, state, reason }) =>
        comment.startsWith(prefix) && state === "PENDING" && reason.startsWith("JobHeld"),
    );
    const ids = new Set(held.map(({ id }) => id));
    for (const id of this.#strays.keys()) if (!ids.has(id)) this.#strays.delete(id);
    for (const { id, comment } of held) {
      const attempt = this.#attempts.get(comment);
      if (attempt !== undefined && (attempt.id === id || attempt.id === undefined)) {
        this.#strays.delete(id);
        continue;
      }
      const sinceMs = this.#strays.get(id) ?? clock.nowMs();
      this.#strays.set(id, sinceMs);
      if (clock.nowMs() - sinceMs >= STRAY_MS) await slurm.cancel(id);
    }
  }
}
