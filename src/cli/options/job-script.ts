/**
 * Job scripts: lines that begin with `#TUTTI` hold options of `tutti submit`; common lines of Slurm's `#SBATCH` are understood
 * (slurm-options.ts). Like there, reading ends at the first line that is a command.
 */
import { SlurmOptions } from "./slurm-options.ts";

/** What a script asks for, as words of `tutti submit`. */
interface ScriptOptions {
  readonly words: readonly string[];
  /** For people; one per line that is not understood or means something else here. */
  readonly warnings: readonly string[];
  /** Whether it was written for Slurm, and so may read Slurm's variables. */
  readonly isForSlurm: boolean;
}

/** @throws UsageError for a line of Slurm's that cannot be read */
export function readJobScript(text: string): ScriptOptions {
  const words: string[] = [];
  let isForSlurm = false;
  const slurm = new SlurmOptions();
  for (const line of text.split(/\r?\n/)) {
    if (!/^\s*(?:#|$)/.test(line)) break;
    const [, kind, rest = ""] = /^#(TUTTI|SBATCH)(?=\s|$)(.*)$/.exec(line) ?? [];
    if (kind === "TUTTI") words.push(...splitWords(rest));
    if (kind === "SBATCH") {
      isForSlurm = true;
      slurm.read(splitWords(rest));
    }
  }
  // Lines of our own come later and so win.
  return { words: [...slurm.words(), ...words], warnings: slurm.warnings, isForSlurm };
}

/** The program of a script's first line with its argument, or undefined. */
export function interpreterOf(text: string): string[] | undefined {
  const [, program, argument] = /^#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t]*\r?(?:\n|$)/.exec(text) ?? [];
  if (program === undefined) return undefined;
  return argument === undefined || argument === "" ? [program] : [program, argument];
}

/** Words as a shell splits them: blanks between, quotes around, a backslash before a single character; ` #` begins a remark. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "#" && word === undefined) break;
    else if (character === "'" || character === '"') {
      const end = line.indexOf(character, i + 1);
      word = (word ?? "") + line.slice(i + 1, end < 0 ? undefined : end);
      if (end < 0) break;
      i = end;
    } else if (character === "\\" && i + 1 < line.length) word = (word ?? "") + line[++i];
    else word = (word ?? "") + character;
  }
  if (word !== undefined) words.push(word);
  return words;
}
