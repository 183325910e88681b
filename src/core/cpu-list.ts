/** Lists of CPU numbers for people. */

/** CPU numbers as runs: 0-3,6. */
export function cpusText(cpus: readonly number[]): string {
  const sorted = [...cpus].sort((a, b) => a - b);
  const runs: [number, number][] = [];
  for (const cpu of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === cpu) last[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(",");
}
