/** What this machine has: CPUs, memory, accounts, the boot it is in. */
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

const NOBODY = 65_534;

/** Name of a user; the number of one without an entry. */
export function userNameOf(uid: number): string {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , user] = line.split(":");
    if (Number(user) === uid && user !== "") return name;
  }
  return String(uid);
}

/** Group of a user; of one without an entry, the group that owns nothing. */
export function groupOf(uid: number): number {
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [, , user, group] = line.split(":");
    if (Number(user) === uid && user !== "") return Number(group);
  }
  return NOBODY;
}
