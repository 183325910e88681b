/** Reads facts about this machine from the kernel: CPUs, memory, limits. */

import { readText } from "./files.ts";
import { readFileSync } from "./ports/fs.ts";
import { availableParallelism, totalmem } from "./ports/os.ts";

/** CPU numbers that this process may use, ascending. */
export function allowedCpus(): number[] {
  return cpusIn("/proc/self/status", /^Cpus_allowed_list:\s*(\S+)$/m);
}

/** The machine's CPUs that are online. */
export function onlineCpus(): ReadonlySet<number> {
  return new Set(cpusIn("/sys/devices/system/cpu/online", /^(\S+)$/m));
}

/** Memory of the machine, or the limit of our control group if that is lower. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** A number of /proc/sys/kernel, such as pid_max. */
export function kernelNumber(name: string): number {
  return Number(readFileSync(`/proc/sys/kernel/${name}`, "latin1"));
}

/** If the kernel does not list CPUs, assumes the first ones, as many as Node counts. */
function cpusIn(file: string, list: RegExp): number[] {
  const text = list.exec(readText(file, "latin1") ?? "")?.[1];
  return parseCpus(text ?? "") ?? Array.from({ length: availableParallelism() }, (_, i) => i);
}

/** The numbers of a list such as 0-3,6, ascending, each once; undefined when it is not a list. */
export function parseCpus(text: string): number[] | undefined {
  const cpus = new Set<number>();
  for (const part of text.split(",")) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? [];
    if (first === undefined || Number(last) < Number(first)) return undefined;
    for (let cpu = Number(first); cpu <= Number(last); cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}
