/**
 * Reaches the conductors of many nodes through one connection. The conductor at its other end, the root,
 * passes messages on to others, which do the same for the rest (conductor/relay.ts):
 *
 *   front end ──srun──▶ n1, the root ──▶ n2 … n33, relays ──▶ n34 … n1000
 *
 * Only this side knows the tree, so only this side mends it. What a relay says no more is asked of another
 * one, the root itself, or in the end by a connection of the node's own, which every node of few gets from
 * the beginning. When the root is gone, the next node takes its place. Gangs go on meanwhile.
 *
 *   closed ──▶ opening ──the conductor is connected──▶ open ──it, or what leads to it, is lost──▶ closed
 */
import type { Clock } from "@tutti/host/clock.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import type { LinkListener, NodeLink } from "./cluster.ts";

/** A pilot of at most this many nodes has a connection to each. */
export const MOST_DIRECT = 16;
/** Nodes that a conductor passes on to; more, if there are more than two levels hold. */
const FAN_OUT = 16;
/** A relay that says nothing for this long, although it is asked, has no other nodes any longer. */
const RELAY_QUIET_MS = 2500;
const ROOT_QUIET_MS = 8000;
/** A root answers for the first time within this time: its conductor may be just starting. */
const ROOT_ANSWER_MS = 15_000;
/** It is used again after this time. */
const AVOID_MS = 15_000;
/** If more relays than this part say nothing, something else is slow, and other ways would make it slower. */
const FEW_RELAYS = 1 / 8;
const MANY_QUIET_MS = 10_000;
/** Nodes that are being connected at a time: each needs a handshake on its relay. */
const MOST_OPENING = 128;
/** A conductor is connected within this time, or another way is tried. */
const OPEN_MS = 5000;
const WATCH_MS = 500;
/** Waits between two tries, by the number of failures in a row. */
const RETRY_MS = [0, 200, 1000, 2000, 5000, 10_000];
/** A node that no relay can take now tries again after this time. */
const LATER_MS = 1000;
/**
 * After this number of failures, and this time, a node gets a connection of its own: conductors begin to
 * listen one after the other, and before a node counts as lost.
 */
const TREE_TRIES = 2;
const TREE_MS = 8000;
/** The first nodes are roots in turn. */
const ROOTS = 8;

/** A connection of its own to the conductor of a node, which connects again by itself. */
export interface DirectLink {
  /** When anything arrived last, in monotonic ms; −∞: never. */
  readonly lastHeardMs: number;
  sendLines(lines: readonly string[]): void;
  close(): void;
}

interface LinkTreeOptions {
  readonly clock: Clock;
  /** @param onRelayed called with each line that the conductor passes on from another one */
  readonly connect: (node: string, listener: LinkListener, onRelayed: (line: string) => void) => DirectLink;
  /** Whether conductors can be relays; otherwise, each node has a connection of its own. */
  readonly canRelay: () => boolean;
  readonly mostDirect?: number | undefined;
  readonly fanOut?: number;
}

interface Root {
  readonly node: TreeNode;
  readonly link: DirectLink;
  readonly plantedMs: number;
  /** When its conductor answered for the first time. */
  openedMs: number | undefined;
}

interface Plan {
  readonly relays: readonly TreeNode[];
  /** Without those that the root itself reaches. */
  readonly relayOf: ReadonlyMap<TreeNode, TreeNode>;
}

class TreeNode {
  readonly node: string;
  readonly listener: LinkListener;
  phase: "closed" | "opening" | "open" = "closed";
  /** The relay through which it is reached; undefined: the root, or a connection of its own. */
  relay: TreeNode | undefined;
  /** Nodes that are reached through it. */
  readonly children = new Set<TreeNode>();
  direct: DirectLink | undefined;
  failures = 0;
  /** Since when it is not reached; undefined: it has never been. */
  sinceMs: number | undefined;
  heardMs = Number.NEGATIVE_INFINITY;
  /** It is no relay before this time. */
  avoidUntilMs = Number.NEGATIVE_INFINITY;
  stopTimer: () => void = () => {};

  constructor(node: string, listener: LinkListener) {
    this.node = node;
    this.listener = listener;
  }
}

export class LinkTree {
  readonly #options: LinkTreeOptions;
  readonly #nodes = new Map<string, TreeNode>();
  #root: Root | undefined;
  readonly #mail = new Mail();
  readonly #opening = new Set<TreeNode>();
  /** Those that wait until others are connected. */
  readonly #queue = new Set<TreeNode>();
  /** Undefined: the nodes, or the root, are others than before. */
  #plan: Plan | undefined;
  /** Number of roots so far, and of those in a row that have not answered. */
  #roots = 0;
  #rootFailures = 0;
  #isDue = false;
  #stopWatching: (() => void) | undefined;
  /** Whether any conductor was ever reached through another one. */
  #works = false;

  constructor(options: LinkTreeOptions) {
    this.#options = options;
  }

  link(name: string, listener: LinkListener): NodeLink {
    const node = new TreeNode(name, listener);
    this.#nodes.set(name, node);
    this.#plan = undefined;
    // All nodes of an allocation get their links at the same moment: their number decides.
    this.#begin();
    return {
      node: name,
      send: (message) => this.#send(node, JSON.stringify(message)),
      close: () => this.#close(node),
    };
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  /** When any of these conductors was heard last, in monotonic ms; −∞: never. */
  lastHeardMs(names: readonly string[]): number {
    let lastMs = Number.NEGATIVE_INFINITY;
    for (const name of names) {
      const node = this.#nodes.get(name);
      const ownMs = node === this.#root?.node ? this.#root?.link.lastHeardMs : node?.direct?.lastHeardMs;
      lastMs = Math.max(lastMs, node?.heardMs ?? lastMs, ownMs ?? lastMs);
    }
    return lastMs;
  }

  close(): void {
    for (const node of [...this.#nodes.values()]) this.#close(node);
  }

  /** @param names undefined: to all conductors that are connected */
  sendAll(message: ToConductor, names?: readonly string[]): void {
    const line = JSON.stringify(message);
    for (const node of this.#nodes.values())
      if (names === undefined || names.includes(node.node)) this.#send(node, line);
  }

  #begin(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.soon(() => {
      this.#isDue = false;
      const { mostDirect = MOST_DIRECT, canRelay } = this.#options;
      const isStar = this.#root === undefined && (this.#nodes.size <= mostDirect || !canRelay());
      for (const node of this.#nodes.values()) {
        if (node.phase !== "closed" || node.direct !== undefined) continue;
        if (isStar) this.#connectDirectly(node);
      }
      if (isStar || this.#nodes.size === 0) return;
      this.#stopWatching ??= this.#watch();
      if (this.#root === undefined) this.#plant();
    });
  }

  #send(node: TreeNode, line: string): void {
    if (this.#nodes.get(node.node) !== node) return;
    if (node.direct !== undefined) node.direct.sendLines([line]);
    else if (node.phase === "open") this.#write(node, line);
  }

  /** Sends a line with all others of this moment. */
  #write(node: TreeNode, line: string): void {
    const root = this.#root;
    if (root === undefined) return;
    if (this.#mail.isEmpty) {
      this.#options.clock.soon(() => {
        const lines = this.#mail.take();
        if (this.#root === root && lines.length > 0) root.link.sendLines(lines);
      });
    }
    if (node === root.node) this.#mail.addOwn(line);
    else this.#mail.add(node.relay?.node, node.node, line);
  }

  // The root.

  /** Connects to the next root. */
  #plant(): void {
    const candidates = [...this.#nodes.values()].slice(0, ROOTS);
    const node = candidates[this.#roots % candidates.length];
    if (node === undefined) return;
    this.#leave(node);
    node.stopTimer();
    node.direct?.close();
    node.direct = undefined;
    node.phase = "opening";
    const link: DirectLink = this.#options.connect(
      node.node,
      {
        opened: () => {
          node.phase = "open";
          node.listener.opened();
        },
        message: (message) => {
          if (this.#root?.link !== link) return;
          node.heardMs = this.#options.clock.nowMs();
          node.listener.message(message);
          if (message.type !== "refused" && message.type !== "vacant") this.#rooted();
        },
        closed: (because) => {
          if (this.#root?.link === link) this.#uproot(because);
        },
      },
      (line) => {
        if (this.#root?.link === link) this.#receive(line);
      },
    );
    this.#root = { node, link, plantedMs: this.#options.clock.nowMs(), openedMs: undefined };
  }

  /** The root has answered for the first time: all others are connected through it. */
  #rooted(): void {
    const root = this.#root;
    if (root === undefined || root.openedMs !== undefined) return;
    root.openedMs = this.#options.clock.nowMs();
    this.#rootFailures = 0;
    for (const node of this.#nodes.values()) if (node !== root.node) this.#open(node);
  }

  #uproot(because: string): void {
    const root = this.#root;
    if (root === undefined) return;
    this.#root = undefined;
    this.#roots++;
    this.#plan = undefined;
    root.link.close();
    const waitMs = RETRY_MS[Math.min(this.#rootFailures++, RETRY_MS.length - 1)];
    const text = `${because}; it was reached through ${root.node.node}`;
    for (const node of this.#nodes.values()) {
      if (node === root.node || node.direct !== undefined) continue;
      node.stopTimer();
      this.#leave(node);
      this.#closed(node, text);
    }
    this.#closed(root.node, because);
    const { clock } = this.#options;
    clock.at(clock.nowMs() + waitMs, () => {
      if (this.#root === undefined && this.#nodes.size > 0) this.#plant();
    });
  }

  /** A node that another allocation has got may be the root: it leads nowhere any longer. */
  #replaceRoot(gone: TreeNode): void {
    const root = this.#root;
    if (root?.node !== gone) return;
    // All may be about to close, each with a last message.
    this.#options.clock.soon(() => {
      if (this.#root === root) this.#uproot(`${gone.node} belongs to it no longer`);
    });
  }

  // Nodes behind it.

  #open(node: TreeNode): void {
    const root = this.#root;
    if (node.phase !== "closed" || node.direct !== undefined || root?.openedMs === undefined) return;
    if (node === root.node || this.#nodes.get(node.node) !== node) return;
    const isLong = this.#options.clock.nowMs() >= (node.sinceMs ?? root.openedMs) + TREE_MS;
    if (node.failures >= TREE_TRIES && isLong && this.#mayBeDirect) {
      this.#connectDirectly(node);
      return;
    }
    node.stopTimer();
    if (this.#opening.size >= MOST_OPENING) {
      this.#queue.add(node);
      return;
    }
    const relay = this.#relayFor(node, root.node);
    if (relay === "later") {
      this.#openLater(node, LATER_MS);
      return;
    }
    node.relay = relay;
    relay?.children.add(node);
    node.phase = "opening";
    this.#opening.add(node);
    this.#write(node, "+");
    const { clock } = this.#options;
    node.stopTimer = clock.at(clock.nowMs() + OPEN_MS, () => this.#lost(node, "no connection to it"));
  }

  /** Where conductors do not reach each other at all, each node has a connection of its own. */
  get #mayBeDirect(): boolean {
    const direct = [...this.#nodes.values()].filter((node) => node.direct !== undefined).length;
    return !this.#works || direct < (this.#options.mostDirect ?? MOST_DIRECT);
  }

  /** Undefined: the root itself. Later: when its relay is connected. */
  #relayFor(node: TreeNode, root: TreeNode): TreeNode | undefined | "later" {
    this.#plan ??= this.#planFor(root);
    const { relays, relayOf } = this.#plan;
    const planned = relayOf.get(node);
    if (planned === undefined) return undefined;
    const nowMs = this.#options.clock.nowMs();
    const isUsable = (relay: TreeNode) => relay.phase === "open" && nowMs >= relay.avoidUntilMs;
    if (node.failures === 0 && isUsable(planned)) return planned;
    if (node.failures === 0 && planned.phase === "opening") return "later";
    const usable = relays.filter((relay) => isUsable(relay) && (node.failures === 0 || relay !== planned));
    usable.sort((a, b) => a.children.size - b.children.size);
    // The root takes a few of those whose relays are gone, but not all at once.
    return usable[0] ?? (relays.some(({ phase }) => phase === "opening") ? "later" : undefined);
  }

  /** Where nodes are reached if nothing is wrong: the first ones by the root, the others by these in turn. */
  #planFor(root: TreeNode): Plan {
    const others = [...this.#nodes.values()].filter((one) => one !== root);
    const fanOut = Math.max(this.#options.fanOut ?? FAN_OUT, Math.ceil(Math.sqrt(others.length)));
    const count = others.length <= fanOut ? others.length : Math.ceil(others.length / fanOut);
    const relays = others.slice(0, count);
    return {
      relays,
      relayOf: new Map(others.slice(count).map((node, i) => [node, relays[i % count]])),
    };
  }

  #receive(line: string): void {
    const [first, rest] = addressed(line);
    const isDeeper = rest.startsWith("@");
    const [second, deeper] = isDeeper ? addressed(rest) : [first, rest];
    const relay = isDeeper ? this.#nodes.get(first) : undefined;
    const node = this.#nodes.get(second);
    // What comes on an earlier way counts no more.
    if (node === undefined || node.relay !== relay || (isDeeper && relay === undefined)) return;
    if (node.phase === "closed" || node.direct !== undefined) return;
    this.#heard(node, deeper);
  }

  #heard(node: TreeNode, text: string): void {
    if (text === "+") this.#opened(node);
    else if (text.startsWith("-")) this.#lost(node, text.slice(1));
    else if (node.phase === "open") {
      let message: FromConductor;
      try {
        message = JSON.parse(text);
      } catch {
        this.#lost(node, "what arrives is not a message of a conductor");
        return;
      }
      node.heardMs = this.#options.clock.nowMs();
      // A conductor that belongs to another front end is not asked each moment.
      if (message.type !== "refused" || message.heldBy === undefined) node.failures = 0;
      node.listener.message(message);
    }
  }

  #opened(node: TreeNode): void {
    if (node.phase !== "opening") return;
    node.stopTimer();
    node.phase = "open";
    this.#openNext(node);
    node.heardMs = this.#options.clock.nowMs();
    this.#works = true;
    node.listener.opened();
    this.#openBehind(node);
  }

  /** This one is connected, or is not going to be. */
  #openNext(node: TreeNode): void {
    this.#queue.delete(node);
    if (!this.#opening.delete(node)) return;
    const [next] = this.#queue;
    if (next === undefined) return;
    this.#queue.delete(next);
    this.#open(next);
  }

  /** Those that have waited for this relay. */
  #openBehind(relay: TreeNode): void {
    if (this.#plan?.relays.includes(relay) !== true) return;
    for (const [node, planned] of this.#plan.relayOf)
      if (planned === relay && node.phase === "closed" && node.failures === 0) this.#open(node);
  }

  #lost(node: TreeNode, because: string): void {
    if (node.phase === "closed") return;
    node.stopTimer();
    this.#leave(node);
    const waitMs = RETRY_MS[Math.min(++node.failures, RETRY_MS.length - 1)];
    this.#closed(node, because);
    this.#openLater(node, waitMs);
    this.#moveChildren(node);
    this.#openBehind(node);
  }

  #openLater(node: TreeNode, waitMs: number): void {
    const { clock } = this.#options;
    node.stopTimer = clock.at(clock.nowMs() + waitMs, () => this.#open(node));
  }

  /** Its nodes are reached in another way from now on. */
  #moveChildren(relay: TreeNode): void {
    for (const child of [...relay.children]) {
      child.stopTimer();
      this.#leave(child);
      this.#closed(child, `the conductor of ${relay.node}, through which it was reached, is gone`);
      this.#openLater(child, 0);
    }
  }

  #leave(node: TreeNode): void {
    node.relay?.children.delete(node);
    node.relay = undefined;
  }

  #closed(node: TreeNode, because: string): void {
    const wasOpen = node.phase !== "closed";
    if (node.phase === "open") node.sinceMs = this.#options.clock.nowMs();
    node.phase = "closed";
    this.#openNext(node);
    if (wasOpen && this.#nodes.get(node.node) === node) node.listener.closed(because);
  }

  #connectDirectly(node: TreeNode): void {
    node.stopTimer();
    const direct: DirectLink = this.#options.connect(
      node.node,
      {
        opened: () => node.listener.opened(),
        message: (message) => {
          if (node.direct === direct) node.listener.message(message);
        },
        closed: (because) => {
          if (node.direct !== direct) return;
          node.listener.closed(because);
          // It connects again by itself, unless there is a tree to go back to.
          if (this.#root === undefined) return;
          node.direct = undefined;
          direct.close();
          node.failures = 0;
          this.#openLater(node, RETRY_MS[1]);
        },
      },
      () => {},
    );
    node.direct = direct;
  }

  #close(node: TreeNode): void {
    if (this.#nodes.get(node.node) !== node) return;
    node.stopTimer();
    if (node.phase === "open" && node !== this.#root?.node) this.#write(node, "-");
    node.direct?.close();
    this.#nodes.delete(node.node);
    this.#openNext(node);
    this.#plan = undefined;
    this.#moveChildren(node);
    this.#leave(node);
    if (this.#nodes.size > 0) {
      this.#replaceRoot(node);
      return;
    }
    // What was said last is still to be sent.
    if (!this.#mail.isEmpty) this.#root?.link.sendLines(this.#mail.take());
    this.#root?.link.close();
    this.#root = undefined;
    this.#roots = 0;
    this.#rootFailures = 0;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  /** Finds relays that say nothing although they are asked: a node that crashes closes no connection. */
  #watch(): () => void {
    const { clock } = this.#options;
    let stop = () => {};
    let dueMs = clock.nowMs() + WATCH_MS;
    const look = () => {
      const nowMs = clock.nowMs();
      // Who was busy for long has not read yet what they said.
      const isLate = nowMs > dueMs + WATCH_MS;
      dueMs = nowMs + WATCH_MS;
      stop = clock.at(dueMs, look);
      const root = this.#root;
      if (root === undefined || isLate) return;
      const { openedMs, plantedMs, link } = root;
      const patienceMs = openedMs === undefined ? ROOT_ANSWER_MS : ROOT_QUIET_MS;
      if (nowMs >= Math.max(openedMs ?? plantedMs, link.lastHeardMs) + patienceMs) {
        this.#uproot(`no answer for ${patienceMs / 1000} s`);
        return;
      }
      // What the root does not pass on says nothing about others.
      if (nowMs >= link.lastHeardMs + 2 * WATCH_MS) return;
      const relays = [...this.#nodes.values()].filter(({ children }) => children.size > 0);
      const quietMs = (relay: TreeNode) =>
        nowMs - Math.max(relay.heardMs, ...[...relay.children].map((child) => child.heardMs));
      const quiet = relays.filter((relay) => quietMs(relay) >= RELAY_QUIET_MS);
      const isFew = quiet.length <= Math.max(1, FEW_RELAYS * relays.length);
      for (const relay of quiet) {
        if (!isFew && quietMs(relay) < MANY_QUIET_MS) continue;
        relay.avoidUntilMs = nowMs + AVOID_MS;
        this.#moveChildren(relay);
      }
    };
    stop = clock.at(dueMs, look);
    return () => stop();
  }
}

/** The name and the rest of a line that begins with a name. */
function addressed(line: string): [name: string, rest: string] {
  const end = line.indexOf(" ");
  return [line.slice(1, end), line.slice(end + 1)];
}

/** Lines on their way. Equal ones for nodes of one relay are one line; each node gets its own in order. */
class Mail {
  #letters: { readonly way: string; readonly nodes: string[]; readonly line: string }[] = [];
  /** Number of the last letter with these contents, and for this node. */
  readonly #lastOf = new Map<string, number>();
  readonly #lastFor = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#letters.length === 0;
  }

  /** @param relay undefined: the root itself passes it on to the node */
  add(relay: string | undefined, node: string, line: string): void {
    const way = relay === undefined ? "" : `@${relay} `;
    const contents = way + line;
    const same = this.#lastOf.get(contents);
    // Its relay may just have been connected again.
    const before = Math.max(this.#lastFor.get(node) ?? -1, this.#lastFor.get(relay ?? node) ?? -1);
    if (same !== undefined && same >= before) {
      this.#letters[same].nodes.push(node);
      this.#lastFor.set(node, same);
      return;
    }
    this.#lastOf.set(contents, this.#letters.length);
    this.#lastFor.set(node, this.#letters.length);
    this.#letters.push({ way, nodes: [node], line });
  }

  /** For the root itself. */
  addOwn(line: string): void {
    this.#letters.push({ way: "", nodes: [], line });
  }

  take(): string[] {
    const texts = this.#letters.map(({ way, nodes, line }) =>
      nodes.length === 0 ? line : `${way}@${nodes.join(",")} ${line}`,
    );
    this.#letters = [];
    this.#lastOf.clear();
    this.#lastFor.clear();
    return texts;
  }
}
