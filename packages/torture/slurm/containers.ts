/**
 * How Slurm finds the processes of a step on a node. By control groups, it finds all of them, and kills what
 * is left when the last task of the step has ended. Without (proctrack/linuxproc), it knows only those that
 * descend from its slurmstepd, and what is left after the last task lives on.
 */
import type { Process } from "../world/contract.ts";
import { type Group, groupsOf } from "../world/kernel/groups.ts";
import type { SimulatedMachine } from "../world/kernel/machine.ts";
import type { KernelProcess } from "../world/kernel/process.ts";
import type { StepPart } from "./steps.ts";

type Of = Pick<StepPart, "job"> & Partial<Pick<StepPart, "step">>;

export class Containers {
  readonly #machine: SimulatedMachine;
  readonly #byGroups: boolean;

  constructor(machine: SimulatedMachine) {
    this.#machine = machine;
    this.#byGroups = machine.hierarchies.length > 0;
  }

  /** A task belongs to its step from its first moment on. */
  enter({ job, step }: StepPart, task: Process): void {
    if (!this.#byGroups) return;
    for (const { root } of this.#machine.hierarchies)
      made(made(root, `slurm-job-${job}`), `step-${step}`).take(task as KernelProcess);
  }

  /** The last task of a step has ended. */
  leave(part: StepPart): void {
    if (this.#byGroups) this.signal(part, ["SIGKILL"], []);
  }

  /** @param stepds process ids of the slurmstepds of these steps that still run */
  processes({ job, step }: Of, stepds: readonly number[]): KernelProcess[] {
    const found: KernelProcess[] = [];
    for (const process of this.#machine.processes.values()) {
      if (process.end !== undefined) continue;
      const isIts = this.#byGroups ? isIn(process, job, step) : this.#descends(process, stepds);
      if (isIts) found.push(process);
    }
    return found;
  }

  signal(of: Of, signals: readonly string[], stepds: readonly number[]): void {
    for (const { pid } of this.processes(of, stepds))
      for (const signal of signals) if (this.#machine.processes.has(pid)) this.#machine.kill(pid, signal);
  }

  /** Removes the groups of a job that has ended. */
  remove(job: number): void {
    for (const { root } of this.#machine.hierarchies) {
      const group = root.children.get(`slurm-job-${job}`);
      if (group === undefined || group.isPopulated) continue;
      for (const step of [...group.children.keys()]) group.remove(step);
      root.remove(group.name);
    }
  }

  #descends(process: KernelProcess, stepds: readonly number[]): boolean {
    if (stepds.includes(process.pid)) return false;
    for (let at: KernelProcess | undefined = process; at !== undefined; ) {
      if (stepds.includes(at.parent)) return true;
      at = at.parent === at.pid ? undefined : this.#machine.processes.get(at.parent);
    }
    return false;
  }
}

function made(parent: Group, name: string): Group {
  return parent.children.get(name) ?? parent.make(name, 0);
}

function isIn(process: KernelProcess, job: number, step: string | undefined): boolean {
  const path = `slurm-job-${job}/${step === undefined ? "" : `step-${step}`}`;
  const own = groupsOf(process)[0].path;
  return step === undefined ? own.startsWith(path) : own === path || own.startsWith(`${path}/`);
}
