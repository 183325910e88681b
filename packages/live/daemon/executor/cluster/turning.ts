/**
 * Brings nodes to other rows, all that must change together in the same slot:
 *
 *   wish ──▶ groups of nodes; for each a round:
 *            stage to all ──all staged──▶ turn at slot k to all ──all turning──▶ in force from k on
 *                 ▲                              │ one is missing when half of the time until k is over
 *                 └──────── revoke to all ◀──────┘
 *
 * Two nodes must change together if a gang gets other slots that is on both: so a gang has its slots on all
 * of its nodes or on none. A node whose rows stay the same takes no part, and only nodes that share a changed
 * gang with a slow one wait for it. What a node has is certain once all of its round have answered.
 *
 * k is at least two slots ahead, and twice as far after each failure. So a revocation has as much time as
 * the turn had. If it is late all the same, because everything on the way is, a node changes alone, until the
 * next round, which begins at once. A node that keeps the old matrix makes its group keep it, until it
 * answers or counts as silent. Only the newest wish counts.
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { ConductorMatrix, ToTurning } from "@tutti/protocol/conductor.ts";
import { groupsOf } from "./turning-groups.ts";

/** A node that does not answer for this long leaves the rows. */
const PATIENCE_MS = 1000;
/** A matrix that was not acknowledged is staged again. */
const AGAIN_MS = 300;
/** A new matrix waits at least this long, so that messages can arrive even if slots are short. */
const MIN_AHEAD_MS = 100;
const MIN_AHEAD_SLOTS = 2;
/** A matrix is at most this much later than without failures. */
const MAX_FACTOR = 8;

/** What a node should turn, still without a number. */
interface NodeRows {
  /** Equal for two that run the same gangs in the same slots; empty if none runs. */
  readonly text: string;
  /** The gangs that run, by name, each with a text that is equal if its slots are the same. */
  readonly slotsOf: ReadonlyMap<string, string>;
  readonly matrix: (sequence: number) => ConductorMatrix;
}

/** The rows of all nodes. */
export interface Wish {
  readonly slotMs: number;
  readonly on: (node: string) => NodeRows;
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

/** Rows that a node may have. */
interface Held {
  readonly sequence: number;
  readonly rows: Pick<NodeRows, "text" | "slotsOf">;
}

/** What a conductor has that never got a matrix. */
const NOTHING: Held = { sequence: -1, rows: { text: "", slotsOf: new Map() } };

interface Round {
  readonly sequence: number;
  readonly slotMs: number;
  /** The nodes that it brings to other rows. */
  readonly rows: Map<string, NodeRows>;
  /** Turned: all have acknowledged, and its slot has not begun. */
  phase: "staging" | "turning" | "turned";
  /** Nodes that have not acknowledged the phase. */
  missing: Set<string>;
  /** While it is turning or turned. */
  atSlot: number;
  stopTimer: () => void;
}

export class Turning {
  readonly #options: TurningOptions;
  #sequence = 0;
  #wish: Wish | undefined;
  readonly #rounds = new Set<Round>();
  readonly #roundOf = new Map<string, Round>();
  /** What each node may have: one is certain, none is known to be anything. */
  readonly #held = new Map<string, readonly Held[]>();
  /** How many times as far ahead a node's next matrix begins, because it had too little time. */
  readonly #factor = new Map<string, number>();
  /** When a node was asked for the first time without an answer since. */
  readonly #askedMs = new Map<string, number>();

  constructor(options: TurningOptions) {
    this.#options = options;
  }

  wish(wish: Wish): void {
    this.#wish = wish;
    this.#advance();
  }

  /** Later matrices have higher numbers than this one, which a node has. */
  raise(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  staged(node: string, sequence: number): void {
    this.#answered(node, sequence, "staging");
  }

  turning(node: string, sequence: number): void {
    this.#answered(node, sequence, "turning");
  }

  /** A node has connected, with this matrix in force and these about to be. */
  greeted(node: string, sequence: number, turning: readonly number[]): void {
    this.#askedMs.delete(node);
    this.raise(Math.max(sequence, ...turning));
    const newest = turning.at(-1) ?? sequence;
    const round = this.#roundOf.get(node);
    if (round?.phase === "turning") {
      // If the turn was lost, the round fails.
      if (newest === round.sequence) this.turning(node, newest);
      return;
    }
    this.#learn(node, newest);
    if (round?.phase === "staging") {
      // What was sent before may be lost, and an answer may be of an earlier conductor.
      round.missing.add(node);
      this.#stageOn(round, node);
    } else this.#advance();
  }

  /** Other nodes take part. */
  again(): void {
    this.#advance();
  }

  /** A node no longer takes part. What it gets and does from now on is unknown. */
  left(node: string): void {
    this.#askedMs.delete(node);
    this.#factor.delete(node);
    this.#held.delete(node);
    const round = this.#roundOf.get(node);
    if (round === undefined) return;
    this.#roundOf.delete(node);
    round.rows.delete(node);
    round.missing.delete(node);
    if (round.rows.size === 0) this.#drop(round);
    else this.#settle(round);
  }

  /** Forgets everything: the nodes are others. */
  reset(): void {
    for (const round of this.#rounds) this.#drop(round);
    this.#askedMs.clear();
    this.#factor.clear();
    this.#held.clear();
    this.#wish = undefined;
  }

  #answered(node: string, sequence: number, phase: Round["phase"]): void {
    this.#askedMs.delete(node);
    const round = this.#roundOf.get(node);
    if (round?.phase !== phase || round.sequence !== sequence) return;
    round.missing.delete(node);
    this.#settle(round);
  }

  /** The node says that this is its newest matrix. */
  #learn(node: string, sequence: number): void {
    const known = [...(this.#held.get(node) ?? []), NOTHING].find((held) => held.sequence === sequence);
    if (known !== undefined) this.#held.set(node, [known]);
    else this.#held.delete(node);
  }

  /** Begins rounds for nodes that must change, unless earlier ones of these are about to take effect. */
  #advance(): void {
    const wish = this.#wish;
    if (wish === undefined) return;
    const changes = new Map<string, NodeRows>();
    for (const node of this.#options.nodes()) {
      const rows = wish.on(node);
      const held = this.#held.get(node);
      if (held?.length !== 1 || held[0].rows.text !== rows.text) changes.set(node, rows);
    }
    const groups = groupsOf(changes, (node) => this.#held.get(node)?.map(({ rows }) => rows));
    const going = new Set<Round>();
    const next: Map<string, NodeRows>[] = [];
    for (const group of groups) {
      const rounds = new Set([...group.keys()].flatMap((node) => this.#roundOf.get(node) ?? []));
      const [only] = rounds;
      if (rounds.size === 1 && isStaging(only, group)) going.add(only);
      else if ([...rounds].every(({ phase }) => phase === "staging")) next.push(group);
    }
    for (const round of this.#rounds) if (round.phase === "staging" && !going.has(round)) this.#drop(round);
    for (const rows of next) this.#stage(rows, wish.slotMs);
  }

  #stage(rows: Map<string, NodeRows>, slotMs: number): void {
    const sequence = ++this.#sequence;
    const missing = new Set(rows.keys());
    const round: Round = {
      sequence,
      slotMs,
      rows,
      phase: "staging",
      missing,
      atSlot: 0,
      stopTimer: () => {},
    };
    this.#rounds.add(round);
    for (const node of missing) {
      this.#roundOf.set(node, round);
      this.#stageOn(round, node);
    }
    const untilMs = Math.min(...[...missing].map((node) => this.#askedMs.get(node)!)) + PATIENCE_MS;
    this.#at(round, this.#options.clock.nowMs() + AGAIN_MS, () => this.#stageAgain(round, untilMs));
  }

  #stageOn({ rows, sequence }: Round, node: string): void {
    this.#ask(node, { type: "stage", matrix: rows.get(node)!.matrix(sequence) });
  }

  #stageAgain(round: Round, untilMs: number): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs >= untilMs) {
      this.#failIfMissing(round);
      return;
    }
    for (const node of round.missing) this.#stageOn(round, node);
    this.#at(round, Math.min(nowMs + AGAIN_MS, untilMs), () => this.#stageAgain(round, untilMs));
  }

  /** Goes on if no answer is missing. */
  #settle(round: Round): void {
    if (round.missing.size > 0) return;
    if (round.phase === "staging") this.#turn(round);
    else if (round.phase === "turning") {
      round.phase = "turned";
      for (const [node, rows] of round.rows) {
        this.#held.set(node, [{ sequence: round.sequence, rows }]);
        this.#factor.delete(node);
      }
      // The next matrix is staged when this one is in force, also on clocks that are a little behind.
      this.#at(round, this.#startOf(round) + round.slotMs / 4, () => {
        this.#drop(round);
        this.#advance();
      });
    }
  }

  #turn(round: Round): void {
    const { clock, epochMs } = this.#options;
    const { slotMs, sequence, rows } = round;
    const nowMs = clock.nowMs();
    const factor = Math.max(...[...rows.keys()].map((node) => this.#factor.get(node) ?? 1));
    const aheadMs = factor * Math.max(MIN_AHEAD_SLOTS * slotMs, MIN_AHEAD_MS);
    const atSlot = Math.ceil((nowMs + aheadMs - epochMs()) / slotMs);
    round.phase = "turning";
    round.atSlot = atSlot;
    round.missing = new Set(rows.keys());
    for (const [node, own] of rows) {
      // Before it answers, it may have either. What nobody knows stays unknown.
      const before = this.#held.get(node);
      if (before !== undefined) this.#held.set(node, [...before, { sequence, rows: own }]);
      this.#ask(node, { type: "turn", sequence, atSlot });
    }
    this.#at(round, (nowMs + this.#startOf(round)) / 2, () => this.#failIfMissing(round));
  }

  /** A timer that is late comes before answers that have arrived in time, so these are read first. */
  #failIfMissing(round: Round): void {
    const { phase } = round;
    this.#options.clock.soon(() => {
      if (this.#rounds.has(round) && round.phase === phase) this.#fail(round);
    });
  }

  /** Answers are missing. The nodes that have not answered for long leave; then the others go on alone. */
  #fail(round: Round): void {
    const { clock, send, onMissing } = this.#options;
    const nowMs = clock.nowMs();
    if (round.phase === "turning") {
      for (const node of round.missing)
        this.#factor.set(node, Math.min(MAX_FACTOR, 2 * (this.#factor.get(node) ?? 1)));
      // From its slot on, the matrix is in force on the nodes that have answered.
      const isRevocable = nowMs < this.#startOf(round);
      if (isRevocable)
        for (const node of round.rows.keys()) send(node, { type: "revoke", sequence: round.sequence });
    }
    this.#drop(round);
    for (const node of round.missing) {
      if ((this.#askedMs.get(node) ?? Number.POSITIVE_INFINITY) > nowMs - PATIENCE_MS) continue;
      this.#askedMs.delete(node);
      onMissing(node);
    }
    this.#advance();
  }

  #ask(node: string, message: ToTurning): void {
    if (!this.#askedMs.has(node)) this.#askedMs.set(node, this.#options.clock.nowMs());
    this.#options.send(node, message);
  }

  #drop(round: Round): void {
    round.stopTimer();
    this.#rounds.delete(round);
    for (const node of round.rows.keys()) if (this.#roundOf.get(node) === round) this.#roundOf.delete(node);
  }

  #startOf({ atSlot, slotMs }: Round): number {
    return this.#options.epochMs() + atSlot * slotMs;
  }

  #at(round: Round, atMs: number, call: () => void): void {
    round.stopTimer();
    round.stopTimer = this.#options.clock.at(atMs, call);
  }
}

/** Whether the round is about to bring these nodes, and no others, to these rows. */
function isStaging({ phase, rows }: Round, wanted: ReadonlyMap<string, NodeRows>): boolean {
  return (
    phase === "staging" &&
    rows.size === wanted.size &&
    [...wanted].every(([node, { text }]) => rows.get(node)?.text === text)
  );
}
