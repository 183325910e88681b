/** Slurm's lists of nodes, such as `n[1-3,7],m`. */

const MAX_HOSTS = 65_536;

/** The names in a list; undefined if it is not a list, or has too many names. */
export function expandHosts(list: string): readonly string[] | undefined {
  const hosts: string[] = [];
  // Commas inside brackets separate numbers, the others names.
  for (const word of list.split(/,(?![^[]*\])/)) {
    if (!/^(?:[^[\]]|\[[\d,-]+\])+$/.test(word)) return undefined;
    let names = [""];
    for (const piece of word.split(/(\[[^\]]*\])/)) {
      const numbers = piece.startsWith("[") ? expandNumbers(piece.slice(1, -1)) : [piece];
      if (numbers === undefined || names.length * numbers.length + hosts.length > MAX_HOSTS) return undefined;
      names = names.flatMap((name) => numbers.map((number) => name + number));
    }
    hosts.push(...names);
  }
  return hosts;
}

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

function expandNumbers(text: string): readonly string[] | undefined {
  const numbers: string[] = [];
  for (const range of text.split(",")) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? [];
    if (first === undefined || Number(last) - Number(first) >= MAX_HOSTS) return undefined;
    for (let i = Number(first); i <= Number(last); i++) numbers.push(String(i).padStart(first.length, "0"));
  }
  return numbers;
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
