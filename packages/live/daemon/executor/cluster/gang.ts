/**
 * Follows one gang, an attempt on one or more nodes:
 *
 *   joining ──all nodes joined──▶ stepping ──all ready──▶ open ──▶ ending ──all nodes ended──▶ ended
 *
 * joining    every node gets `join`, or `launch` on the lead, which is the node of its first process
 * stepping   only if its tasks run each: the lead's conductor gets `step`, if one is free (steps.ts)
 * open       all its processes wait at their gates, and the next matrix opens these in one slot
 * ending     it must end on all nodes: its command has ended, or a node is lost
 * ended      no process of it lives on a node that takes part, nor on a lost one; its end is reported
 *
 * A lost node confirms an end when the cluster has given the node up, or when its conductor is back and no
 * longer has the gang. Conductors keep an end until `forget`, and launch an identity only once, so every
 * message here may be repeated.
 */
import type {
  AttemptEnd,
  AttemptRecord,
  AttemptReport,
  AttemptState,
  EndReason,
  IdentifiedAttempt,
  LaunchSpec,
  SignalTarget,
} from "@tutti/protocol/attempts.ts";
import type { FromConductor, ToConductor } from "@tutti/protocol/conductor.ts";
import { compositeEnd } from "./gang-end.ts";
import { memberOf, ranksByNode } from "./node-tasks.ts";
import { packedNames } from "./packed-names.ts";

/** What a gang needs from the executor. */
export interface GangWorld {
  readonly unixMs: () => number;
  /** Dropped if the node has no connection. */
  readonly send: (node: string, message: ToConductor) => void;
  /** Calls back when the node's conductor has read everything that was sent before. */
  readonly afterAll: (node: string, call: () => void) => void;
  readonly report: (report: AttemptReport) => void;
  /** This gang's attempt is lost because this node is lost. */
  readonly lostOn: (node: string, job: number) => void;
  /** The rows must be sent again. */
  readonly rowsChanged: () => void;
  readonly variables: (spec: LaunchSpec) => Readonly<Record<string, string>>;
  /** As in `Cluster`. */
  readonly step: ((spec: LaunchSpec) => readonly string[]) | undefined;
  /** Calls back when one more step may run; `giveStep` gives it back. */
  readonly takeStep: (gang: Gang, call: () => void) => void;
  readonly giveStep: (gang: Gang) => void;
  /** Why it has no step yet; undefined: it has one, or wants none. */
  readonly stepObstacle: (gang: Gang) => string | undefined;
}

interface Member {
  readonly node: string;
  phase: "asked" | "joined" | "ready" | "ended";
  end: AttemptEnd | undefined;
  /** The node is lost: its conductor cannot end the gang there. */
  isGone: boolean;
}

/** What is known about a gang, from its launch or from its nodes. */
interface GangFacts {
  readonly key: IdentifiedAttempt;
  /** The first one is the lead. */
  readonly nodes: readonly string[];
  readonly isEach: boolean;
  readonly about: AttemptState["about"];
}

export class Gang {
  readonly facts: GangFacts;
  readonly #world: GangWorld;
  readonly #members: readonly Member[];
  readonly #byNode: ReadonlyMap<string, Member>;
  /** Number of members by phase, and of those without an end: each node's word is weighed in one step. */
  readonly #inPhase: Record<Member["phase"], number>;
  #withoutEnd: number;
  /** Undefined for a gang of an earlier front end. */
  #spec: LaunchSpec | undefined;
  #names: readonly string[] | undefined;
  #ranks: ReturnType<typeof ranksByNode> = new Map();
  /** While it is sought: nodes that may have it and have listed nothing yet. */
  #sought: Set<string> | undefined;
  #hasStep = false;
  #isOpen = false;
  #launched: Extract<FromConductor, { type: "launched" }> | undefined;
  #stop: { kill: boolean; reason: EndReason } | undefined;
  #isKilled = false;
  #isKept = false;
  #lost: string | undefined;
  /** The command certainly never began. */
  #neverBegan: boolean;
  /** What the lead's conductor had noted when it last listed the gang. */
  #noted: AttemptRecord | undefined;
  /** Last known running time. */
  #ranMs = 0;
  readonly #memoryShares = new Map<string, number>();
  #memoryShare = 0;
  #end: AttemptEnd | undefined;

  /** @param isFresh certainly no earlier front end has started it */
  constructor(world: GangWorld, facts: GangFacts, isFresh: boolean) {
    this.#world = world;
    this.#neverBegan = isFresh;
    this.facts = facts;
    this.#members = facts.nodes.map((node) => ({ node, phase: "asked", end: undefined, isGone: false }));
    this.#byNode = new Map(this.#members.map((member) => [member.node, member]));
    this.#inPhase = { asked: this.#members.length, joined: 0, ready: 0, ended: 0 };
    this.#withoutEnd = this.#members.length;
  }

  get end(): AttemptEnd | undefined {
    return this.#end;
  }

  /** Whether all its processes wait at their gates or have passed them. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether it is in the rows. A kept gang runs in all slots. */
  get takesTurns(): boolean {
    return this.#end === undefined && !this.#isKept;
  }

  /** Why it has not begun, for people; undefined: it waits for its slot only, or has begun. */
  waitsFor(): string | undefined {
    if (this.#isOpen || this.#isEnding || this.#end !== undefined) return undefined;
    const asked = this.#members.filter(({ phase }) => phase === "asked").map(({ node }) => node);
    if (asked.length > 0) return `${nodesDo(asked)} not have it yet`;
    const obstacle = this.#world.stepObstacle(this);
    if (obstacle !== undefined) return obstacle;
    const late = this.#members.filter(({ phase }) => phase !== "ready").map(({ node }) => node);
    return late.length === 0 ? undefined : `its processes on ${late.join(", ")} are not at their gates yet`;
  }

  get #lead(): Member {
    return this.#members[0];
  }

  get #hasEndedEverywhere(): boolean {
    return this.#inPhase.ended === this.#members.length;
  }

  get #isEnding(): boolean {
    return this.#stop !== undefined || this.#isKilled;
  }

  get state(): AttemptState {
    const phase = this.#end !== undefined ? "ended" : this.#isEnding ? "stopping" : undefined;
    return {
      ...this.facts.key,
      about: this.facts.about,
      phase: phase ?? (this.#launched === undefined ? "launching" : "running"),
      shim: this.#launched?.shim,
      record: this.#noted,
      ranMs: this.#ranMs,
      end: this.#end,
    };
  }

  isOn(node: string): boolean {
    return this.#member(node) !== undefined;
  }

  /** Whether processes of it may be on this node, or may begin there. */
  isLeftOn(node: string): boolean {
    const member = this.#member(node);
    return member !== undefined && member.phase !== "ended";
  }

  /** Whether the node has been asked to kill it and has not confirmed the end. */
  awaitsEndOn(node: string): boolean {
    const member = this.#member(node);
    const isKilled = this.#isKilled || this.#stop?.kill === true;
    return this.#end === undefined && isKilled && member !== undefined && member.phase !== "ended";
  }

  /** An earlier front end has started its step. */
  hadStep(): void {
    this.#hasStep = true;
  }

  /** Launches it, or repeats that on nodes that may not have got it. */
  begin(spec: LaunchSpec): void {
    this.#spec = spec;
    this.#ranks = ranksByNode(spec);
    if (this.#end !== undefined) this.#world.report({ type: "ended", end: this.#end });
    else if (this.#launched !== undefined) this.#world.report(this.#launched);
    for (const { node } of this.#members) this.#ask(node);
  }

  /**
   * An earlier front end has started it, and no node that answers has it. It is not started again: one of
   * these nodes has it, or it is lost.
   */
  seek(nodes: readonly string[]): void {
    this.#sought = new Set(nodes);
  }

  /** What the front end wants. */
  stop(kill: boolean, reason: EndReason): void {
    if (this.#end !== undefined) {
      this.#world.report({ type: "ended", end: this.#end });
      return;
    }
    this.#stop = { kill: kill || this.#stop?.kill === true, reason };
    for (const { node } of this.#members) this.#sendStop(node);
  }

  /** It runs in all slots, since the front end does not know it. */
  keep(): void {
    this.#isKept = true;
    for (const { node } of this.#members) this.#world.send(node, { type: "keep", ...this.#named });
  }

  /** The front end has stored the end. */
  forget(): void {
    for (const { node } of this.#members) this.#world.send(node, { type: "forget", ...this.#named });
  }

  ready(node: string): void {
    const member = this.#member(node);
    if (member === undefined || member.phase === "ended") return;
    this.#setPhase(member, "ready");
    this.#advance();
  }

  launched(message: Extract<FromConductor, { type: "launched" }>): void {
    this.#neverBegan = false;
    this.#isOpen = true;
    if (this.#launched !== undefined) return;
    this.#launched = message;
    this.#world.report(message);
  }

  /**
   * How long it has run, as a node says, and how much of its memory its part there has. If all parts together
   * have too much, it is killed.
   */
  ran(node: string, ms: number, memoryShare: number): void {
    this.#ranMs = Math.max(this.#ranMs, ms);
    this.#memoryShare += memoryShare - (this.#memoryShares.get(node) ?? 0);
    this.#memoryShares.set(node, memoryShare);
    if (this.#memoryShare > 1 && !this.#isEnding) this.stop(true, "memory-limit");
  }

  ended(node: string, end: AttemptEnd): void {
    const member = this.#member(node);
    if (member === undefined || member.phase === "ended") return;
    this.#setPhase(member, "ended");
    member.end = end;
    this.#withoutEnd--;
    // The command cannot know that its tasks on this node are gone.
    if (this.#resultOf() === undefined) this.#lost ??= end.lost;
    // Its other parts end for the same reason.
    if (end.reason === "memory-limit") this.#stop ??= { kill: true, reason: end.reason };
    if (this.#endsWith(member)) this.#kill();
    this.#finish();
  }

  /**
   * A node has connected and has listed what it has of the gang. Sends again what may have been lost.
   * @param here undefined: it has nothing of it
   */
  sync(node: string, here: AttemptState | undefined): void {
    const member = this.#member(node);
    if (member === undefined || member.phase === "ended") return;
    const wasGone = member.isGone;
    member.isGone = false;
    if (this.#sought !== undefined && this.#isMissing(this.#sought, node, here)) return;
    // A gang that has begun on one node begins on all, also if an earlier front end could not finish that.
    if (here !== undefined) this.#learn(node, here);
    if (here?.end !== undefined) this.ended(node, here.end);
    else if (here === undefined && (this.#isOpen || wasGone || this.#isEnding || this.#hasStep)) {
      // It was started again, or never had the gang.
      this.#nothingLeft(node, `the conductor of node ${node} no longer knows this attempt`);
    } else if (here !== undefined && this.#isEnding) this.#sendStop(node);
    else {
      // What it has said before may not hold for a conductor that was started again.
      this.#setPhase(member, "asked");
      this.#ask(node);
      if (this.#isKept) this.#world.send(node, { type: "keep", ...this.#named });
    }
  }

  /** @returns whether it is not found yet; when no node has it, it is lost */
  #isMissing(sought: Set<string>, node: string, here: AttemptState | undefined): boolean {
    if (here === undefined) {
      sought.delete(node);
      const because = "it was started earlier, and no node knows it";
      if (sought.size === 0) for (const member of this.#members) this.#nothingLeft(member.node, because);
      return true;
    }
    this.#sought = undefined;
    this.#learn(node, here);
    if (this.#spec !== undefined) this.begin(this.#spec);
    return false;
  }

  /**
   * Its processes on this node may run on, out of reach: kills it everywhere else. Also if its part there has
   * ended: without this node it has no place in any row, so its other parts would stay stopped.
   */
  nodeLost(node: string, because: string): void {
    const member = this.#member(node);
    if (member === undefined || this.#end !== undefined) return;
    if (!this.#hasOwnEnd) this.#lost ??= because;
    if (member.phase !== "ended") {
      member.isGone = true;
      // Also if it was lost before for another reason: it may be started again all the same.
      const isLost = this.#lost !== undefined || this.#members.some(({ end }) => end?.lost !== undefined);
      if (isLost) this.#world.lostOn(node, this.facts.key.job);
    }
    this.#kill();
    this.#finish();
  }

  /** The cluster has given the node up, so no process runs there. */
  nodeDown(node: string, because: string): void {
    this.#nothingLeft(node, because);
  }

  /** Certainly nothing runs on any node. */
  allGone(because: string): void {
    for (const { node } of this.#members) this.#nothingLeft(node, because);
  }

  #member(node: string): Member | undefined {
    return this.#byNode.get(node);
  }

  #setPhase(member: Member, phase: Member["phase"]): void {
    this.#inPhase[member.phase]--;
    this.#inPhase[phase]++;
    member.phase = phase;
  }

  get #named() {
    const { job, attempt, identity } = this.facts.key;
    return { attempt: { job, attempt }, identity };
  }

  /** What a node's state says about a gang of an earlier front end. */
  #learn(node: string, here: AttemptState): void {
    const { shim, ranMs } = here;
    if (!hasBegun(here)) return;
    this.#isOpen = true;
    this.#neverBegan = false;
    if (node !== this.#lead.node) return;
    this.#ranMs = ranMs;
    this.#noted = here.record;
    if (this.#launched !== undefined || shim === undefined) return;
    const { attempt, identity } = this.#named;
    const startedAtMs = here.record?.startedAtMs ?? here.about?.startedAtMs ?? this.#world.unixMs();
    this.#launched = { type: "launched", attempt, identity, shim, startedAtMs };
    // The node's own report may have been lost with its connection.
    this.#world.report(this.#launched);
  }

  #ask(node: string): void {
    const spec = this.#spec;
    const member = this.#member(node);
    if (spec === undefined || member === undefined || member.phase === "ended" || this.#isOpen) return;
    if (this.#sought !== undefined) return;
    const isLead = member === this.#lead;
    if (isLead && !this.facts.isEach) {
      const env = { ...spec.env, ...this.#world.variables(spec) };
      this.#world.send(node, { type: "launch", spec: { ...spec, env } });
    } else {
      this.#names ??= packedNames(this.facts.nodes);
      const member = memberOf(spec, this.#names, this.#ranks.get(node));
      this.#world.send(node, { type: "join", member });
    }
    if (this.#hasStep) this.#sendStep(spec, member);
    if (this.#isEnding) this.#sendStop(node);
    this.#world.afterAll(node, () => {
      if (member.phase === "asked") this.#setPhase(member, "joined");
      this.#advance();
    });
  }

  #advance(): void {
    const spec = this.#spec;
    if (this.#isOpen || this.#end !== undefined || this.#isEnding || spec === undefined) return;
    if (this.#inPhase.asked > 0 || this.#inPhase.ended > 0) return;
    if (this.facts.isEach && !this.#hasStep) {
      this.#world.takeStep(this, () => {
        this.#hasStep = true;
        if (!this.#isEnding) for (const member of this.#members) this.#sendStep(spec, member);
      });
      return;
    }
    if (this.#inPhase.joined > 0) return;
    this.#isOpen = true;
    // From now on, the command may begin.
    this.#neverBegan = false;
    this.#world.rowsChanged();
  }

  #sendStep(spec: LaunchSpec, member: Member): void {
    const { step, send } = this.#world;
    if (step === undefined) send(member.node, { type: "step", spec });
    else if (member === this.#lead) send(member.node, { type: "step", spec, step: step(spec) });
  }

  #sendStop(node: string): void {
    const member = this.#member(node);
    if (member === undefined || member.phase === "ended" || !this.#isEnding) return;
    const kill = this.#isKilled || this.#stop?.kill === true;
    const reason = this.#stop?.reason ?? "none";
    this.#world.send(node, { type: "stop", ...this.#named, kill, reason });
  }

  /** Sends a signal to its processes on all nodes, once. */
  signal(name: NodeJS.Signals, to: SignalTarget): void {
    if (!this.#isOpen || this.#isEnding) return;
    for (const { node, phase } of this.#members)
      if (phase !== "ended") this.#world.send(node, { type: "signal", ...this.#named, name, to });
  }

  #kill(): void {
    if (this.#isKilled || this.#end !== undefined) return;
    this.#isKilled = true;
    for (const { node } of this.#members) this.#sendStop(node);
  }

  /** Whether the end of this member is the end of all. */
  #endsWith({ node, end }: Member): boolean {
    if (this.#hasEndedEverywhere) return false;
    if (end?.reason === "memory-limit") return true;
    if (this.facts.isEach) {
      // A gang that was asked to end, or reached its time limit, has its grace time on all nodes.
      const isAsked = this.#stop !== undefined || end?.reason === "time-limit";
      return end?.lost !== undefined || (end?.reason !== "none" && !isAsked);
    }
    return node === this.#lead.node || end?.lost !== undefined;
  }

  /** The end as far as the processes of the command tell; undefined while they have not ended. */
  #resultOf(): readonly AttemptEnd[] | undefined {
    if (this.facts.isEach && this.#withoutEnd > 0) return undefined;
    const members = this.facts.isEach ? this.#members : [this.#lead];
    const ends = members.flatMap(({ end }) => (end === undefined ? [] : [end]));
    return ends.length === members.length ? ends : undefined;
  }

  /**
   * Whether the command has ended by itself, or as the front end wished. When a node is lost, the others
   * are killed, and perhaps an earlier front end has done that.
   */
  get #hasOwnEnd(): boolean {
    const isKilled = ({ signal, reason }: AttemptEnd) => signal === "SIGKILL" && reason === "none";
    return this.#resultOf()?.every((end) => !isKilled(end)) === true;
  }

  /** Nothing of the gang runs on this node, and nothing more will be heard about it. */
  #nothingLeft(node: string, because: string): void {
    const member = this.#member(node);
    if (member === undefined || this.#end !== undefined) return;
    if (!this.#hasOwnEnd) this.#lost ??= because;
    this.#setPhase(member, "ended");
    this.#kill();
    this.#finish();
  }

  #finish(): void {
    if (this.#end !== undefined || !this.#hasEndedEverywhere) return;
    this.#end = compositeEnd({
      key: this.facts.key,
      ends: this.#resultOf(),
      parts: this.#members.flatMap(({ end }) => end ?? []),
      lead: this.#lead.end,
      reason: this.#stop?.reason ?? "none",
      lost: this.#lost,
      neverBegan: this.#neverBegan,
      startedAtMs: this.#launched?.startedAtMs,
      ranMs: this.#ranMs,
      unixMs: this.#world.unixMs(),
    });
    this.#world.giveStep(this);
    this.#world.report({ type: "ended", end: this.#end });
    this.#spec = undefined;
  }
}

/**
 * Whether the command has begun on a node that lists this. A part without processes of its own never does.
 */
export function hasBegun({ phase, shim, end }: AttemptState): boolean {
  if (phase === "launching" || end?.neverBegan) return false;
  return (
    shim !== undefined || end?.code !== undefined || end?.signal !== undefined || end?.lost !== undefined
  );
}

/** The beginning of a clause about what nodes do not do. */
export function nodesDo(nodes: readonly string[]): string {
  return nodes.length === 1 ? `node ${nodes[0]} does` : `nodes ${nodes.join(", ")} do`;
}
