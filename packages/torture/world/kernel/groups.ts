/**
 * Control groups: what a group counts, limits and freezes, for both versions. A hierarchy of version 1 has
 * one controller; the one of version 2 has those that each group passes on to its children. The files are
 * made in group-files.ts.
 */
import type { Made } from "../contract.ts";
import { sysError } from "../errors.ts";
import { FROZEN_V1, FROZEN_V2, type KernelProcess, type Membership, STUCK } from "./process.ts";

export type Controller = "cpuset" | "cpu" | "cpuacct" | "memory" | "pids" | "io" | "freezer";

/** What groups need of their machine. */
export interface GroupHost {
  readonly cpus: number;
  /** How long a freezer takes with these processes, in µs; some may get stuck. */
  freezeLatencyUs(processes: Iterable<KernelProcess>): number;
  after(us: number, call: () => void): () => void;
  onRunning?: (process: KernelProcess, isRunning: boolean) => void;
}

export class Hierarchy {
  readonly version: 1 | 2;
  readonly mountPoint: string;
  /** Of version 2: those that the root has. */
  readonly controllers: readonly Controller[];
  readonly host: GroupHost;
  /** Its place in `KernelProcess.groupIn`. */
  readonly index: number;
  readonly root: Group;

  constructor(
    host: GroupHost,
    index: number,
    version: 1 | 2,
    mountPoint: string,
    controllers: readonly Controller[],
  ) {
    this.host = host;
    this.index = index;
    this.version = version;
    this.mountPoint = mountPoint;
    this.controllers = controllers;
    this.root = new Group(this, undefined, "", 0);
    this.root.cpuset = Array.from({ length: host.cpus }, (_, cpu) => cpu);
    for (const controller of controllers) this.root.passedOn.add(controller);
  }

  groupOf(process: KernelProcess): Group {
    return process.groupIn[this.index] as Group;
  }

  /** What it does to a process. */
  get frozen(): number {
    return this.version === 1 ? FROZEN_V1 : FROZEN_V2;
  }
}

export class Group {
  readonly hierarchy: Hierarchy;
  readonly parent: Group | undefined;
  readonly name: string;
  /** Below the root, such as "tutti-1/7.1". */
  readonly path: string;
  readonly uid: number;
  readonly children = new Map<string, Group>();
  /** That have not ended. */
  readonly processes = new Set<KernelProcess>();
  /** Controllers that its children have. */
  readonly passedOn = new Set<Controller>();
  /** Used by its processes, without those in groups below. */
  cpuUs = 0;
  /** Including groups below, and processes that nobody has reaped. */
  pids = 0;
  maxPids = Number.POSITIVE_INFINITY;
  pidsRefused = 0;
  memoryBytes = 0;
  peakMemoryBytes = 0;
  maxMemoryBytes = Number.POSITIVE_INFINITY;
  maxSwapBytes = Number.POSITIVE_INFINITY;
  isKilledWhole = false;
  /** How often it was out of memory, and how many processes that has ended, here and below. */
  ooms = 0;
  oomKills = 0;
  weight = 100;
  shares = 1024;
  /** As it was set; undefined: never. */
  cpuset: readonly number[] | undefined = undefined;
  mems = "";
  isFreezeAsked = false;
  isRemoved = false;
  /** Its folder. */
  made: Made | undefined = undefined;
  #cancelFreeze: () => void = () => {};

  constructor(hierarchy: Hierarchy, parent: Group | undefined, name: string, uid: number) {
    this.hierarchy = hierarchy;
    this.parent = parent;
    this.name = name;
    this.uid = uid;
    this.path = parent === undefined || parent.path === "" ? name : `${parent.path}/${name}`;
    if (hierarchy.version === 1)
      for (const controller of hierarchy.controllers) this.passedOn.add(controller);
  }

  /** Whether it has that controller. */
  has(controller: Controller): boolean {
    return this.parent?.passedOn.has(controller) ?? this.hierarchy.controllers.includes(controller);
  }

  /** @throws EEXIST */
  make(name: string, uid: number): Group {
    if (this.children.has(name)) throw sysError("EEXIST", "mkdir", name);
    const child = new Group(this.hierarchy, this, name, uid);
    this.children.set(name, child);
    return child;
  }

  /** @throws ENOENT, EBUSY */
  remove(name: string): void {
    const child = this.children.get(name);
    if (child === undefined) throw sysError("ENOENT", "rmdir", name);
    if (child.processes.size > 0 || child.children.size > 0) throw sysError("EBUSY", "rmdir", name);
    child.isRemoved = true;
    this.children.delete(name);
    this.cpuUs += child.cpuUs;
  }

  /** Processes here and below. */
  *all(): Generator<KernelProcess> {
    yield* this.processes;
    for (const child of this.children.values()) yield* child.all();
  }

  get isPopulated(): boolean {
    if (this.processes.size > 0) return true;
    for (const child of this.children.values()) if (child.isPopulated) return true;
    return false;
  }

  /** CPU time of all processes that there ever were here and below, in µs. */
  usedCpuUs(): number {
    for (const process of this.processes) process.bill();
    let us = this.cpuUs;
    for (const child of this.children.values()) us += child.usedCpuUs();
    return us;
  }

  // Freezing ------------------------------------------------------------------------------------------------

  /** Whether its processes must freeze: for its own sake, or for a group's above. */
  get isFreezing(): boolean {
    return this.isFreezeAsked || this.parent?.isFreezing === true;
  }

  /** Whether all are. */
  get isFrozen(): boolean {
    if (!this.isFreezing) return false;
    const { frozen } = this.hierarchy;
    if (this.children.size === 0) {
      for (const process of this.processes) if ((process.held & frozen) === 0) return false;
      return true;
    }
    for (const process of this.all()) if ((process.held & frozen) === 0) return false;
    return true;
  }

  askFreeze(isFreezeAsked: boolean): void {
    if (this.isFreezeAsked === isFreezeAsked) return;
    const was = this.isFreezing;
    this.isFreezeAsked = isFreezeAsked;
    if (this.isFreezing === was) return;
    this.#cancelFreeze();
    const { host } = this.hierarchy;
    if (isFreezeAsked)
      this.#cancelFreeze = host.after(host.freezeLatencyUs(this.all()), () => this.#freeze());
    else this.#thaw();
  }

  #freeze(): void {
    if (!this.isFreezing) return;
    for (const process of this.processes) this.freezeOne(process);
    for (const child of this.children.values()) child.#freeze();
  }

  /** A process that is stuck tries again when it is not. */
  freezeOne(process: KernelProcess): void {
    if ((process.held & STUCK) === 0 && process.end === undefined) process.hold(this.hierarchy.frozen);
  }

  #thaw(): void {
    if (this.isFreezing) return;
    for (const process of this.processes) process.release(this.hierarchy.frozen);
    for (const child of this.children.values()) child.#thaw();
  }

  // Members -------------------------------------------------------------------------------------------------

  /** The new process counts already. @throws EAGAIN if a group has as many as it may */
  admitFork(): void {
    for (let group: Group | undefined = this; group !== undefined; group = group.parent)
      if (group.pids >= group.maxPids) {
        group.pidsRefused++;
        throw sysError("EAGAIN", "fork");
      }
  }

  addPids(count: number): void {
    for (let group: Group | undefined = this; group !== undefined; group = group.parent) group.pids += count;
  }

  addMemory(bytes: number): void {
    for (let group: Group | undefined = this; group !== undefined; group = group.parent) {
      group.memoryBytes += bytes;
      group.peakMemoryBytes = Math.max(group.peakMemoryBytes, group.memoryBytes);
    }
  }

  /** Takes a process from another group of its hierarchy. */
  take(process: KernelProcess): void {
    const { index, host, frozen } = this.hierarchy;
    const from = this.hierarchy.groupOf(process);
    if (from === this || process.end !== undefined) return;
    this.whileStill([process], () => {
      process.bill();
      from.processes.delete(process);
      from.addPids(-1);
      from.addMemory(-process.memoryBytes);
      process.groupIn[index] = this;
      this.processes.add(process);
      this.addPids(1);
      this.addMemory(process.memoryBytes);
    });
    if (!this.isFreezing) process.release(frozen);
    else if ((process.held & frozen) === 0)
      host.after(host.freezeLatencyUs([process]), () => {
        const group = this.hierarchy.groupOf(process);
        if (group.isFreezing) group.freezeOne(process);
      });
  }

  // CPUs ----------------------------------------------------------------------------------------------------

  /** CPUs on which its processes may run. A set without a CPU of the group above counts as none (v2). */
  cpus(): readonly number[] {
    const above = this.parent?.cpus();
    if (above === undefined) return this.cpuset!;
    if (this.cpuset === undefined || !this.has("cpuset")) return above;
    const own = this.cpuset.filter((cpu) => above.includes(cpu));
    return own.length > 0 ? own : above;
  }

  setCpuset(cpus: readonly number[] | undefined): void {
    this.whileStill([...this.all()], () => {
      this.cpuset = cpus;
    });
  }

  /** An observer of what computes where sees that it ceases on the old CPUs and begins on the new ones. */
  whileStill(processes: readonly KernelProcess[], change: () => void): void {
    const { host } = this.hierarchy;
    const running = host.onRunning === undefined ? [] : processes.filter((process) => process.isRunning);
    for (const process of running) host.onRunning?.(process, false);
    change();
    for (const process of running) host.onRunning?.(process, true);
  }
}

/** Its group in each hierarchy. */
export function groupsOf({ groupIn }: KernelProcess): readonly Group[] {
  return groupIn as readonly Membership[] as readonly Group[];
}
