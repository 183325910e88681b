/** Finds words of a job's command that only a shell would understand, since Tutti runs words as they are. */
import { existsSync } from "node:fs";

const VARIABLE = /\$\{?(?:TUTTI|SLURM|OMP|CUDA|ROCR)_[A-Z_]+\}?/;

/** What to write instead; undefined if nothing looks wrong. */
export function shellAdvice(words: readonly string[]): string | undefined {
  const [program = ""] = words;
  const example = `sh -c '${words.join(" ")}'`;
  if (/\S[\s|&;<>$]/.test(program) && !existsSync(program))
    return `"${program}" is the name of one program, because no shell reads it; if it is a command line, write ${example}`;
  // Some program in the words, such as sh, reads a script of its own.
  if (words.some((word) => /^-\w*c$/.test(word))) return undefined;
  const variable = words.map((word) => VARIABLE.exec(word)?.[0]).find((found) => found !== undefined);
  if (variable !== undefined)
    return `${variable} stays as it is, because no shell reads the command; to have its value, write ${example}`;
  const operator = words.find((word) => /^(?:\|\|?|&&?|;|\d?>>?|<)$/.test(word));
  return operator === undefined
    ? undefined
    : `"${operator}" is a word for the program, because no shell reads the command; for its meaning in a shell, write ${example}`;
}
