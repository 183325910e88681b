/**
 * Runs gangs on the nodes of a cluster: one conductor per node, which all turn the same rows at the same
 * slots, also if the nodes belong to several allocations. It knows nodes, gangs and clocks. How nodes are
 * obtained and reached, only the `Cluster` knows.
 *
 *   front end ──commands──▶ gangs (gang.ts) ──launch, join, step, stop──▶ conductors
 *                          rows (rows.ts) ──▶ turning.ts ──stage, turn──▶ conductors
 *   front end ◀──reports─── gangs ◀──ready, launched, ended── cluster-node.ts ◀── conductors
 *
 * It stores nothing. A new front end learns everything from the conductors, which keep each attempt until
 * its end was stored.
 */
import type { Clock } from "@tutti/host/clock.ts";
import { plural } from "@tutti/kernel/core/format.ts";
import type { IdentifiedAttempt, InputPiece } from "@tutti/protocol/attempts.ts";
import type {
  Capabilities,
  Capacity,
  Command,
  Demand,
  Executor,
  Hindrance,
  NodeSource,
  Report,
} from "../executor.ts";
import { capacityOf, DemandGate } from "./capacity.ts";
import { type Allocation, type Cluster, ON_CLUSTER } from "./cluster.ts";
import { ClusterNode, type NodeMessage } from "./cluster-node.ts";
import { epochOf } from "./first-answers.ts";
import type { Gang } from "./gang.ts";
import { gangWorld, Listeners } from "./gang-world.ts";
import { Gangs, unknownText } from "./gangs.ts";
import { HeldAllocation } from "./held-allocation.ts";
import { hindranceOf } from "./hindrance.ts";
import { Inputs } from "./inputs.ts";
import { type Claims, launchGang } from "./launching.ts";
import type { NodeState } from "./node-health.ts";
import { NodeNews } from "./node-news.ts";
import { NodeObserver } from "./node-observer.ts";
import { RowSender } from "./row-sender.ts";
import { Steps } from "./steps.ts";
import { Turning } from "./turning.ts";

/** Steps that run at once, unless configured. */
const STEPS = 16;
const REPORT_MS = 1000;
/** Nodes that become silent, or answer again, change the rows of all nodes together with others. */
const HEALTH_MS = 100;
/** An allocation that another front end uses is asked for again after this time. */
const OCCUPIED_MS = 15_000;

interface ClusterOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Names of this front end and of its state folder, for the conductors. */
  readonly frontEnd: string;
  readonly owner: string;
  /** Most steps at once. */
  readonly steps?: number;
  readonly claims: Claims;
  /** With the provider's words; left out: those of any cluster. */
  readonly capabilities?: Capabilities;
  /** Whether the end of the front end with all its jobs leaves the allocation. */
  readonly keepAllocation?: boolean;
}

export class ClusterExecutor implements Executor {
  readonly capabilities: Capabilities;
  readonly nodeSource: NodeSource;
  readonly #options: ClusterOptions;
  readonly #gangs: Gangs;
  readonly #steps: Steps<Gang>;
  readonly #turning: Turning;
  readonly #rows: RowSender;
  readonly #observer: NodeObserver;
  readonly #news: NodeNews;
  readonly #inputs: Inputs;
  readonly #listeners = new Listeners();
  readonly #nodes = new Map<string, ClusterNode>();
  #capacity: Capacity;
  /** By name, in the order in which they began. */
  readonly #held = new Map<string, HeldAllocation>();
  #trouble: string | undefined;
  rests: string | undefined;
  readonly #demand: DemandGate;
  #isConnected = false;
  #isClosed = false;
  #isShuttingDown = false;
  #epochMs: number | undefined;
  /** End the waits for allocations that another front end uses. */
  readonly #cancelRetries = new Map<string, () => void>();
  #cancelTick: (() => void) | undefined;
  #cancelHealth: (() => void) | undefined;

  constructor(options: ClusterOptions) {
    const { cluster, clock, steps = STEPS } = options;
    this.#options = options;
    this.capabilities = options.capabilities ?? ON_CLUSTER;
    this.nodeSource = cluster;
    this.#steps = new Steps(steps);
    this.#gangs = new Gangs(
      gangWorld({
        clock,
        cluster,
        steps: this.#steps,
        nodeOf: (node) => this.#nodes.get(node),
        rowsChanged: () => this.#rows.changed(),
        report: (report) => {
          if (this.#isConnected) this.#report(report);
        },
      }),
    );
    this.#inputs = new Inputs({
      clock,
      gangs: this.#gangs,
      send: (node, message) => this.#nodes.get(node)?.send(message),
    });
    this.#turning = new Turning({
      clock,
      epochMs: () => this.#epochMs ?? 0,
      nodes: () => this.#upNodes().map(({ name }) => name),
      send: (node, message) => this.#nodes.get(node)?.send(message),
      onMissing: (node) => this.#nodes.get(node)?.silence(),
    });
    const isUp = (node: string) => this.#nodes.get(node)?.isUp === true;
    this.#rows = new RowSender({ clock, gangs: this.#gangs, turning: this.#turning, isUp });
    this.#observer = new NodeObserver({
      clock,
      nodes: () => [...this.#nodes.values()],
      slotMs: () => this.#rows.slotMs,
      report: (report) => {
        if (!this.#isClosed) this.#report(report);
      },
    });
    this.#news = new NodeNews({
      gangs: this.#gangs,
      turning: this.#turning,
      observer: this.#observer,
      inputs: this.#inputs,
      report: (report) => this.#report(report),
      gangsChanged: () => this.#gangsChanged(),
    });
    this.#demand = new DemandGate(cluster);
    this.#capacity = this.#capacityNow();
    cluster.start({
      allocated: (allocation) => this.#allocated(allocation),
      nodeDown: (node) => this.#nodes.get(node)?.down(),
      released: (name, because) => this.#released(name, because),
      closing: (name, because) => {
        this.#held.get(name)?.leaving.beginForGood(clock.nowMs());
        this.#changeCapacity(because);
      },
      rests: (text) => {
        this.rests = text;
      },
      trouble: (text) => this.#setTrouble(text),
      notice: (kind, text, node) => this.#notice(kind, text, node),
    });
    this.#tick();
  }

  get capacity(): Capacity {
    return this.#capacity;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  setDemand = (demand: Demand): void => this.#demand.set(demand, this.#capacity);

  sendInput = (attempt: IdentifiedAttempt, piece: InputPiece) => this.#inputs.send(attempt, piece);

  hindrance(attempt: IdentifiedAttempt): Hindrance | undefined {
    const gang = this.#gangs.find(attempt, attempt.identity);
    const isOffByWord = this.capabilities.offByWord === true;
    return gang && hindranceOf(gang, this.#nodes, this.#options.clock, isOffByWord);
  }

  listen(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void {
    const remove = this.#listeners.add(onReport, onDisconnect);
    if (this.#isConnected) onReport(this.#gangs.connected(this.#epochMs));
    else if (this.#trouble !== undefined) onDisconnect(this.#trouble);
    return remove;
  }

  apply(commands: readonly Command[]): void {
    if (!this.#isConnected) return;
    for (const command of commands) this.#do(command);
    this.#gangsChanged();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isConnected = false;
    this.#cancelTick?.();
    this.#cancelHealth?.();
    for (const cancel of this.#cancelRetries.values()) cancel();
    this.#turning.reset();
    for (const held of this.#held.values()) held.close();
    this.#options.cluster.close();
  }

  #do(command: Command): void {
    switch (command.type) {
      case "launch":
        launchGang(command.spec, {
          gangs: this.#gangs,
          nodeOf: (node) => this.#nodes.get(node),
          claims: this.#options.claims,
          reportEnd: (end) => this.#report({ type: "ended", end }),
          unixMs: this.#options.clock.unixMs(),
        });
        return;
      case "matrix":
        if (this.#held.size === 0) {
          // Its ends are reported: see #settle().
          this.#disconnect(this.#trouble ?? "there is no allocation");
          return;
        }
        this.#gangs.dropUnclaimed();
        this.#rows.set(command.matrix);
        return;
      case "stop": {
        const gang = this.#gangs.find(command.attempt, command.identity);
        if (gang !== undefined) gang.stop(command.kill, command.reason);
        else this.#report({ type: "refused", message: unknownText(command.attempt) });
        return;
      }
      case "signal":
        this.#gangs.find(command.attempt, command.identity)?.signal(command.name, command.to);
        return;
      case "keep":
        this.#gangs.find(command.attempt, command.identity)?.keep();
        return;
      case "forget":
        this.#gangs.forget(command.attempt, command.identity);
        return;
      case "admit":
        this.#news.admit(this.#nodes.get(command.node), command.jobs);
        return;
      case "off":
        this.#off(command);
        return;
      case "shutdown": {
        const message = this.#gangs.shutDown(command.killJobs);
        this.#isShuttingDown ||= message === undefined;
        if (message !== undefined) this.#report({ type: "refused", message });
      }
    }
  }

  #off({ node, by }: Extract<Command, { type: "off" }>): void {
    if (this.#nodes.get(node)?.health.state !== "lost") return;
    this.#notice("node-off", `node ${node}: ${by} says that nothing runs there; its gangs are lost`, node);
    this.#gangs.vacant(node);
  }

  // Allocations.

  #allocated(
    allocation: Allocation,
    trouble = `waiting for the first answer of ${plural(allocation.nodes.length, "node")}`,
  ): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const { name, end } = allocation;
    this.#cancelRetry(name);
    const known = this.#held.get(name);
    const held = known ?? new HeldAllocation(allocation, clock.nowMs());
    held.allocation = allocation;
    held.setMakeRoom(
      end &&
        clock.at(end.stopAtMs, () =>
          this.#report({ type: "make-room", reason: `allocation ${name} ends`, part: name }),
        ),
    );
    if (known !== undefined) {
      this.#changeCapacity(`allocation ${name} has changed`);
      return;
    }
    // What the front end knows of a machine without nodes counts no longer.
    if (this.#held.size === 0) this.#disconnectSilently();
    this.#held.set(name, held);
    held.nodes = this.#nodesFor(held);
    if (!this.#isConnected) this.#setTrouble(trouble);
  }

  /** No nodes are left that an earlier allocation had, so another grid of slots begins. */
  #disconnectSilently(): void {
    this.#isConnected = false;
    this.#epochMs = undefined;
  }

  /** A node that another allocation has lost may come back in this one. */
  #nodesFor(held: HeldAllocation): ClusterNode[] {
    const { cluster, clock, frontEnd, owner } = this.#options;
    const made: ClusterNode[] = [];
    for (const node of held.allocation.nodes) {
      const other = this.#nodes.get(node.node);
      if (other?.health.isDown) other.close();
      else if (other !== undefined) {
        this.#notice(
          "node-twice",
          `node ${node.node} is in two allocations: it does not take part in ${held.name}`,
          node.node,
        );
        continue;
      }
      const index = made.length;
      const one = new ClusterNode(node, {
        clock,
        cluster,
        frontEnd,
        owner,
        epochMs: () => this.#epochMs,
        slotMs: () => this.#rows.slotMs,
        stopAtMs: () => held.allocation.end?.stopAtMs,
        mayAsk: () => held.ownership.mayAsk(index, clock.nowMs()),
        onMessage: (from, message) => {
          const isFirst = message.type === "state" && held.ownership.accepted();
          this.#onMessage(held, from, message);
          if (isFirst) for (const sibling of held.nodes) sibling.begin();
        },
        onHealth: (of, state) => this.#onHealth(held, of, state),
        onVacant: ({ name }) => this.#gangs.vacant(name),
        onLeaving: ({ name }) => {
          held.leaving.begin(clock.nowMs());
          this.#changeCapacity(`node ${name} is taken away`);
        },
        onClock: () => {
          this.#tryToConnect();
          this.#turning.again();
          this.#rows.changed();
        },
      });
      made.push(one);
      this.#nodes.set(node.node, one);
    }
    return made;
  }

  /** Another front end has the allocation: leaves it alone for a while. */
  #yieldTo(held: HeldAllocation, other: string): void {
    const { allocation, name } = held;
    this.#drop(held);
    if (this.#held.size === 0) this.#disconnectSilently();
    else if (held.isInUse) this.#changeCapacity(`allocation ${name} is used by ${other}`);
    const trouble = `allocation ${name} is used by ${other}; expected no other front end; end that one, or this one`;
    this.#setTrouble(trouble);
    const { clock } = this.#options;
    const cancel = clock.at(clock.nowMs() + OCCUPIED_MS, () => {
      this.#allocated(allocation, trouble);
    });
    this.#cancelRetries.set(name, cancel);
    this.#gangsChanged();
  }

  #cancelRetry(name: string): void {
    this.#cancelRetries.get(name)?.();
    this.#cancelRetries.delete(name);
  }

  #released(name: string | undefined, because: string): void {
    const held = name === undefined ? undefined : this.#held.get(name);
    if (name !== undefined) this.#cancelRetry(name);
    const ended = name === undefined ? because : `allocation ${name} has ended: ${because}`;
    const nodes = new Set(held && this.#ownNodes(held).map((node) => node.name));
    if (held !== undefined) this.#drop(held);
    if (this.#held.size > 0) {
      for (const gang of this.#gangs.all())
        if (gang.facts.nodes.some((node) => nodes.has(node))) gang.allGone(`its ${ended}`);
      this.#changeCapacity(ended);
      this.#rows.changed();
      this.#observer.nodesChanged();
      this.#gangsChanged();
      this.#tryToConnect();
      return;
    }
    const isKnown = this.#isConnected;
    this.#turning.reset();
    this.#rows.clear();
    this.#observer.clear();
    this.#observer.nodesChanged();
    for (const gang of this.#gangs.all()) gang.allGone(`its ${ended}`);
    this.#changeCapacity(ended);
    this.#gangsChanged();
    // The ends that the front end has not stored yet are listed again when it connects.
    this.#trouble = `there is no allocation: ${because}`;
    this.#disconnect(this.#trouble);
    if (!isKnown) this.#settle();
  }

  /** Without those that it has lost and another allocation has now. */
  #ownNodes({ nodes }: HeldAllocation): ClusterNode[] {
    return nodes.filter((node) => this.#nodes.get(node.name) === node);
  }

  #drop(held: HeldAllocation): void {
    for (const { name } of this.#ownNodes(held)) {
      this.#nodes.delete(name);
      this.#turning.left(name);
    }
    held.close();
    this.#held.delete(held.name);
  }

  /**
   * No node has reported what became of the front end's attempts. Connects without nodes until it has sent
   * what it wants: the attempts that it launches again are lost.
   */
  #settle(): void {
    this.#isConnected = true;
    this.#report(this.#gangs.connected(this.#epochMs));
  }

  /** Reports the connection, or takes an allocation into use, when enough nodes have answered. */
  #tryToConnect(): void {
    const { clock, cluster } = this.#options;
    const waiting = [...this.#held.values()].filter(({ isInUse }) => !isInUse);
    const answered = waiting.filter((held) => held.hasAnswered(clock.nowMs()));
    if (answered.length === 0 || answered.every(({ nodes }) => !nodes.some(({ isUp }) => isUp))) return;
    // An attempt of an earlier front end can be anywhere.
    if (!this.#isConnected && (answered.length < waiting.length || cluster.isFinding === true)) return;
    const nodes = answered.flatMap((held) => this.#ownNodes(held));
    const up = nodes.filter(({ isUp }) => isUp);
    const stale = up.filter(({ isStale }) => isStale);
    for (const node of stale) node.greet();
    if (stale.length > 0) return;
    this.#epochMs ??= epochOf(up, clock.nowMs());
    for (const node of up) {
      node.sendGrid();
      this.#turning.raise(node.lastSequence);
    }
    for (const held of answered) held.isInUse = true;
    const because = answered.map(({ name }) => `allocation ${name} has begun`).join(", ");
    if (this.#isConnected) {
      // What their nodes list belongs to no gang.
      for (const node of up) if (node.state !== undefined) this.#news.receive(node, node.state);
      this.#turning.again();
      this.#rows.changed();
      this.#changeCapacity(because);
    } else this.#connect(nodes, because);
    for (const { name } of answered.flatMap(({ awaited }) => awaited)) {
      this.#notice("node-silent", `node ${name} has not answered yet, and is lost if it does not soon`, name);
    }
    this.#observer.nodesChanged();
    this.#gangsChanged();
  }

  #connect(nodes: readonly ClusterNode[], because: string): void {
    this.#gangs.rebuild(nodes, (gang) => {
      gang.hadStep();
      this.#steps.has(gang);
    });
    this.#isConnected = true;
    this.#trouble = undefined;
    this.#changeCapacity(because);
    this.#report(this.#gangs.connected(this.#epochMs));
  }

  #upNodes(): ClusterNode[] {
    return [...this.#nodes.values()].filter(({ isUp }) => isUp);
  }

  #capacityNow(): Capacity {
    const parts = [...this.#held.values()].flatMap(({ part }) => part ?? []);
    return capacityOf(parts, this.#options.cluster);
  }

  #changeCapacity(because: string): void {
    this.#capacity = this.#capacityNow();
    this.#demand.pass(this.#capacity);
    if (this.#isConnected) this.#report({ type: "capacity", because });
  }

  #onMessage(held: HeldAllocation, node: ClusterNode, message: NodeMessage): void {
    const heldBy = message.type === "refused" ? message.heldBy : undefined;
    if (heldBy !== undefined && (!held.isInUse || !held.nodes.some(({ isUp }) => isUp)))
      this.#yieldTo(held, heldBy);
    else if (!held.isInUse && message.type === "state") this.#tryToConnect();
    else if (this.#isConnected && held.isInUse) this.#news.receive(node, message);
    // What else happens until then is in the states.
    else if (message.type === "refused") {
      this.#setTrouble(`node ${node.name} refuses: ${message.message}`);
    }
  }

  #onHealth(held: HeldAllocation, node: ClusterNode, state: NodeState): void {
    const { name } = node;
    if (!held.isInUse) {
      if (state === "lost") this.#setTrouble(`node ${name}: ${node.lostText}`);
      this.#tryToConnect();
      return;
    }
    if (state === "up") this.#notice("node-back", `node ${name} answers again and takes part`, name);
    else this.#turning.left(name);
    if (state === "silent") this.#notice("node-silent", `node ${name}: ${node.silentRule}`, name);
    if (state === "lost") this.#nodeLost(node);
    const isTableAnother = this.#capacity.nodes.nodes.some((entry) => entry.node === name) === node.isGivenUp;
    if (isTableAnother) this.#changeCapacity(`node ${name} is ${state}`);
    this.#healthChanged();
    this.#observer.nodesChanged();
    this.#gangsChanged();
  }

  /** Other nodes take turns. When many come and go, the rows are sent once for all of a moment. */
  #healthChanged(): void {
    if (this.#cancelHealth !== undefined) return;
    const { clock } = this.#options;
    this.#cancelHealth = clock.at(clock.nowMs() + HEALTH_MS, () => {
      this.#cancelHealth = undefined;
      this.#turning.again();
      this.#rows.changed();
    });
  }

  #nodeLost({ name, health, lostRule: rule, lostText }: ClusterNode): void {
    this.#notice("node-lost", `node ${name}: ${lostText}; its gangs are killed everywhere else`, name);
    this.#gangs.nodeLost(name, health.isDown, `node ${name} is lost: ${rule}`);
  }

  #tick(): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#isConnected) this.#observer.tick();
    this.#tryToConnect();
    for (const { leaving } of this.#held.values())
      if (leaving.isOver(nowMs)) this.#changeCapacity("no other node was taken away");
    this.#news.askAgain(this.#nodes.values(), nowMs);
    this.#cancelTick = clock.at(nowMs + REPORT_MS, () => this.#tick());
  }

  #gangsChanged(): void {
    const running = this.#gangs.running();
    const busy = [...this.#held.values()].map((held) => {
      const used = this.#ownNodes(held).filter((node) => running.some((gang) => gang.isOn(node.name)));
      return [held.name, used.length] as const;
    });
    // Another front end may have gangs on all nodes of these.
    const occupied = [...this.#cancelRetries.keys()].map((name) => [name, Number.POSITIVE_INFINITY] as const);
    this.#options.cluster.setBusy(new Map([...busy, ...occupied]));
    if (!this.#isShuttingDown || running.length > 0) return;
    this.#isShuttingDown = false;
    if (this.#options.keepAllocation) return;
    this.#options.cluster
      .release()
      .catch((error: Error) => this.#notice("release", error.message, undefined));
  }

  #notice(kind: string, text: string, node: string | undefined): void {
    this.#report({ type: "notice", kind, text, node });
  }

  #setTrouble(text: string | undefined): void {
    if (text === undefined || text === this.#trouble) {
      this.#trouble = text;
      return;
    }
    this.#trouble = text;
    if (this.#isConnected) this.#notice("trouble", text, undefined);
    else this.#disconnect(text);
  }

  #disconnect(reason: string): void {
    this.#isConnected = false;
    this.#listeners.disconnect(reason);
  }

  #report(report: Report): void {
    this.#listeners.report(report);
  }
}
