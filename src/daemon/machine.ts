/** What this machine has: CPUs, memory, the boot it is in. */
import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** CPU numbers that this process may use, ascending. */
export function allowedCpus(): number[] {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1];
    if (list !== undefined) return parseCpuList(list);
  } catch {
    // No /proc: the number will have to do.
  }
  return Array.from({ length: availableParallelism() }, (_, i) => i);
}

/** `0-2,5` to 0, 1, 2, 5. */
export function parseCpuList(text: string): number[] {
  return text.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** Memory of the machine, or of the group that it is limited to. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Changes with every start of the machine. */
export function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "unknown";
  }
}
