/**
 * Whether a shim still reports that its job has ended. A job can stop its own shim, or what the shim has started to write the status,
 * and a user can remove the folder in which it is written. Then the attempt would hold its CPUs until its time limit, or for ever.
 */
import type { ProcessIdentity } from "../../host/processes.ts";
import { isAlive, isStopped, type ProcessStat, sessionOf, signal, worksIn } from "../../host/processes.ts";

const WATCH_MS = 1000;
/** A shim that could not report at this many looks is given up. */
const MAX_MUTE_LOOKS = 10;

/** What of a shim's processes is stopped, by a signal or a debugger. */
export function stoppedOf(shim: ProcessIdentity, uid: number | undefined): ProcessStat[] {
  return isAlive(shim) ? sessionOf(shim.pid, uid).filter(isStopped) : [];
}

export class ShimWatch {
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #muteLooks = 0;

  /**
   * Looks once a second. Once the job's first process is gone the shim has to report, so whatever of it is stopped is continued. A shim that
   * waits for its disk has all the time it needs.
   * @returns why the shim has to be given up; undefined while it need not be
   */
  look(
    nowMs: number,
    shim: ProcessIdentity,
    job: ProcessIdentity,
    { folder, uid }: { readonly folder: string; readonly uid?: number | undefined },
  ): string | undefined {
    if (nowMs < this.#lookedAtMs + WATCH_MS) return undefined;
    this.#lookedAtMs = nowMs;
    if (isAlive(job)) return undefined;
    const stopped = stoppedOf(shim, uid);
    for (const { pid } of stopped) signal(pid, "SIGCONT");
    if (stopped.length === 0 && worksIn(shim.pid, folder)) return undefined;
    if (++this.#muteLooks < MAX_MUTE_LOOKS) return undefined;
    return stopped.length > 0
      ? "its shim was stopped by a signal again and again, expected it to write the exit status"
      : `its folder "${folder}" was removed, expected it to stay until the job has ended`;
  }
}
