/** Stops gangs with the freezer of control groups. No process of the gang can escape it or undo it. */
import type { GangGroups } from "@tutti/host/cgroups.ts";
import { type Freezer, signalAll } from "./freezer.ts";
import type { PausedGangs } from "./paused-gangs.ts";

/** The file that stops and continues a group, and what is written to it. */
export const SWITCHES = {
  cgroup2: { file: "cgroup.freeze", stop: "1", go: "0" },
  cgroup1: { file: "freezer.state", stop: "FROZEN", go: "THAWED" },
} as const;

abstract class CgroupFreezer implements Freezer {
  abstract readonly kind: keyof typeof SWITCHES;
  protected readonly groups: GangGroups;
  readonly #paused: PausedGangs;

  constructor(groups: GangGroups, paused: PausedGangs) {
    this.groups = groups;
    this.#paused = paused;
  }

  abstract isFrozen(gang: string): boolean;
  abstract kill(gang: string): boolean;

  enter(): void {}

  freeze(...gangs: readonly string[]): boolean {
    const { file, stop } = SWITCHES[this.kind];
    for (const gang of gangs) this.groups.write("freezer", gang, file, stop);
    return true;
  }

  thaw(gang: string): void {
    const { file, go } = SWITCHES[this.kind];
    this.groups.write("freezer", gang, file, go);
  }

  pids(gang: string): number[] {
    return this.groups.pids(gang);
  }

  leave(): void {}

  rewriteHome(): void {
    this.#paused.write();
  }

  thawLeftovers(): ReadonlySet<string> {
    const left = this.groups.gangs().filter((gang) => !this.#paused.has(gang));
    const stopped = left.filter((gang) => this.isFrozen(gang));
    for (const gang of left) this.thaw(gang);
    return new Set(stopped);
  }
}

/** Version 2. Freezing is invisible to the job, and `cgroup.kill` can kill frozen processes. */
export class Cgroup2Freezer extends CgroupFreezer {
  readonly kind = "cgroup2";

  isFrozen(gang: string): boolean {
    const events = this.groups.read("freezer", gang, "cgroup.events");
    return events === undefined || events.includes("frozen 1") || events.includes("populated 0");
  }

  kill(gang: string): boolean {
    const events = this.groups.read("freezer", gang, "cgroup.events");
    if (events === undefined || events.includes("populated 0")) return true;
    // Before Linux 5.14: frozen processes cannot fork while we signal them, and they die although they are
    // frozen.
    if (!this.groups.write("kill", gang, "cgroup.kill", "1")) this.freeze(gang);
    // cgroup.kill skips a process whose first thread has ended while others run (seen with Linux 6.18).
    signalAll(this, gang, "SIGKILL");
    return false;
  }
}

/**
 * Version 1. A frozen process dies only once it is thawed. So to kill: freeze, signal each process, thaw,
 * look again.
 */
export class Cgroup1Freezer extends CgroupFreezer {
  readonly kind = "cgroup1";

  isFrozen(gang: string): boolean {
    const state = this.groups.read("freezer", gang, "freezer.state");
    return state === undefined || state.startsWith("FROZEN") || this.pids(gang).length === 0;
  }

  kill(gang: string): boolean {
    const isEmpty = this.pids(gang).length === 0;
    if (!isEmpty) {
      this.freeze(gang);
      signalAll(this, gang, "SIGKILL");
    }
    this.thaw(gang);
    return isEmpty;
  }
}
