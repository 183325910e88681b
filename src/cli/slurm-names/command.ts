/** What each of Slurm's commands has. */
import { SlurmError } from "./errors.ts";
import type { GivenOption, OptionSpec } from "./getopt.ts";

export interface Command {
  readonly spec: OptionSpec;
  /** How to call it, for --help and --usage. */
  readonly usage: string;
  /** Sets process.exitCode unless it succeeds. @throws SlurmError, NoDaemonError, RefusedError */
  run(words: readonly string[]): Promise<void>;
}

export function writeOut(text: string): void {
  process.stdout.write(text);
}

/** Refuses options that Slurm has and that cannot be honoured here. @throws SlurmError */
export function refuseOptions(
  given: Readonly<Record<string, string>>,
  names: readonly string[],
  instead: string,
): void {
  const name = names.find((one) => one in given);
  if (name !== undefined) throw new SlurmError(`--${name} is not supported by Tutti; use ${instead}`);
}

/** Names on standard error, once, the options that have no effect here. */
export function remarkIgnored(
  command: string,
  given: readonly GivenOption[],
  names: readonly string[],
): void {
  const ignored = given.filter(({ name }) => names.includes(name)).map(({ text }) => text);
  if (ignored.length > 0)
    process.stderr.write(`${command}: ignored, no effect here: ${[...new Set(ignored)].join(", ")}\n`);
}
