/**
 * Simulates the nodes of a cluster in virtual time: clocks that disagree, links with random delays, cuts,
 * crashes and restarts. The nodes outlive front ends; `cluster()` makes the view of one front end. The same
 * seed gives the same run.
 */

import type { Clock } from "@tutti/host/clock.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { AttemptKey, IdentifiedAttempt, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { Demand } from "../executor.ts";
import type { Script, ScriptRecord } from "./attempts-for-tests.ts";
import type { AllocatedNode, Allocation, Cluster, ClusterListener, LinkListener } from "./cluster.ts";
import { FakeConductor } from "./conductor-for-tests.ts";

interface FakeNodesOptions {
  readonly clock: Clock;
  readonly nodes: readonly AllocatedNode[];
  readonly seed: number;
  readonly scriptOf: (spec: LaunchSpec) => Script;
  /** Longest delay of a message one way, in ms; default: 0.4. */
  readonly delayMs?: number;
  readonly end?: Allocation["end"];
  /** The nodes of each allocation; default: one allocation has all. */
  readonly groups?: readonly (readonly string[])[];
  /** How long the processes of a step, or of an srun in a command, need to arrive on a node. */
  readonly arriveMs?: (node: string) => number;
  /** Called with every record of a process. */
  readonly onRecord?: (job: number, record: ScriptRecord) => void;
}

/** How long a link needs to connect again, in ms. */
const CONNECT_MS = 50;
const ALLOCATE_MS = 10;
const STEP_MS = 20;

/** One direction of a link: messages arrive in order. */
class Wire<Message> {
  readonly #clock: Clock;
  readonly #delay: () => number;
  readonly #deliver: (message: Message) => void;
  #lastMs = 0;
  #isCut = false;
  #held: Message[] = [];

  constructor(clock: Clock, delay: () => number, deliver: (message: Message) => void) {
    this.#clock = clock;
    this.#delay = delay;
    this.#deliver = deliver;
  }

  send(message: Message): void {
    if (this.#isCut) {
      this.#held.push(message);
      return;
    }
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs() + this.#delay());
    this.#clock.at(this.#lastMs, () => {
      if (this.#isCut) this.#held.push(message);
      else this.#deliver(message);
    });
  }

  setCut(isCut: boolean): void {
    this.#isCut = isCut;
    if (isCut) return;
    for (const message of this.#held.splice(0)) this.send(message);
  }
}

interface Connection {
  readonly listener: LinkListener;
  readonly to: Wire<ToConductor>;
  readonly from: Wire<FromConductor>;
}

class FakeNode {
  readonly allocated: AllocatedNode;
  conductor: FakeConductor;
  connection: Connection | undefined;
  listener: LinkListener | undefined;
  isCut = false;
  /** Whether a conductor runs there. */
  isRunning = true;

  constructor(allocated: AllocatedNode, conductor: FakeConductor) {
    this.allocated = allocated;
    this.conductor = conductor;
  }
}

export class FakeNodes {
  readonly records = new Map<number, ScriptRecord[]>();
  readonly said = new Map<number, string[]>();
  readonly claims = new Map<string, string>();
  readonly steps: LaunchSpec[] = [];
  readonly #options: FakeNodesOptions;
  readonly #random: Random;
  readonly #nodes = new Map<string, FakeNode>();
  #listener: ClusterListener | undefined;
  #allocations = 1;
  #end: Allocation["end"];
  #endedBecause: string | undefined;
  readonly #down = new Set<string>();
  /** Of groups that have begun again: the number of their allocation. */
  readonly #begun = new Map<number, number>();
  readonly #over = new Set<number>();
  readonly #lostJobs = new Map<string, readonly number[]>();
  isReleased = false;
  /** Nodes with gangs, by allocation. */
  busy: ReadonlyMap<string, number> = new Map();
  /** What the executor has said that jobs want. */
  readonly demands: (Demand | undefined)[] = [];
  /** Another front end has these nodes. */
  heldBy: { readonly front: string; readonly nodes: readonly string[] } | undefined;
  /** Nodes to which hello was said, in order. */
  readonly greeted: string[] = [];

  constructor(options: FakeNodesOptions) {
    this.#options = options;
    this.#end = options.end;
    this.#random = new Random(options.seed, "cluster");
    for (const node of options.nodes) {
      this.#nodes.set(node.node, new FakeNode(node, this.#boot(node.node)));
    }
  }

  get mostProcessors(): number {
    return this.#options.nodes.reduce((sum, { cpus }) => sum + cpus.length, 0);
  }

  get #groups(): readonly (readonly string[])[] {
    return this.#options.groups ?? [this.#options.nodes.map(({ node }) => node)];
  }

  get allocation(): Allocation {
    return this.#allocationOf(0);
  }

  /** @param group index of its nodes in `groups` */
  #allocationOf(group: number): Allocation {
    const own = this.#options.nodes.filter(({ node }) => this.#groups[group].includes(node));
    return {
      name: this.#nameOf(group),
      nodes: own.map((node) => {
        const lostJobs = this.#lostJobs.get(node.node);
        return { ...node, ...(lostJobs !== undefined && { lostJobs }) };
      }),
      memoryBytes: 2 ** 40,
      ...(this.#end !== undefined && { end: this.#end }),
    };
  }

  #nameOf(group: number): string {
    const begun = this.#begun.get(group) ?? this.#allocations;
    return this.#options.groups === undefined ? String(begun) : `${begun}${"abc"[group]}`;
  }

  /** The view of one front end. */
  cluster(): Cluster {
    const { clock } = this.#options;
    let isClosed = false;
    const sought = new Set(this.#groups.keys());
    return {
      allocations: [],
      get isFinding() {
        return sought.size > 0;
      },
      again() {},
      mostProcessors: this.mostProcessors,
      mostLimitMs: Number.POSITIVE_INFINITY,
      start: (listener) => {
        this.#listener = listener;
        for (const [group] of this.#groups.entries()) {
          clock.at(clock.nowMs() + ALLOCATE_MS * (1 + 40 * group), () => {
            sought.delete(group);
            if (isClosed || this.#over.has(group)) return;
            if (this.#endedBecause !== undefined) {
              listener.released(undefined, this.#endedBecause);
              return;
            }
            listener.allocated(this.#allocationOf(group));
            for (const node of this.#down) listener.nodeDown(node);
          });
        }
      },
      link: (name, listener) => {
        const node = this.#nodes.get(name)!;
        node.listener = listener;
        this.#connectLater(node, listener);
        return {
          node: name,
          send: (message) => {
            if (node.connection?.listener === listener) node.connection.to.send(message);
          },
          close: () => {
            if (node.listener === listener) node.listener = undefined;
            if (node.connection?.listener === listener) node.connection = undefined;
          },
        };
      },
      step: (spec) => {
        this.steps.push(spec);
        return ["srun", String(spec.job)];
      },
      variables: (spec) => ({ SLURM_NODES: (spec.nodes ?? []).map(({ node }) => node).join(",") }),
      setLostJobs: (node, jobs) => {
        if (!isClosed) this.#lostJobs.set(node, jobs);
      },
      setBusy: (nodes) => {
        this.busy = nodes;
      },
      setDemand: (demand) => this.demands.push(demand),
      release: async () => {
        this.isReleased = true;
      },
      close: () => {
        isClosed = true;
        for (const node of this.#nodes.values()) {
          node.listener = undefined;
          node.connection = undefined;
        }
      },
    };
  }

  conductor(node: string): FakeConductor {
    return this.#nodes.get(node)!.conductor;
  }

  recordsOf(job: number): readonly ScriptRecord[] {
    return this.records.get(job) ?? [];
  }

  /** Number of living processes of a job. */
  processesOf(job: number): number {
    const attempts = [...this.#nodes.values()].flatMap(({ conductor }) => [...conductor.attempts.values()]);
    return attempts
      .filter(({ key }) => key.job === job)
      .reduce((sum, { processes }) => sum + processes.length, 0);
  }

  /** Attempts with living processes, by node. */
  living(): { readonly node: string; readonly key: IdentifiedAttempt }[] {
    return [...this.#nodes.values()].flatMap(({ allocated: { node }, conductor }) =>
      conductor.living().map((key) => ({ node, key })),
    );
  }

  // Blows.

  /** The connection breaks; messages on their way are lost. It comes back by itself. */
  dropLink(name: string): void {
    const node = this.#nodes.get(name)!;
    const { connection } = node;
    if (connection === undefined) return;
    node.connection = undefined;
    node.conductor.disconnect();
    connection.listener.closed("the connection broke");
    if (node.listener !== undefined) this.#connectLater(node, node.listener);
  }

  /** The network is unplugged: messages wait. */
  cut(name: string): void {
    this.#setCut(name, true);
  }

  join(name: string): void {
    this.#setCut(name, false);
  }

  /** Kills the conductor; a keeper starts it again after a while. */
  killConductor(name: string, awayMs = 300): void {
    const node = this.#nodes.get(name)!;
    if (!node.isRunning) return;
    node.conductor.die();
    node.isRunning = false;
    this.dropLink(name);
    const { conductor } = node;
    const { clock } = this.#options;
    clock.at(clock.nowMs() + awayMs, () => {
      if (node.conductor !== conductor || conductor.isGone) return;
      node.isRunning = true;
      conductor.revive();
    });
  }

  /** The power goes. */
  crash(name: string): void {
    const node = this.#nodes.get(name)!;
    node.conductor.loseAll();
    node.isRunning = false;
    this.dropLink(name);
  }

  /** The node boots again, with another monotonic clock, and gets a conductor. */
  startNode(name: string): void {
    const node = this.#nodes.get(name)!;
    if (node.isRunning) return;
    node.conductor = this.#boot(name);
    node.isRunning = true;
  }

  /** Where no conductor is started again, the connector finds that nothing runs there. */
  vacant(name: string): void {
    this.#nodes.get(name)!.listener?.message({ type: "vacant" });
  }

  /** The cluster takes the node away: its conductor kills everything and ends. */
  evict(name: string): void {
    const { conductor, listener } = this.#nodes.get(name)!;
    listener?.message({ type: "leaving" });
    for (const { job, attempt, identity } of [...conductor.attempts.values()].map(({ key }) => key)) {
      const named = { attempt: { job, attempt }, ...(identity !== undefined && { identity }) };
      conductor.receive({ type: "stop", ...named, kill: true, reason: "requeued" });
    }
  }

  /** The cluster gives the node up, and ends everything there. */
  down(name: string): void {
    this.crash(name);
    this.#down.add(name);
    this.#listener?.nodeDown(name);
  }

  /** The allocation ends on all nodes, and perhaps another one begins. */
  endAllocation(because: string, next?: { readonly end?: Allocation["end"] }): void {
    for (const name of this.#nodes.keys()) this.crash(name);
    this.#listener?.released(this.allocation.name, because);
    if (next !== undefined) this.allocate(next);
  }

  /** One of several allocations ends on all its nodes. @param others nodes that are another one's by now */
  endGroup(group: number, because: string, others: readonly string[] = []): void {
    for (const name of this.#groups[group]) if (!others.includes(name)) this.crash(name);
    this.#over.add(group);
    this.#listener?.released(this.#nameOf(group), because);
  }

  /** The nodes of one that has ended are those of another one. */
  beginGroup(group: number): void {
    const { clock } = this.#options;
    this.#begun.set(group, ++this.#allocations);
    this.#over.delete(group);
    clock.at(clock.nowMs() + ALLOCATE_MS, () => {
      for (const name of this.#groups[group]) this.startNode(name);
      this.#listener?.allocated(this.#allocationOf(group));
    });
  }

  /** One more allocation has these nodes, which another one may have lost. */
  begin(name: string, nodes: readonly string[]): void {
    for (const node of nodes) this.startNode(node);
    const own = this.#options.nodes.filter(({ node }) => nodes.includes(node));
    this.#listener?.allocated({ name, nodes: own, memoryBytes: 2 ** 40 });
  }

  /** The allocation ends on all nodes, and no front end is there to learn it. */
  endAllocationUnseen(because: string): void {
    for (const name of this.#nodes.keys()) this.crash(name);
    this.#endedBecause = because;
  }

  /** Another allocation begins. */
  allocate(next: { readonly end?: Allocation["end"] }): void {
    const { clock } = this.#options;
    this.#endedBecause = undefined;
    this.#allocations++;
    this.#down.clear();
    this.#lostJobs.clear();
    this.#end = next.end;
    clock.at(clock.nowMs() + ALLOCATE_MS, () => {
      for (const name of this.#nodes.keys()) this.startNode(name);
      this.#listener?.allocated(this.allocation);
    });
  }

  /** The cluster takes its nodes away earlier or later. */
  changeEnd(end: Allocation["end"]): void {
    this.#end = end;
    this.#listener?.allocated(this.allocation);
  }

  #setCut(name: string, isCut: boolean): void {
    const node = this.#nodes.get(name)!;
    node.isCut = isCut;
    node.connection?.to.setCut(isCut);
    node.connection?.from.setCut(isCut);
  }

  #connectLater(node: FakeNode, listener: LinkListener): void {
    const { clock } = this.#options;
    clock.at(clock.nowMs() + CONNECT_MS * (1 + this.#random.uniform()), () => {
      if (node.listener !== listener || node.connection !== undefined) return;
      if (!node.isRunning || node.isCut) this.#connectLater(node, listener);
      else this.#connect(node, listener);
    });
  }

  #connect(node: FakeNode, listener: LinkListener): void {
    const { clock, delayMs = 0.4 } = this.#options;
    const delay = () => this.#random.uniform() * delayMs;
    const connection: Connection = {
      listener,
      to: new Wire<ToConductor>(clock, delay, (message) => {
        if (node.connection !== connection) return;
        if (!this.#refuses(message, node, connection)) node.conductor.receive(copyOf(message));
      }),
      from: new Wire<FromConductor>(clock, delay, (message) => {
        if (node.connection === connection) listener.message(copyOf(message));
      }),
    };
    node.connection = connection;
    node.conductor.connect((message) => connection.from.send(message));
    listener.opened();
  }

  /** The node may have another front end. */
  #refuses({ type }: ToConductor, { allocated: { node } }: FakeNode, { from }: Connection): boolean {
    if (type === "hello") this.greeted.push(node);
    if (!this.heldBy?.nodes.includes(node)) return false;
    const { front } = this.heldBy;
    if (type === "hello") from.send({ type: "refused", message: "Cannot accept it", heldBy: front });
    return true;
  }

  #boot(name: string): FakeConductor {
    const { clock, scriptOf } = this.#options;
    // Monotonic clocks are unrelated, and run a little faster or slower.
    const offsetMs = Math.round(this.#random.uniform() * 1e7);
    const rate = 1 + (this.#random.uniform() - 0.5) * 1e-4;
    const world = {
      clock,
      scriptOf,
      claims: this.claims,
      record: (job: number, record: ScriptRecord) => {
        add(this.records, job, record);
        this.#options.onRecord?.(job, record);
      },
      say: (job: number, line: string) => add(this.said, job, line),
      spread: (node: string, key: AttemptKey, script: Script) => this.#spread(node, key, script),
    };
    return new FakeConductor(
      name,
      world,
      () => offsetMs + clock.nowMs() * rate,
      (nodeMs) => (nodeMs - offsetMs) / rate,
    );
  }

  /** A negative time stands for a step of the cluster, which starts the tasks of `key` there. */
  #spread(node: string, key: AttemptKey, script: Script): void {
    const { clock, arriveMs = () => STEP_MS * (1 + this.#random.uniform()) } = this.#options;
    clock.at(clock.nowMs() + arriveMs(node), () => {
      const { conductor } = this.#nodes.get(node)!;
      if (script.computeMs < 0) conductor.arriveStep(key as LaunchSpec);
      else conductor.arrive(key, script);
    });
  }
}

/** As over a wire: nothing is shared, and undefined fields vanish. */
function copyOf<Message>(message: Message): Message {
  return JSON.parse(JSON.stringify(message));
}

function add<Value>(map: Map<number, Value[]>, job: number, value: Value): void {
  const list = map.get(job);
  if (list === undefined) map.set(job, [value]);
  else list.push(value);
}
