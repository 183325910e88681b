/**
 * A process: what it is, whether it may run, and the signals that it gets. What may hold it:
 *
 *   stopped     by SIGSTOP and the like, until SIGCONT
 *   frozen      by a control group of version 1 or 2
 *   stuck       in a system call that takes neither signals nor a freezer, as with a network file system
 *   suspended   with its machine
 *
 * Stops, freezes and kills take effect some time after they were asked for, and it runs on until then. A
 * signal of another process is delivered by an event of its own, so no program ever runs within a call of
 * another. Measured on Linux 6.18:
 *
 *   held by      state  SIGKILL         other deadly signals   SIGSTOP         SIGCONT
 *   stopped      T      at once         when continued         –               continues
 *   frozen (v2)  S      at once         at once, unless        when thawed     no longer stopped; frozen
 *                                       they are handled
 *   frozen (v1)  D      when thawed     when thawed            when thawed     no longer stopped; frozen
 *   stuck        D      when it is not  when it is not         when it is not  no longer stopped; stuck
 */
import type {
  Body,
  Inode,
  Machine,
  Made,
  OpenFile,
  Process,
  ProcessEnd,
  ProcessState,
  Program,
  Sys,
  Wait,
} from "../contract.ts";
import type { KernelClock } from "./clock.ts";
import type { Inline } from "./inline.ts";
import { SIGNALS } from "./signals.ts";

export const STOPPED = 1;
export const FROZEN_V2 = 2;
export const FROZEN_V1 = 4;
export const STUCK = 8;
export const SUSPENDED = 16;
/** What keeps SIGKILL from it. */
const DEAF = FROZEN_V1 | STUCK | SUSPENDED;

/** What a process needs of its machine. */
export interface Kernel extends Machine {
  readonly clock: KernelClock;
  /** How long a stop, a freeze or a kill takes, in µs; it may also get the process stuck. */
  stopLatencyUs(process: KernelProcess): number;
  /** The process has begun or ceased to compute. */
  onRunning?: (process: KernelProcess, isRunning: boolean) => void;
  /** Ends it: of its own accord or by a signal. */
  finish(process: KernelProcess, end: ProcessEnd): void;
  /** It is no longer stuck, so what has failed to freeze it meanwhile does so now. */
  unstuck(process: KernelProcess): void;
  sysOf(process: KernelProcess): Sys;
}

type Disposition = "ignore" | (() => void);

/** What a process knows of its control group. */
export interface Membership {
  readonly path: string;
  cpuUs: number;
}

export class KernelProcess implements Process {
  readonly machine: Kernel;
  readonly pid: number;
  readonly startTicks: number;
  readonly startUs: number;
  parent: number;
  session: number;
  name = "";
  argv: readonly string[] = [];
  environment: Readonly<Record<string, string>> = {};
  /** Path of its program, for /proc. */
  exe = "";
  uid: number;
  gid: number;
  groups: readonly number[];
  umask = 0o022;
  cwd: Inode;
  readonly files = new Map<number, OpenFile>();
  readonly children = new Set<KernelProcess>();
  /** Its control group in each hierarchy. */
  readonly groupIn: Membership[];
  /** CPUs that it has been restricted to; undefined: all. */
  affinity: readonly number[] | undefined = undefined;
  policy = 0;
  memoryBytes = 0;
  end: ProcessEnd | undefined = undefined;
  /** Set while somebody waits for it at one instant. */
  inline: Inline | undefined = undefined;
  /** What its program has thrown. */
  crash: unknown = undefined;
  /** The folder in /proc, once somebody has looked. */
  made: Made | undefined = undefined;
  /** What was asked for its children's ends. */
  readonly childCalls = new Map<number, (end: ProcessEnd) => void>();
  /** What holds it: the sum of the constants above. */
  held = 0;
  /** SIGKILL is on its way. */
  isKilled = false;
  readonly dispositions = new Map<string, Disposition>();
  #cpuUs = 0;
  /** Since when it computes; −1: it does not. */
  #runsSinceUs = -1;
  #body: Body | undefined = undefined;
  #generator: Generator<Wait, number> | undefined = undefined;
  #waitsFor: Wait["for"] | "nothing" = "nothing";
  #childAwaited: number | undefined = undefined;
  #workLeftUs = 0;
  /** The wait is over, but it could not go on yet. */
  #isDue = false;
  #cancelWait: () => void = nothing;
  #cancelTimer: () => void = nothing;
  /** Calls that wait until it may run. */
  #calls: (() => void)[] = [];
  #isDrainSet = false;
  #signals: string[] = [];
  /** A stop is under way: the number of the request; 0: none. */
  #stop = 0;
  #stops = 0;

  constructor(
    machine: Kernel,
    pid: number,
    nowUs: number,
    by: Pick<KernelProcess, "pid" | "session" | "uid" | "gid" | "groups" | "umask" | "cwd" | "groupIn">,
  ) {
    this.machine = machine;
    this.pid = pid;
    this.parent = by.pid;
    this.session = by.session;
    this.startUs = nowUs;
    this.startTicks = Math.floor(nowUs / 10_000);
    this.uid = by.uid;
    this.gid = by.gid;
    this.groups = by.groups;
    this.umask = by.umask;
    this.cwd = by.cwd;
    this.groupIn = [...by.groupIn];
  }

  get state(): ProcessState {
    if (this.end !== undefined) return "Z";
    if ((this.held & (FROZEN_V1 | STUCK)) !== 0) return "D";
    if ((this.held & STOPPED) !== 0) return "T";
    if (this.held !== 0) return "S";
    return this.#waitsFor === "work" || this.#waitsFor === "step" || this.#isDue ? "R" : "S";
  }

  get isRunning(): boolean {
    return this.#runsSinceUs >= 0;
  }

  get cpuUs(): number {
    return this.#cpuUs + this.unbilledUs;
  }

  /** CPU time that its control groups do not know of yet. */
  get unbilledUs(): number {
    return this.#runsSinceUs < 0 ? 0 : this.machine.timeline.nowUs - this.#runsSinceUs;
  }

  get group(): string {
    return this.groupIn[0]?.path ?? "";
  }

  // What it runs --------------------------------------------------------------------------------------------

  /** @param afterUs until it takes its first step */
  begin(program: Program, afterUs: number): void {
    this.#body = undefined;
    this.#generator = program(this.machine.sysOf(this));
    this.#waitsFor = "step";
    this.#cancelTimer = this.after(afterUs, this.#timeIsUp);
  }

  /** The same for a program that is not a generator. */
  embody(begin: (process: Process) => Body): void {
    this.#generator = undefined;
    this.#waitsFor = "nothing";
    this.#body = begin(this);
  }

  /** A program takes over a process: what was handled has its default action again. */
  forgetHandlers(): void {
    for (const [signal, act] of this.dispositions) if (act !== "ignore") this.dispositions.delete(signal);
  }

  /** Calls in its time, unless the power goes before. */
  after(us: number, call: () => void): () => void {
    return this.inline === undefined ? this.machine.clock.after(us, call) : this.inline.after(us, call);
  }

  /** It has just begun, and runs in a time of its own from now on. */
  goInline(inline: Inline): void {
    this.inline = inline;
    this.#cancelTimer();
    this.#cancelTimer = inline.after(0, this.#timeIsUp);
  }

  #timeIsUp = (): void => {
    this.#cancelTimer = nothing;
    if (this.#waitsFor === "work") this.#pause();
    this.#goOn();
  };

  /** What it has waited for has come. */
  #goOn = (): void => {
    if (this.end !== undefined) return;
    this.#isDue = true;
    if (this.held === 0 && this.#calls.length === 0) this.#step();
  };

  #step(): void {
    this.#isDue = false;
    this.#cancelTimer();
    this.#cancelWait();
    this.#cancelTimer = this.#cancelWait = nothing;
    this.#waitsFor = "nothing";
    const generator = this.#generator;
    if (generator === undefined) return;
    let next: IteratorResult<Wait, number>;
    try {
      next = generator.next();
    } catch (error) {
      const isPipe = (error as { code?: string }).code === "EPIPE" && !this.dispositions.has("SIGPIPE");
      if (!isPipe) this.crash = error;
      this.machine.finish(this, isPipe ? { signal: "SIGPIPE" } : { code: 70 });
      return;
    }
    if (this.end !== undefined) return;
    // Another program may have taken over meanwhile.
    if (next.done !== true) {
      if (this.#generator === generator) this.#wait(next.value);
    } else this.machine.finish(this, { code: next.value & 255 });
  }

  #wait(wait: Wait): void {
    const { random, files, timeline } = this.machine;
    this.#waitsFor = wait.for;
    switch (wait.for) {
      case "step": {
        const us = random.between(2, 8);
        this.charge(us);
        this.#cancelTimer = this.after(us, this.#timeIsUp);
        break;
      }
      case "time":
        this.#cancelTimer = this.after(wait.us, this.#timeIsUp);
        break;
      case "work":
        this.#workLeftUs = wait.us;
        if (this.held === 0) this.#work();
        break;
      case "child":
        this.#childAwaited = wait.pid;
        if (this.endedChild(wait.pid) !== undefined || !this.hasChild(wait.pid)) this.#soon();
        break;
      case "readable":
        this.#cancelWait = files.whenReadable(this, wait.descriptor, () => this.#soon());
        if (wait.untilUs !== undefined && this.#waitsFor === "readable")
          this.#cancelTimer = this.after(wait.untilUs - timeline.nowUs, this.#timeIsUp);
        break;
      case "signal":
        break;
    }
  }

  /** Goes on by an event of its own: the caller may be a system call of another process. */
  #soon(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.after(this.machine.random.between(2, 20), this.#timeIsUp);
    this.#waitsFor = "step";
  }

  endedChild(pid: number | undefined): KernelProcess | undefined {
    for (const child of this.children)
      if (child.end !== undefined && (pid === undefined || child.pid === pid)) return child;
    return undefined;
  }

  hasChild(pid: number | undefined): boolean {
    if (pid === undefined) return this.children.size > 0;
    for (const child of this.children) if (child.pid === pid) return true;
    return false;
  }

  /** One of its children has ended. */
  childEnded(child: KernelProcess): void {
    const call = this.childCalls.get(child.pid);
    if (call !== undefined) {
      this.childCalls.delete(child.pid);
      this.deliver(() => call(child.end!));
    }
    if (this.#waitsFor === "child" && (this.#childAwaited ?? child.pid) === child.pid) this.#soon();
    if (this.dispositions.has("SIGCHLD")) this.send("SIGCHLD", true);
  }

  deliver(call: () => void): void {
    if (this.end !== undefined) return;
    if (this.held === 0 && this.#calls.length === 0 && !this.#isDrainSet) call();
    else this.#calls.push(call);
  }

  // Whether it may run --------------------------------------------------------------------------------------

  hold(what: number): void {
    if (this.held === 0) this.#pause();
    this.held |= what;
  }

  release(what: number): void {
    if ((this.held & what) === 0 || this.end !== undefined) return;
    this.held &= ~what;
    if ((what & STUCK) !== 0) this.machine.unstuck(this);
    if (this.isKilled && (this.held & DEAF) === 0) this.#endSoon();
    if (this.#stop !== 0) this.#takeStop(this.#stop);
    if (this.held !== 0 || this.isKilled) return;
    if (this.#waitsFor === "work" && !this.#isDue) this.#work();
    if (this.#isDue || this.#calls.length > 0 || this.#signals.length > 0) this.#setDrain();
  }

  /** A continued process gets its processor a moment later. */
  #setDrain(): void {
    if (this.#isDrainSet) return;
    this.#isDrainSet = true;
    this.after(this.machine.random.between(10, 100), this.#drain);
  }

  #drain = (): void => {
    this.#isDrainSet = false;
    if (this.held !== 0 || this.end !== undefined || this.isKilled) return;
    this.#takeSignals();
    // A call may make others, which come after the others that wait.
    for (let done = 0; done < this.#calls.length; done++) {
      this.#calls[done]();
      if (this.end !== undefined) return;
      if (this.held !== 0) {
        this.#calls.splice(0, done + 1);
        return;
      }
    }
    this.#calls.length = 0;
    if (this.#isDue) this.#step();
  };

  #work(): void {
    this.#cancelTimer = this.after(this.#workLeftUs, this.#timeIsUp);
    this.#runsSinceUs = this.machine.timeline.nowUs;
    this.machine.onRunning?.(this, true);
  }

  #pause(): void {
    if (this.#runsSinceUs < 0) return;
    this.machine.onRunning?.(this, false);
    this.bill();
    this.#runsSinceUs = -1;
    this.#cancelTimer();
    this.#cancelTimer = nothing;
  }

  /** Tells its control groups what it has used so far. */
  bill(): void {
    const us = this.unbilledUs;
    if (us === 0) return;
    this.charge(us);
    this.#workLeftUs -= us;
    this.#runsSinceUs += us;
  }

  charge(us: number): void {
    this.#cpuUs += us;
    for (const group of this.groupIn) group.cpuUs += us;
  }

  // Signals -------------------------------------------------------------------------------------------------

  /** @param isOwn It has sent it itself, so it comes before the call returns. */
  send(signal: string, isOwn: boolean): void {
    if (this.end !== undefined) return;
    const { action } = SIGNALS[signal];
    if (signal === "SIGKILL") {
      if (this.isKilled) return;
      this.isKilled = true;
      if ((this.held & DEAF) === 0) this.#endSoon(isOwn);
      return;
    }
    const isHandled = this.#body !== undefined || this.dispositions.has(signal);
    if (signal === "SIGSTOP" || (action === "stop" && !isHandled)) {
      const stop = ++this.#stops;
      this.#stop = stop;
      if ((this.held & STOPPED) === 0)
        this.after(isOwn ? 0 : this.machine.stopLatencyUs(this), () => this.#takeStop(stop));
      return;
    }
    if (signal === "SIGCONT") {
      this.#stop = 0;
      this.release(STOPPED);
    }
    if (this.#body === undefined) {
      const act = this.dispositions.get(signal);
      if (act === "ignore" || (act === undefined && (action === "nothing" || action === "continue"))) return;
    }
    if (this.#signals.includes(signal)) return;
    this.#signals.push(signal);
    this.after(isOwn ? 0 : this.machine.random.between(5, 60), () => this.#takeSignals());
  }

  #endSoon(isOwn = false): void {
    this.after(isOwn ? 0 : this.machine.stopLatencyUs(this), () => {
      if ((this.held & DEAF) === 0 && this.end === undefined)
        this.machine.finish(this, { signal: "SIGKILL" });
    });
  }

  #takeStop(stop: number): void {
    if (this.#stop !== stop || this.end !== undefined) return;
    if ((this.held & ~(STOPPED | SUSPENDED)) !== 0) return;
    this.#stop = 0;
    this.hold(STOPPED);
  }

  #takeSignals(): void {
    while (this.#signals.length > 0 && this.end === undefined && !this.isKilled) {
      if (this.held !== 0) {
        if (this.held !== FROZEN_V2) return;
        // Of what a frozen process gets, only what ends it is seen.
        const deadly = this.#signals.find((signal) => this.#isDeadly(signal));
        if (deadly !== undefined) this.machine.finish(this, { signal: deadly });
        return;
      }
      // Of several, that with the lowest number.
      let next = this.#signals[0];
      for (const signal of this.#signals) if (SIGNALS[signal].number < SIGNALS[next].number) next = signal;
      this.#signals.splice(this.#signals.indexOf(next), 1);
      this.#take(next);
    }
  }

  #isDeadly(signal: string): boolean {
    const { action } = SIGNALS[signal];
    return this.#body === undefined && action === "end" && !this.dispositions.has(signal);
  }

  #take(signal: string): void {
    const { action } = SIGNALS[signal];
    const act = this.dispositions.get(signal);
    if (act === "ignore") return;
    if (act !== undefined) {
      act();
      if (this.#waitsFor === "signal") this.#soon();
    } else if (this.#body?.signal(signal) !== true) {
      if (action === "end") this.machine.finish(this, { signal });
      else if (action === "stop") this.hold(STOPPED);
    }
  }

  /** Everything that it had set in motion ends. @returns its body */
  close(end: ProcessEnd): Body | undefined {
    this.#pause();
    this.#cancelTimer();
    this.#cancelWait();
    this.end = end;
    this.#generator = undefined;
    this.#calls = [];
    this.#signals = [];
    this.childCalls.clear();
    return this.#body;
  }
}

function nothing(): void {}
