/** The system calls of a modelled program. */
import type { Body, Files, Machine, Process, ProcessEnd, Program, Random, Sys, Wait } from "../contract.ts";
import { sysError } from "../errors.ts";
import type { KernelProcess } from "./process.ts";
import { SIGNALS } from "./signals.ts";

/** How a program begins in a process. */
export type Installed = { readonly program: Program } | { readonly begin: (process: Process) => Body };

/** What the calls need of the machine. */
export interface SysHost extends Machine {
  fork(parent: KernelProcess): KernelProcess;
  /** @throws ENOENT, EACCES, ENOEXEC */
  exec(process: KernelProcess, argv: readonly string[], environment: Readonly<Record<string, string>>): void;
  reap(child: KernelProcess): void;
  newSession(process: KernelProcess): void;
  setCpus(process: KernelProcess, cpus: readonly number[]): void;
  allocate(process: KernelProcess, bytes: number): void;
  /** @throws ESRCH, EPERM if the caller may not signal it either */
  reach(pid: number, by: Process): KernelProcess;
}

const STEP: Wait = { for: "step" };

export class ProcessSys implements Sys {
  readonly self: KernelProcess;
  readonly machine: SysHost;
  readonly files: Files;
  readonly random: Random;

  constructor(self: KernelProcess, machine: SysHost) {
    this.self = self;
    this.machine = machine;
    this.files = machine.files;
    this.random = machine.random;
  }

  fork(program: Program): number {
    const child = this.machine.fork(this.self);
    child.begin(program, this.random.between(30, 200));
    return child.pid;
  }

  *exec(
    argv: readonly string[],
    environment: Readonly<Record<string, string>> = this.self.environment,
  ): Generator<Wait, number> {
    this.machine.exec(this.self, argv, environment);
    // The other program goes on from here, and this one never does.
    yield STEP;
    return 0;
  }

  reap(pid?: number): { readonly pid: number; readonly end: ProcessEnd } | undefined {
    const child = this.self.endedChild(pid);
    if (child !== undefined) {
      this.machine.reap(child);
      return { pid: child.pid, end: child.end! };
    }
    if (!this.self.hasChild(pid)) throw sysError("ECHILD", "wait");
    return undefined;
  }

  kill(pid: number, signal: string): void {
    this.machine.kill(pid, signal, this.self);
  }

  newSession(): void {
    this.machine.newSession(this.self);
  }

  setIds(uid: number, gid: number, groups: readonly number[]): void {
    const { self } = this;
    if (self.uid !== 0 && (uid !== self.uid || gid !== self.gid)) throw sysError("EPERM", "setuid");
    self.uid = uid;
    self.gid = gid;
    if (groups.length > 0 || self.uid === 0) self.groups = groups;
  }

  onSignal(signal: string, act: "default" | "ignore" | (() => void)): void {
    if (SIGNALS[signal] === undefined || signal === "SIGKILL" || signal === "SIGSTOP")
      throw sysError("EINVAL", "sigaction");
    if (act === "default") this.self.dispositions.delete(signal);
    else this.self.dispositions.set(signal, act);
  }

  setCpus(pid: number, cpus: readonly number[]): void {
    this.machine.setCpus(this.machine.reach(pid, this.self), cpus);
  }

  setPolicy(pid: number, policy: number): void {
    const process = this.machine.reach(pid, this.self);
    if (this.self.uid !== 0 && (policy === 1 || policy === 2)) throw sysError("EPERM", "sched_setscheduler");
    process.policy = policy;
  }

  allocate(bytes: number): void {
    this.machine.allocate(this.self, bytes);
  }
}
