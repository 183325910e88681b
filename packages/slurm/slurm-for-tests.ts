/**
 * A Slurm without nodes, for tests of pilots: it keeps jobs, changes their states when a test says so, loses
 * what it should have kept, and does not answer while it is away.
 */

import { FakeClock } from "@tutti/host/clock-for-tests.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { Allocation, ClusterListener } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import type { Wish } from "@tutti/live/daemon/executor/executor.ts";
import type { KeptStore } from "@tutti/live/daemon/executor/kept-file.ts";
import { problemIn } from "@tutti/protocol/shape.ts";
import { expect } from "vitest";
import { SlurmError } from "./commands.ts";
import type { JobNode, NodeReason, SlurmNode } from "./formats/nodes.ts";
import type { QueuedJob } from "./formats/queue.ts";
import { type KindSize, NodeKinds } from "./node-kinds.ts";
import { newContent, type PilotContent, pilotContent } from "./pilot-file.ts";
import { Pilots } from "./pilots.ts";
import type { Slurm } from "./slurm.ts";
import type { PilotKind } from "./slurm-options.ts";
import type { PilotSettings } from "./waiting.ts";

export const NODES = ["n1", "n2", "n3", "n4"];
const ALIVE = new Set(["PENDING", "RUNNING", "COMPLETING"]);

export interface FakeJob extends QueuedJob {
  state: string;
  leftS: number | undefined;
  nodes: readonly string[];
  batchHost: string;
  reason: string;
}

export class FakeSlurm implements Slurm {
  readonly jobs: FakeJob[] = [];
  /** Ids of the jobs that somebody asked to cancel. */
  readonly cancelled: string[] = [];
  isAway = false;
  /** Number of questions and orders so far. */
  asked = 0;
  /** Nodes that cannot be used. */
  away: readonly NodeReason[] = [];
  /** A plugin of the site writes its own comments. */
  changesComments = false;
  /** sbatch works, but its answer is lost. */
  losesAnswers = false;
  /** Cancellations that it accepts and then forgets. */
  forgetsCancels = 0;
  refusal: string | undefined;
  /** Happens once, after Slurm has looked and before its answer arrives. */
  whileAsked = () => {};
  /** Of the next job. */
  limitS = 3600;
  unixS = () => 0;
  #lastId = 0;

  get alive(): FakeJob[] {
    return this.jobs.filter(({ state }) => ALIVE.has(state));
  }

  find(id: string): FakeJob {
    return this.jobs.find((job) => job.id === id)!;
  }

  /** Slurm gives the job its nodes. Default: the first ones that no other has. */
  run(id: string, nodes: readonly string[] = this.#freeNodes()): void {
    Object.assign(this.find(id), {
      ...{ state: "RUNNING", nodes, batchHost: nodes[0], startS: this.unixS() },
    });
  }

  #freeNodes(): string[] {
    const used = new Set(this.alive.flatMap(({ nodes }) => nodes));
    const all = Array.from({ length: 3 * NODES.length }, (_, i) => `n${i + 1}`);
    return all.filter((node) => !used.has(node)).slice(0, NODES.length);
  }

  end(id: string, state: string): void {
    this.find(id).state = state;
  }

  /** Slurm forgets the job. */
  forget(id: string): void {
    this.jobs.splice(this.jobs.indexOf(this.find(id)), 1);
  }

  async submit(options: readonly string[]): Promise<string> {
    this.#answer();
    if (this.refusal !== undefined) throw new SlurmError(this.refusal, false);
    const id = String(++this.#lastId);
    this.add(id, this.changesComments ? "cost centre 7" : options.join(" "));
    if (this.losesAnswers) throw new SlurmError("timed out", true);
    return id;
  }

  add(id: string, comment: string): void {
    this.jobs.push({
      id,
      comment,
      state: "PENDING",
      leftS: this.limitS,
      nodes: [],
      nodeList: "",
      batchHost: "",
      reason: "Resources",
      ...{ restarts: 0, startS: undefined, eligibleS: undefined },
    });
  }

  async job(id: string): Promise<QueuedJob | undefined> {
    this.#answer();
    const found = this.jobs.find((job) => job.id === id);
    const answer = found && { ...found };
    const { whileAsked } = this;
    this.whileAsked = () => {};
    whileAsked();
    return answer;
  }

  async queue(): Promise<readonly QueuedJob[]> {
    this.#answer();
    return [...this.jobs];
  }

  async nodesOfJob(id: string): Promise<readonly JobNode[]> {
    this.#answer();
    return this.find(id).nodes.map((node) => ({ node, cpus: [0, 1], memoryMib: 1000 }));
  }

  async nodes(names: readonly string[] = NODES): Promise<readonly SlurmNode[]> {
    this.#answer();
    return names.map((node) => ({ node, state: "allocated", isDown: false, memoryMib: 1000, cpus: 2 }));
  }

  async nodeReasons(): Promise<readonly NodeReason[]> {
    this.#answer();
    const known = (node: string) => this.away.find((other) => other.node === node);
    return NODES.map((node) => known(node) ?? { node, state: "idle", reason: "none" });
  }

  async bindsTasks(): Promise<boolean> {
    return true;
  }

  async cancel(id: string): Promise<void> {
    this.#answer();
    this.cancelled.push(id);
    if (this.forgetsCancels-- > 0) return;
    const job = this.jobs.find((other) => other.id === id);
    if (job !== undefined && ALIVE.has(job.state)) job.state = "CANCELLED";
  }

  #answer(): void {
    this.asked++;
    if (this.isAway) throw new SlurmError("Unable to contact slurm controller", true);
  }
}

const NO_SHARE = { nodes: new NodeTable([]), memoryBytes: 0 };
/** A job as wide as a pilot. */
const WIDE: Wish = { tasks: 8, takenBy: [], isForLost: false };

/** What waits, by the names of the pilots in use. */
type Want = (inUse: readonly string[]) => readonly Wish[];
export const NOTHING: Want = () => [];
/** Jobs that these pilots could take, or only others, or each of both; or that need lost nodes. */
export const HERE: Want = (inUse) => [{ ...WIDE, takenBy: inUse }];
export const OTHERS: Want = () => [WIDE];
export const BOTH: Want = (inUse) => [...HERE(inUse), WIDE];
export const LOST: Want = () => [{ ...WIDE, isForLost: true }];

interface StageLimits extends Partial<Pick<PilotSettings, "pilots" | "idleMs" | "maxNodeMs">> {
  readonly maxNodes?: number;
  /** CPUs and memory of nodes; default: 2 CPUs. */
  readonly size?: Omit<KindSize, "mostProcessors">;
  readonly kinds?: readonly PilotKind[];
}

export const KIND: PilotKind = {
  name: "all",
  nodes: { min: NODES.length, max: NODES.length },
  timeMs: { min: 3_600_000, max: 3_600_000 },
  sbatch: [],
};

/** A front end's pilots, and what they have reported. */
export class Stage {
  readonly clock = new FakeClock(1_000_000);
  readonly slurm = new FakeSlurm();
  /** Kept over restarts of the front end, as on disk. */
  stored: PilotContent = newContent();
  allocations: Allocation[] = [];
  reports: string[] = [];
  /** Nodes whose conductors were ended. */
  readonly endedOn: string[] = [];
  notices: string[] = [];
  trouble: string | undefined;
  rests: string | undefined;
  /** What jobs want of the pilot in use, or of the first one. */
  demand: Want;
  isHeard = true;
  /** Whether the nodes of pilots that begin answer, so that jobs can have them. */
  answers = true;
  isDiskFull = false;
  endedConductors = 0;
  readonly inUse = new Set<string>();
  /** Front ends that have found no pilot. */
  startsWithout = 0;
  pilots!: Pilots;
  kinds!: NodeKinds;
  readonly #limits: StageLimits;

  /** @param demand left out: jobs run or wait, and at a drain more of them wait */
  constructor(limits: StageLimits = {}, demand: Want = BOTH) {
    this.#limits = limits;
    this.demand = demand;
    this.startFrontEnd();
  }

  /** Jobs come or go. */
  want(demand: Want): void {
    this.demand = demand;
    this.#tellDemand();
  }

  #tellDemand(): void {
    const names = this.answers ? [...this.inUse] : [];
    const parts = names.map((name) => ({ ...NO_SHARE, name }));
    this.pilots.setDemand({ of: { ...NO_SHARE, parts }, wishes: this.demand(names) });
  }

  /** Gangs run on all nodes of all pilots in use, or on none; or on these numbers. */
  setBusy(busy: boolean | Readonly<Record<string, number>>): void {
    const of = (name: string) =>
      typeof busy === "boolean" ? Number(busy) * NODES.length : (busy[name] ?? 0);
    this.pilots.setBusy(new Map([...this.inUse].map((name) => [name, of(name)])));
  }

  /** Only what it has saved is left. */
  killFrontEnd(): void {
    const { stored } = this;
    this.pilots.close();
    this.stored = stored;
    this.startFrontEnd();
  }

  /** A front end starts, after the one before has ended. */
  startFrontEnd(): void {
    this.slurm.unixS = () => this.clock.unixMs() / 1000;
    this.pilots?.close();
    this.inUse.clear();
    const store: KeptStore<PilotContent> = {
      read: () => this.stored,
      write: (content) => {
        expect(problemIn(pilotContent, JSON.parse(JSON.stringify(content)))).toBeUndefined();
        if (this.isDiskFull) throw new InputError("Cannot write: no space left on device");
        this.stored = structuredClone(content);
      },
    };
    const { kinds = [KIND], size = { cpus: { min: 2, max: 2 } }, ...limits } = this.#limits;
    const settings = { idleMs: 300_000, maxNodes: NODES.length, ...limits, stopBeforeMs: 60_000 };
    const sizes = Object.fromEntries(kinds.map(({ name }) => [name, { ...size, mostProcessors: 8 }]));
    this.kinds = new NodeKinds({ ...settings, kinds }, sizes);
    this.pilots = new Pilots({
      slurm: this.slurm,
      clock: this.clock,
      store,
      content: structuredClone(this.stored),
      settings: {
        ...settings,
        kinds,
        drainMs: 300_000,
        partitionOf: () => undefined,
        submission: ({ mark, timeMs }) => {
          this.slurm.limitS = timeMs! / 1000;
          return { options: [mark], script: "" };
        },
      },
      kinds: this.kinds,
      isHeard: () => this.isHeard,
      endConductors: (nodes) => {
        this.endedConductors++;
        this.endedOn.push(...(nodes ?? []));
      },
    });
    const listener: ClusterListener = {
      allocated: (allocation) => {
        this.inUse.add(allocation.name);
        this.allocations.push(allocation);
        this.reports.push(`allocated ${allocation.name}`);
        this.#tellDemand();
      },
      closing: (_, because) => this.reports.push(`closing: ${because}`),
      rests: (text) => {
        this.rests = text;
      },
      nodeDown: (node) => this.reports.push(`down ${node}`),
      released: (name, because) => {
        this.inUse.delete(name ?? "");
        if (because === "there is no pilot") this.startsWithout++;
        else this.reports.push(`released: ${because}`);
        // As the executor does.
        this.pilots.setBusy(new Map());
        this.#tellDemand();
        if (this.inUse.size === 0) this.trouble = `there is no allocation: ${because}`;
      },
      trouble: (text) => {
        this.trouble = text;
      },
      notice: (kind) => this.notices.push(kind),
    };
    this.pilots.start(listener);
    this.#tellDemand();
  }

  /**
   * Time passes. Between two timers, all answers arrive. At its begin, connections to nodes are lost, as when
   * something has happened there.
   */
  async pass(ms: number): Promise<void> {
    this.pilots.suspect();
    await this.passQuietly(ms);
  }

  async passQuietly(ms: number): Promise<void> {
    const untilMs = this.clock.nowMs() + ms;
    await this.#settle();
    while (this.clock.nextMs() <= untilMs) {
      const fromMs = this.clock.nowMs();
      const toMs = Math.max(this.clock.nextMs(), fromMs);
      this.#age(toMs - fromMs);
      this.clock.advanceTo(toMs);
      await this.#settle();
    }
    this.#age(untilMs - this.clock.nowMs());
    this.clock.advanceTo(untilMs);
    await this.#settle();
  }

  #age(ms: number): void {
    for (const job of this.slurm.jobs) {
      if (job.state === "RUNNING" && job.leftS !== undefined) job.leftS -= ms / 1000;
    }
  }

  async #settle(): Promise<void> {
    for (let i = 0; i < 30; i++) {
      this.clock.settle();
      await Promise.resolve();
    }
  }
}
