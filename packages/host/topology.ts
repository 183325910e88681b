/**
 * Reads where the machine's CPUs are: their sockets, and which of them are threads of one core (SMT). Linux
 * numbers CPUs in many ways: sockets one after the other or in turns, the threads of a core side by side or
 * far apart.
 */

import { readText } from "./files.ts";
import { parseCpus } from "./machine.ts";
import { join } from "./ports/path.ts";

export interface CpuPlace {
  readonly cpu: number;
  readonly socket: number;
  /** The lowest CPU of its core, whether this process may use it or not. */
  readonly core: number;
}

/** A CPU of which the kernel says nothing is a core of its own on the first socket. */
export function placesOf(cpus: readonly number[], folder = "/sys/devices/system/cpu"): CpuPlace[] {
  return cpus.map((cpu) => {
    const read = (name: string) =>
      (readText(join(folder, `cpu${cpu}`, "topology", name), "latin1") ?? "").trim();
    // A virtual machine may say −1.
    const socket = Math.max(0, Number(read("physical_package_id")) || 0);
    // Before Linux 5.3, only the older name exists.
    const threads = parseCpus(read("core_cpus_list") || read("thread_siblings_list")) ?? [cpu];
    return { cpu, socket, core: Math.min(cpu, ...threads) };
  });
}

/**
 * Sockets one after the other, in each of them cores one after the other, so that neighbours in the order are
 * on one socket.
 */
export function inOrder(places: readonly CpuPlace[]): CpuPlace[] {
  return [...places].sort((a, b) => a.socket - b.socket || a.core - b.core || a.cpu - b.cpu);
}

/** The first of the CPUs of each core. */
export function firstThreads(places: readonly CpuPlace[]): CpuPlace[] {
  const first = new Map<number, CpuPlace>();
  for (const place of places) {
    const known = first.get(place.core);
    if (known === undefined || place.cpu < known.cpu) first.set(place.core, place);
  }
  return places.filter((place) => first.get(place.core) === place);
}

/** How many different sockets, or cores, the CPUs have. */
export function countOf(places: readonly CpuPlace[], what: "socket" | "core"): number {
  return new Set(places.map((place) => place[what])).size;
}
