/**
 * Reads the options of a command line as Slurm's commands do, with getopt_long: `-n4`, `-n 4`, `-lv`,
 * `--ntasks=4`, `--ntasks 4`, and unique abbreviations of long names such as `--part`.
 */
/**
 * Options, separated by blanks: the long name, a comma and the letter if it has one, and then `=` if it has a
 * value, or `?` if it may have one (`--name=value` or `-xvalue`).
 */
export interface OptionSpec {
  readonly options: string;
  /** Options end at the first other word, as for commands that run a program. */
  readonly stopsAtWord?: boolean;
}

export interface GivenOption {
  readonly name: string;
  /** Undefined: given without a value. */
  readonly value: string | undefined;
  /** As it was written. */
  readonly text: string;
}

export interface Parsed {
  readonly given: readonly GivenOption[];
  readonly words: readonly string[];
}

type Argument = "none" | "required" | "optional";

/**
 * @param refuse throws an error with a problem in the words of getopt; left out: options that are not in the
 *   list or lack their values are given as they are
 */
export function readWords(
  spec: OptionSpec,
  words: readonly string[],
  refuse?: (problem: string) => never,
): Parsed {
  const { longs, shorts } = tables(spec.options);
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
      const value = equals < 0 ? undefined : word.slice(equals + 1);
      if (argument === "none" && value !== undefined)
        refuse?.(`option '--${name}' doesn't allow an argument`);
      if (value === undefined && takesNext(argument, words[i + 1]))
        given.push(withNext(name, word, words[++i], refuse, `option '--${name}' requires an argument`));
      else given.push({ name, value, text: word });
    } else if (word.startsWith("-") && word !== "-") {
      for (let k = 1; k < word.length; k++) {
        const letter = word[k];
        const name = shorts.get(letter) ?? refuse?.(`invalid option -- '${letter}'`) ?? letter;
        const argument = longs.get(name);
        if (argument === "none") {
          given.push({ name, value: undefined, text: `-${letter}` });
          continue;
        }
        const rest = word.slice(k + 1);
        if (rest === "" && takesNext(argument, words[i + 1]))
          given.push(
            withNext(name, `-${letter}`, words[++i], refuse, `option requires an argument -- '${letter}'`),
          );
        else given.push({ name, value: rest || undefined, text: `-${letter}${rest}` });
        break;
      }
    } else if (spec.stopsAtWord) {
      others.push(...words.slice(i));
      break;
    } else others.push(word);
  }
  return { given, words: others };
}

/** Of an option that is not in the list, a next word that does not look like an option is the value. */
function takesNext(argument: Argument | undefined, next: string | undefined): boolean {
  return argument === "required" || (argument === undefined && next?.startsWith("-") === false);
}

function withNext(
  name: string,
  written: string,
  value: string | undefined,
  refuse: ((problem: string) => never) | undefined,
  problem: string,
): GivenOption {
  if (value === undefined) refuse?.(problem);
  return { name, value, text: value === undefined ? written : `${written} ${value}` };
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
  refuse: ((problem: string) => never) | undefined,
): string {
  if (longs.has(typed)) return typed;
  const matches = [...longs.keys()].filter((name) => name.startsWith(typed));
  if (matches.length === 1) return matches[0];
  refuse?.(
    matches.length === 0 || typed === ""
      ? `unrecognized option '--${typed}'`
      : `option '--${typed}' is ambiguous; possibilities: ${matches.map((name) => `'--${name}'`).join(" ")}`,
  );
  return typed;
}
