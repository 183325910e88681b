/**
 * Follows single gangs through random orders of messages and losses, against a model that knows where
 * processes live.
 */

import type { AttemptEnd, AttemptReport, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { ToConductor } from "@tutti/protocol/conductor.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Gang, type GangWorld } from "./gang.ts";

const NODES = ["n1", "n2", "n3"];
const KEY = { job: 1, attempt: 1, identity: "0".repeat(32) };

/** One node: what its conductor has got and what lives there. */
interface Node {
  readonly inbox: (ToConductor | { readonly type: "mark"; readonly call: () => void })[];
  hasPart: boolean;
  /** Its processes are on their way to their gates. */
  isStarting: boolean;
  isReady: boolean;
  lives: boolean;
  end: AttemptEnd | undefined;
  /** Answers that are on their way. */
  readonly outbox: (() => void)[];
  isLost: boolean;
  isDown: boolean;
}

type NodeEvent = "deliver" | "answer" | "gate" | "exit" | "lose" | "return" | "crash" | "down";
type Event =
  | { readonly kind: NodeEvent; readonly node: string }
  | { readonly kind: "open" | "stop" | "kill"; readonly node?: undefined };

class Model {
  readonly nodes = new Map<string, Node>(
    NODES.map((node) => [
      node,
      {
        inbox: [],
        hasPart: false,
        isStarting: false,
        isReady: false,
        lives: false,
        end: undefined,
        outbox: [],
        isLost: false,
        isDown: false,
      },
    ]),
  );
  readonly reports: AttemptReport[] = [];
  /** Nodes to which the job must not return. */
  readonly lostOn: string[] = [];
  /** Starts of the command on the lead. */
  launches = 0;
  steps = 0;
  readonly gang: Gang;
  readonly isEach: boolean;
  readonly problems: string[] = [];

  constructor(isEach: boolean) {
    this.isEach = isEach;
    const world: GangWorld = {
      unixMs: () => 0,
      send: (node, message) => {
        const to = this.nodes.get(node)!;
        if (!to.isLost) to.inbox.push(message);
      },
      afterAll: (node, call) => {
        const to = this.nodes.get(node)!;
        if (!to.isLost) to.inbox.push({ type: "mark", call });
      },
      report: (report) => this.#note(report),
      lostOn: (node) => this.lostOn.push(node),
      rowsChanged: () => {
        for (const [name, { isReady, isLost }] of this.nodes)
          if (!isReady || isLost) this.problems.push(`opened although ${name} was not ready`);
      },
      variables: () => ({}),
      step: () => ["srun"],
      takeStep: (_, call) => call(),
      giveStep: () => {},
      stepObstacle: () => undefined,
    };
    const facts = { key: KEY, nodes: NODES, isEach, about: undefined };
    this.gang = new Gang(world, facts, true);
    this.gang.begin({
      ...KEY,
      folder: "/f",
      command: ["work"],
      cwd: "/",
      env: {},
      stdout: "/dev/null",
      stderr: "/dev/null",
      graceMs: 100,
      nodes: NODES.map((node) => ({ node, cpus: [0] })),
      tasks: 3,
      tasksRun: isEach ? "each" : "once",
    } satisfies LaunchSpec);
  }

  #note(report: AttemptReport): void {
    this.reports.push(report);
    if (report.type !== "ended") return;
    for (const [name, { lives, isDown }] of this.nodes)
      if (lives && !isDown) this.problems.push(`ended while processes lived on ${name}`);
    const { lost, neverBegan } = report.end;
    if (neverBegan && (this.launches > 0 || lost === undefined))
      this.problems.push("never began, but its command was started");
  }

  do(event: Event): void {
    if (event.kind === "open") this.#open();
    else if (event.kind === "stop") this.gang.stop(false, "cancelled");
    else if (event.kind === "kill") this.gang.stop(true, "cancelled");
    else if (event.node !== undefined) this.#doOn(event.node, event.kind);
  }

  /** Everything that is on its way arrives, lost nodes are given up, and stopped processes end. */
  settle(): void {
    for (const [name, node] of this.nodes) if (node.isLost && !node.isDown) this.#doOn(name, "down");
    for (let round = 0; round < 20; round++) {
      this.#open();
      for (const name of NODES) {
        this.#doOn(name, "deliver");
        this.#doOn(name, "gate");
        this.#doOn(name, "answer");
        this.#doOn(name, "exit");
      }
    }
  }

  /** The rows that all nodes have acknowledged let the gang begin. */
  #open(): void {
    if (!this.gang.isOpen || this.gang.end !== undefined) return;
    for (const [name, node] of this.nodes) {
      if (!node.isReady || node.isLost || node.lives || node.end !== undefined) continue;
      const runs = this.isEach || name === "n1";
      if (runs) this.launches++;
      node.lives = true;
      node.isReady = false;
      if (runs) {
        const { job, attempt, identity } = KEY;
        const shim = { bootId: "", pid: 1, startTicks: 1 };
        const message = {
          type: "launched",
          attempt: { job, attempt },
          identity,
          shim,
          startedAtMs: 0,
        } as const;
        node.outbox.push(() => this.gang.launched(message));
      }
    }
  }

  #doOn(name: string, kind: NodeEvent): void {
    const node = this.nodes.get(name)!;
    if (kind === "deliver") for (const message of node.inbox.splice(0)) this.#receive(name, node, message);
    else if (kind === "gate") {
      if (node.isStarting) this.#ready(name, node);
    } else if (kind === "answer") for (const answer of node.outbox.splice(0)) answer();
    else if (kind === "exit") {
      const runs = this.isEach || name === "n1";
      if (node.lives && runs && !node.isLost) this.#end(name, node, { code: 0, reason: "none" });
    } else if (node.isDown) return;
    else if (kind === "lose" && !node.isLost) this.#lose(name, node);
    else if (kind === "return" && node.isLost) this.#return(name, node);
    else if (kind === "crash") {
      Object.assign(node, {
        hasPart: false,
        isStarting: false,
        isReady: false,
        lives: false,
        end: undefined,
      });
      node.inbox.length = 0;
      node.outbox.length = 0;
      if (!node.isLost) this.#return(name, node);
    } else if (kind === "down") {
      Object.assign(node, { isDown: true, isLost: true, lives: false });
      node.inbox.length = 0;
      node.outbox.length = 0;
      this.gang.nodeDown(name, `${name} is down`);
    }
  }

  #lose(name: string, node: Node): void {
    node.isLost = true;
    node.inbox.length = 0;
    node.outbox.length = 0;
    this.gang.nodeLost(name, `${name} is lost`);
  }

  /** The node has connected and has sent its state. */
  #return(name: string, node: Node): void {
    node.isLost = false;
    if (!node.hasPart) {
      this.gang.sync(name, undefined);
      return;
    }
    const phase = node.end !== undefined ? "ended" : node.lives ? "running" : "launching";
    const runs = this.isEach || name === "n1";
    this.gang.sync(name, {
      ...KEY,
      phase,
      ...(runs && { shim: { bootId: "", pid: 1, startTicks: 1 } }),
      ranMs: 0,
      ...(node.end !== undefined && { end: node.end }),
    });
  }

  #receive(name: string, node: Node, message: Node["inbox"][number]): void {
    if (message.type === "mark") node.outbox.push(message.call);
    else if (message.type === "launch" || message.type === "join") {
      if (node.end !== undefined) node.outbox.push(() => this.gang.ended(name, node.end!));
      else if (node.isReady) this.#ready(name, node);
      else if (!node.hasPart) {
        node.hasPart = true;
        if (message.type === "launch") node.isStarting = true;
        else if (!this.isEach) this.#ready(name, node);
      }
    } else if (message.type === "step") {
      this.steps++;
      for (const place of this.nodes.values()) {
        if (place.hasPart && place.end === undefined && !place.isDown) place.isStarting = true;
      }
    } else if (message.type === "stop" && node.hasPart) {
      if (node.end !== undefined) node.outbox.push(() => this.gang.ended(name, node.end!));
      else this.#end(name, node, { signal: "SIGKILL", reason: message.reason });
    }
  }

  #ready(name: string, node: Node): void {
    node.isStarting = false;
    node.isReady = true;
    if (!node.isLost) node.outbox.push(() => this.gang.ready(name));
  }

  #end(name: string, node: Node, how: Pick<AttemptEnd, "code" | "signal" | "reason">): void {
    const end = { ...KEY, ...how, endedAtMs: 0, ranMs: 0 };
    Object.assign(node, { lives: false, isStarting: false, isReady: false, end });
    node.outbox.push(() => this.gang.ended(name, end));
  }
}

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("deliver" as const, "answer" as const, "gate" as const),
      node: fc.constantFrom(...NODES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "exit" as const,
        "lose" as const,
        "return" as const,
        "crash" as const,
        "down" as const,
      ),
      node: fc.constantFrom(...NODES),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("open" as const, "open" as const, "stop" as const, "kill" as const),
    }),
  },
);

test("an identity ends once, never while it lives on a node that is up, and its gate opens when all are ready", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(event, { maxLength: 60 }), (isEach, events) => {
      const model = new Model(isEach);
      for (const one of events) model.do(one);
      model.settle();
      expect(model.problems).toEqual([]);
      expect(model.steps).toBeLessThanOrEqual(1);
      const ends = new Set(model.reports.flatMap((report) => (report.type === "ended" ? [report.end] : [])));
      expect(ends.size).toBe(1);
      expect(model.gang.end).toBeDefined();
      const launched = model.reports.filter(({ type }) => type === "launched");
      expect(launched.length).toBeLessThanOrEqual(1);
      if (model.gang.end?.code !== undefined) expect(model.launches).toBeGreaterThan(0);
    }),
    { numRuns: 2000 },
  );
});

test("a job must not return to a lost node, also if its attempt was lost before for another reason", () => {
  const ends = [
    [{ lost: "the keeper has died" }, ["n2"]],
    [{ signal: "SIGKILL" }, ["n2"]],
    [{ code: 0 }, []],
  ] as const;
  for (const [end, lostOn] of ends) {
    const model = new Model(false);
    model.gang.ended("n1", { ...KEY, reason: "none", ...end, endedAtMs: 0, ranMs: 0 });
    expect(model.lostOn).toEqual([]);
    model.gang.nodeLost("n2", "n2 is lost");
    expect(model.lostOn).toEqual(lostOn);
  }
});

test.each(["nodeLost", "nodeDown"] as const)(
  "%s: a gang is killed everywhere else, also if its part on that node has ended",
  (way) => {
    const model = new Model(true);
    const ended = (node: string, how: object) =>
      model.gang.ended(node, { ...KEY, reason: "none", ...how, endedAtMs: 0, ranMs: 0 });
    ended("n1", { code: 0 });
    expect(model.gang.awaitsEndOn("n2")).toBe(false);
    model.gang[way]("n1", "n1 is lost");
    expect(["n1", "n2", "n3"].map((node) => model.gang.awaitsEndOn(node))).toEqual([false, true, true]);
    // Nothing of it is there, so it may return.
    expect(model.lostOn).toEqual([]);
    for (const node of ["n2", "n3"]) ended(node, { signal: "SIGKILL" });
    expect(model.gang.end).toMatchObject({ lost: "n1 is lost" });
  },
);
