/**
 * Simulates the conductor of one node in virtual time, with processes that only need CPU time. It speaks
 * protocol 3 and obeys the same rules as the real one: strict rows, gates, grace times, limits, claims.
 */
import type { AttemptKey, EndReason, IdentifiedAttempt, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix, FromConductor, MemberSpec, ToConductor } from "@tutti/protocol/conductor.ts";
import {
  type FakeAttempt,
  limitOf,
  nameOf,
  newAttempt,
  type Process,
  punctual,
  type Script,
  type SharedWorld,
  stateOf,
} from "./attempts-for-tests.ts";
import { FakeRows } from "./rows-for-tests.ts";

const LAUNCH_MS = 5;
const DEATH_MS = 1;
/** Tasks must reach their gates within this time after they joined. */
const BEGIN_MS = 30_000;
const REPORT_MS = 1000;

export class FakeConductor {
  readonly node: string;
  readonly #world: SharedWorld;
  /** This node's monotonic clock. */
  readonly #nodeMs: () => number;
  /** The true time of an instant of this node's clock. */
  readonly #trueMs: (nodeMs: number) => number;
  #emit: (message: FromConductor) => void = () => {};
  readonly attempts = new Map<string, FakeAttempt>();
  /** What jobs have read. */
  readonly inputs = new Map<number, string>();
  readonly #rows: FakeRows;
  /** While the conductor is dead, its guardian lets all gangs run. */
  #isDead = false;
  /** The node has lost its power: nothing of it ever acts again. */
  isGone = false;
  /** When it expects to be taken away, by the true clock. */
  stopAtMs: number | undefined;
  #cancelBoundary: (() => void) | undefined;
  #late: (readonly [number, number])[] = [];

  constructor(node: string, world: SharedWorld, nodeMs: () => number, trueMs: (nodeMs: number) => number) {
    this.node = node;
    this.#world = world;
    this.#nodeMs = nodeMs;
    this.#trueMs = trueMs;
    this.#rows = new FakeRows(nodeMs);
    this.#report();
  }

  get matrix(): ConductorMatrix {
    return this.#rows.matrix;
  }

  /** Messages go there from now on. */
  connect(emit: (message: FromConductor) => void): void {
    this.#emit = emit;
  }

  disconnect(): void {
    this.#emit = () => {};
  }

  /** SIGKILL for the conductor: its gangs go on. */
  die(): void {
    this.#isDead = true;
    this.#rows.die();
    this.disconnect();
    this.#turn();
  }

  /** A new conductor takes over. */
  revive(): void {
    this.#isDead = false;
    this.#turn();
  }

  /** All processes die at once, with everything that is not on a disk. */
  loseAll(): void {
    for (const attempt of this.attempts.values()) {
      this.#off(attempt);
      attempt.processes = [];
      attempt.cancel?.();
    }
    this.isGone = true;
    this.#cancelBoundary?.();
    this.attempts.clear();
    this.disconnect();
  }

  /** Attempts with a process that is alive now. */
  living(): IdentifiedAttempt[] {
    return [...this.attempts.values()].filter(({ processes }) => processes.length > 0).map(({ key }) => key);
  }

  receive(message: ToConductor): void {
    if (this.#isDead || this.isGone) return;
    switch (message.type) {
      case "hello":
        this.#emitState();
        return;
      case "ping":
        this.#emit({ type: "pong", id: message.id, nowMs: this.#nodeMs() });
        return;
      case "grid":
        this.#rows.epochMs = message.epochMs;
        this.stopAtMs = message.stopAtMs === undefined ? undefined : this.#trueMs(message.stopAtMs);
        this.#turn();
        return;
      case "stage":
      case "turn":
      case "revoke": {
        const answer = this.#rows.receive(message);
        if (answer !== undefined) this.#emit(answer);
        this.#arm();
        return;
      }
      case "launch":
        this.#launch(message.spec);
        return;
      case "join":
        this.#join(message.member);
        return;
      case "step":
        this.#step(message.spec);
        return;
      case "stop":
        this.#stop(message.attempt, message.identity, message.kill, message.reason);
        return;
      case "forget": {
        const attempt = this.#find(message.attempt, message.identity);
        if (attempt?.phase === "ended") this.attempts.delete(nameOf(attempt.key));
        return;
      }
      case "keep": {
        const attempt = this.#find(message.attempt, message.identity);
        if (attempt !== undefined) attempt.isKept = true;
        this.#turn();
        return;
      }
      case "input":
        this.#input(message);
        return;
      default:
        this.#emit({ type: "refused", message: `Cannot do "${message.type}"` });
    }
  }

  /** A process of a gang arrives here: the gang has joined, or it is killed at once. */
  arrive(key: AttemptKey, script: Script): void {
    const attempt = this.#find(key);
    if (this.isGone || attempt === undefined || attempt.phase === "ended") return;
    attempt.processes.push({ leftMs: script.computeMs, script, isMain: false });
    this.#turn();
  }

  /** The tasks of a step arrive at their gates. */
  arriveStep(spec: LaunchSpec): void {
    const attempt = this.#find(spec, spec.identity);
    if (this.isGone || attempt === undefined || attempt.phase !== "launching") return;
    attempt.spec = spec;
    attempt.isAtGate = true;
    this.#ready(attempt);
  }

  #emitState(): void {
    this.#rows.settle();
    this.#emit({
      type: "state",
      protocol: 3,
      attempts: [...this.attempts.values()].map((attempt) => stateOf(attempt)),
      sequence: this.matrix.sequence,
      turning: this.#rows.turning,
      pid: 1,
      freezer: "signals",
      epochMs: this.#rows.epochMs,
    });
  }

  #launch(spec: LaunchSpec): void {
    const known = this.attempts.get(nameOf(spec));
    if (known !== undefined) {
      this.#again(known);
      return;
    }
    const attempt = this.#add(newAttempt(spec, spec, undefined));
    const claimedBy = this.#world.claims.get(spec.identity ?? "");
    if (claimedBy !== undefined) {
      this.#end(attempt, { lost: `it was claimed on ${claimedBy}` });
      return;
    }
    this.#world.claims.set(spec.identity ?? "", this.node);
    attempt.cancel = this.#world.clock.at(this.#world.clock.nowMs() + LAUNCH_MS, () => {
      if (attempt.phase !== "launching") return;
      attempt.isAtGate = true;
      this.#ready(attempt);
    });
  }

  #join(member: MemberSpec): void {
    const known = this.attempts.get(nameOf(member));
    if (known !== undefined) {
      this.#again(known);
      return;
    }
    const attempt = this.#add(newAttempt(member, undefined, member));
    if (member.ranks.length > 0) {
      this.#world.claims.set(member.identity ?? "", this.node);
      attempt.cancel = this.#world.clock.at(this.#world.clock.nowMs() + BEGIN_MS, () => {
        const isLate = attempt.phase === "launching" && !attempt.isAtGate;
        if (isLate) this.#end(attempt, { lost: "its tasks did not reach their gates" });
      });
      return;
    }
    attempt.isAtGate = true;
    attempt.begun = true;
    attempt.phase = "running";
    this.#ready(attempt);
  }

  #step(spec: LaunchSpec): void {
    const attempt = this.#find(spec, spec.identity);
    if (attempt === undefined || attempt.phase !== "launching" || attempt.spec !== undefined) return;
    attempt.spec = spec;
    for (const { node } of spec.nodes ?? []) this.#world.spread(node, spec, { computeMs: -1 });
  }

  #add(attempt: FakeAttempt): FakeAttempt {
    this.attempts.set(nameOf(attempt.key), attempt);
    return attempt;
  }

  /** Answers a repeated launch or join. */
  #again(attempt: FakeAttempt): void {
    if (attempt.end !== undefined) this.#emit({ type: "ended", end: attempt.end });
    else if (attempt.begun && attempt.spec !== undefined) this.#sayLaunched(attempt);
    else if (attempt.isAtGate) this.#ready(attempt);
  }

  #ready({ key: { identity, ...attempt } }: FakeAttempt): void {
    this.#emit({ type: "ready", attempt, ...(identity !== undefined && { identity }) });
    this.#turn();
  }

  #sayLaunched({ key: { identity, ...attempt } }: FakeAttempt): void {
    this.#emit({
      type: "launched",
      attempt,
      ...(identity !== undefined && { identity }),
      shim: { bootId: "boot", pid: attempt.job, startTicks: attempt.attempt },
      startedAtMs: this.#world.clock.unixMs(),
    });
  }

  /** A job that has begun reads everything at once. */
  #input({
    attempt: key,
    identity,
    writer,
    offset,
    data = "",
  }: Extract<ToConductor, { type: "input" }>): void {
    const attempt = this.#find(key, identity);
    const isOpen = attempt?.phase === "running";
    const whole = isOpen ? (this.inputs.get(key.job) ?? "") : "";
    if (isOpen)
      this.inputs.set(
        key.job,
        whole +
          Buffer.from(data, "base64")
            .toString()
            .slice(whole.length - offset),
      );
    const taken = this.inputs.get(key.job)?.length ?? 0;
    const reader = isOpen ? "open" : attempt?.phase === "launching" ? "not-yet" : "closed";
    this.#emit({ type: "input-taken", attempt: key, writer, taken, reader });
  }

  #stop(key: AttemptKey, identity: string | undefined, kill: boolean, reason: EndReason): void {
    const attempt = this.#find(key, identity);
    if (attempt === undefined) {
      this.#emit({ type: "refused", message: `Cannot stop job ${key.job}.${key.attempt}: it is unknown` });
      return;
    }
    if (attempt.end !== undefined) this.#emit({ type: "ended", end: attempt.end });
    else this.#askToEnd(attempt, kill, reason);
  }

  #askToEnd(attempt: FakeAttempt, kill: boolean, reason: EndReason): void {
    const { clock } = this.#world;
    if (attempt.reason === "none") attempt.reason = reason;
    attempt.cancel?.();
    attempt.phase = "stopping";
    attempt.isTerminating = !kill;
    const graceMs = (attempt.spec ?? attempt.member)!.graceMs;
    attempt.cancel = clock.at(clock.nowMs() + DEATH_MS, () => {
      if (kill) this.#killAll(attempt);
      else {
        this.#kill(attempt, "SIGTERM", ({ script }) => !script.ignoresTerm);
        attempt.cancel = clock.at(clock.nowMs() + graceMs - DEATH_MS, () => this.#killAll(attempt));
      }
    });
    this.#turn();
  }

  #killAll(attempt: FakeAttempt): void {
    if (attempt.phase === "ended") return;
    this.#kill(attempt, "SIGKILL", () => true);
  }

  #kill(attempt: FakeAttempt, signal: string, dies: (process: Process) => boolean): void {
    this.#account(attempt);
    const dead = attempt.processes.filter(dies);
    attempt.processes = attempt.processes.filter((process) => !dies(process));
    if (dead.some(({ isMain }) => isMain)) attempt.ends.push({ signal });
    if (attempt.processes.some(({ isMain }) => isMain)) this.#turn();
    else this.#end(attempt, attempt.begun && attempt.ends.length > 0 ? {} : { signal });
  }

  /** Everything has ended here. */
  #end(attempt: FakeAttempt, how: { readonly lost?: string; readonly signal?: string }): void {
    if (attempt.phase === "ended") return;
    this.#off(attempt);
    attempt.cancel?.();
    attempt.processes = [];
    attempt.phase = "ended";
    const code = Math.max(0, ...attempt.ends.map((end) => end.code ?? 0));
    const signal = attempt.ends.find((end) => end.signal !== undefined)?.signal;
    const exit = code === 0 && signal !== undefined ? { signal } : { code };
    attempt.end = {
      ...attempt.key,
      ...(attempt.ends.length > 0 ? exit : how),
      reason: attempt.reason,
      endedAtMs: this.#world.clock.unixMs(),
      ranMs: attempt.ranMs,
    };
    this.#emit({ type: "ended", end: attempt.end });
    this.#turn();
  }

  #find(key: AttemptKey, identity?: string): FakeAttempt | undefined {
    for (const attempt of this.attempts.values()) {
      const isIt = attempt.key.job === key.job && attempt.key.attempt === key.attempt;
      if (isIt && (identity === undefined || attempt.key.identity === identity)) return attempt;
    }
    return undefined;
  }

  // Turns.

  /** Stops and continues gangs, and opens gates. */
  #turn(): void {
    if (this.isGone) return;
    const row = this.#rows.rowNow();
    const on = new Set(row.filter(({ closed }) => !closed).map(({ job, attempt }) => `${job}.${attempt}`));
    const isOn = ({ key, phase, isKept, isTerminating, begun }: FakeAttempt) =>
      phase !== "ended" &&
      (on.has(`${key.job}.${key.attempt}`) || isKept || isTerminating || (this.#isDead && begun));
    const all = [...this.attempts.values()];
    for (const attempt of all) if (!isOn(attempt)) this.#off(attempt);
    for (const attempt of all) {
      if (!isOn(attempt)) continue;
      if (attempt.isAtGate && !attempt.begun && attempt.phase === "launching" && !this.#isDead)
        this.#begin(attempt);
      this.#on(attempt);
    }
    this.#arm();
    if (row.length > 0) this.#late.push([this.#rows.slot, 0]);
  }

  #arm(): void {
    this.#cancelBoundary?.();
    if (this.attempts.size === 0 && this.#rows.turning.length === 0) return;
    const atMs = this.#trueMs(this.#rows.nextBoundaryMs());
    this.#cancelBoundary = this.#world.clock.at(atMs, () => this.#turn());
  }

  #begin(attempt: FakeAttempt): void {
    attempt.begun = true;
    attempt.phase = "running";
    const { spec, member, key } = attempt;
    if (spec === undefined) return;
    const script = this.#world.scriptOf(spec);
    const tasks = member === undefined ? 1 : member.ranks.length;
    for (let i = 0; i < tasks; i++) {
      attempt.processes.push({ leftMs: script.computeMs, script, isMain: true });
      this.#world.record(key.job, {
        kind: "begun",
        attempt: key.attempt,
        node: this.node,
        atMs: this.#world.clock.unixMs(),
      });
      if (script.say !== undefined) this.#world.say(key.job, script.say);
    }
    for (let i = 0; i < (script.bombs ?? 0); i++) {
      attempt.processes.push({ leftMs: Number.POSITIVE_INFINITY, script, isMain: false });
    }
    this.#sayLaunched(attempt);
    if (member !== undefined || !script.isEverywhere) return;
    for (const { node } of spec.nodes ?? []) if (node !== this.node) this.#world.spread(node, key, script);
  }

  #on(attempt: FakeAttempt): void {
    if (!attempt.begun) return;
    const { clock } = this.#world;
    attempt.onSinceMs ??= clock.nowMs();
    if (attempt.phase === "stopping") return;
    attempt.cancel?.();
    const limitMs = limitOf(attempt) - attempt.ranMs;
    const soonestMs = Math.min(limitMs, ...attempt.processes.map(({ leftMs }) => leftMs));
    if (!Number.isFinite(soonestMs)) return;
    attempt.cancel = clock.at(attempt.onSinceMs + soonestMs, () => this.#progress(attempt));
  }

  /** A process ends, or the time limit is reached. */
  #progress(attempt: FakeAttempt): void {
    if (attempt.phase !== "running") return;
    this.#account(attempt);
    if (attempt.ranMs >= limitOf(attempt) - 1e-6) {
      this.#askToEnd(attempt, false, "time-limit");
      return;
    }
    const done = attempt.processes.filter(({ leftMs }) => leftMs <= 1e-6);
    attempt.processes = attempt.processes.filter(({ leftMs }) => leftMs > 1e-6);
    for (const { script, isMain } of done) {
      if (!isMain) continue;
      attempt.ends.push(
        script.signal === undefined ? { code: script.exitCode ?? 0 } : { signal: script.signal },
      );
    }
    const hadMain = attempt.spec !== undefined;
    if (hadMain && !attempt.processes.some(({ isMain }) => isMain)) this.#end(attempt, {});
    else this.#turn();
  }

  #off(attempt: FakeAttempt): void {
    if (attempt.onSinceMs === undefined) return;
    this.#account(attempt);
    attempt.onSinceMs = undefined;
    if (attempt.phase === "running") attempt.cancel?.();
  }

  /** Counts the time since the gang was continued. */
  #account(attempt: FakeAttempt): void {
    if (attempt.onSinceMs === undefined) return;
    const { clock } = this.#world;
    const nowMs = clock.nowMs();
    const ranMs = nowMs - attempt.onSinceMs;
    attempt.ranMs += ranMs;
    for (const process of attempt.processes) {
      process.leftMs -= ranMs;
      const toMs = clock.unixMs();
      if (ranMs <= 0) continue;
      this.#world.record(attempt.key.job, {
        kind: "ran",
        attempt: attempt.key.attempt,
        node: this.node,
        fromMs: toMs - ranMs,
        toMs,
      });
    }
    attempt.onSinceMs = nowMs;
  }

  #report(): void {
    const { clock } = this.#world;
    clock.at(clock.nowMs() + REPORT_MS, () => {
      if (this.isGone) return;
      if (this.#late.length > 0 && !this.#isDead) {
        this.#emit({ type: "slots", statistics: punctual(this.#late, this.attempts.values()) });
      }
      this.#late = [];
      this.#report();
    });
  }
}
