/** The way of a job's first process into the groups of its gang, while it waits at its gate. */

import { isAlive, isOfUser, type ProcessIdentity, readStat, signal } from "../../host/processes.ts";
import type { LaunchSpec } from "../../protocol/attempts.ts";
import { gangName } from "../../protocol/wire.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { readIdentity } from "./claim.ts";
import type { GangLimits } from "./gang-limits.ts";

export class GangEntry {
  /** The first process, once it is known. */
  job: ProcessIdentity | undefined;
  /** Whether it is in its groups, or on its way. */
  state: "no" | "joining" | "yes" = "no";
  /** Why it could not be put into them; then it was killed. */
  problem: string | undefined;
  readonly #containment: Containment;
  readonly #spec: Omit<LaunchSpec, "env">;
  readonly #limits: GangLimits;

  constructor(containment: Containment, spec: Omit<LaunchSpec, "env">, limits: GangLimits) {
    this.#containment = containment;
    this.#spec = spec;
    this.#limits = limits;
  }

  /** Begins the way, if the first process is there. @param known what an earlier conductor has seen to be it */
  join(shim: ProcessIdentity | undefined, hasBegun: boolean, known?: ProcessIdentity): void {
    const job = known ?? readIdentity(this.#spec, "job");
    if (shim === undefined || job === undefined) return;
    const { uid, memoryBytes } = this.#spec;
    const stat = readStat(job.pid);
    const isGone = stat === undefined || stat.startTicks !== job.startTicks;
    // The folder may name anybody: only a child of the shim is believed, or what was seen to be one.
    const isBelieved = known !== undefined || stat?.parent === shim.pid;
    if (!isGone && !(isBelieved && isOfUser(job.pid, uid))) return;
    this.job = job;
    const gang = gangName(this.#spec);
    const { groups, freezer } = this.#containment;
    try {
      groups.make(gang);
      this.#limits.apply();
      this.#limits.applyCpus(hasBegun);
      freezer.enter(gang, shim, job);
    } catch (error) {
      this.#refused(job, (error as Error).message);
      return;
    }
    this.state = isGone ? "yes" : "joining";
    if (isGone) return;
    const unneeded = memoryBytes === undefined ? (["memory"] as const) : [];
    void groups.join(gang, job.pid, unneeded).then((joined) => {
      this.state = "yes";
      if (!joined && isAlive(job)) this.#refused(job, "a control group refused it");
    });
  }

  /** Of an earlier conductor, whose shim is gone, so that nobody can be seen to be its child: the gang can be killed all the same. */
  enterWithout(shim: ProcessIdentity): void {
    this.#containment.freezer.enter(gangName(this.#spec), shim, shim);
    this.state = "yes";
  }

  #refused(job: ProcessIdentity, problem: string): void {
    this.state = "yes";
    this.problem = `Cannot contain job ${this.#spec.job}: ${problem}`;
    if (isAlive(job)) signal(job.pid, "SIGKILL");
  }
}
