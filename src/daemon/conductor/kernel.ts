/** What the kernel tells of the machine. */
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

/** A number of /proc/sys/kernel, such as pid_max. */
export function kernelNumber(name: string): number {
  return Number(readFileSync(`/proc/sys/kernel/${name}`, "latin1"));
}

/** CPUs that the machine has, as a set of their numbers; undefined when it does not tell. */
export function onlineCpus(): ReadonlySet<number> {
  const cpus = new Set<number>();
  let text = `0-${availableParallelism() - 1}`;
  try {
    text = readFileSync("/sys/devices/system/cpu/online", "latin1").trim();
  } catch {}
  for (const range of text.split(",")) {
    const [first = 0, last = first] = range.split("-").map(Number);
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return cpus;
}
