/**
 * Reads the file of `srun --multi-prog`, which says what each rank runs (srun(1), "MULTIPLE PROGRAM
 * CONFIGURATION"). The messages are those of Slurm 22.05.8.
 *
 *   # ranks  program and arguments
 *   0        ./master
 *   1-2,4    ./worker %t %o     %t: the rank, %o: its place in this list
 *   *        ./rest             all others
 */
import { readFileSync } from "node:fs";
import { SlurmError } from "../errors.ts";

/**
 * @param more arguments for all programs, after those of the file
 * @returns the command of each rank
 * @throws SlurmError
 */
export function programsIn(
  file: string,
  ranks: number,
  more: readonly string[],
): readonly (readonly string[])[] {
  const commands: (readonly string[] | undefined)[] = Array.from({ length: ranks });
  for (const { line, number } of linesOf(file)) {
    const refuse = (why: string) =>
      new SlurmError(`${why}\nLine ${number} of configuration file ${file} invalid`);
    const [list = "", ...words] = wordsOf(line);
    if (words.length === 0) throw refuse(`Invalid task range specification (${list}) or missing program`);
    const isRest = list === "*";
    const named = isRest ? commands.keys() : numbersOf(list);
    if (named === undefined) throw refuse(`Invalid task range specification (${list})`);
    for (const [place, rank] of [...named].entries()) {
      if (rank >= ranks) throw refuse(`Invalid task id, ${rank} >= ntasks`);
      if (commands[rank] !== undefined && isRest) continue;
      if (commands[rank] !== undefined) throw refuse(`Duplicate record for task ${rank}`);
      commands[rank] = [...words.map((word) => filled(word, rank, place)), ...more];
    }
  }
  return commands.map((command, rank) => {
    if (command !== undefined) return command;
    throw new SlurmError(`Configuration file ${file} invalid, no record for task id ${rank}`);
  });
}

/** Without comments; a line that ends in a backslash goes on. */
function linesOf(file: string): readonly { readonly line: string; readonly number: number }[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new SlurmError(`Could not open multi_prog config file ${file}`);
  }
  const lines: { line: string; number: number }[] = [];
  let goesOn = false;
  for (const [i, whole] of text.split("\n").entries()) {
    const line = whole.endsWith("\\") ? whole.slice(0, -1) : whole;
    const last = lines.at(-1);
    if (goesOn && last !== undefined) last.line += line;
    else lines.push({ line, number: i + 1 });
    goesOn = whole.endsWith("\\");
  }
  return lines.filter(({ line }) => !/^\s*(?:#|$)/.test(line));
}

/** Words between blanks. What is in single quotes is one word, and nothing in it is replaced. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word);
}

function filled(word: string, rank: number, place: number): string {
  return word.replace(/'([^']*)'|%([to])/g, (_, quoted: string | undefined, letter) =>
    quoted === undefined ? String(letter === "t" ? rank : place) : quoted,
  );
}

/** Of `1-2,4`, in this order; undefined for other texts. */
function numbersOf(list: string): readonly number[] | undefined {
  const numbers: number[] = [];
  for (const part of list.split(",")) {
    const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first)) return undefined;
    for (let number = Number(first); number <= Number(last); number++) numbers.push(number);
  }
  return numbers;
}
