/**
 * Reads the options in job scripts. A line that begins with `#TUTTI` contains options of `tutti submit`,
 * one with `#SBATCH` those of Slurm's sbatch (slurm-job.ts). As in Slurm, options end at the first command.
 */
import { type Parsed, readWords } from "./getopt.ts";
import { SBATCH_OPTIONS } from "./slurm-options.ts";

/** The options in a script. */
interface ScriptOptions {
  /** Words of the command line of `tutti submit`, from the `#TUTTI` lines. */
  readonly words: readonly string[];
  /** The `#TUTTI` lines as they are in the script. */
  readonly lines: readonly string[];
  /** Options of sbatch, from the `#SBATCH` lines; undefined without such lines. */
  readonly slurm: Parsed | undefined;
}

export function readJobScript(text: string): ScriptOptions {
  const all = [...optionLines(text)];
  const own = all.filter(({ kind }) => kind === "TUTTI");
  const ofSlurm = all.filter(({ kind }) => kind === "SBATCH");
  const parsed = ofSlurm.map(({ words }) => readWords({ options: SBATCH_OPTIONS }, words));
  return {
    words: own.flatMap(({ words }) => words),
    lines: own.map(({ line }) => line),
    slurm:
      parsed.length === 0
        ? undefined
        : {
            given: parsed.flatMap(({ given }) =>
              given.map((option) => ({ ...option, text: `#SBATCH ${option.text}` })),
            ),
            words: parsed.flatMap(({ words }) => words.map((word) => `#SBATCH ${word}`)),
          },
  };
}

/** The words of options in `#SBATCH` lines. */
export function slurmWords(script: string): readonly string[] {
  return [...optionLines(script)].flatMap(({ kind, words }) => (kind === "SBATCH" ? words : []));
}

/** The lines with options, which end at the first command. */
function* optionLines(script: string) {
  for (const line of script.split(/\r?\n/)) {
    if (!/^\s*(?:#|$)/.test(line)) return;
    const [, kind, rest = ""] = /^#(TUTTI|SBATCH)(?=\s|$)(.*)$/.exec(line) ?? [];
    if (kind !== undefined) yield { line, kind, words: splitWords(rest) };
  }
}

/** The program and the argument in the script's first line (`#!`); undefined if there is no such line. */
export function interpreterOf(text: string): string[] | undefined {
  const [, program, argument] = /^#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t]*\r?(?:\n|$)/.exec(text) ?? [];
  if (program === undefined) return undefined;
  return argument === undefined || argument === "" ? [program] : [program, argument];
}

/**
 * Splits a line as a shell does: at blanks, with quotes, and with a backslash before a single character. ` #`
 * begins a comment.
 */
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
