/**
 * Reading /proc: who a process is, and which processes there are. A pid alone names nobody, since it is used again; boot id, pid
 * and start time together do.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { ProcessIdentity } from "../protocol.ts";

/** What one line of /proc/PID/stat says of a process. */
export interface ProcessStat {
  readonly pid: number;
  /** R running, S asleep, D in the kernel, T stopped, Z ended but not yet waited for, … */
  readonly state: string;
  readonly parent: number;
  readonly session: number;
  /** Clock ticks from boot to its start. */
  readonly startTicks: number;
}

let bootIdRead: string | undefined;

/** Identity of this boot of the machine. */
export function bootId(): string {
  bootIdRead ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return bootIdRead;
}

/** Undefined when there is no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  return parseStat(text);
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

export function hasEnded(stat: ProcessStat): boolean {
  return stat.state === "Z" || stat.state === "X";
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
