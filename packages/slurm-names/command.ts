/** What each of Slurm's commands has. */
import { type GivenOption, type OptionSpec, type Parsed, readWords } from "@tutti/cli/options/getopt.ts";
import { BareError, SlurmError } from "./errors.ts";

/** The options of a call: all in their order, and the last value of each, empty if it has none. */
interface Call extends Parsed {
  readonly options: Readonly<Record<string, string>>;
}

export interface Command extends OptionSpec {
  /** Exit code for an option that does not exist; default: 1. */
  readonly unknownCode?: number;
  /** It takes any options, because it only says what to use instead. */
  readonly takesAll?: true;
  /** How to call it, for --help and --usage. */
  readonly usage: string;
  /** Sets process.exitCode unless it succeeds. @throws SlurmError, NoDaemonError, RefusedError */
  run(call: Call): Promise<void>;
}

/** @throws BareError in the words of getopt */
export function parseWords(name: string, command: Command, words: readonly string[]): Call {
  const refuse = (problem: string) => {
    throw new BareError(
      `${name}: ${problem}\nTry "${name} --help" for more information`,
      command.unknownCode ?? 1,
    );
  };
  const parsed = readWords(command, words, command.takesAll ? undefined : refuse);
  const last = parsed.given.map(({ name, value = "" }) => [name, value] as const);
  return { ...parsed, options: Object.fromEntries(last) };
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
