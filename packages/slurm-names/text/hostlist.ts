/** Writes Slurm's lists of nodes, such as `n[1-3,7],m`. */

/** The names as a list: consecutive ones that differ in their last number are put together. */
export function foldHosts(names: readonly string[]): string {
  const groups: { prefix: string; numbers: string[] }[] = [];
  for (const name of names) {
    const [, prefix = name, digits] = /^(.*?)(\d{1,9})$/.exec(name) ?? [];
    const last = groups.at(-1);
    if (digits !== undefined && last?.prefix === prefix && last.numbers[0]?.length > 0)
      last.numbers.push(digits);
    else groups.push({ prefix, numbers: digits === undefined ? [] : [digits] });
  }
  return groups
    .map(({ prefix, numbers }) =>
      numbers.length < 2 ? `${prefix}${numbers.join("")}` : `${prefix}[${foldNumbers(numbers)}]`,
    )
    .join(",");
}

function foldNumbers(numbers: readonly string[]): string {
  const runs: [string, string][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last !== undefined && last[1].length === number.length && Number(number) === Number(last[1]) + 1)
      last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
}
