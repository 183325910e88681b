/**
 * One node of the allocation: the link to its conductor, its heartbeat and its clock. A ping each half
 * second is both heartbeat and measurement; the first ones follow each other at once.
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { AllocatedNode, Cluster, NodeLink } from "./cluster.ts";
import { LOST_MS, NodeHealth, type NodeState, SILENT_MS } from "./node-health.ts";
import { ClockOffset, type Offset } from "./offset.ts";

const PING_MS = 500;
const FIRST_PING_MS = 10;
const GRID_MS = 10_000;

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
  #gridMs = Number.NEGATIVE_INFINITY;
  #timer: (() => void) | undefined;

  constructor({ node, cpus, lostJobs = [] }: AllocatedNode, options: NodeOptions) {
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
    return `no answer for ${SILENT_MS / 1000} s: its gangs are stopped everywhere, and lost after ${LOST_MS / 1000} s more`;
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
    this.#gridMs = this.#options.clock.nowMs();
    const stopAtMs = this.#options.stopAtMs();
    this.send({
      type: "grid",
      epochMs: epochMs + offset.offsetMs,
      stopAtMs: stopAtMs && stopAtMs + offset.offsetMs,
    });
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
    if (message.type === "pong") this.#pong(message.id, message.nowMs);
    else if (message.type === "vacant") {
      if (this.health.state === "lost") this.#options.onVacant(this);
    } else if (message.type === "leaving") {
      if (this.isLeaving) return;
      this.isLeaving = true;
      this.#options.onLeaving(this);
    } else if (message.type !== "output") {
      if (message.type === "state") {
        this.state = message;
        this.isStale = false;
        this.sendGrid();
      } else if (isNews(message)) this.isStale = true;
      this.#options.onMessage(this, message);
    }
  }

  #ping(call?: () => void): void {
    if (!this.#isOpen || !this.#isGreeted) return;
    this.#pings.set(++this.#lastPing, { sentMs: this.#options.clock.nowMs(), call });
    this.send({ type: "ping", id: this.#lastPing });
  }

  #pong(id: number, nodeMs: number): void {
    const ping = this.#pings.get(id);
    if (ping === undefined) return;
    this.#pings.delete(id);
    const nowMs = this.#options.clock.nowMs();
    this.#offset.add(ping.sentMs, nodeMs, nowMs);
    if (this.state !== undefined) this.#changed(this.health.heard(nowMs));
    const hadClock = this.#hasClock;
    this.#hasClock = this.#offset.at(nowMs) !== undefined;
    if (!hadClock) this.#tick();
    if (this.#hasClock && !hadClock) {
      this.sendGrid();
      this.#options.onClock(this);
    }
    ping.call?.();
  }

  /** Sends the next ping, and notices silence. */
  #tick(): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    this.#timer?.();
    this.#changed(this.health.advance(clock.nowMs()));
    if (this.#isClosed) return;
    if (this.#isOpen && !this.#isGreeted) this.greet();
    if (this.#hasClock && clock.nowMs() >= this.#gridMs + GRID_MS) this.sendGrid();
    this.#ping();
    const pauseMs = this.#isGreeted && !this.#hasClock ? FIRST_PING_MS : PING_MS;
    this.#timer = clock.at(clock.nowMs() + pauseMs, () => this.#tick());
  }

  #changed(state: NodeState | undefined): void {
    if (state !== undefined) this.#options.onHealth(this, state);
  }
}

/** Whether a message changes what a state would list. */
function isNews({ type }: FromConductor): boolean {
  return type === "ready" || type === "launched" || type === "ended";
}
