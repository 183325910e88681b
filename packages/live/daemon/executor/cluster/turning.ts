/**
 * Brings all nodes to the same matrix in the same slot:
 *
 *   wish ──▶ stage to all ──all staged──▶ turn at slot k to all ──all turning──▶ in force from k on
 *                 ▲                              │ one is missing when half of the time until k is over
 *                 └──────── revoke to all ◀──────┘
 *
 * k is at least two slots ahead, and twice as far after each failure. So a revocation has as much time as
 * the turn had. If it is late all the same, because everything on the way is, a node changes alone, until the
 * next round, which begins at once. A node that keeps the old matrix makes all others keep it, until it
 * answers or counts as silent. Only the newest wish counts.
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { ConductorMatrix, ToTurning } from "@tutti/protocol/conductor.ts";

/** A node that does not answer for this long leaves the rows. */
const PATIENCE_MS = 1000;
/** A matrix that was not acknowledged is staged again. */
const AGAIN_MS = 300;
/** A new matrix waits at least this long, so that messages can arrive even if slots are short. */
const MIN_AHEAD_MS = 100;
const MIN_AHEAD_SLOTS = 2;
/** A matrix is at most this much later than without failures. */
const MAX_FACTOR = 8;

/** The matrix of all nodes, still without a number. */
export interface Wish {
  readonly slotMs: number;
  /** What this node gets. */
  readonly on: (node: string, sequence: number) => ConductorMatrix;
}

interface TurningOptions {
  readonly clock: Clock;
  /** Start of slot 0 on this machine's clock. */
  readonly epochMs: () => number;
  /** Nodes that take part. */
  readonly nodes: () => readonly string[];
  readonly send: (node: string, message: ToTurning) => void;
  /** The node has not answered in time. */
  readonly onMissing: (node: string) => void;
}

type Phase =
  | { readonly kind: "idle" }
  | Round<"staging">
  | (Round<"turning"> & { readonly atSlot: number })
  /** All nodes have acknowledged; the slot has not begun. */
  | { readonly kind: "turned" };

interface Round<Kind> {
  readonly kind: Kind;
  readonly wish: Wish;
  readonly sequence: number;
  readonly missing: Set<string>;
}

export class Turning {
  readonly #options: TurningOptions;
  #sequence = 0;
  #phase: Phase = { kind: "idle" };
  /** The newest wish that no round has taken yet. */
  #next: Wish | undefined;
  /** The wish of the last round that did not fail. */
  #last: { readonly wish: Wish; readonly sequence: number } | undefined;
  #timer: (() => void) | undefined;
  /** How many times as far ahead the next matrix begins, because others had too little time. */
  #factor = 1;
  /** When a node was asked for the first time without an answer since. */
  readonly #askedMs = new Map<string, number>();

  constructor(options: TurningOptions) {
    this.#options = options;
  }

  wish(wish: Wish): void {
    this.#next = wish;
    this.#advance();
  }

  /** Later matrices have higher numbers than this one, which a node has. */
  raise(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  staged(node: string, sequence: number): void {
    this.#askedMs.delete(node);
    if (this.#phase.kind !== "staging" || this.#phase.sequence !== sequence) return;
    this.#phase.missing.delete(node);
    this.#settle();
  }

  turning(node: string, sequence: number): void {
    this.#askedMs.delete(node);
    if (this.#phase.kind !== "turning" || this.#phase.sequence !== sequence) return;
    this.#phase.missing.delete(node);
    this.#settle();
  }

  /** A node has connected, with this matrix in force and these about to be. */
  greeted(node: string, sequence: number, turning: readonly number[]): void {
    this.#askedMs.delete(node);
    this.raise(Math.max(sequence, ...turning));
    const phase = this.#phase;
    const newest = turning.at(-1) ?? sequence;
    if (phase.kind === "turning" && newest === phase.sequence) {
      this.turning(node, newest);
    } else if (phase.kind === "staging") {
      // What was sent before may be lost.
      this.#next ??= phase.wish;
      this.#advance();
    } else if (phase.kind !== "turning" && newest !== this.#last?.sequence) this.again();
  }

  /** Sends the present matrix again, for example because other nodes take part. */
  again(): void {
    if (this.#phase.kind === "staging") this.#next ??= this.#phase.wish;
    else if (this.#phase.kind === "turning") this.#next ??= this.#phase.wish;
    else this.#next ??= this.#last?.wish;
    this.#advance();
  }

  /** A node no longer takes part. */
  left(node: string): void {
    this.#askedMs.delete(node);
    if (this.#phase.kind !== "staging" && this.#phase.kind !== "turning") return;
    this.#phase.missing.delete(node);
    this.#settle();
  }

  /** Forgets everything: the nodes are others. */
  reset(): void {
    this.#timer?.();
    this.#askedMs.clear();
    this.#next = undefined;
    this.#last = undefined;
    this.#phase = { kind: "idle" };
  }

  /** Begins a round with the newest wish, unless an earlier one is about to take effect. */
  #advance(): void {
    if (this.#phase.kind === "turning" || this.#phase.kind === "turned") return;
    const wish = this.#next;
    const { clock, nodes, send } = this.#options;
    const all = nodes();
    if (wish === undefined || all.length === 0) return;
    this.#next = undefined;
    const sequence = ++this.#sequence;
    this.#phase = { kind: "staging", wish, sequence, missing: new Set(all) };
    const nowMs = clock.nowMs();
    for (const node of all) {
      if (!this.#askedMs.has(node)) this.#askedMs.set(node, nowMs);
      send(node, { type: "stage", matrix: wish.on(node, sequence) });
    }
    this.#at(nowMs + AGAIN_MS, () => this.#stageAgain(nowMs + PATIENCE_MS));
  }

  #stageAgain(untilMs: number): void {
    const phase = this.#phase;
    if (phase.kind !== "staging") return;
    const nowMs = this.#options.clock.nowMs();
    if (nowMs >= untilMs) {
      this.#failIfMissing(phase);
      return;
    }
    const { sequence, wish } = phase;
    for (const node of phase.missing)
      this.#options.send(node, { type: "stage", matrix: wish.on(node, sequence) });
    this.#at(Math.min(nowMs + AGAIN_MS, untilMs), () => this.#stageAgain(untilMs));
  }

  /** Goes on if no answer is missing. */
  #settle(): void {
    const phase = this.#phase;
    if (phase.kind === "staging" && phase.missing.size === 0) this.#turn(phase);
    else if (phase.kind === "turning" && phase.missing.size === 0) {
      this.#phase = { kind: "turned" };
      this.#last = phase;
      this.#factor = 1;
      // The next matrix is staged when this one is in force, also on clocks that are a little behind.
      this.#at(this.#startOf(phase.atSlot, phase.wish) + phase.wish.slotMs / 4, () => this.#rest());
    }
  }

  #turn({ wish, sequence }: Round<"staging">): void {
    const { clock, epochMs, nodes, send } = this.#options;
    const nowMs = clock.nowMs();
    const aheadMs = this.#factor * Math.max(MIN_AHEAD_SLOTS * wish.slotMs, MIN_AHEAD_MS);
    const atSlot = Math.ceil((nowMs + aheadMs - epochMs()) / wish.slotMs);
    const all = nodes();
    const phase = { kind: "turning", wish, sequence, missing: new Set(all), atSlot } as const;
    this.#phase = phase;
    for (const node of all) {
      if (!this.#askedMs.has(node)) this.#askedMs.set(node, nowMs);
      send(node, { type: "turn", sequence, atSlot });
    }
    this.#at((nowMs + this.#startOf(atSlot, wish)) / 2, () => this.#failIfMissing(phase));
    this.#settle();
  }

  /** A timer that is late comes before answers that have arrived in time, so these are read first. */
  #failIfMissing(phase: Phase): void {
    this.#options.clock.soon(() => {
      if (this.#phase === phase) this.#fail();
    });
  }

  /** Answers are missing. The nodes that have not answered for long leave; then the others go on alone. */
  #fail(): void {
    const { phase } = { phase: this.#phase };
    if (phase.kind !== "staging" && phase.kind !== "turning") return;
    const { clock, nodes, send, onMissing } = this.#options;
    if (phase.kind === "turning") {
      this.#factor = Math.min(MAX_FACTOR, 2 * this.#factor);
      // From its slot on, the matrix is in force on the nodes that have answered.
      const isRevocable = clock.nowMs() < this.#startOf(phase.atSlot, phase.wish);
      if (isRevocable) for (const node of nodes()) send(node, { type: "revoke", sequence: phase.sequence });
    }
    this.#next ??= phase.wish;
    this.#phase = { kind: "idle" };
    const beforeMs = clock.nowMs() - PATIENCE_MS;
    for (const node of [...phase.missing]) {
      if ((this.#askedMs.get(node) ?? Number.POSITIVE_INFINITY) > beforeMs) continue;
      this.#askedMs.delete(node);
      onMissing(node);
    }
    this.#advance();
  }

  #rest(): void {
    this.#phase = { kind: "idle" };
    this.#advance();
  }

  #startOf(slot: number, { slotMs }: Wish): number {
    return this.#options.epochMs() + slot * slotMs;
  }

  #at(atMs: number, call: () => void): void {
    this.#timer?.();
    this.#timer = this.#options.clock.at(atMs, call);
  }
}
