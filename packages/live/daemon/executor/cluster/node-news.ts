/** Passes on what the conductors say, and ends what a node still has although it was given up. */
import type { AttemptEnd, IdentifiedAttempt } from "@tutti/protocol/attempts.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import type { Report } from "../executor.ts";
import type { ClusterNode } from "./cluster-node.ts";
import { type Gangs, nameOf } from "./gangs.ts";
import type { Inputs } from "./inputs.ts";
import type { NodeObserver } from "./node-observer.ts";
import type { Turning } from "./turning.ts";

/** Conductors that have not confirmed an end are asked again after this time. */
const ASK_AGAIN_MS = 2000;

interface NodeNewsOptions {
  readonly gangs: Gangs;
  readonly turning: Turning;
  readonly observer: NodeObserver;
  readonly inputs: Inputs;
  readonly report: (report: Report) => void;
  /** Called when gangs may have ended. */
  readonly gangsChanged: () => void;
}

export class NodeNews {
  readonly #options: NodeNewsOptions;
  #askedAgainMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeNewsOptions) {
    this.#options = options;
  }

  receive(node: ClusterNode, message: Exclude<FromConductor, { type: "pong" }>): void {
    const { gangs, turning, observer, inputs, report } = this.#options;
    switch (message.type) {
      case "state":
        this.#onState(node, message);
        return;
      case "staged":
        turning.staged(node.name, message.sequence);
        return;
      case "turning":
        turning.turning(node.name, message.sequence);
        return;
      case "ready":
        gangs.find(message.attempt, message.identity)?.ready(node.name);
        return;
      case "launched":
        gangs.find(message.attempt, message.identity)?.launched(message);
        return;
      case "ended":
        this.#onEnded(node, message.end);
        return;
      case "input-taken":
        inputs.taken(message);
        return;
      case "slots":
        observer.slots(node.name, message.statistics);
        gangs.ran(node.name, message.statistics);
        return;
      case "gpus":
        report({ ...message, node: node.name });
        return;
      case "refused":
        report({ type: "refused", message: `${node.name}: ${message.message}` });
    }
  }

  /** Called each second: asks what is still there, also on a lost node that answers again. */
  askAgain(nodes: Iterable<ClusterNode>, nowMs: number): void {
    if (nowMs < this.#askedAgainMs + ASK_AGAIN_MS) return;
    this.#askedAgainMs = nowMs;
    for (const node of nodes) {
      const isAwaited = this.#options.gangs.on(node.name).some((gang) => gang.awaitsEndOn(node.name));
      if (isAwaited || (node.health.state === "lost" && !node.health.isDown)) node.greet();
    }
  }

  /** These jobs have ended, so they cannot run on the node again. @param node undefined: it is gone */
  admit(node: ClusterNode | undefined, jobs: readonly number[]): void {
    if (node === undefined) return;
    node.dropLostJobs(jobs);
    this.#admitIfClean(node);
  }

  #onState(node: ClusterNode, state: Extract<FromConductor, { type: "state" }>): void {
    const { gangs, turning, gangsChanged } = this.#options;
    const listed = new Map(state.attempts.map((attempt) => [nameOf(attempt), attempt]));
    for (const gang of gangs.on(node.name)) {
      gang.sync(node.name, listed.get(nameOf(gang.facts.key)));
      listed.delete(nameOf(gang.facts.key));
    }
    node.leftovers.clear();
    for (const attempt of listed.values()) this.#giveUp(node, attempt);
    turning.greeted(
      node.name,
      state.sequence,
      (state.turning ?? []).map(({ sequence }) => sequence),
    );
    this.#admitIfClean(node);
    gangsChanged();
  }

  /** The node has an attempt that was given up, or forgotten, while the node was away. */
  #giveUp(node: ClusterNode, { phase, ...key }: IdentifiedAttempt & { readonly phase: string }): void {
    const named = namedBy(key);
    if (phase === "ended") {
      node.send({ type: "forget", ...named });
      return;
    }
    node.leftovers.add(nameOf(key));
    node.send({ type: "stop", ...named, kill: true, reason: "none" });
    const text = `attempt ${key.job}.${key.attempt} was given up and is killed on node ${node.name}`;
    this.#options.report({ type: "notice", kind: "node-leftover", text, node: node.name });
  }

  #onEnded(node: ClusterNode, end: AttemptEnd): void {
    const { gangs, gangsChanged } = this.#options;
    const gang = gangs.find(end, end.identity);
    if (gang === undefined || !gang.isOn(node.name)) {
      node.leftovers.delete(nameOf(end));
      node.send({ type: "forget", ...namedBy(end) });
    } else gang.ended(node.name, end);
    this.#admitIfClean(node);
    gangsChanged();
  }

  /** A lost node that has come back takes part again when nothing of lost gangs is left on it. */
  #admitIfClean(node: ClusterNode): void {
    if (node.health.state !== "lost" || node.leftovers.size > 0) return;
    const { gangs, report } = this.#options;
    if (gangs.on(node.name).some((gang) => gang.isLeftOn(node.name))) return;
    if (node.lostJobs.size === 0) node.admit();
    else if (!node.health.isDown) report({ type: "node-clean", node: node.name, jobs: [...node.lostJobs] });
  }
}

function namedBy({ job, attempt, identity }: IdentifiedAttempt) {
  return { attempt: { job, attempt }, identity };
}
