/**
 * Holds the processors and the memory that jobs have now, and says which jobs fit. On a cluster, nodes are
 * lost, allocations end, and new ones begin.
 *
 * The machine chooses the linear order of the processors (core/machine.ts). When a node is lost, gangs that
 * run on other nodes keep their CPUs, but their numbers in the linear order change. A policy that assigns
 * buddy blocks can keep a gang only if the gang's numbers still begin at a multiple of its block. So there
 * may be several orders to try; `adoption.ts` takes the first in which the policy keeps all gangs.
 *
 * A machine may have several parts that no gang can leave, such as allocations with different ends. Each of
 * them is a machine of its own (`parts`), and part-drivers.ts runs the policy on each.
 */
import { type NodeCpus, NodeTable } from "@tutti/kernel/core/machine.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import { processorsOf } from "@tutti/protocol/job-size.ts";
import type { Resource } from "@tutti/protocol/resources.ts";
import type { Drain, WhyAnswer } from "@tutti/protocol/schema.ts";
import type { Config } from "../config/config.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Capacity, Executor, JobShape } from "../executor/executor.ts";
import type { MatrixRows } from "./live-driver.ts";
import { processorsWithMemory } from "./live-limits.ts";
import { countedKinds, missingUnits } from "./units.ts";
import { mostMemoryFor, type Placing, roomFor, sizeForTasks } from "./whole-tasks.ts";
import { Windows } from "./windows.ts";

/** What a machine is made from. */
interface MachineSource extends Pick<Executor, "capacity"> {
  readonly capabilities: Pick<Executor["capabilities"], "movesGangs">;
}

type Needs = Pick<JobRecord, "tasks" | "threads" | "memoryBytes">;
type Gated = Pick<JobRecord, "limitMs" | "user" | "queue">;

/** What a job needs that no part has now. */
type Lack = {
  /** Number of parts, if there are several: what is present is that of the largest. */
  readonly parts?: number;
} & (
  | { readonly kind: "capacity"; readonly needed: number; readonly present: number; readonly most: number }
  | {
      readonly kind: "capacity-threads";
      readonly tasks: number;
      readonly threads: number;
      readonly present: number;
    }
  | { readonly kind: "capacity-memory"; readonly neededBytes: number; readonly presentBytes: number }
);

/** Why a job cannot start on the machine as it is now, whatever the policy is. */
export type MachineObstacle =
  | Lack
  | {
      readonly kind: "capacity-units";
      readonly resource: string;
      readonly needed: number;
      readonly present: number;
      /** Fewer than needed: the job cannot start before the configuration names more. */
      readonly configured: number;
    }
  | ({ readonly kind: "drained" } & Drain)
  | { readonly kind: "capacity-time"; readonly limitMs: number; readonly mostMs: number }
  | { readonly kind: "never"; readonly message: string }
  | { readonly kind: "drain"; readonly stopAtMs: number; readonly limitMs?: number }
  | WindowObstacle;

type WindowObstacle = Extract<WhyAnswer["obstacles"][number], { readonly kind: "window" }>;

export class LiveMachine {
  /** Set by an administrator: nothing starts until it is undone. */
  drain: Drain | undefined;
  readonly windows = new Windows();
  /** Countable resources. */
  readonly resources: readonly Resource[];
  /** Those of which a job has its units to itself. */
  readonly counted: readonly Resource[];
  /** Whether gangs can get other processors while they run. */
  readonly movesGangs: boolean;
  readonly #pack: Config["pack"];
  #capacity: Capacity;
  /** What the last nodes had before some were lost; undefined: unknown. */
  #whole: Capacity["whole"];
  #closedMs: number | undefined;
  /** Empty: the machine is one part. */
  #parts: ReadonlyMap<string, LiveMachine> = new Map();
  #nodes: NodeTable;
  /** The order before the capacity changed. */
  #before: NodeTable;
  /** Sizes of jobs with threads or in whole nodes, for this order of the nodes. */
  readonly #sizes = new Map<string, number>();

  /** @param pack what a gang is rounded up to */
  constructor(
    { capacity, capabilities }: MachineSource,
    pack: Config["pack"] = "cpus",
    resources: readonly Resource[] = [],
  ) {
    this.movesGangs = capabilities.movesGangs;
    this.resources = resources;
    this.counted = countedKinds(resources);
    this.#pack = pack;
    this.#capacity = capacity;
    this.#whole = capacity.whole;
    this.#nodes = this.#tableOf(capacity.nodes.nodes);
    this.#before = this.#nodes;
    this.#divide();
  }

  set(capacity: Capacity): void {
    this.#take(capacity);
    this.#before = this.#nodes;
    this.use(this.#tableOf(capacity.nodes.nodes));
    this.#divide();
  }

  /** Parts that were there before keep their order of nodes. */
  #divide(): void {
    const { parts = [], ...all } = this.#capacity;
    const { end: _, whole: __, ...common } = all;
    const before = this.#parts;
    this.#parts = new Map(
      parts.map((part) => {
        const capacity = { ...common, ...part };
        const known = before.get(part.name);
        const capabilities = { movesGangs: this.movesGangs };
        if (known === undefined)
          return [part.name, new LiveMachine({ capacity, capabilities }, this.#pack, this.resources)];
        known.set(capacity);
        return [part.name, known];
      }),
    );
  }

  /** The parts that no gang can leave; the machine itself if it is one part. */
  get parts(): readonly LiveMachine[] {
    return this.#parts.size === 0 ? [this] : [...this.#parts.values()];
  }

  get #isDivided(): boolean {
    return this.#parts.size > 0;
  }

  /** The part on which a gang is. */
  partWith(gang: JobRecord["nodes"]): LiveMachine {
    return this.parts.find((part) => part.isUsedBy(gang)) ?? this;
  }

  /** Whether a gang has a node here, though perhaps another one of its nodes is lost. */
  isUsedBy(gang: JobRecord["nodes"]): boolean {
    return gang.some(({ node }) => this.hasNode(node));
  }

  hasNode(node: string): boolean {
    return this.#nodes.nodes.some((own) => own.node === node);
  }

  /** The part of this name, or all if none is named; undefined: there is no such part. */
  part(name: string | undefined): LiveMachine | undefined {
    if (name === undefined) return this;
    if (this.#isDivided) return this.#parts.get(name);
    return name === (this.#capacity.name ?? name) ? this : undefined;
  }

  #take(capacity: Capacity): void {
    this.#capacity = capacity;
    this.#closedMs = undefined;
    if (capacity.whole !== undefined || capacity.nodes.processors > 0) this.#whole = capacity.whole;
  }

  #tableOf(nodes: readonly NodeCpus[]): NodeTable {
    return new NodeTable(nodes, this.givesWholeNodes && nodes.length > 0);
  }

  /** Whether gangs get whole nodes. Gangs that can move are bound to no node. */
  get givesWholeNodes(): boolean {
    return this.#pack === "whole-node" && !this.movesGangs;
  }

  /** From now on nothing starts on it, until the capacity is set again. */
  close(nowMs: number): void {
    this.#closedMs = nowMs;
    for (const part of this.#parts.values()) part.close(nowMs);
  }

  /** Of the part, as its executor calls it. */
  get name(): string {
    return this.#capacity.name ?? "";
  }

  get capacity(): Capacity {
    return this.#capacity;
  }

  get nodes(): NodeTable {
    return this.#nodes;
  }

  get processors(): number {
    return this.#nodes.processors;
  }

  /** Length of the linear order: what policies see as the number of processors. */
  get places(): number {
    return this.#nodes.places;
  }

  /** Places that are left if processors are taken away. */
  placesWithout(processors: number): number {
    if (!this.givesWholeNodes) return this.places - processors;
    const { nodes, width } = this.#nodes;
    return width * Math.floor((nodes.length * (this.processors - processors)) / this.processors);
  }

  get memoryBytes(): number {
    return this.#capacity.memoryBytes;
  }

  /** The most processors that a gang can ever have. */
  get mostProcessors(): number {
    const present = this.parts.map(({ processors }) => processors);
    return Math.max(...present, this.#capacity.mostProcessors ?? 0);
  }

  /** CPUs of the largest node; undefined: there is no node now. */
  get cpusOfNode(): number | undefined {
    return this.processors === 0 ? undefined : Math.max(...this.#nodeSizes());
  }

  /** How many tasks with these threads fit at once; infinity: unknown, since other nodes may come. */
  mostTasks(threads: number): number {
    if (this.mostProcessors > this.processors) return Number.POSITIVE_INFINITY;
    return roomFor(threads, this.#nodeSizes());
  }

  /** The longest time limit that a job can have; infinity: any. */
  get mostLimitMs(): number {
    return this.#capacity.mostLimitMs ?? Number.POSITIVE_INFINITY;
  }

  /** The most memory that it can ever have; infinity: unknown. */
  get mostMemoryBytes(): number {
    const { memoryBytes, mostMemoryBytes, mostProcessors } = this.#capacity;
    const unstated = mostProcessors === undefined ? memoryBytes : Number.POSITIVE_INFINITY;
    return Math.max(memoryBytes, mostMemoryBytes ?? unstated);
  }

  get end(): Capacity["end"] {
    if (this.#closedMs !== undefined) return { drainAtMs: this.#closedMs, stopAtMs: this.#closedMs };
    return this.#capacity.end;
  }

  /** Uses another order of the same nodes. */
  use(nodes: NodeTable): void {
    this.#nodes = nodes;
    this.#sizes.clear();
  }

  /** Orders of the nodes to try, the present one first. @param gangs the nodes of the running gangs */
  orders(gangs: readonly JobRecord["nodes"][]): NodeTable[] {
    const tables = [this.#nodes];
    for (const names of [this.#compacted(), this.#byGangs(gangs)]) {
      const table = this.#tableOf(names.map((name) => this.#nodes.nodes.find(({ node }) => node === name)!));
      if (tables.every((other) => orderOf(other) !== orderOf(table))) tables.push(table);
    }
    return tables;
  }

  /**
   * Without the lost nodes, in whole aligned blocks of nodes, larger blocks first. With nodes of equal size,
   * every buddy block that has lost no node begins at a multiple of its size again:
   *
   *   before      n1 n2 n3 n4        n1 is lost
   *   compacted   n3 n4 n2           a gang on n3 and n4 still has an aligned block
   */
  #compacted(): string[] {
    const present = new Set(this.#nodes.nodes.map(({ node }) => node));
    const before = this.#before.nodes.map(({ node }) => node);
    const blocks: string[][] = [];
    const split = (first: number, length: number): void => {
      const block = before.slice(first, first + length);
      if (block.length === 0) return;
      if (block.every((node) => present.has(node))) blocks.push(block);
      else if (length > 1) {
        split(first, length / 2);
        split(first + length / 2, length / 2);
      }
    };
    let length = 1;
    while (length < before.length) length *= 2;
    split(0, length);
    blocks.sort((a, b) => b.length - a.length);
    const kept = blocks.flat();
    return [...kept, ...[...present].filter((node) => !kept.includes(node))];
  }

  /** The nodes of the widest gangs first. */
  #byGangs(gangs: readonly JobRecord["nodes"][]): string[] {
    const names = new Set<string>();
    const present = new Set(this.#nodes.nodes.map(({ node }) => node));
    const widest = [...gangs].sort((a, b) => cpuCount(b) - cpuCount(a));
    for (const gang of widest) for (const { node } of gang) if (present.has(node)) names.add(node);
    for (const node of present) names.add(node);
    return [...names];
  }

  /**
   * Number of places that a job gets: a processor for each thread of its tasks, and on several nodes enough
   * for the threads of a task to be on one node. Under space sharing, it gets at least its share of the
   * machine by memory. It may be rounded up to whole nodes.
   */
  sizeOf(needs: Needs, choice: PolicyChoice): number {
    if (this.#isDivided) return this.#likeliestPart(needs).sizeOf(needs, choice);
    if (this.givesWholeNodes) return this.#nodes.width * this.#nodesFor(needs, choice);
    const { memoryBytes } = needs;
    if (processorsOf(needs) > this.processors) return processorsOf(needs);
    const needed = this.#processorsFor(needs, placingOf(choice));
    return isCountedByMemory(needs, choice) ? processorsWithMemory(needed, memoryBytes!, this) : needed;
  }

  /** The first part that can take the job, or the largest one. */
  #likeliestPart(needs: Needs): LiveMachine {
    const fitting = this.parts.find((part) => part.#lack(needs) === undefined);
    return fitting ?? this.parts.reduce((most, part) => (part.processors > most.processors ? part : most));
  }

  /** The number of nodes that always hold the tasks and their memory; one more than there are: none do. */
  #nodesFor(needs: Needs, choice: PolicyChoice): number {
    const { tasks, threads = 1, memoryBytes } = needs;
    const share = isCountedByMemory(needs, choice) ? processorsWithMemory(0, memoryBytes!, this) : 0;
    return this.#kept(`${tasks} ${threads} ${share}`, () => {
      const smallestFirst = this.#nodeSizes().sort((a, b) => a - b);
      // Where the executor places tasks, only their CPUs count.
      const unit = this.#capacity.placesTasks ? 1 : threads;
      let left = (tasks * threads) / unit;
      let processors = 0;
      let nodes = 0;
      for (; nodes < smallestFirst.length && (left > 0 || processors < share); nodes++) {
        left -= Math.floor(smallestFirst[nodes] / unit);
        processors += smallestFirst[nodes];
      }
      return left > 0 ? nodes + 1 : nodes;
    });
  }

  #processorsFor({ tasks, threads = 1 }: Needs, placing: Placing): number {
    const sizes = this.#nodeSizes();
    const isGiven = threads === 1 || this.#capacity.placesTasks || roomFor(threads, sizes) < tasks;
    if (isGiven) return tasks * threads;
    const key = `${tasks} ${threads} ${placing}`;
    return this.#kept(key, () => sizeForTasks(tasks, threads, sizes, placing));
  }

  #kept(key: string, compute: () => number): number {
    const known = this.#sizes.get(key) ?? compute();
    this.#sizes.set(key, known);
    return known;
  }

  #nodeSizes(): number[] {
    return this.#nodes.nodes.map(({ cpus }) => cpus.length);
  }

  /**
   * Number of places that a job with a process holds. Under time sharing, a paused job is in no row.
   * Under space sharing, it keeps its processors; if it has given them back, those that stand for its memory.
   */
  heldProcessors(
    record: Needs & Pick<JobRecord, "state" | "released" | "nodes">,
    choice: PolicyChoice,
  ): number {
    const isPaused = record.state === "paused";
    if (isPaused && choice.definition.sharing === "time") return 0;
    if (isPaused && record.released) {
      return record.memoryBytes === undefined ? 0 : processorsWithMemory(0, record.memoryBytes, this);
    }
    return this.movesGangs ? this.sizeOf(record, choice) : this.#nodes.indicesOf(record.nodes).length;
  }

  /** Why the job cannot start now; undefined: it can, if the policy starts it. */
  obstacle(record: Needs & Gated & Pick<JobRecord, "use">, nowMs: number): MachineObstacle | undefined {
    if (this.drain !== undefined) return { kind: "drained", ...this.drain };
    const { limitMs } = record;
    const tooLong = this.#tooLong(record);
    if (tooLong !== undefined) return tooLong;
    const never = this.whyNever(record, nowMs);
    if (never !== undefined) return { kind: "never", message: never };
    const roomy = this.parts.filter((part) => part.#lack(record) === undefined);
    if (roomy.length === 0) {
      const lack = this.#likeliestPart(record).#lack(record)!;
      return this.#isDivided ? { ...lack, parts: this.parts.length } : lack;
    }
    const missing = missingUnits(record, this.resources);
    if (missing !== undefined) return { kind: "capacity-units", ...missing, configured: missing.present };
    if (roomy.every((part) => nowMs >= part.#lastStartBeforeEndMs(record))) {
      const stopAtMs = Math.max(...roomy.map(({ end }) => end!.stopAtMs));
      return { kind: "drain", stopAtMs, limitMs };
    }
    return this.#windowObstacle(record, nowMs);
  }

  /** Whether the job can start on this part, as far as its size and the part's end decide that. */
  takes(record: JobShape, nowMs: number): boolean {
    return this.#lack(record) === undefined && nowMs < this.#lastStartBeforeEndMs(record);
  }

  /** What the job needs that this part does not have now. */
  #lack(record: JobShape): Lack | undefined {
    return this.#lackIn({ nodes: this.#nodes, memoryBytes: this.memoryBytes }, record);
  }

  /** What the job needs that such nodes do not have. */
  #lackIn({ nodes, memoryBytes }: NonNullable<Capacity["whole"]>, record: JobShape): Lack | undefined {
    const { tasks, threads = 1, memoryBytes: neededBytes = 0 } = record;
    const needed = processorsOf(record);
    const { processors: present } = nodes;
    if (needed > present) return { kind: "capacity", needed, present, most: this.mostProcessors };
    const room = roomFor(
      threads,
      nodes.nodes.map(({ cpus }) => cpus.length),
    );
    if (tasks > room) return { kind: "capacity-threads", tasks, threads, present: room };
    if (neededBytes > memoryBytes) return { kind: "capacity-memory", neededBytes, presentBytes: memoryBytes };
    const { memoryByNode } = this.#capacity;
    if (memoryByNode === undefined || neededBytes === 0) return undefined;
    const presentBytes = mostMemoryFor(
      { tasks, threads },
      nodes.nodes.map(({ node, cpus }) => ({ cpus: cpus.length, memoryBytes: memoryByNode.get(node) ?? 0 })),
    );
    return neededBytes <= presentBytes ? undefined : { kind: "capacity-memory", neededBytes, presentBytes };
  }

  /** Why neither these processors nor any that may come can hold the job, for people. */
  whyNever(record: JobShape, nowMs: number): string | undefined {
    if (this.parts.some((part) => part.takes(record, nowMs))) return undefined;
    return this.#capacity.whyNever?.(record);
  }

  #tooLong({ limitMs = 0 }: Pick<Gated, "limitMs">): MachineObstacle | undefined {
    const { mostLimitMs: mostMs } = this;
    return limitMs > mostMs ? { kind: "capacity-time", limitMs, mostMs } : undefined;
  }

  /**
   * What a waiting job wants: these processors, others because these end or because nodes were lost, or
   * none, because no such processors would hold it either.
   */
  wantedBy(record: JobShape, nowMs: number): Wanted {
    if (this.#tooLong(record) !== undefined || this.whyNever(record, nowMs) !== undefined) return "none";
    if (this.#isDivided) {
      const wanted = this.parts.map((part) => part.wantedBy(record, nowMs));
      return WANTED.find((one) => wanted.includes(one))!;
    }
    if (this.#whole !== undefined && this.#lackIn(this.#whole, record) !== undefined) {
      const othersMayHold =
        this.#capacity.whyNever !== undefined || this.#whole.nodes.processors < this.mostProcessors;
      return othersMayHold ? "others" : "none";
    }
    if (this.processors === 0) return "others";
    if (this.#lack(record) !== undefined) return "lost";
    return nowMs >= this.#lastStartBeforeEndMs(record) ? "others" : "these";
  }

  /** Whether a drain or a window keeps the job waiting, whatever the processors are. */
  isKept(record: Gated, nowMs: number): boolean {
    return this.drain !== undefined || this.#windowObstacle(record, nowMs) !== undefined;
  }

  /** Whether a running job may be stopped at the end of the processors, which has begun. */
  mayOutlive({ limitMs = Number.POSITIVE_INFINITY }: Pick<Gated, "limitMs">, ranMs: number, nowMs: number) {
    return (
      this.end !== undefined && nowMs >= this.end.drainAtMs && limitMs - ranMs > this.end.stopAtMs - nowMs
    );
  }

  #windowObstacle(record: Gated, nowMs: number): WindowObstacle | undefined {
    const next = this.windows.nextFor(record, nowMs);
    const unixMs = nowMs + this.windows.aheadMs();
    if (next === undefined || unixMs < next.fromMs) return undefined;
    const { name, fromMs, untilMs, users, queues, reason } = next.window;
    return {
      kind: "window",
      name,
      fromMs,
      untilMs,
      users,
      queues,
      reason,
      limitMs: record.limitMs,
      ...(unixMs < fromMs && { leftMs: fromMs - unixMs }),
    };
  }

  /**
   * The job may start before this instant, so that it ends by its limit before the processors are taken away
   * and before the next window begins. Of several parts, the one that it is the first to miss counts.
   */
  lastStartMs(record: Gated, nowMs: number): number {
    const window = this.windows.nextFor(record, nowMs);
    const beforeWindowMs =
      window === undefined ? Number.POSITIVE_INFINITY : window.fromMs - this.windows.aheadMs();
    const ahead = this.parts.map((part) => part.#lastStartBeforeEndMs(record)).filter((ms) => ms > nowMs);
    return Math.min(beforeWindowMs, ...(ahead.length > 0 ? ahead : [this.#lastStartBeforeEndMs(record)]));
  }

  /** A job without a limit may start until the drain, and so may others where limits are not kept. */
  #lastStartBeforeEndMs({ limitMs }: Pick<JobShape, "limitMs">): number {
    if (this.end === undefined) return Number.POSITIVE_INFINITY;
    const { drainAtMs, stopAtMs, keepsLimits } = this.end;
    if (limitMs === undefined) return drainAtMs;
    return keepsLimits ? stopAtMs - limitMs : Math.max(drainAtMs, stopAtMs - limitMs);
  }

  /** Whether all CPUs are there. */
  has(nodes: JobRecord["nodes"]): boolean {
    return this.#nodes.indicesOf(nodes).every((index) => index >= 0);
  }
}

type Wanted = "these" | "others" | "lost" | "none";
/** What counts first if a machine has several parts. */
const WANTED: readonly Wanted[] = ["these", "lost", "others", "none"];

/** The same rows by the numbers of another table, without the gangs that have lost a CPU. */
export function renumbered(rows: MatrixRows, from: NodeTable, to: NodeTable): MatrixRows {
  if (from === to) return rows;
  return rows.map((placements) =>
    placements
      .map(({ job, processors }) => ({
        job,
        processors: to.indicesOf(from.cpusAt(processors)).sort((a, b) => a - b),
      }))
      .filter(({ processors }) => processors[0] >= 0),
  );
}

/** Where the policy may put a gang. */
export function placingOf({ definition, parameters }: PolicyChoice): Placing {
  const { sharing, name } = definition;
  if (name === "random" || isPolicyFile(name)) return "any";
  return sharing === "space" || parameters.place === "any" ? "lowest" : "consecutive";
}

/** Under space sharing, memory is counted in processors. */
function isCountedByMemory({ memoryBytes }: Needs, { definition }: PolicyChoice): boolean {
  return definition.sharing === "space" && memoryBytes !== undefined;
}

function orderOf({ nodes }: NodeTable): string {
  return nodes.map(({ node }) => node).join(" ");
}

function cpuCount(nodes: JobRecord["nodes"]): number {
  return nodes.reduce((sum, { cpus }) => sum + cpus.length, 0);
}
