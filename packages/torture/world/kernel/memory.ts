/**
 * Memory that modelled programs hold. A group, or the machine, that has more than it may kills its largest
 * process, or all of them if it asks for that.
 */
import type { Group } from "./groups.ts";
import type { KernelProcess } from "./process.ts";

/** The group and those above it must keep their limits. */
export function keepMemoryLimits(of: Group): void {
  for (let group: Group | undefined = of; group !== undefined; group = group.parent)
    if (group.memoryBytes > group.maxMemoryBytes) runOut(group);
}

function runOut(group: Group): void {
  for (let above: Group | undefined = group; above !== undefined; above = above.parent) above.ooms++;
  const largest = largestOf(group.all());
  if (largest === undefined) return;
  // The highest group up to the one with the limit that wants to end as a whole.
  let whole: Group | undefined;
  for (let at = group.hierarchy.groupOf(largest); ; at = at.parent!) {
    if (at.isKilledWhole) whole = at;
    if (at === group || at.parent === undefined) break;
  }
  const victims = whole === undefined ? [largest] : [...whole.all()];
  for (const victim of victims) {
    if (victim.isKilled) continue;
    let at: Group | undefined = group.hierarchy.groupOf(victim);
    for (; at !== undefined; at = at.parent) at.oomKills++;
    victim.send("SIGKILL", false);
  }
}

export function largestOf(processes: Iterable<KernelProcess>): KernelProcess | undefined {
  let largest: KernelProcess | undefined;
  for (const process of processes)
    if (process.memoryBytes > (largest?.memoryBytes ?? -1) && !process.isKilled) largest = process;
  return largest;
}
