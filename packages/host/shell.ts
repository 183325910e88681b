/** Words and variables in scripts for a POSIX shell. */
import { existsSync } from "./ports/fs.ts";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * Variables that one of the shells that may be /bin/sh does not allow to be set, computes itself, or reads
 * while it runs.
 */
const SHELLS_OWN: ReadonlySet<string> = new Set(
  "BASHOPTS BASHPID BASH_ARGV0 BASH_VERSINFO COMP_WORDBREAKS DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD IFS LINENO OPTIND PPID RANDOM SECONDS SHELLOPTS SRANDOM UID".split(
    " ",
  ),
);

/** Quotes a text as one word of the shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * An environment as a script sets it.
 * @returns what the shell can export, and what to put in front of a command for the rest, such as functions
 *   exported by bash: most shells drop names that they could not write
 */
export function environmentInShell(env: Readonly<Record<string, string>>): {
  readonly exported: readonly (readonly [name: string, value: string])[];
  readonly prefix: string;
} {
  // Every shell sets _ to what it runs.
  const entries = Object.entries(env).filter(([name]) => name !== "_");
  const isPlain = (name: string) => IDENTIFIER.test(name) && !SHELLS_OWN.has(name);
  const odd = entries.filter(([name]) => !isPlain(name)).map(([name, value]) => quote(`${name}=${value}`));
  return {
    exported: entries.filter(([name]) => isPlain(name)),
    prefix: odd.length === 0 ? "" : `/usr/bin/env -- ${odd.join(" ")} `,
  };
}

/** A shell that passes on variables whose names it could not write, where there is one. */
export function keepingShell(): readonly string[] {
  // With -p, bash neither reads BASH_ENV nor rewrites exported functions.
  return existsSync("/bin/bash") ? ["/bin/bash", "-p"] : ["/bin/sh"];
}
