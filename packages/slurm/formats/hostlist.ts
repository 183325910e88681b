/** Reads Slurm's lists of nodes, such as `n[1,3-4]` or `node-a[01-03],b7`. */

/** More nodes than any cluster has: a list of more is a mistake. */
const MAX_NODES = 65_536;

/**
 * All names of a list, in its order.
 * @returns undefined if the text is not a list of nodes
 */
export function expandHostlist(text: string): string[] | undefined {
  const names: string[] = [];
  for (const part of splitOutsideBrackets(text) ?? [""]) {
    const expanded = expandPart(part);
    if (expanded === undefined || names.length + expanded.length > MAX_NODES) return undefined;
    names.push(...expanded);
  }
  return names;
}

/** Commas in brackets separate ranges, not names. */
function splitOutsideBrackets(text: string): string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "[") depth++;
    else if (text[i] === "]") depth--;
    else if (text[i] === "," && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
    if (depth < 0 || depth > 1) return undefined;
  }
  return depth === 0 ? [...parts, text.slice(from)] : undefined;
}

/** A name with any number of brackets, such as `r[1-2]n[01-16]`: the last one changes fastest. */
function expandPart(part: string): string[] | undefined {
  const pieces = part.split(/[[\]]/);
  // Pieces alternate between plain text and the inside of brackets.
  if (!/^[\w.-]*$/.test(pieces.filter((_, i) => i % 2 === 0).join("")) || part === "") return undefined;
  let names = [""];
  for (const [i, piece] of pieces.entries()) {
    const choices = i % 2 === 0 ? [piece] : numbersIn(piece);
    if (choices === undefined || names.length * choices.length > MAX_NODES) return undefined;
    names = names.flatMap((name) => choices.map((choice) => name + choice));
  }
  return names;
}

/** The numbers in `01-03,7`, with their leading zeros. */
function numbersIn(text: string): string[] | undefined {
  const numbers: string[] = [];
  for (const range of text.split(",")) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(range) ?? [];
    if (first === undefined) return undefined;
    const count = Number(last) - Number(first) + 1;
    if (count < 1 || numbers.length + count > MAX_NODES) return undefined;
    for (let i = 0; i < count; i++) numbers.push(String(Number(first) + i).padStart(first.length, "0"));
  }
  return numbers;
}
