/**
 * Watches how much memory the processes of a gang have, where no control group limits it: on nodes of a
 * cluster, and where this user may make none. A gang can have more for about a second.
 */
import { readText } from "@tutti/host/files.ts";

const WATCH_MS = 1000;
const KIB = 1024;

export class MemoryWatch {
  readonly #limitBytes: number;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #share = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** What the gang had at the last look, as a share of its limit. */
  get share(): number {
    return this.#share;
  }

  /** Looks once a second. @returns the share */
  look(nowMs: number, pids: () => readonly number[]): number {
    if (nowMs < this.#lookedAtMs + WATCH_MS) return this.#share;
    this.#lookedAtMs = nowMs;
    this.#share = bytesOf(pids(), this.#limitBytes) / this.#limitBytes;
    return this.#share;
  }
}

/**
 * Memory of the processes. Pages that several of them share count for each, unless that makes them exceed the
 * limit: then they are counted once, which takes the kernel longer.
 */
export function bytesOf(pids: readonly number[], limitBytes: number): number {
  const resident = sum(pids, (pid) => kibIn(`/proc/${pid}/status`, "VmRSS"));
  if (resident <= limitBytes) return resident;
  return sum(
    pids,
    (pid) => kibIn(`/proc/${pid}/smaps_rollup`, "Pss") ?? kibIn(`/proc/${pid}/status`, "VmRSS"),
  );
}

function sum(pids: readonly number[], kibOf: (pid: number) => number | undefined): number {
  return KIB * pids.reduce((all, pid) => all + (kibOf(pid) ?? 0), 0);
}

/** Undefined: the process has ended, or is not ours to read. */
function kibIn(path: string, field: string): number | undefined {
  const kib = new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(readText(path, "latin1") ?? "")?.[1];
  return kib === undefined ? undefined : Number(kib);
}
