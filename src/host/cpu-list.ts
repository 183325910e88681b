/** Lists of CPU numbers, as the kernel and people write them: 0-3,6. */

/**
 * CPU numbers as runs.
 * @param nodes the same CPUs by node, where they are not all of one machine: n1:0-3 n2:0
 */
export function cpusText(
  cpus: readonly number[],
  nodes?: readonly { readonly node: string; readonly cpus: readonly number[] }[],
): string {
  if (nodes !== undefined) return nodes.map((one) => `${one.node}:${cpusText(one.cpus)}`).join(" ");
  const sorted = [...cpus].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const cpu of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === cpu) last[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(",");
}

/** The numbers of a list, ascending, each once; undefined when it is not a list. */
export function parseCpus(text: string): number[] | undefined {
  const cpus = new Set<number>();
  for (const part of text.split(",")) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? [];
    if (first === undefined || Number(last) < Number(first)) return undefined;
    for (let cpu = Number(first); cpu <= Number(last); cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}
