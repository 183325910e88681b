/**
 * One node of the allocation: the link to its conductor, its heartbeat and its clock. Whatever its conductor
 * says is a heartbeat; a ping is sent when it says nothing, and when its clock must be measured again. The
 * first pings follow each other at once.
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { AllocatedNode, Cluster, NodeLink } from "./cluster.ts";
import { LOST_MS, NodeHealth, type NodeState, SILENT_MS } from "./node-health.ts";
import { ClockOffset, MAX_DRIFT, MIN_TRIPS, type Offset } from "./offset.ts";

/** A conductor that has said nothing for so long is asked. While gangs take turns, it reports each second. */
const QUIET_MS = 1250;
const PING_MS = 500;
const FIRST_PING_MS = 10;
const TOGETHER_MS = 100;
/** The clock should be known to this part of a slot. */
const CLOCK_SLOTS = 0.04;
/** Slow round trips do not improve it: after this number, what is known has to do for a while. */
const CLOCK_TRIES = 3;
const GRID_MS = 10_000;
/** A smaller correction of the grid is not worth a message, which the conductor writes to its disk. */
const GRID_STEP_MS = 0.05;
const STOP_STEP_MS = 100;

type StateMessage = Extract<FromConductor, { type: "state" }>;

/** What a conductor says about its gangs. */
export type NodeMessage = Exclude<FromConductor, { type: "pong" | "vacant" | "leaving" | "output" }>;

interface NodeOptions {
  readonly clock: Clock;
  readonly cluster: Cluster;
  /** Names of this front end and of its state folder, for the conductor. */
  readonly frontEnd: string;
  readonly owner: string;
  /** Start of slot 0 on this machine's clock; undefined until it is known. */
  readonly epochMs: () => number | undefined;
  /** When what still runs there is stopped, on this machine's clock; undefined: the node stays. */
  readonly stopAtMs: () => number | undefined;
  readonly slotMs: () => number;
  /** Whether this front end may ask to own its jobs. */
  readonly mayAsk: () => boolean;
  readonly onMessage: (node: ClusterNode, message: NodeMessage) => void;
  /** It was lost, and nothing runs there. */
  readonly onVacant: (node: ClusterNode) => void;
  /** The cluster takes it away. */
  readonly onLeaving: (node: ClusterNode) => void;
  readonly onHealth: (node: ClusterNode, state: NodeState) => void;
  /** Its clock is known for the first time, or again. */
  readonly onClock: (node: ClusterNode) => void;
}

export class ClusterNode {
  readonly name: string;
  readonly cpus: readonly number[];
  /** Of the node for jobs, if it is known. */
  readonly memoryBytes: number | undefined;
  readonly health: NodeHealth;
  /** Last state that its conductor has sent since the connection was opened. */
  state: StateMessage | undefined;
  /** Whether attempts have changed since its last state. */
  isStale = false;
  /** Attempts that it must end, although they belong to no gang. */
  readonly leftovers = new Set<string>();
  /** Jobs that have lost an attempt on it, so they must not run there again. */
  readonly lostJobs: Set<number>;
  /** The cluster takes it away. */
  isLeaving = false;
  readonly #options: NodeOptions;
  readonly #link: NodeLink;
  #offset = new ClockOffset();
  #hasClock = false;
  #isOpen = false;
  /** Whether hello was sent since the connection was opened. */
  #isGreeted = false;
  #isClosed = false;
  /** Why there was no connection last; undefined: it has answered since. */
  #closedBecause: string | undefined;
  #lastPing = 0;
  #pings = new Map<number, { readonly sentMs: number; readonly call: (() => void) | undefined }>();
  /** The grid that it was sent last, and when. */
  #grid: { readonly sentMs: number; readonly epochMs: number; readonly stopAtMs: number | undefined } = {
    sentMs: Number.NEGATIVE_INFINITY,
    epochMs: Number.NaN,
    stopAtMs: undefined,
  };
  #heardMs = Number.NEGATIVE_INFINITY;
  /** When its clock must be measured again, and how often that was tried since. */
  #clockDueMs = Number.NEGATIVE_INFINITY;
  #clockTries = 0;
  #timer: (() => void) | undefined;

  constructor({ node, cpus, memoryBytes, lostJobs = [] }: AllocatedNode, options: NodeOptions) {
    this.memoryBytes = memoryBytes;
    this.name = node;
    this.cpus = cpus;
    this.#options = options;
    this.lostJobs = new Set(lostJobs);
    this.health = new NodeHealth(options.clock.nowMs(), lostJobs.length > 0);
    this.#link = options.cluster.link(node, {
      opened: () => this.#opened(),
      message: (message) => this.#message(message),
      closed: (because) => this.#disconnected(because),
    });
    this.#tick();
  }

  /** Whether it takes part in turning. */
  get isUp(): boolean {
    return this.health.state === "up" && this.#hasClock && this.state !== undefined;
  }

  /** Number of the last matrix that it has in force or will have. */
  get lastSequence(): number {
    const { sequence = -1, turning = [] } = this.state ?? {};
    return Math.max(sequence, ...turning.map((one) => one.sequence));
  }

  /** What happens to its gangs while it is silent, for people. */
  get silentRule(): string {
    return `no answer for ${SILENT_MS / 1000} s: its gangs are stopped on the other nodes, and lost after ${LOST_MS / 1000} s more`;
  }

  /** Why it is lost, for people. */
  get lostRule(): string {
    if (this.health.isDown) return "the cluster says that it is down";
    return `no answer for ${(SILENT_MS + LOST_MS) / 1000} s`;
  }

  /** The same, with what the last connection said. */
  get lostText(): string {
    const because = this.health.isDown ? undefined : this.#closedBecause;
    return because === undefined ? this.lostRule : `${this.lostRule} (${because})`;
  }

  /** Whether nothing starts there from now on. */
  get isGivenUp(): boolean {
    return this.isLeaving || this.health.state === "lost";
  }

  get offset(): Offset | undefined {
    return this.#offset.at(this.#options.clock.nowMs());
  }

  send(message: ToConductor): void {
    if (!this.#isClosed) this.#link.send(message);
  }

  /** Asks for its state again. */
  greet(): void {
    if (!this.#options.mayAsk()) return;
    this.#isGreeted = true;
    const { frontEnd, owner } = this.#options;
    this.send({ type: "hello", protocol: 3, frontEnd, owner });
  }

  /**
   * Calls back when its conductor has read everything that was sent before. Never, if the connection is
   * lost.
   */
  afterAll(call: () => void): void {
    this.#ping(call);
  }

  /** Tells it where slot 0 begins on its own clock. */
  sendGrid(): void {
    const epochMs = this.#options.epochMs();
    const { offset } = this;
    if (epochMs === undefined || offset === undefined) return;
    const stopAtMs = this.#options.stopAtMs();
    this.#grid = {
      sentMs: this.#options.clock.nowMs(),
      epochMs: epochMs + offset.offsetMs,
      stopAtMs: stopAtMs && stopAtMs + offset.offsetMs,
    };
    const { sentMs: _, ...grid } = this.#grid;
    this.send({ type: "grid", ...grid });
  }

  /** It does not do what it should, although it answers. */
  silence(): void {
    this.#changed(this.health.silence(this.#options.clock.nowMs()));
  }

  down(): void {
    this.#changed(this.health.down(this.#options.clock.nowMs()));
  }

  /** A job has lost an attempt on it. */
  addLostJob(job: number): void {
    if (this.lostJobs.has(job) || this.#options.cluster.readmits) return;
    this.lostJobs.add(job);
    this.#options.cluster.setLostJobs(this.name, [...this.lostJobs]);
  }

  /** These jobs have ended. */
  dropLostJobs(jobs: readonly number[]): void {
    for (const job of jobs) this.lostJobs.delete(job);
    this.#options.cluster.setLostJobs(this.name, [...this.lostJobs]);
  }

  admit(): void {
    this.#changed(this.health.admit(this.#options.clock.nowMs()));
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.();
    this.#link.close();
  }

  #opened(): void {
    if (this.#isClosed) return;
    this.#isOpen = true;
    this.#isGreeted = false;
    this.#pings.clear();
    this.begin();
  }

  /** Says hello if it may. */
  begin(): void {
    if (!this.#isOpen || this.#isGreeted) return;
    this.greet();
    this.#tick();
  }

  #disconnected(because: string): void {
    this.#closedBecause = because;
    this.#isOpen = false;
    this.#isGreeted = false;
    this.#pings.clear();
  }

  #message(message: FromConductor): void {
    if (this.#isClosed) return;
    this.#closedBecause = undefined;
    const isFirst = this.state === undefined;
    if (message.type === "state") this.state = message;
    // That one is not from a conductor.
    if (message.type !== "vacant") this.#heard();
    if (message.type === "pong") this.#pong(message.id, message.nowMs);
    else if (message.type === "vacant") {
      if (this.health.state === "lost") this.#options.onVacant(this);
    } else if (message.type === "leaving") {
      if (this.isLeaving) return;
      this.isLeaving = true;
      this.#options.onLeaving(this);
    } else if (message.type !== "output") {
      if (message.type === "state") {
        this.isStale = false;
        this.sendGrid();
        if (isFirst) this.#tick();
      } else if (isNews(message)) this.isStale = true;
      this.#options.onMessage(this, message);
    }
  }

  /** It has said something, which counts unless it leaves a ping without an answer all the same. */
  #heard(): void {
    const nowMs = this.#options.clock.nowMs();
    this.#heardMs = nowMs;
    const [oldest] = this.#pings.values();
    const isDeaf = oldest !== undefined && nowMs >= oldest.sentMs + SILENT_MS;
    if (this.state !== undefined && !isDeaf) this.#changed(this.health.heard(nowMs));
  }

  #ping(call?: () => void): void {
    if (!this.#isOpen || !this.#isGreeted) return;
    const nowMs = this.#options.clock.nowMs();
    if (this.#pings.size === 0) this.health.asked(nowMs);
    this.#pings.set(++this.#lastPing, { sentMs: nowMs, call });
    this.send({ type: "ping", id: this.#lastPing });
  }

  #pong(id: number, nodeMs: number): void {
    const ping = this.#pings.get(id);
    if (ping === undefined) return;
    this.#pings.delete(id);
    const nowMs = this.#options.clock.nowMs();
    this.#offset.add(ping.sentMs, nodeMs, nowMs);
    const hadClock = this.#hasClock;
    const offset = this.#offset.at(nowMs);
    this.#hasClock = offset !== undefined;
    if (offset !== undefined) this.#measured(offset.uncertaintyMs, nowMs);
    // The first answer, or the last one of the first measurement: other pauses from now on.
    if (hadClock !== this.#hasClock) this.#tick();
    if (this.#hasClock && !hadClock) {
      this.sendGrid();
      this.#options.onClock(this);
    }
    ping.call?.();
  }

  /** Finds when the clock must be measured again: when drift has made it too uncertain. */
  #measured(uncertaintyMs: number, nowMs: number): void {
    const wantedMs = CLOCK_SLOTS * this.#options.slotMs();
    if (uncertaintyMs > wantedMs && ++this.#clockTries < CLOCK_TRIES) return;
    this.#clockTries = 0;
    this.#clockDueMs = nowMs + Math.max(wantedMs - uncertaintyMs, wantedMs / 2) / MAX_DRIFT;
  }

  /** Sends the next ping if one is due, and notices silence. */
  #tick(): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    this.#timer?.();
    // Who was busy for long has not read yet what it said.
    if (clock.nowMs() >= this.health.dueMs) clock.soon(() => this.#advance());
    if (this.#isOpen && !this.#isGreeted) this.greet();
    const nowMs = clock.nowMs();
    if (this.#hasClock && nowMs >= this.#grid.sentMs + GRID_MS) this.#correctGrid();
    if (nowMs >= this.#pingDueMs) this.#ping();
    const dueMs = together(Math.max(this.#pingDueMs, nowMs + this.#pauseMs), nowMs);
    this.#timer = clock.at(Math.min(dueMs, Math.max(nowMs + 1, this.health.dueMs)), () => this.#tick());
  }

  #advance(): void {
    if (!this.#isClosed) this.#changed(this.health.advance(this.#options.clock.nowMs()));
  }

  /** When the next ping is due, whether the last one was answered or not. */
  get #pingDueMs(): number {
    if (!this.#hasClock || !this.#isGreeted) return Number.NEGATIVE_INFINITY;
    return Math.min(this.#heardMs + QUIET_MS, this.#clockDueMs);
  }

  get #pauseMs(): number {
    const isFirst = this.#isGreeted && this.state !== undefined && !this.#hasClock;
    return isFirst && this.#pings.size < MIN_TRIPS ? FIRST_PING_MS : PING_MS;
  }

  #correctGrid(): void {
    const epochMs = this.#options.epochMs();
    const { offset } = this;
    if (epochMs === undefined || offset === undefined) return;
    const { epochMs: sentMs, stopAtMs: sentStopMs } = this.#grid;
    const stopAtMs = this.#options.stopAtMs();
    const isSameStop =
      stopAtMs === undefined
        ? sentStopMs === undefined
        : sentStopMs !== undefined && Math.abs(stopAtMs + offset.offsetMs - sentStopMs) < STOP_STEP_MS;
    const isSameGrid = Math.abs(epochMs + offset.offsetMs - sentMs) < GRID_STEP_MS;
    if (!isSameGrid || !isSameStop) this.sendGrid();
  }

  #changed(state: NodeState | undefined): void {
    if (state !== undefined) this.#options.onHealth(this, state);
  }
}

/** Nodes that may wait are looked at together: waking up costs more than looking at a node. */
function together(dueMs: number, nowMs: number): number {
  return dueMs < nowMs + TOGETHER_MS ? dueMs : Math.ceil(dueMs / TOGETHER_MS) * TOGETHER_MS;
}

/** Whether a message changes what a state would list. */
function isNews({ type }: FromConductor): boolean {
  return type === "ready" || type === "launched" || type === "ended";
}
