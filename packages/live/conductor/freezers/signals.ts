/**
 * Stops gangs with SIGSTOP and SIGCONT, for machines without control groups. It needs no special rights, but
 * jobs can notice it, and a process that hides well enough escapes.
 *
 * A process belongs to a gang if its environment has the gang's mark, or if its parent or its session leader
 * belongs to the gang. So a process escapes neither by setsid nor by a double fork. It escapes only if it
 * does both between two scans and also clears its environment. Known processes are remembered by pid and
 * start time, which are checked again before every signal.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { renameSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import {
  allPids,
  bootId,
  hasEnded,
  isStopped,
  type ProcessIdentity,
  type ProcessStat,
  readSmall,
  readStat,
  signal,
} from "@tutti/host/processes.ts";
import { type Freezer, isLauncher } from "./freezer.ts";
import type { PausedGangs } from "./paused-gangs.ts";

/** Environment variable that marks the processes of a gang. */
export const MARK_VARIABLE = "TUTTI_GANG";
/** Maximum number of looks at a gang that forks while it is being stopped. */
const MAX_ROUNDS = 6;
/** How many times a look follows the numbers that are given while it looks, and how many at a time. */
const MAX_CHASES = 100;
const MAX_CHASED = 1000;
/** Within this time, the kernel may use up all process numbers and reuse old ones. */
const ALL_PIDS_MS = 3000;
/**
 * Number of members of a stopped gang that are checked again at each boundary, different ones each time, so
 * that large gangs do not slow down a switch.
 */
const LOOKED_AT_AGAIN = 64;

/** Processes younger than this may still take on the mark of a gang of a cluster. */
const YOUNG_S = 30;
/** Clock ticks per second in /proc, on all machines. */
const TICKS_PER_S = 100;

interface Gang {
  /** Pids of its shims. */
  readonly shims: Set<number>;
  /** Start ticks by pid. */
  readonly members: Map<number, number>;
  /**
   * Whether all members were stopped at the last look, so that no member can have started another process.
   */
  frozen: boolean;
  /** Number of members checked again so far. */
  lookedAt: number;
}

export class SignalsFreezer implements Freezer {
  readonly kind = "signals";
  readonly #marks: string;
  readonly #membersFile: string;
  readonly #paused: PausedGangs;
  readonly #hasOutsiders: boolean;
  readonly #gangs = new Map<string, Gang>();
  readonly #owner = new Map<number, string>();
  #strangers = new Set<number>();
  #lastPid = 0;
  #lookedAtMs = 0;
  /** Members in the file that the guardian reads. The file is written only when a member is new. */
  readonly #written = new Set<string>();
  #toldOfDisk = false;

  /**
   * @param marks prefix of all marks of this conductor
   * @param membersFile lists processes for the guardian before they are stopped
   * @param hasOutsiders whether other programs start processes with the marks, as the daemons of a cluster
   *   do. Then also a stopped gang may get new processes, and a process may get the mark only some time
   *   after it was forked.
   */
  constructor(marks: string, membersFile: string, paused: PausedGangs, hasOutsiders = false) {
    this.#paused = paused;
    this.#marks = marks;
    this.#membersFile = membersFile;
    this.#hasOutsiders = hasOutsiders;
  }

  enter(gang: string, shim?: ProcessIdentity, job?: ProcessIdentity): void {
    const { shims, members } = this.#gangs.get(gang) ?? {
      shims: new Set<number>(),
      members: new Map<number, number>(),
    };
    if (shim !== undefined) shims.add(shim.pid);
    if (job !== undefined) {
      members.set(job.pid, job.startTicks);
      this.#owner.set(job.pid, gang);
    }
    this.#gangs.set(gang, { shims, members, frozen: false, lookedAt: 0 });
    // Other processes of the gang may have been classified as strangers before.
    this.#strangers.clear();
  }

  freeze(...gangs: readonly string[]): boolean {
    return this.#freeze(gangs);
  }

  /** @param killed a gang whose processes are stopped as soon as they are seen, also before they are saved */
  #freeze(gangs: readonly string[], killed?: string): boolean {
    const open = gangs.filter((name) => {
      const gang = this.#gangs.get(name);
      if (gang === undefined) return false;
      return this.#hasOutsiders || !gang.frozen || !this.#seemsStopped(gang);
    });
    if (open.length === 0) return true;
    const stopped = new Set<number>();
    const signalled = new Set<number>();
    for (let round = 0; round < MAX_ROUNDS; round++) {
      // First the known processes, then those that they have started meanwhile.
      if (round > 0) this.#look(killed);
      const running: ProcessStat[] = [];
      for (const name of open) {
        for (const stat of this.#living(name, stopped)) {
          if (this.#isAtRest(stat)) stopped.add(stat.pid);
          else running.push(stat);
        }
      }
      if (!this.#writeDown(running)) return true;
      const isNew = running.some(({ pid }) => !signalled.has(pid));
      for (const { pid } of running) {
        if (!signalled.has(pid)) signal(pid, "SIGSTOP");
        signalled.add(pid);
      }
      // Without a sleep, more looks would only prevent the processes from stopping.
      if (isNew || round === 0) continue;
      for (const name of open) this.#setFrozen(name, running.length === 0);
      return running.length === 0;
    }
    for (const name of open) this.#setFrozen(name, false);
    return false;
  }

  #setFrozen(name: string, frozen: boolean): void {
    const gang = this.#gangs.get(name);
    if (gang !== undefined) gang.frozen = frozen;
  }

  thaw(gang: string): void {
    this.#setFrozen(gang, false);
    // The youngest first, so that no parent sees a child that is still stopped.
    for (const stat of this.#living(gang).reverse()) {
      if (!this.#isLauncher(stat)) signal(stat.pid, "SIGCONT");
    }
  }

  isFrozen(gang: string): boolean {
    this.#look();
    return this.#living(gang).every((stat) => this.#isAtRest(stat));
  }

  pids(gang: string): number[] {
    this.#look();
    return this.#living(gang).map(({ pid }) => pid);
  }

  kill(gang: string): boolean {
    // A process that the look has seen may have left a child by now, also if it has ended itself.
    const isEmpty = () => (this.#gangs.get(gang)?.members.size ?? 0) === 0;
    if (this.#living(gang).length === 0 && this.#look(gang) && isEmpty()) return true;
    this.#freeze([gang], gang);
    for (const { pid } of this.#living(gang)) signal(pid, "SIGKILL");
    return false;
  }

  leave(gang: string): void {
    for (const pid of this.#gangs.get(gang)?.members.keys() ?? []) this.#owner.delete(pid);
    this.#gangs.delete(gang);
    if (this.#gangs.size === 0) this.#written.clear();
  }

  rewriteHome(): void {
    this.#paused.write();
    this.#written.clear();
    this.#writeMembers();
  }

  thawLeftovers(): ReadonlySet<string> {
    const stopped = new Set<string>();
    for (const line of readText(this.#membersFile, "latin1")?.split("\n") ?? []) {
      const [boot, pid, startTicks, gang] = line.split(" ");
      if (gang !== undefined && this.#paused.has(gang)) continue;
      const stat = readStat(Number(pid));
      if (boot !== bootId() || stat?.startTicks !== Number(startTicks)) continue;
      if (gang !== undefined && isStopped(stat)) stopped.add(gang);
      signal(Number(pid), "SIGCONT");
    }
    return stopped;
  }

  #isAtRest(stat: ProcessStat): boolean {
    return isStopped(stat) || this.#isLauncher(stat);
  }

  /** It prints a line at every SIGCONT. */
  #isLauncher(process: ProcessStat): boolean {
    return this.#hasOutsiders && isLauncher(process);
  }

  /** Checks some of the members, different ones each time. */
  #seemsStopped(gang: Gang): boolean {
    const pids = [...gang.members.keys()];
    const from = gang.lookedAt;
    gang.lookedAt = from + LOOKED_AT_AGAIN >= pids.length ? 0 : from + LOOKED_AT_AGAIN;
    return pids.slice(from, from + LOOKED_AT_AGAIN).every((pid) => {
      const stat = readStat(pid);
      return (
        stat === undefined ||
        stat.startTicks !== gang.members.get(pid) ||
        hasEnded(stat) ||
        this.#isAtRest(stat)
      );
    });
  }

  #living(gang: string, except?: ReadonlySet<number>): ProcessStat[] {
    const members = this.#gangs.get(gang)?.members;
    const living: ProcessStat[] = [];
    if (members === undefined) return living;
    for (const [pid, startTicks] of members) {
      if (except?.has(pid)) continue;
      const stat = readStat(pid);
      if (stat?.startTicks === startTicks && !hasEnded(stat)) living.push(stat);
      else {
        members.delete(pid);
        this.#owner.delete(pid);
      }
    }
    return living;
  }

  /**
   * Finds new processes and their gangs. A process that starts the next and ends at once lives so shortly
   * that the list of all misses it, and whatever follows it. So the numbers given meanwhile are looked at,
   * too, until no more are given.
   * @param killed a gang whose processes are stopped as soon as they are seen
   * @returns whether every process that there was at the end has been looked at
   */
  #look(killed?: string): boolean {
    let lastPid = newestPid();
    const nowMs = monotonicMs();
    // The kernel assigns numbers in a circle. Only after a full circle can a stranger's number belong to
    // another process.
    if (lastPid < this.#lastPid || nowMs - this.#lookedAtMs > ALL_PIDS_MS) this.#strangers.clear();
    this.#lookedAtMs = nowMs;
    const strangers = new Set<number>();
    const youngSince = this.#youngSinceTicks();
    for (const pid of allPids()) {
      if (this.#strangers.has(pid)) strangers.add(pid);
      else if (!this.#owner.has(pid)) {
        const stat = readStat(pid);
        if (stat === undefined || !this.#isStranger(stat, killed)) continue;
        if (stat.startTicks < youngSince || hasEnded(stat)) strangers.add(pid);
      }
    }
    this.#strangers = strangers;
    let isWhole = false;
    for (let round = 0; round < MAX_CHASES; round++) {
      const newest = newestPid();
      const isChased = newest >= lastPid && newest - lastPid <= MAX_CHASED;
      isWhole = newest === lastPid;
      if (isWhole || !isChased) break;
      while (lastPid < newest) {
        lastPid++;
        const stat = this.#owner.has(lastPid) ? undefined : readStat(lastPid);
        if (stat !== undefined && !hasEnded(stat) && !isThread(lastPid)) this.#isStranger(stat, killed);
      }
    }
    this.#lastPid = lastPid;
    return isWhole;
  }

  /** Strangers that started later are looked at again. */
  #youngSinceTicks(): number {
    if (!this.#hasOutsiders) return Number.POSITIVE_INFINITY;
    const uptimeS = Number.parseFloat(readSmall("/proc/uptime") ?? "0");
    return (uptimeS - YOUNG_S) * TICKS_PER_S;
  }

  /** Whether the process belongs to no gang, and never can unless it is young and has not ended. */
  #isStranger(stat: ProcessStat, killed?: string): boolean {
    if (hasEnded(stat)) return true;
    const owner = this.#ownerOf(stat.parent) ?? this.#ownerOf(stat.session) ?? this.#markOf(stat.pid);
    const gang = owner === undefined ? undefined : this.#gangs.get(owner);
    if (owner !== undefined && gang !== undefined) {
      if (owner === killed) signal(stat.pid, "SIGSTOP");
      gang.members.set(stat.pid, stat.startTicks);
      this.#owner.set(stat.pid, owner);
      return false;
    }
    // A child of a shim has the mark only after its second exec.
    for (const { shims } of this.#gangs.values()) {
      if (shims.has(stat.parent) || shims.has(stat.pid)) return false;
    }
    return true;
  }

  #ownerOf(pid: number): string | undefined {
    const owner = this.#owner.get(pid);
    if (owner === undefined) return undefined;
    return readStat(pid)?.startTicks === this.#gangs.get(owner)?.members.get(pid) ? owner : undefined;
  }

  #markOf(pid: number): string | undefined {
    const environment = `\0${readText(`/proc/${pid}/environ`, "latin1") ?? ""}`;
    const start = `\0${MARK_VARIABLE}=${this.#marks}`;
    const at = environment.indexOf(start);
    return at < 0 ? undefined : environment.slice(at + start.length).split("\0", 1)[0];
  }

  /**
   * @returns false if the file cannot be written, so that nobody would continue these processes if the
   *   conductor died
   */
  #writeDown(processes: readonly ProcessStat[]): boolean {
    const lines = processes.map(({ pid, startTicks }) => this.#line(pid, startTicks));
    if (lines.every((line) => this.#written.has(line))) return true;
    this.#written.clear();
    for (const line of lines) this.#written.add(line);
    return this.#writeMembers();
  }

  #line(pid: number, startTicks: number): string {
    return `${bootId()} ${pid} ${startTicks} ${this.#owner.get(pid) ?? ""}`;
  }

  #writeMembers(): boolean {
    for (const { members } of this.#gangs.values()) {
      for (const [pid, startTicks] of members) this.#written.add(this.#line(pid, startTicks));
    }
    try {
      writeFileSync(`${this.#membersFile}.new`, `${[...this.#written].join("\n")}\n`, { mode: 0o600 });
      renameSync(`${this.#membersFile}.new`, this.#membersFile);
    } catch (error) {
      this.#written.clear();
      if (!this.#toldOfDisk)
        console.error(`Cannot stop gangs, so all of them keep running: ${(error as Error).message}`);
      this.#toldOfDisk = true;
      return false;
    }
    this.#toldOfDisk = false;
    return true;
  }
}

/** The number that the kernel has given last, to a process or a thread. */
function newestPid(): number {
  return Number(readSmall("/proc/loadavg")?.split(" ")[4] ?? 0);
}

/** Threads have a folder in /proc, too, which its list leaves out. */
function isThread(pid: number): boolean {
  const tgid = /^Tgid:\s*(\d+)$/m.exec(readSmall(`/proc/${pid}/status`) ?? "")?.[1];
  return tgid !== undefined && Number(tgid) !== pid;
}
