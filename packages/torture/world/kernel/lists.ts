/** Numbers and lists as files of the kernel have them. */
import { sysError } from "../errors.ts";

/** @throws EINVAL */
export function wholeNumber(text: string): number {
  const trimmed = text.trim();
  const number = Number(trimmed);
  if (trimmed === "" || !Number.isSafeInteger(number)) throw sysError("EINVAL", "write");
  return number;
}

/** The word "max", or a number. @throws EINVAL */
export function numberOrMax(text: string): number {
  if (text.trim() === "max") return Number.POSITIVE_INFINITY;
  const number = wholeNumber(text);
  if (number < 0) throw sysError("EINVAL", "write");
  return number;
}

export function orMax(number: number): string {
  return number === Number.POSITIVE_INFINITY ? "max\n" : `${number}\n`;
}

/** CPUs such as 0-3,6; empty: none. @throws EINVAL */
export function cpusOfList(text: string): number[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  const cpus = new Set<number>();
  for (const part of trimmed.split(",")) {
    const [first, last = first, ...more] = part.split("-").map(wholeNumber);
    if (more.length > 0 || last < first) throw sysError("EINVAL", "write");
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}

/** The same the other way round; the CPUs ascend. */
export function listOfCpus(cpus: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < cpus.length; i++) {
    const first = cpus[i];
    while (cpus[i + 1] === cpus[i] + 1) i++;
    parts.push(cpus[i] === first ? String(first) : `${first}-${cpus[i]}`);
  }
  return parts.join(",");
}
