/** Slurm's lists of nodes, such as n[1-2,4]: names here are n and a number. */

export function joinHosts(names: readonly string[]): string {
  const numbers = names.map((name) => Number(name.slice(1))).sort((a, b) => a - b);
  if (numbers.length < 2) return names.join(",");
  const ranges: string[] = [];
  for (let i = 0; i < numbers.length; ) {
    let end = i;
    while (numbers[end + 1] === numbers[end] + 1) end++;
    ranges.push(i === end ? `${numbers[i]}` : `${numbers[i]}-${numbers[end]}`);
    i = end + 1;
  }
  return `n[${ranges.join(",")}]`;
}

export function expandHosts(list: string): string[] {
  const names: string[] = [];
  for (const [part, inside] of list.matchAll(/n\[([^\]]+)\]|n\d+/g)) {
    for (const range of inside?.split(",") ?? []) {
      const [first, last = first] = range.split("-").map(Number);
      for (let i = first; i <= last; i++) names.push(`n${i}`);
    }
    if (inside === undefined) names.push(part);
  }
  return names;
}
