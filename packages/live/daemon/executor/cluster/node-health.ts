/**
 * Decides from its heartbeat whether a node takes part. Whatever it says is a heartbeat; it is asked when it
 * says nothing.
 *
 *   starting ──heard──▶ up ──3 s without a heartbeat──▶ silent ──20 s──▶ lost
 *                       ▲ ◀─────────heard again────────────┘              │
 *                       └──────────────── admit() ◀───────────────────────┘
 *
 * A lost node is given up: it takes part again only when its conductor has confirmed that nothing is left
 * on it, and when no job that has lost an attempt on it can run again. A node that the cluster calls down is
 * lost forever.
 */

export type NodeState = "starting" | "up" | "silent" | "lost";

/** A node that does not answer for this long is silent. */
export const SILENT_MS = 3000;
/** However long it had nothing to say, it has this time for an answer. */
const ANSWER_MS = 2500;
/** A node that is silent for this long is lost. */
export const LOST_MS = 20_000;
/** A node must answer for the first time within this time. */
const START_MS = SILENT_MS + LOST_MS;

export class NodeHealth {
  #state: NodeState = "starting";
  #isDown = false;
  /** When the present state began, or when the node was last heard if it is up. */
  #sinceMs: number;
  #heardMs: number;

  /** @param isLost whether an earlier front end has given it up */
  constructor(nowMs: number, isLost = false) {
    if (isLost) this.#state = "lost";
    this.#sinceMs = nowMs;
    this.#heardMs = nowMs;
  }

  /** When it was last heard; if never, when it was first expected. */
  get heardMs(): number {
    return this.#heardMs;
  }

  get state(): NodeState {
    return this.#state;
  }

  /** Whether the cluster itself has given it up, so that no process runs there. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** When `advance` must be called. */
  get dueMs(): number {
    if (this.#state === "lost") return Number.POSITIVE_INFINITY;
    const patience = { starting: START_MS, up: SILENT_MS, silent: LOST_MS }[this.#state];
    return this.#sinceMs + patience;
  }

  /** @returns the new state, if it has changed */
  heard(nowMs: number): NodeState | undefined {
    this.#heardMs = nowMs;
    if (this.#state === "lost") return undefined;
    const before = this.#state;
    this.#state = "up";
    this.#sinceMs = nowMs;
    return before === "up" ? undefined : "up";
  }

  /** It is asked for the first time since it was heard. */
  asked(nowMs: number): void {
    if (this.#state === "up") this.#sinceMs = Math.max(this.#sinceMs, nowMs + ANSWER_MS - SILENT_MS);
  }

  /** @returns the new state, if it has changed */
  advance(nowMs: number): NodeState | undefined {
    if (nowMs < this.dueMs) return undefined;
    return this.#set(this.#state === "up" ? "silent" : "lost", nowMs);
  }

  /** Counts as silent although it may still answer pings. */
  silence(nowMs: number): NodeState | undefined {
    return this.#state === "up" ? this.#set("silent", nowMs) : undefined;
  }

  /** The cluster has given it up: a change also if the node was lost already. */
  down(nowMs: number): NodeState | undefined {
    if (this.#isDown) return undefined;
    this.#isDown = true;
    return this.#set("lost", nowMs);
  }

  /** Nothing is left on it, and no job must avoid it. */
  admit(nowMs: number): NodeState | undefined {
    return this.#state === "lost" && !this.#isDown ? this.#set("up", nowMs) : undefined;
  }

  #set(state: NodeState, nowMs: number): NodeState {
    this.#state = state;
    this.#sinceMs = nowMs;
    return state;
  }
}
