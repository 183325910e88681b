/**
 * Stopping by the freezer of cgroup v2, killing by `cgroup.kill`. Nobody in the gang can escape it or undo it, it is invisible to the
 * job, and a frozen process can be killed.
 */

import type { GangGroups } from "../../host/cgroups.ts";
import { signal } from "../../host/processes.ts";
import type { Freezer } from "./freezer.ts";

export class Cgroup2Freezer implements Freezer {
  readonly kind = "cgroup2";
  readonly #groups: GangGroups;

  constructor(groups: GangGroups) {
    this.#groups = groups;
  }

  enter(): void {}

  freeze(...gangs: readonly string[]): boolean {
    for (const gang of gangs) this.#groups.write("freezer", gang, "cgroup.freeze", "1");
    return true;
  }

  thaw(gang: string): void {
    this.#groups.write("freezer", gang, "cgroup.freeze", "0");
  }

  isFrozen(gang: string): boolean {
    const events = this.#groups.read("freezer", gang, "cgroup.events");
    return events === undefined || events.includes("frozen 1") || events.includes("populated 0");
  }

  pids(gang: string): number[] {
    return this.#groups.pids(gang);
  }

  signalAll(gang: string, name: NodeJS.Signals): void {
    for (const pid of this.#groups.pids(gang)) signal(pid, name);
  }

  kill(gang: string): boolean {
    const events = this.#groups.read("freezer", gang, "cgroup.events");
    if (events === undefined || events.includes("populated 0")) return true;
    // Before Linux 5.14: frozen, they cannot fork while we go through them, and die frozen.
    if (!this.#groups.write("kill", gang, "cgroup.kill", "1")) this.freeze(gang);
    // cgroup.kill passes over a process whose first thread has ended while others run (seen with Linux 6.18).
    this.signalAll(gang, "SIGKILL");
    return false;
  }

  leave(): void {}

  homeIsNew(): void {}

  thawLeftovers(): void {
    for (const gang of this.#groups.gangs()) this.thaw(gang);
  }
}
