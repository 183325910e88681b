/**
 * A machine: its processes and control groups between a boot and the next power cut. Everything that takes
 * time is an event of the timeline, so no program ever runs within a call of another one.
 */
import type {
  Body,
  Caller,
  Files,
  Machine,
  OpenFile,
  Process,
  ProcessEnd,
  Program,
  Random,
  StartOptions,
  Sys,
  Timeline,
} from "../contract.ts";
import { sysError } from "../errors.ts";
import { KernelClock } from "./clock.ts";
import { type Controller, type Group, type GroupHost, groupsOf, Hierarchy } from "./groups.ts";
import { Inline } from "./inline.ts";
import { keepMemoryLimits, largestOf } from "./memory.ts";
import { type ProcSource, procTree } from "./proc.ts";
import { type Kernel, KernelProcess, STUCK, SUSPENDED } from "./process.ts";
import { SIGNALS } from "./signals.ts";
import { type Installed, ProcessSys, type SysHost } from "./sys.ts";
import { MOUNT, sysTree } from "./sys-tree.ts";

interface MachineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid?: number;
  readonly home?: string;
}

/** Which control groups are mounted: version 2, version 1, freezers of both as on many machines, none. */
export type GroupsKind = "v2" | "v1" | "hybrid" | "none";

export interface MachineOptions {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly cpus: number;
  readonly sockets?: number;
  readonly threadsPerCore?: number;
  readonly memoryBytes: number;
  /** Besides root. */
  readonly users: readonly MachineUser[];
  readonly groups: GroupsKind;
  /** Numbers of processes are below; at least 400. */
  readonly pidMax?: number;
  readonly maxProcesses?: number;
  /** Unix time when the world began. */
  readonly unixMsAtZero: number;
  /** How long the machine was up by then: monotonic times of several machines have nothing in common. */
  readonly upMsAtZero?: number;
  makeFiles(options: { readonly random: Random; readonly unixMs: () => number }): Files;
}

/** Probabilities of what may go wrong at any time; all are 0 at first. */
interface KernelFaults {
  /** A fork fails with EAGAIN. */
  forkFails: number;
  /** A stop, a freeze or a kill takes 5 to 50 ms. */
  slowStop: number;
  /** A process that is stopped, frozen or killed is just stuck in a system call, for up to 5 s. */
  stuck: number;
}

const V2_CONTROLLERS: readonly Controller[] = ["cpuset", "cpu", "io", "memory", "pids"];
const V1_CONTROLLERS: readonly Controller[] = ["cpu", "cpuacct", "cpuset", "memory", "freezer", "pids"];
/** The kernel gives no lower number again after the first round. */
const RESERVED_PIDS = 300;
const NO_FILES: ReadonlyMap<number, OpenFile> = new Map();
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const O_WRONLY = 1;
const O_CREAT = 0o100;
const O_TRUNC = 0o1000;
const X_OK = 1;
/** What runs longer at one instant is killed. */
const MAX_INLINE_US = 5_000_000;

export function createMachine(options: MachineOptions): SimulatedMachine {
  return new SimulatedMachine(options);
}

export class SimulatedMachine implements Machine, Kernel, SysHost, GroupHost, ProcSource {
  readonly name: string;
  readonly timeline: Timeline;
  readonly random: Random;
  readonly files: Files;
  readonly clock: KernelClock;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly pidMax: number;
  readonly maxProcesses: number;
  readonly faults: KernelFaults = { forkFails: 0, slowStop: 0, stuck: 0 };
  readonly processes = new Map<number, KernelProcess>();
  /** An observer: a process begins or ceases to compute. */
  onRunning?: (process: KernelProcess, isRunning: boolean) => void;
  /** A program has thrown something. */
  onCrash?: (process: KernelProcess, error: unknown) => void;
  /** The text of /proc/locks. */
  locks = (): string => "";
  bootId = "";
  isOn = false;
  newestPid = 0;
  hierarchies: readonly Hierarchy[] = [];
  /** For the world itself. */
  readonly root: Caller;
  readonly #groups: GroupsKind;
  readonly #programs = new Map<string, Installed>();
  /** How many processes each session has. */
  readonly #sessions = new Map<number, number>();
  #init!: KernelProcess;
  #isSuspended = false;

  constructor(options: MachineOptions) {
    const { name, timeline, random, cpus, memoryBytes, pidMax = 32_768, unixMsAtZero } = options;
    this.name = name;
    this.timeline = timeline;
    this.random = random;
    this.cpus = cpus;
    this.memoryBytes = memoryBytes;
    this.pidMax = pidMax;
    this.maxProcesses = options.maxProcesses ?? pidMax;
    this.#groups = options.groups;
    this.clock = new KernelClock(timeline, unixMsAtZero);
    this.files = options.makeFiles({ random: random.fork("files"), unixMs: () => this.clock.unixMs() });
    const nobody = { pid: 0, uid: 0, gid: 0, groups: [], umask: 0o022, files: new Map() };
    const cwd = this.files.find({ ...nobody, cwd: undefined as never }, "/");
    this.root = { ...nobody, cwd };
    this.files.mount("/proc", procTree(this));
    const { sockets = 1, threadsPerCore = 1 } = options;
    const find = (pid: number) => this.processes.get(pid);
    this.files.mount(
      "/sys",
      sysTree({ cpus, sockets, threadsPerCore }, () => this.hierarchies, find),
    );
    this.#writeUsers(options.users);
    this.#boot(options.upMsAtZero);
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  // Power ---------------------------------------------------------------------------------------------------

  boot(): void {
    this.#boot();
  }

  #boot(upMs?: number): void {
    if (this.isOn) throw new Error(`Cannot boot ${this.name}: it is on`);
    this.isOn = true;
    this.clock.boot(upMs);
    this.bootId = uuid(this.random);
    this.hierarchies = hierarchiesOf(this.#groups, this);
    this.newestPid = 0;
    const groupIn = this.hierarchies.map(({ root }) => root);
    const before = { ...this.root, session: 0, groupIn };
    this.#init = new KernelProcess(this, this.#nextPid(), 0, before);
    this.#add(this.#init);
    this.newSession(this.#init);
    Object.assign(this.#init, { name: "init", argv: ["/sbin/init"], exe: "/sbin/init" });
    // Others have started and ended during the boot.
    this.newestPid = this.random.between(50, 250);
  }

  cutPower(): void {
    if (!this.isOn) return;
    this.isOn = false;
    this.#isSuspended = false;
    this.clock.stop();
    const all = [...this.processes.values()];
    const bodies = all.map((process) => (process.end === undefined ? process.close(POWER_CUT) : undefined));
    for (const process of all) this.#closeFiles(process);
    this.processes.clear();
    this.#sessions.clear();
    for (const body of bodies) body?.ended();
    this.files.cutPower();
  }

  suspend(forMs: number): void {
    if (!this.isOn || this.#isSuspended) return;
    this.#isSuspended = true;
    const { bootId } = this;
    const us = Math.round(forMs * 1000);
    for (const process of this.processes.values()) process.hold(SUSPENDED);
    this.clock.suspend(us);
    this.timeline.at(this.timeline.nowUs + us, () => {
      if (this.bootId !== bootId || !this.isOn) return;
      this.#isSuspended = false;
      this.clock.resume();
      for (const process of this.processes.values()) process.release(SUSPENDED);
    });
  }

  // Starting ------------------------------------------------------------------------------------------------

  install(path: string, program: Program): void {
    this.#install(path, { program });
  }

  installBody(path: string, begin: (process: Process) => Body): void {
    this.#install(path, { begin });
  }

  #install(path: string, installed: Installed): void {
    this.#programs.set(path, installed);
    this.writeFile(path, "\x7fELF", 0o755);
  }

  /** Writes a file that survives a power cut, with its folders. */
  writeFile(path: string, content: string | Uint8Array, mode = 0o644): void {
    const { files, root } = this;
    const folders = [...path.matchAll(/\/(?=.)/g)].map(({ index }) => path.slice(0, index) || "/");
    for (const folder of folders) this.makeFolder(folder);
    const descriptor = files.open(root, path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    files.write(root, descriptor, typeof content === "string" ? new TextEncoder().encode(content) : content);
    this.#sync(descriptor);
  }

  /** Makes a folder that survives a power cut, unless it is there. */
  makeFolder(path: string, uid = 0, gid = 0): void {
    const { files, root } = this;
    try {
      files.find(root, path);
    } catch {
      files.makeFolder(root, path, 0o755);
      files.chown(root, path, uid, gid);
      this.#sync(files.open(root, path, 0));
    }
  }

  #sync(descriptor: number): void {
    this.files.sync(this.root, descriptor);
    this.files.close(this.root, descriptor);
  }

  start(parent: Process | undefined, options: StartOptions): KernelProcess {
    const by = parent === undefined ? this.#init : (parent as KernelProcess);
    const { argv, environment, uid = by.uid, gid = by.gid } = options;
    if (by.uid !== 0 && (uid !== by.uid || gid !== by.gid)) throw sysError("EPERM", "spawn", argv[0]);
    const who = { ...callerOf(by), uid, gid };
    if (options.cwd !== undefined) {
      // With a slash at the end, it has to be a folder that may be entered.
      this.files.access(who, `${options.cwd}/`, X_OK);
      who.cwd = this.files.find(who, options.cwd);
    }
    const program = this.#find(who, argv[0], environment);
    const child = this.#newProcess(by);
    child.uid = uid;
    child.gid = gid;
    child.cwd = who.cwd;
    if (options.isDetached === true) this.newSession(child);
    for (const [descriptor, file] of options.files ?? NO_FILES) {
      file.references++;
      child.files.set(descriptor, file);
    }
    this.#become(child, program, argv, environment, this.random.between(100, 400));
    return child;
  }

  fork(parent: KernelProcess): KernelProcess {
    const child = this.#newProcess(parent);
    const { name, argv, environment, exe } = parent;
    Object.assign(child, { name, argv, environment, exe });
    for (const [descriptor, file] of parent.files) {
      file.references++;
      child.files.set(descriptor, file);
    }
    return child;
  }

  exec(process: KernelProcess, argv: readonly string[], environment: Readonly<Record<string, string>>): void {
    const program = this.#find(process, argv[0], environment);
    process.forgetHandlers();
    this.allocate(process, -process.memoryBytes);
    this.#become(process, program, argv, environment, this.random.between(50, 200));
  }

  #become(
    process: KernelProcess,
    { path, installed }: { readonly path: string; readonly installed: Installed },
    argv: readonly string[],
    environment: Readonly<Record<string, string>>,
    afterUs: number,
  ): void {
    process.name = path.slice(path.lastIndexOf("/") + 1).slice(0, 15);
    process.exe = path;
    process.argv = argv;
    process.environment = environment;
    if ("program" in installed) process.begin(installed.program, afterUs);
    else process.embody(installed.begin);
  }

  #find(who: Caller, file: string, environment: Readonly<Record<string, string>>) {
    if (file.includes("/")) return { path: file, installed: this.#programAt(who, file) };
    let problem = "ENOENT";
    for (const folder of (environment.PATH ?? SYSTEM_PATH).split(":")) {
      const path = `${folder}/${file}`;
      try {
        return { path, installed: this.#programAt(who, path) };
      } catch (error) {
        const { code } = error as { readonly code?: string };
        if (code !== "ENOENT" && code !== "ENOTDIR") problem = code ?? problem;
      }
    }
    throw sysError(problem, "exec", file);
  }

  #programAt(who: Caller, path: string): Installed {
    const { files, root } = this;
    const inode = files.find(who, path);
    if (inode.kind !== "file") throw sysError("EACCES", "exec", path);
    files.access(who, path, X_OK);
    const installed = this.#programs.get(path);
    if (installed !== undefined) return installed;
    // Another name of an installed file, such as a link to it.
    for (const [known, program] of this.#programs) {
      try {
        if (files.find(root, known) === inode) return program;
      } catch {}
    }
    throw sysError("ENOEXEC", "exec", path);
  }

  #newProcess(parent: KernelProcess): KernelProcess {
    const { faults, random } = this;
    const isFull = this.processes.size >= this.maxProcesses;
    if (isFull || (faults.forkFails > 0 && random.chance(faults.forkFails))) throw sysError("EAGAIN", "fork");
    for (const group of parent.groupIn) (group as Group).admitFork();
    const child = new KernelProcess(this, this.#nextPid(), this.#bootUs(), parent);
    child.affinity = parent.affinity;
    child.inline = parent.inline;
    for (const [signal, act] of parent.dispositions)
      if (act === "ignore") child.dispositions.set(signal, act);
    parent.children.add(child);
    this.#add(child);
    return child;
  }

  #add(process: KernelProcess): void {
    this.processes.set(process.pid, process);
    this.#join(process.session, 1);
    for (const group of groupsOf(process)) {
      group.processes.add(process);
      group.addPids(1);
    }
  }

  #bootUs(): number {
    return this.clock.bootMs() * 1000;
  }

  /** In a circle; a number stays taken as long as a session has it. */
  #nextPid(): number {
    for (let tries = 0; tries < this.pidMax; tries++) {
      this.newestPid = this.newestPid + 1 < this.pidMax ? this.newestPid + 1 : RESERVED_PIDS;
      if (!this.processes.has(this.newestPid) && !this.#sessions.has(this.newestPid)) return this.newestPid;
    }
    throw sysError("EAGAIN", "fork");
  }

  newSession(process: KernelProcess): void {
    if (process.session === process.pid) throw sysError("EPERM", "setsid");
    this.#join(process.session, -1);
    process.session = process.pid;
    this.#join(process.session, 1);
  }

  #join(session: number, count: number): void {
    const now = (this.#sessions.get(session) ?? 0) + count;
    if (now === 0) this.#sessions.delete(session);
    else this.#sessions.set(session, now);
  }

  sysOf(process: KernelProcess): Sys {
    return new ProcessSys(process, this);
  }

  deliver(process: Process, call: () => void): void {
    (process as KernelProcess).deliver(call);
  }

  // Ending --------------------------------------------------------------------------------------------------

  exit(process: Process, code: number): void {
    this.finish(process as KernelProcess, { code: code & 255 });
  }

  finish(process: KernelProcess, end: ProcessEnd): void {
    if (process.end !== undefined) return;
    const body = process.close(end);
    if (process.crash !== undefined) this.onCrash?.(process, process.crash);
    this.#closeFiles(process);
    for (const group of groupsOf(process)) {
      group.processes.delete(process);
      group.addMemory(-process.memoryBytes);
    }
    process.memoryBytes = 0;
    for (const child of process.children) {
      child.parent = this.#init.pid;
      this.#init.children.add(child);
      if (child.end !== undefined) this.reap(child);
    }
    process.children.clear();
    body?.ended();
    const parent = this.processes.get(process.parent);
    if (parent === undefined || parent === this.#init || parent.dispositions.get("SIGCHLD") === "ignore") {
      this.reap(process);
    } else
      process.after(this.random.between(10, 60), () => {
        // It may have ended before, and left its zombie to init.
        if (parent.children.has(process)) parent.childEnded(process);
      });
  }

  #closeFiles(process: KernelProcess): void {
    for (const descriptor of [...process.files.keys()]) this.files.close(process, descriptor);
  }

  reap(child: KernelProcess): void {
    if (this.processes.get(child.pid) !== child) return;
    this.processes.delete(child.pid);
    this.#join(child.session, -1);
    for (const group of groupsOf(child)) group.addPids(-1);
    this.processes.get(child.parent)?.children.delete(child);
  }

  onChildEnd(parent: Process, pid: number, call: (end: ProcessEnd) => void): void {
    const process = parent as KernelProcess;
    const child = this.processes.get(pid);
    if (child === undefined || child.parent !== parent.pid) return;
    process.childCalls.set(pid, (end) => {
      this.reap(child);
      call(end);
    });
    if (child.end !== undefined) process.after(0, () => process.childEnded(child));
  }

  runToEnd(child: Process): ProcessEnd {
    const process = child as KernelProcess;
    const inline = new Inline();
    process.goInline(inline);
    if (!inline.run(() => process.end !== undefined, MAX_INLINE_US)) this.finish(process, KILLED);
    for (const other of this.processes.values()) if (other.inline === inline) other.inline = undefined;
    inline.leave((us, call) => this.clock.after(us, call));
    this.reap(process);
    return process.end!;
  }

  // Signals -------------------------------------------------------------------------------------------------

  kill(pid: number, name: string, by?: Process): void {
    const signal = nameOf(name);
    if (pid > 0) {
      this.#signal(this.reach(pid, by, signal), signal, by);
      return;
    }
    const session = pid === 0 ? (by?.session ?? 0) : -pid;
    const all = [...this.processes.values()].filter((process) =>
      pid === -1 ? process !== this.#init && process !== by : process.session === session,
    );
    const allowed = all.filter((process) => mayKill(process, by, signal));
    if (all.length === 0) throw sysError("ESRCH", "kill");
    if (allowed.length === 0) throw sysError("EPERM", "kill");
    for (const process of allowed) this.#signal(process, signal, by);
  }

  #signal(process: KernelProcess, signal: string | undefined, by: Process | undefined): void {
    if (signal !== undefined && process !== this.#init) process.send(signal, process === by);
  }

  reach(pid: number, by: Process | undefined, signal?: string): KernelProcess {
    const process = this.processes.get(pid);
    if (process === undefined) throw sysError("ESRCH", "kill");
    if (!mayKill(process, by, signal)) throw sysError("EPERM", "kill");
    return process;
  }

  stopLatencyUs(process: KernelProcess): number {
    this.#maybeStick(process);
    return this.#latencyUs();
  }

  freezeLatencyUs(processes: Iterable<KernelProcess>): number {
    if (this.faults.stuck > 0) for (const process of processes) this.#maybeStick(process);
    return this.#latencyUs();
  }

  /** Measured on Linux 6.18: 0.02 to 0.3 ms, whatever the way. */
  #latencyUs(): number {
    const { faults, random } = this;
    const isSlow = faults.slowStop > 0 && random.chance(faults.slowStop);
    return isSlow ? random.between(5000, 50_000) : random.between(20, 300);
  }

  #maybeStick(process: KernelProcess): void {
    const { faults, random } = this;
    if (faults.stuck > 0 && random.chance(faults.stuck)) this.stick(process, random.between(100, 5000));
  }

  /** It is stuck in a system call for that time. */
  stick(process: KernelProcess, forMs: number): void {
    if (process.end !== undefined || (process.held & STUCK) !== 0) return;
    process.hold(STUCK);
    this.clock.after(forMs * 1000, () => process.release(STUCK));
  }

  /** Somebody stops it for that time, as a debugger or an administrator does. */
  pause(process: KernelProcess, forMs: number): void {
    process.send("SIGSTOP", false);
    this.clock.after(forMs * 1000, () => process.send("SIGCONT", false));
  }

  unstuck(process: KernelProcess): void {
    for (const group of groupsOf(process)) if (group.isFreezing) group.freezeOne(process);
  }

  // Resources -----------------------------------------------------------------------------------------------

  after(us: number, call: () => void): () => void {
    return this.clock.after(us, call);
  }

  /** Makes a control group that belongs to a user, as systemd delegates one until the next boot. */
  delegate(group: string, uid: number): void {
    for (const { root } of this.hierarchies) root.make(group, uid);
  }

  /** CPUs on which it may run. */
  cpusOf(process: KernelProcess): readonly number[] {
    const index = this.hierarchies.findIndex(({ controllers }) => controllers.includes("cpuset"));
    const allowed = index < 0 ? undefined : (process.groupIn[index] as Group).cpus();
    const { affinity } = process;
    if (allowed === undefined) return affinity ?? Array.from({ length: this.cpus }, (_, cpu) => cpu);
    const both = affinity?.filter((cpu) => allowed.includes(cpu)) ?? [];
    return both.length > 0 ? both : allowed;
  }

  setCpus(process: KernelProcess, cpus: readonly number[]): void {
    const there = [...new Set(cpus)].filter((cpu) => cpu >= 0 && cpu < this.cpus).sort((a, b) => a - b);
    if (there.length === 0) throw sysError("EINVAL", "sched_setaffinity");
    if (process.isRunning) this.onRunning?.(process, false);
    process.affinity = there;
    if (process.isRunning) this.onRunning?.(process, true);
  }

  allocate(process: KernelProcess, bytes: number): void {
    const more = Math.max(-process.memoryBytes, bytes);
    if (more === 0) return;
    process.memoryBytes += more;
    for (const group of groupsOf(process)) {
      group.addMemory(more);
      if (more > 0) keepMemoryLimits(group);
    }
    let used = 0;
    if (more > 0) for (const { memoryBytes } of this.processes.values()) used += memoryBytes;
    if (used > this.memoryBytes) largestOf(this.processes.values())?.send("SIGKILL", false);
  }

  pathOfFolder(process: KernelProcess): string {
    return this.files.pathOf(process.cwd);
  }

  #writeUsers(users: readonly MachineUser[]): void {
    const all: readonly MachineUser[] = [{ name: "root", uid: 0, home: "/root" }, ...users];
    const of = ({ name, uid, gid = uid, home = `/home/${name}` }: MachineUser) => ({ name, uid, gid, home });
    const lines = all.map(of);
    this.writeFile(
      "/etc/passwd",
      lines.map(({ name, uid, gid, home }) => `${name}:x:${uid}:${gid}:${name}:${home}:/bin/sh\n`).join(""),
    );
    this.writeFile("/etc/group", lines.map(({ name, gid }) => `${name}:x:${gid}:\n`).join(""));
    this.makeFolder("/home");
    for (const { uid, gid, home } of lines) this.makeFolder(home, uid, gid);
  }
}

const KILLED: ProcessEnd = { signal: "SIGKILL" };
const POWER_CUT = KILLED;

function callerOf({ pid, uid, gid, groups, umask, cwd, files }: KernelProcess): Caller {
  return { pid, uid, gid, groups, umask, cwd, files };
}

/** @returns undefined for signal 0, which only asks. @throws EINVAL */
function nameOf(signal: string): string | undefined {
  if (SIGNALS[signal] !== undefined) return signal;
  const number = Number(signal);
  if (number === 0) return undefined;
  const name = Object.keys(SIGNALS).find((one) => SIGNALS[one].number === number);
  if (name === undefined) throw sysError("EINVAL", "kill");
  return name;
}

function mayKill(process: KernelProcess, by: Process | undefined, signal?: string): boolean {
  if (by === undefined || by.uid === 0 || by.uid === process.uid) return true;
  return signal === "SIGCONT" && by.session === process.session;
}

function hierarchiesOf(kind: GroupsKind, host: GroupHost): readonly Hierarchy[] {
  if (kind === "none") return [];
  if (kind === "v2") return [new Hierarchy(host, 0, 2, MOUNT, V2_CONTROLLERS)];
  // The first one is what a process calls its group.
  const freezerFirst = ["freezer", ...V1_CONTROLLERS.filter((name) => name !== "freezer")] as Controller[];
  const v1 = freezerFirst.map((name, i) => new Hierarchy(host, i, 1, `${MOUNT}/${name}`, [name]));
  return kind === "v1" ? v1 : [...v1, new Hierarchy(host, v1.length, 2, `${MOUNT}/unified`, [])];
}

function uuid(random: Random): string {
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => random.below(16).toString(16)).join("");
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}
