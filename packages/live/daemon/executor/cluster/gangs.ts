/**
 * All gangs of the executor: finds the gang that a command or a message names, and rebuilds the gangs of an
 * earlier front end from what the nodes' conductors list.
 */
import {
  type AttemptKey,
  type AttemptState,
  gangName,
  type IdentifiedAttempt,
  type LaunchSpec,
  type SlotStatistics,
} from "@tutti/protocol/attempts.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import type { Report } from "../executor.ts";
import { Gang, type GangWorld, hasBegun } from "./gang.ts";
import type { NodeState } from "./node-health.ts";
import { unpackedNames } from "./packed-names.ts";

/** A node that can list its attempts. */
interface ListingNode {
  readonly name: string;
  readonly state: Extract<FromConductor, { type: "state" }> | undefined;
  readonly health: { readonly state: NodeState; readonly isDown: boolean };
}

export class Gangs {
  readonly #world: GangWorld;
  readonly #gangs = new Map<string, Gang>();
  /** The same gangs by node, and by the number of job and attempt. */
  readonly #onNode = new Map<string, Set<Gang>>();
  readonly #numbered = new Map<string, Set<Gang>>();
  /** Gangs of an earlier front end that never began, until the front end launches them again or not. */
  readonly #unclaimed = new Set<Gang>();

  constructor(world: GangWorld) {
    this.#world = world;
  }

  all(): Gang[] {
    return [...this.#gangs.values()];
  }

  running(): Gang[] {
    return this.all().filter(({ end }) => end === undefined);
  }

  /** Kills all, if that was asked for. @returns why not */
  shutDown(killJobs: boolean): string | undefined {
    const running = this.running();
    if (running.length > 0 && !killJobs)
      return `Cannot shut down: ${running.length} jobs are running, expected none, or a request to kill them`;
    for (const gang of running) gang.stop(true, "shutdown");
    return undefined;
  }

  /**
   * What the front end learns when it connects. It launches the other gangs again.
   * @param epochMs undefined: there are no slots yet
   */
  connected(epochMs = 0): Report {
    return {
      type: "connected",
      attempts: this.all()
        .filter((gang) => !this.#unclaimed.has(gang))
        .map(({ state }) => state),
      sequence: 0,
      epochMs,
      facts: { freezer: "signals" },
    };
  }

  /** @param identity left out: any attempt of that number */
  find({ job, attempt }: AttemptKey, identity?: string): Gang | undefined {
    if (identity !== undefined) return this.#gangs.get(nameOf({ job, attempt, identity }));
    const [first] = this.#numbered.get(gangName({ job, attempt })) ?? [];
    return first;
  }

  on(node: string): Gang[] {
    return [...(this.#onNode.get(node) ?? [])];
  }

  /** Keeps the running times, in case nothing more is heard of a gang, and watches its memory. */
  ran(node: string, { gangs }: SlotStatistics): void {
    const onNode = this.#onNode.get(node) ?? [];
    for (const { job, ranMs = 0, memoryShare = 0 } of gangs) {
      for (const gang of onNode) {
        if (gang.end !== undefined || gang.facts.key.job !== job) continue;
        gang.ran(node, ranMs, memoryShare);
        break;
      }
    }
  }

  /** @param isDown nothing runs there, because the cluster itself has given the node up */
  nodeLost(node: string, isDown: boolean, because: string): void {
    for (const gang of this.on(node)) {
      if (isDown) gang.nodeDown(node, because);
      else gang.nodeLost(node, because);
    }
  }

  /** Nothing runs on that node, which is lost. */
  vacant(node: string): void {
    for (const gang of this.on(node)) gang.nodeDown(node, `node ${node} is lost: it has no conductor`);
  }

  /** @param isFresh certainly no earlier front end has started it */
  add(spec: LaunchSpec, isFresh: boolean): Gang {
    const { job, attempt, identity, uid, command, cwd, folder, nodes = [], tasksRun = "once" } = spec;
    const key = { job, attempt, identity };
    const names = nodes.map(({ node }) => node);
    const about = { uid, command, cwd, folder, nodes: names, tasksRun };
    return this.#put(
      new Gang(this.#world, { key, nodes: names, isEach: tasksRun === "each", about }, isFresh),
    );
  }

  #put(gang: Gang): Gang {
    const { key, nodes } = gang.facts;
    this.#gangs.set(nameOf(key), gang);
    for (const node of nodes) addTo(this.#onNode, node, gang);
    addTo(this.#numbered, gangName(key), gang);
    return gang;
  }

  claimed(gang: Gang): void {
    this.#unclaimed.delete(gang);
  }

  /** The front end has said all that it wants: what it did not launch again never runs. */
  dropUnclaimed(): void {
    for (const gang of this.#unclaimed) gang.stop(true, "none");
    this.#unclaimed.clear();
  }

  /** The front end has stored the end, if there is one. */
  forget(attempt: AttemptKey, identity: string | undefined): void {
    const gang = this.find(attempt, identity);
    if (gang?.end === undefined) return;
    gang.forget();
    const { key, nodes } = gang.facts;
    this.#gangs.delete(nameOf(key));
    for (const node of nodes) dropFrom(this.#onNode, node, gang);
    dropFrom(this.#numbered, gangName(key), gang);
    this.#unclaimed.delete(gang);
  }

  /**
   * Makes the gangs that the nodes list, and brings the known ones up to date.
   * @param onStep called for a gang that has a step
   */
  rebuild(nodes: readonly ListingNode[], onStep: (gang: Gang) => void): void {
    const byName = new Map(nodes.map((node) => [node.name, node]));
    const listed = new Map<string, Map<string, AttemptState>>();
    for (const { name, state } of nodes) {
      for (const attempt of state?.attempts ?? []) {
        const places = listed.get(nameOf(attempt)) ?? new Map<string, AttemptState>();
        listed.set(nameOf(attempt), places.set(name, attempt));
      }
    }
    for (const [name, places] of listed) if (!this.#gangs.has(name)) this.#put(this.#make(places));
    for (const [name, gang] of this.#gangs) {
      const places = listed.get(name) ?? new Map<string, AttemptState>();
      const isBegun = [...places.values()].some(hasBegun);
      if (!isBegun && gang.end === undefined) this.#unclaimed.add(gang);
      else if (gang.facts.isEach && gang.end === undefined) onStep(gang);
      if (gang.end === undefined) sync(gang, places, byName);
    }
  }

  #make(places: ReadonlyMap<string, AttemptState>): Gang {
    const states = [...places.values()];
    const { job, attempt, identity } = states[0];
    const abouts = states.flatMap(({ about }) => (about === undefined ? [] : [about]));
    // The lead knows most: its conductor has the command.
    const known = abouts.find(({ command }) => command.length > 0) ?? abouts[0];
    const nodes = unpackedNames(abouts.find((one) => one.nodes !== undefined)?.nodes ?? [...places.keys()]);
    const about = known && { ...known, nodes };
    const key = { job, attempt, identity };
    return new Gang(this.#world, { key, nodes, isEach: about?.tasksRun === "each", about }, false);
  }
}

/**
 * Nodes that list the gang come first: they know whether it has begun. A node that has listed nothing yet
 * says what it has when it answers.
 */
function sync(
  gang: Gang,
  places: ReadonlyMap<string, AttemptState>,
  nodes: ReadonlyMap<string, ListingNode>,
): void {
  for (const [node, attempt] of places) gang.sync(node, attempt);
  for (const node of gang.facts.nodes) {
    const entry = nodes.get(node);
    if (entry === undefined || entry.health.isDown) gang.nodeDown(node, `its node ${node} is gone`);
    else if (entry.health.state === "lost") gang.nodeLost(node, `its node ${node} does not answer`);
    else if (!places.has(node) && entry.state !== undefined) gang.sync(node, undefined);
  }
}

function addTo(sets: Map<string, Set<Gang>>, name: string, gang: Gang): void {
  const set = sets.get(name);
  if (set === undefined) sets.set(name, new Set([gang]));
  else set.add(gang);
}

function dropFrom(sets: Map<string, Set<Gang>>, name: string, gang: Gang): void {
  const set = sets.get(name);
  set?.delete(gang);
  if (set?.size === 0) sets.delete(name);
}

export function unknownText({ job, attempt }: AttemptKey): string {
  return `Cannot stop job ${job}.${attempt}: it was never launched here, or it has been forgotten`;
}

export function nameOf({ job, attempt, identity = "" }: IdentifiedAttempt): string {
  return `${job}.${attempt} ${identity}`;
}
