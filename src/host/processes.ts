/**
 * Reading /proc: who a process is, and which processes there are. A pid alone names nobody, since it is used again; boot id, pid
 * and start time together do.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { readText } from "./files.ts";

/** Identity of a process that survives the reuse of its pid. */
export interface ProcessIdentity {
  readonly bootId: string;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot. */
  readonly startTicks: number;
}

/** What one line of /proc/PID/stat says of a process. */
export interface ProcessStat {
  readonly pid: number;
  /** R running, S asleep, D in the kernel, T stopped, Z ended but not yet waited for, … */
  readonly state: string;
  readonly parent: number;
  readonly session: number;
  readonly threads: number;
  /** Scheduling class of the first thread: 0 ordinary, 5 idle. */
  readonly policy: number;
  /** Clock ticks from boot to its start. */
  readonly startTicks: number;
}

let bootIdRead: string | undefined;

/** Identity of this boot of the machine. */
export function bootId(): string {
  bootIdRead ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return bootIdRead;
}

/**
 * Undefined when there is no such process.
 * @throws when we lack what reading takes, such as file descriptors: that must not look like the end of a process
 */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readSmall(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

const smallFile = Buffer.alloc(4096);

/**
 * A file of the kernel's that comes in one piece of less than 4 KiB, as stat and cpu.stat do and lists do not; undefined when it cannot
 * be read. Three system calls, where `readFileSync` takes five: a switch reads some for every process.
 * @throws when we lack what reading takes
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

/** Whether it failed for want of file descriptors or memory, and so says nothing of the file. */
export function isShortage(error: unknown): boolean {
  return ["EMFILE", "ENFILE", "ENOMEM"].includes((error as NodeJS.ErrnoException).code ?? "");
}

/** Parses a line of /proc/PID/stat. The name in the second field may hold blanks and parentheses. */
export function parseStat(text: string): ProcessStat | undefined {
  const nameEnd = text.lastIndexOf(")");
  if (nameEnd < 0) return undefined;
  const fields = text.slice(nameEnd + 2).split(" ");
  const stat = {
    pid: Number.parseInt(text, 10),
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    threads: Number(fields[17]),
    policy: Number(fields[38]),
    startTicks: Number(fields[19]),
  };
  return Number.isSafeInteger(stat.startTicks) && Number.isSafeInteger(stat.pid) ? stat : undefined;
}

/** Undefined when there is no such process. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const stat = readStat(pid);
  return stat && { bootId: bootId(), pid, startTicks: stat.startTicks };
}

/** True while that very process exists and has not ended; a process waiting to be reaped has ended. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.bootId !== bootId()) return false;
  const stat = readStat(identity.pid);
  return stat !== undefined && stat.startTicks === identity.startTicks && !hasEnded(stat);
}

/** Whether a process has the rights of this user only; true of one that is no more. */
export function runsAs(pid: number, uid: number): boolean {
  const text = readText(`/proc/${pid}/status`, "latin1");
  if (text === undefined) return true;
  // Real, effective, saved, of the file system.
  return (
    /^Uid:\s+(.+)$/m
      .exec(text)?.[1]
      .split(/\s+/)
      .every((one) => Number(one) === uid) === true
  );
}

/** Whether a process can be one of a job of that user; undefined: of our own, whose processes may be anybody's, as root's are. */
export function isOfUser(pid: number, uid: number | undefined): boolean {
  return uid === undefined || uid === process.getuid!() || runsAs(pid, uid);
}

/** A first thread that has ended does not count while others run. */
export function hasEnded({ state, threads }: ProcessStat): boolean {
  return state === "X" || (state === "Z" && threads <= 1);
}

/** Processes of a session that can be a job's of that user. Others can be in it, such as those that gained rights. */
export function sessionOf(leader: number, uid: number | undefined): ProcessStat[] {
  return allPids().flatMap((pid) => {
    const stat = readStat(pid);
    const isIn = stat?.session === leader && !hasEnded(stat) && isOfUser(pid, uid);
    return isIn ? [stat] : [];
  });
}

/** Whether a process's working folder is the one of that path: false when it was removed, or another one is there by now. */
export function worksIn(pid: number, folder: string): boolean {
  try {
    const own = statSync(`/proc/${pid}/cwd`);
    const other = statSync(folder, { throwIfNoEntry: false });
    return own.ino === other?.ino && own.dev === other.dev;
  } catch {
    // It has just ended, or the kernel does not tell us.
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

/** Pids of all processes that may be seen. */
export function allPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0);
    if (first >= 48 && first <= 57) pids.push(Number(name));
  }
  return pids;
}

/**
 * Sends a signal; false when there was nobody to send it to, or we may not.
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
