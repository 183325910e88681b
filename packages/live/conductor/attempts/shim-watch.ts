/**
 * Watches whether a shim can still report the end of its job. A job can stop its own shim, or the process
 * that the shim has started to write the status, and a user can remove the folder in which the status is
 * written. Then the attempt would hold its CPUs until its time limit, or forever.
 */
import type { ProcessIdentity } from "@tutti/host/processes.ts";
import { isAlive, isStopped, type ProcessStat, sessionOf, signal, worksIn } from "@tutti/host/processes.ts";

const WATCH_MS = 1000;
/** The conductor gives up a shim that was unable to report at this many looks. */
const MAX_MUTE_LOOKS = 10;

/** The processes of a shim that are stopped, by a signal or a debugger. */
export function stoppedOf(shim: ProcessIdentity, uid: number | undefined): ProcessStat[] {
  return isAlive(shim) ? sessionOf(shim.pid, uid).filter(isStopped) : [];
}

export class ShimWatch {
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #muteLooks = 0;

  isDue(nowMs: number): boolean {
    return nowMs >= this.#lookedAtMs + WATCH_MS;
  }

  /**
   * Looks once a second. Once the job's first process is gone, the shim must report, so its stopped processes
   * are continued. A shim that waits for its disk may take any time.
   * @returns why the shim must be given up; undefined as long as there is no reason
   */
  look(
    nowMs: number,
    shim: ProcessIdentity,
    job: ProcessIdentity,
    { folder, uid }: { readonly folder: string; readonly uid?: number | undefined },
  ): string | undefined {
    if (!this.isDue(nowMs)) return undefined;
    this.#lookedAtMs = nowMs;
    if (isAlive(job)) return undefined;
    const stopped = stoppedOf(shim, uid);
    for (const { pid } of stopped) signal(pid, "SIGCONT");
    if (stopped.length === 0 && worksIn(shim.pid, folder)) return undefined;
    if (++this.#muteLooks < MAX_MUTE_LOOKS) return undefined;
    return stopped.length > 0
      ? "its shim was stopped by a signal again and again, so it could not write the exit status"
      : `its folder "${folder}" was removed before the job ended`;
  }
}
