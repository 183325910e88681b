/**
 * Stopping by the freezer of cgroup v1. A frozen process does not die before it is thawed, so killing is: freeze, signal each, thaw,
 * look again.
 */

import type { GangGroups } from "../../host/cgroups.ts";
import { signal } from "../../host/processes.ts";
import type { Freezer } from "./freezer.ts";

export class Cgroup1Freezer implements Freezer {
  readonly kind = "cgroup1";
  readonly #groups: GangGroups;

  constructor(groups: GangGroups) {
    this.#groups = groups;
  }

  enter(): void {}

  freeze(...gangs: readonly string[]): boolean {
    for (const gang of gangs) this.#groups.write("freezer", gang, "freezer.state", "FROZEN");
    return true;
  }

  thaw(gang: string): void {
    this.#groups.write("freezer", gang, "freezer.state", "THAWED");
  }

  isFrozen(gang: string): boolean {
    const state = this.#groups.read("freezer", gang, "freezer.state");
    return state === undefined || state.startsWith("FROZEN") || this.pids(gang).length === 0;
  }

  pids(gang: string): number[] {
    return this.#groups.pids(gang);
  }

  signalAll(gang: string, name: NodeJS.Signals): void {
    for (const pid of this.#groups.pids(gang)) signal(pid, name);
  }

  kill(gang: string): boolean {
    if (this.pids(gang).length === 0) {
      this.thaw(gang);
      return true;
    }
    this.freeze(gang);
    this.signalAll(gang, "SIGKILL");
    this.thaw(gang);
    return false;
  }

  leave(): void {}

  homeIsNew(): void {}

  thawLeftovers(): void {
    for (const gang of this.#groups.gangs()) this.thaw(gang);
  }
}
