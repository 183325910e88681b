/** Nodes behind a tree of simulated relays, which end, hang and come back. */
import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LinkListener, NodeLink } from "./cluster.ts";
import { type DirectLink, LinkTree } from "./link-tree.ts";

const WIRE_MS = 1;
const LINE = /^@(\S+) (.*)$/s;

/** A conductor with the relay's rules, as relay.ts has them. */
class FakeNode {
  readonly name: string;
  readonly #net: FakeNet;
  isUp = true;
  isHung = false;
  /** Where what it says goes: the last connection that said hello. */
  #speak: ((line: string) => void) | undefined;
  readonly got: ToConductor[] = [];
  readonly ends = new Set<(because: string) => void>();

  constructor(name: string, net: FakeNet) {
    this.name = name;
    this.#net = net;
  }

  say(message: FromConductor): void {
    if (this.isUp && !this.isHung) this.#speak?.(JSON.stringify(message));
  }

  die(): void {
    this.isUp = false;
    for (const end of [...this.ends]) end(`${this.name} has died`);
    this.#speak = undefined;
  }

  /** A connection to it. @returns what sends lines to it, and what ends the connection */
  accept(up: (line: string) => void, ended: (because: string) => void) {
    const links = new Map<string, ReturnType<FakeNode["accept"]>>();
    let isOpen = true;
    const end = (because: string) => {
      if (!isOpen) return;
      isOpen = false;
      this.ends.delete(end);
      for (const link of links.values()) link.close();
      ended(because);
    };
    this.ends.add(end);
    const speak = (line: string) => {
      if (isOpen && !this.isHung) up(line);
    };
    const receive = (line: string) => {
      if (!isOpen || this.isHung) return;
      const [, names, rest = ""] = LINE.exec(line) ?? [];
      for (const name of names?.split(",") ?? []) {
        if (rest === "+") {
          links.get(name)?.close();
          links.delete(name);
          const link = this.#net.dial(
            this.name,
            name,
            (text) => speak(`@${name} ${text}`),
            (because) => {
              if (links.get(name) !== link) return;
              links.delete(name);
              speak(`@${name} -${because}`);
            },
          );
          if (link === undefined) speak(`@${name} -refused`);
          else {
            links.set(name, link);
            speak(`@${name} +`);
          }
        } else if (rest === "-") {
          links.get(name)?.close();
          links.delete(name);
        } else links.get(name)?.send(rest);
      }
      if (names !== undefined) return;
      const message: ToConductor = JSON.parse(line);
      if (message.type === "hello") this.#speak = speak;
      this.got.push(message);
      if (message.type === "ping") speak(JSON.stringify({ type: "pong", id: message.id, nowMs: 0 }));
    };
    return {
      send: (line: string) => void this.#net.clock.at(this.#net.clock.nowMs() + WIRE_MS, () => receive(line)),
      close: () => {
        isOpen = false;
        this.ends.delete(end);
        for (const link of links.values()) link.close();
      },
    };
  }
}

class FakeNet {
  readonly clock: FakeClock;
  readonly nodes = new Map<string, FakeNode>();
  /** Whether conductors reach each other at all. */
  isOpen = true;
  direct = 0;

  constructor(clock: FakeClock, names: readonly string[]) {
    this.clock = clock;
    for (const name of names) this.nodes.set(name, new FakeNode(name, this));
  }

  dial(from: string, to: string, up: (line: string) => void, ended: (because: string) => void) {
    const node = this.nodes.get(to)!;
    if (!node.isUp || (from !== "" && !this.isOpen)) return undefined;
    return node.accept((line) => void this.clock.at(this.clock.nowMs() + WIRE_MS, () => up(line)), ended);
  }

  /** As a connector: it connects again by itself. */
  connect(name: string, listener: LinkListener, onRelayed: (line: string) => void): DirectLink {
    this.direct++;
    let link: ReturnType<FakeNode["accept"]> | undefined;
    let isClosed = false;
    let lastHeardMs = Number.NEGATIVE_INFINITY;
    const again = () => void this.clock.at(this.clock.nowMs() + 500, open);
    const open = () => {
      if (isClosed) return;
      const present = this.dial(
        "",
        name,
        (line) => {
          if (isClosed || link !== present) return;
          lastHeardMs = this.clock.nowMs();
          if (line.startsWith("@")) onRelayed(line);
          else listener.message(JSON.parse(line));
        },
        (because) => {
          link = undefined;
          if (isClosed) return;
          again();
          listener.closed(because);
        },
      );
      link = present;
      if (present !== undefined) listener.opened();
      else {
        again();
        listener.closed("refused");
      }
    };
    this.clock.soon(open);
    return {
      get lastHeardMs() {
        return lastHeardMs;
      },
      sendLines: (lines) => {
        for (const line of lines) link?.send(line);
      },
      close: () => {
        isClosed = true;
        this.direct--;
        link?.close();
      },
    };
  }
}

/** A front end that says hello and pings each node twice a second, as long as it is connected. */
class Stage {
  readonly clock = new FakeClock();
  readonly names: readonly string[];
  readonly net: FakeNet;
  readonly tree: LinkTree;
  readonly links = new Map<string, NodeLink>();
  readonly open = new Set<string>();
  readonly heard = new Map<string, FromConductor[]>();
  readonly closed: string[] = [];
  /** Above those of the tests. */
  #pings = 10;

  constructor(count: number, options: { readonly fanOut?: number; readonly isBlocked?: boolean } = {}) {
    this.names = Array.from({ length: count }, (_, i) => `n${i + 1}`);
    this.net = new FakeNet(this.clock, this.names);
    this.net.isOpen = options.isBlocked !== true;
    this.tree = new LinkTree({
      clock: this.clock,
      connect: (...words) => this.net.connect(...words),
      canRelay: () => true,
      mostDirect: 4,
      ...(options.fanOut !== undefined && { fanOut: options.fanOut }),
    });
    for (const name of this.names) {
      this.heard.set(name, []);
      const link = this.tree.link(name, {
        opened: () => {
          this.open.add(name);
          link.send({ type: "hello", protocol: 3, frontEnd: "test" });
        },
        message: (message) => this.heard.get(name)!.push(message),
        closed: (because) => {
          this.open.delete(name);
          this.closed.push(`${name}: ${because}`);
        },
      });
      this.links.set(name, link);
    }
    this.#ping();
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.nowMs() + ms);
  }

  node(name: string): FakeNode {
    return this.net.nodes.get(name)!;
  }

  /** Nodes that answer a ping now. */
  answering(): string[] {
    for (const messages of this.heard.values()) messages.length = 0;
    for (const link of this.links.values()) link.send({ type: "ping", id: 0 });
    this.pass(20);
    return this.names.filter((name) => this.heard.get(name)!.length > 0);
  }

  #ping(): void {
    this.clock.at(this.clock.nowMs() + 500, () => {
      for (const name of this.open) this.links.get(name)!.send({ type: "ping", id: ++this.#pings });
      this.#ping();
    });
  }
}

test("few nodes have a connection each, many have one together", () => {
  const few = new Stage(4);
  few.pass(100);
  expect(few.answering()).toEqual(few.names);
  expect(few.net.direct).toBe(4);
  for (const [count, fanOut] of [
    [5, 16],
    [40, 6],
    [300, 16],
  ]) {
    const many = new Stage(count, { fanOut });
    many.pass(1500);
    expect(many.answering()).toEqual(many.names);
    expect(many.net.direct).toBe(1);
    expect(many.closed).toEqual([]);
  }
});

test("messages arrive at their nodes in order, however equal they are", () => {
  const stage = new Stage(9, { fanOut: 3 });
  stage.pass(1500);
  for (const { got } of stage.net.nodes.values()) got.length = 0;
  // By node: 1 2 1 2, 2 1 2 1, and so on: equal lines for several nodes in another order.
  const idsOf = (i: number) => [1, 2, 1, 2].map((id) => (i % 2 === 0 ? id : 3 - id));
  for (let k = 0; k < 4; k++)
    for (const [i, name] of stage.names.entries())
      stage.links.get(name)!.send({ type: "ping", id: idsOf(i)[k] });
  stage.pass(20);
  for (const [i, name] of stage.names.entries())
    expect(stage.node(name).got.filter((one) => one.type === "ping" && one.id < 3)).toEqual(
      idsOf(i).map((id) => ({ type: "ping", id })),
    );
});

test("when a relay dies, its nodes are reached by others at once, and nobody else notices", () => {
  const stage = new Stage(40, { fanOut: 6 });
  stage.pass(1500);
  // n1 is the root. A relay has at most 7 of the 39 others, so n2 to n7 are relays. n8, n14, … are behind n2.
  stage.node("n2").die();
  stage.pass(50);
  const behind = stage.names.filter((_, i) => i >= 7 && (i - 7) % 6 === 0);
  expect(stage.closed.map((text) => text.split(":")[0]).sort()).toEqual(["n2", ...behind].sort());
  expect(stage.answering()).toEqual(stage.names.filter((name) => name !== "n2"));
  stage.node("n2").isUp = true;
  stage.pass(30_000);
  expect(stage.answering()).toEqual(stage.names);
});

test("a relay that hangs has no nodes after three seconds", () => {
  const stage = new Stage(40, { fanOut: 6 });
  stage.pass(1500);
  stage.node("n3").isHung = true;
  stage.pass(3500);
  expect(stage.answering()).toEqual(stage.names.filter((name) => name !== "n3"));
});

test("when the root dies or hangs, the next node takes its place", () => {
  const stage = new Stage(40, { fanOut: 6 });
  stage.pass(1500);
  stage.node("n1").die();
  stage.pass(1500);
  expect(stage.answering()).toEqual(stage.names.slice(1));
  stage.node("n2").isHung = true;
  // 8 s until the root is given up, and 5 s for those that it was to reach as a relay.
  stage.pass(15_000);
  expect(stage.answering()).toEqual(stage.names.slice(2));
});

test("when the root belongs to another pilot, the next node takes its place at once", () => {
  const stage = new Stage(40, { fanOut: 6 });
  stage.pass(1500);
  stage.node("n1").isHung = true;
  stage.links.get("n1")!.close();
  stage.pass(1500);
  expect(stage.answering()).toEqual(stage.names.slice(1));
  expect(stage.net.direct).toBe(1);
});

test("where conductors do not reach each other, each node has a connection", () => {
  const stage = new Stage(20, { isBlocked: true });
  stage.pass(30_000);
  expect(stage.answering()).toEqual(stage.names);
  expect(stage.net.direct).toBe(20);
});

test("after close, nothing is connected, and what was said before has arrived", () => {
  const stage = new Stage(40, { fanOut: 6 });
  stage.pass(1500);
  for (const { got } of stage.net.nodes.values()) got.length = 0;
  stage.tree.sendAll({ type: "shutdown", killJobs: true });
  stage.tree.close();
  expect(stage.net.direct).toBe(0);
  stage.pass(60_000);
  expect(stage.net.direct).toBe(0);
  expect(stage.answering()).toEqual([]);
});

const blow = fc.record({
  pauseMs: fc.integer({ min: 0, max: 4000 }),
  node: fc.nat({ max: 23 }),
  kind: fc.constantFrom("die" as const, "hang" as const, "back" as const),
});

test("whatever dies, hangs and comes back: in the end, who lives answers, by few connections", () => {
  fc.assert(
    fc.property(fc.array(blow, { maxLength: 25 }), fc.integer({ min: 2, max: 6 }), (blows, fanOut) => {
      const stage = new Stage(24, { fanOut });
      stage.pass(1500);
      for (const { pauseMs, node, kind } of blows) {
        const one = stage.node(stage.names[node]);
        if (kind === "die") one.die();
        else one.isHung = kind === "hang";
        if (kind === "back") one.isUp = true;
        stage.pass(pauseMs);
      }
      // Everything that hangs dies in the end, as its keeper would have it.
      for (const name of stage.names) {
        const one = stage.node(name);
        if (one.isHung) one.die();
        one.isHung = false;
      }
      stage.pass(60_000);
      const living = stage.names.filter((name) => stage.node(name).isUp);
      expect(stage.answering()).toEqual(living);
    }),
    { numRuns: 20 },
  );
});
