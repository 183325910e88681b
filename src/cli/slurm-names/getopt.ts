/**
 * Reads the options of a command line as Slurm's commands do, with getopt_long: `-n4`, `-n 4`, `-lv`,
 * `--ntasks=4`, `--ntasks 4`, and unique abbreviations of long names such as `--part`.
 */
import { BareError } from "./errors.ts";

/**
 * Options, separated by blanks: the long name, a comma and the letter if it has one, and then `=` if it has a
 * value, or `?` if it may have one (`--name=value` or `-xvalue`).
 */
export interface OptionSpec {
  readonly command: string;
  readonly options: string;
  /** Options end at the first other word, as for commands that run a program. */
  readonly stopsAtWord?: boolean;
  /** Exit code for an option that does not exist. */
  readonly unknownCode: number;
}

export interface GivenOption {
  readonly name: string;
  /** Undefined: given without a value. */
  readonly value: string | undefined;
  /** As it was written. */
  readonly text: string;
}

interface Parsed {
  readonly given: readonly GivenOption[];
  readonly words: readonly string[];
}

type Argument = "none" | "required" | "optional";

/** @throws BareError in the words of getopt */
export function parseWords(spec: OptionSpec, words: readonly string[]): Parsed {
  const { longs, shorts } = tables(spec.options);
  const refuse = (problem: string): never => {
    throw new BareError(
      `${spec.command}: ${problem}\nTry "${spec.command} --help" for more information`,
      spec.unknownCode,
    );
  };
  const given: GivenOption[] = [];
  const others: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (word === "--") {
      others.push(...words.slice(i + 1));
      break;
    }
    if (word.startsWith("--")) {
      const equals = word.indexOf("=");
      const typed = word.slice(2, equals < 0 ? undefined : equals);
      const name = longName(typed, longs, refuse);
      const argument = longs.get(name);
      let value = equals < 0 ? undefined : word.slice(equals + 1);
      if (argument === "none" && value !== undefined) refuse(`option '--${name}' doesn't allow an argument`);
      let text = word;
      if (argument === "required" && value === undefined) {
        value = words[++i] ?? refuse(`option '--${name}' requires an argument`);
        text = `${word} ${value}`;
      }
      given.push({ name, value, text });
    } else if (word.startsWith("-") && word !== "-") {
      for (let k = 1; k < word.length; k++) {
        const letter = word[k];
        const name = shorts.get(letter) ?? refuse(`invalid option -- '${letter}'`);
        const argument = longs.get(name);
        if (argument === "none") {
          given.push({ name, value: undefined, text: `-${letter}` });
          continue;
        }
        const rest = word.slice(k + 1);
        if (rest !== "" || argument === "optional") {
          given.push({ name, value: rest === "" ? undefined : rest, text: `-${letter}${rest}` });
        } else {
          const value = words[++i] ?? refuse(`option requires an argument -- '${letter}'`);
          given.push({ name, value, text: `-${letter} ${value}` });
        }
        break;
      }
    } else if (spec.stopsAtWord) {
      others.push(...words.slice(i));
      break;
    } else others.push(word);
  }
  return { given, words: others };
}

/** The last value of each option; an option without a value has the empty text. */
export function lastValues(given: readonly GivenOption[]): Readonly<Record<string, string>> {
  return Object.fromEntries(given.map(({ name, value = "" }) => [name, value]));
}

function tables(options: string) {
  const longs = new Map<string, Argument>();
  const shorts = new Map<string, string>();
  for (const word of options.trim().split(/\s+/)) {
    const [, name, letter, sign] = /^([\w-]+?)(?:,(\w))?([=?]?)$/.exec(word)!;
    longs.set(name, sign === "=" ? "required" : sign === "?" ? "optional" : "none");
    if (letter !== undefined) shorts.set(letter, name);
  }
  return { longs, shorts };
}

function longName(
  typed: string,
  longs: ReadonlyMap<string, Argument>,
  refuse: (problem: string) => never,
): string {
  if (longs.has(typed)) return typed;
  const matches = [...longs.keys()].filter((name) => name.startsWith(typed));
  if (matches.length === 1) return matches[0];
  return refuse(
    matches.length === 0 || typed === ""
      ? `unrecognized option '--${typed}'`
      : `option '--${typed}' is ambiguous; possibilities: ${matches.map((name) => `'--${name}'`).join(" ")}`,
  );
}
