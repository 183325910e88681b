/**
 * Reads the identity and state of processes from /proc. A pid alone does not identify a process, because pids
 * are reused; boot id, pid and start time together do.
 */

import { readText } from "./files.ts";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "./ports/fs.ts";

/** Identity of a process that survives the reuse of its pid. */
export interface ProcessIdentity {
  readonly bootId: string;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot. */
  readonly startTicks: number;
}

/** The parsed fields of /proc/PID/stat. */
export interface ProcessStat {
  readonly pid: number;
  /** The first 15 bytes of its program's name. */
  readonly name: string;
  /** R running, S sleeping, D waiting in the kernel, T stopped, Z zombie, … */
  readonly state: string;
  readonly parent: number;
  readonly session: number;
  readonly threads: number;
  /** Scheduling class of the first thread: 0 ordinary, 5 idle. */
  readonly policy: number;
  /** Clock ticks between boot and its start. */
  readonly startTicks: number;
}

let bootIdRead: string | undefined;

/** Identity of this boot of the machine. */
export function bootId(): string {
  bootIdRead ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return bootIdRead;
}

/**
 * Undefined if there is no such process.
 * @throws if reading fails for another reason, such as a lack of file descriptors: that must not look like
 *   the end of a process
 */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readSmall(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

const smallFile = Buffer.alloc(4096);

/**
 * Reads a kernel file of less than 4 KiB that comes in one piece, such as stat and cpu.stat, but not lists.
 * Undefined if it cannot be read. Takes three system calls instead of the five of `readFileSync`: a switch
 * reads several such files for every process.
 * @throws if we are out of file descriptors or memory
 */
export function readSmall(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    return smallFile.toString("latin1", 0, readSync(descriptor, smallFile));
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Whether a call failed for lack of file descriptors or memory. Such a failure says nothing about the file.
 */
export function isShortage(error: unknown): boolean {
  return ["EMFILE", "ENFILE", "ENOMEM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Parses a line of /proc/PID/stat. The name in the second field may contain blanks and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const nameEnd = text.lastIndexOf(")");
  if (nameEnd < 0) return undefined;
  const fields = text.slice(nameEnd + 2).split(" ");
  const stat = {
    pid: Number.parseInt(text, 10),
    name: text.slice(text.indexOf("(") + 1, nameEnd),
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    threads: Number(fields[17]),
    policy: Number(fields[38]),
    startTicks: Number(fields[19]),
  };
  return Number.isSafeInteger(stat.startTicks) && Number.isSafeInteger(stat.pid) ? stat : undefined;
}

/** Undefined if there is no such process. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat && { bootId: bootId(), pid, startTicks: stat.startTicks };
}

/** Whether exactly that process exists and has not ended; zombies have ended. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  const stat = readStat(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && !hasEnded(stat);
}

/** Whether a process has only the rights of this user; true if it no longer exists. */
export function hasOnlyRightsOf(pid: number, uid: number): boolean {
  const text = readText(`/proc/${pid}/status`, "latin1");
  if (text === undefined) return true;
  // Real, effective, saved and file system user ids.
  return (
    /^Uid:\s+(.+)$/m
      .exec(text)?.[1]
      .split(/\s+/)
      .every((id) => Number(id) === uid) === true
  );
}

/** Whether a process may belong to a job of this user. For our own user (or undefined), every process may. */
export function mayBelongTo(pid: number, uid: number | undefined): boolean {
  return uid === undefined || uid === process.getuid!() || hasOnlyRightsOf(pid, uid);
}

/** Whether the process has ended. An ended first thread does not count while others run. */
export function hasEnded({ state, threads }: ProcessStat): boolean {
  return state === "X" || (state === "Z" && threads <= 1);
}

/** The processes of a session that may belong to a job of this user; others may be setuid programs. */
export function sessionOf(leader: number, uid: number | undefined): ProcessStat[] {
  return allPids().flatMap((pid) => {
    const stat = readStat(pid);
    const isIn = stat?.session === leader && !hasEnded(stat) && mayBelongTo(pid, uid);
    return isIn ? [stat] : [];
  });
}

/** Whether a process works in the folder of that path; false if the folder was removed or replaced. */
export function worksIn(pid: number, folder: string): boolean {
  try {
    const own = statSync(`/proc/${pid}/cwd`);
    const other = statSync(folder, { throwIfNoEntry: false });
    return own.ino === other?.ino && own.dev === other.dev;
  } catch {
    // The process has just ended, or the kernel does not let us see.
    return true;
  }
}

export function isStopped({ pid, state }: ProcessStat): boolean {
  if (state !== "Z") return state === "T" || state === "t";
  return threadsOf(pid).every((thread) => "TtZX".includes(readStat(thread)?.state ?? "X"));
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch (error) {
    if (isShortage(error)) throw error;
    return [];
  }
}

/** Pids of all visible processes. */
export function allPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0);
    if (first >= 48 && first <= 57) pids.push(Number(name));
  }
  return pids;
}

/**
 * Sends a signal; returns false if there is no such process or we may not signal it.
 * @param pid of a process whose identity was just checked
 */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  if (pid <= 1) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
