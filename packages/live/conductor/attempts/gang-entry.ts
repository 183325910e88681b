/** Puts a job's first process into its gang's control groups while that process waits at its gate. */

import { isAlive, mayBelongTo, type ProcessIdentity, readStat, signal } from "@tutti/host/processes.ts";
import type { AttemptKey, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { type AttemptFolder, readIdentity } from "./claim.ts";
import type { GangLimits } from "./gang-limits.ts";

type EntrySpec = AttemptKey & AttemptFolder & Pick<LaunchSpec, "memoryBytes">;

export class GangEntry {
  /** The first process, once it is known. */
  job: ProcessIdentity | undefined;
  /** Whether the process is in its groups, or is about to join them. */
  state: "no" | "joining" | "yes" = "no";
  /** Why it could not be put into its groups; it was then killed. */
  problem: string | undefined;
  readonly #containment: Containment;
  readonly #spec: EntrySpec;
  readonly #limits: GangLimits;

  constructor(containment: Containment, spec: EntrySpec, limits: GangLimits) {
    this.#containment = containment;
    this.#spec = spec;
    this.#limits = limits;
  }

  /**
   * Begins to join the groups, if the first process exists.
   * @param known the process as an earlier conductor saw it
   */
  join(shim: ProcessIdentity | undefined, hasBegun: boolean, known?: ProcessIdentity): void {
    const job = known ?? readIdentity(this.#spec, "job");
    if (shim === undefined || job === undefined) return;
    const { uid, memoryBytes } = this.#spec;
    const stat = readStat(job.pid);
    const isGone = stat === undefined || stat.startTicks !== job.startTicks;
    // The folder may name any process: believe it only if the process is, or was once seen to be, a child of
    // the shim.
    const isBelieved = known !== undefined || stat?.parent === shim.pid;
    if (!isGone && !(isBelieved && mayBelongTo(job.pid, uid))) return;
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

  /**
   * Registers the gang of an earlier conductor whose shim is gone. No process can then be recognised as the
   * shim's child, but the gang can still be killed.
   */
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
