/** Checks the options of users for sbatch, which follow `--` on the command line of `tutti serve`. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { GPU, isFreeKindName, KIND_PATTERN } from "@tutti/protocol/resources.ts";

const OWN_SCRIPT = "a pilot has its own script";

/** What a pilot cannot be, or what Tutti sets itself, with the option of Tutti to use instead. */
const REFUSED: readonly (readonly [long: string, letter: string, instead: string])[] = [
  ["nodes", "N", "tutti serve has --nodes"],
  ["time", "t", "tutti serve has --time"],
  ["comment", "", "Tutti finds its pilots by their comment"],
  ["array", "a", "a pilot is one job"],
  ["ntasks", "n", "Tutti sets the number of tasks; fewer tasks would mean fewer nodes"],
  ["wrap", "", OWN_SCRIPT],
  ["wait", "W", "Tutti itself waits for its pilots"],
  ["test-only", "", "a pilot has to run"],
  ["parsable", "", "Tutti reads the answer of sbatch"],
  ["help", "h", "run sbatch itself to see its options"],
  ["usage", "", "run sbatch itself to see its options"],
  ["version", "V", "run sbatch itself to see its version"],
  ["hold", "H", "a pilot that is held never starts"],
  ["clusters", "M", "a scheduler uses one cluster, that of SLURM_CONF"],
  ["requeue", "", "Tutti submits the next pilot itself"],
];

/** Options of sbatch that take no value, or only one after "=": the word that follows is not theirs. */
const FLAGS = [
  ...["contiguous", "exclusive", "get-user-env", "hold", "ignore-pbs", "nice", "no-kill", "no-requeue"],
  ...["overcommit", "oversubscribe", "propagate", "quiet", "reboot", "requeue", "spread-job"],
  ...["use-min-nodes", "verbose", "wait", "parsable", "test-only", "help", "usage", "version"],
];
const FLAG_LETTERS = "hHIkOQsuvVW";

interface Option {
  readonly long?: string;
  readonly letter?: string;
  readonly value?: string | undefined;
}

/** @throws InputError for an option that a pilot must not have, or for a word that is no option's value */
export function checkSbatchOptions(words: readonly string[]): void {
  for (const [word, option] of optionsOf(words)) {
    // Like getopt, sbatch understands the beginning of a name.
    const instead = REFUSED.find(([long, letter]) =>
      option.long === undefined ? option.letter === letter : long.startsWith(option.long),
    )?.[2];
    if (instead !== undefined) throw new InputError(`Cannot pass "${word}" to sbatch: ${instead}`);
  }
}

/** The partition that the options name; undefined: the default one. */
export function partitionIn(words: readonly string[]): string | undefined {
  const named = optionsOf(words).filter(
    ([, { long, letter }]) => letter === "p" || (long?.startsWith("part") && "partition".startsWith(long)),
  );
  return named.at(-1)?.[1].value ?? process.env.SBATCH_PARTITION;
}

/**
 * The countable resources that each node of a pilot has for Slurm's steps, by kind: those that the options
 * name. What a pilot has only because it has its nodes to itself, Slurm does not give to steps.
 */
export function unitsOfNode(words: readonly string[]): ReadonlyMap<string, number> {
  const optionIn = (name: string, fewest: number, variable: string) =>
    optionsOf(words).findLast(
      ([, { long }]) => long !== undefined && long.length >= fewest && name.startsWith(long),
    )?.[1].value ?? process.env[variable];
  const units = new Map<string, number>();
  for (const word of optionIn("gres", "gres".length, "SBATCH_GRES")?.split(",") ?? []) {
    const [, kind = "", count = "1"] = /^([^:]+)(?::[^:]*[^:\d][^:]*)?(?::(\d+))?$/.exec(word) ?? [];
    if (kind !== "none" && KIND_PATTERN.test(kind) && isFreeKindName(kind))
      units.set(kind, (units.get(kind) ?? 0) + Number(count));
  }
  const gpus = optionIn("gpus-per-node", "gpus-per-n".length, "SBATCH_GPUS_PER_NODE");
  const [, count] = /^(?:[^:]+:)?(\d+)$/.exec(gpus ?? "") ?? [];
  if (count !== undefined) units.set(GPU, Number(count));
  return units;
}

/**
 * Splits words into options, as sbatch does: a value may follow its option as a word of its own, and
 * letters without values can be joined, as in -QH.
 * @throws InputError for a word that belongs to no option; sbatch would run it as the script
 */
function optionsOf(words: readonly string[]): (readonly [word: string, option: Option])[] {
  const options: (readonly [string, Option])[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (!/^-[^-]|^--[^=]/.test(word)) {
      throw new InputError(
        `Cannot pass "${word}" to sbatch: expected options such as --partition=long; ${OWN_SCRIPT}`,
      );
    }
    const [, long, value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (long !== undefined) {
      const isFlag = FLAGS.some((flag) => flag.startsWith(long));
      options.push([word, { long, value: value ?? (isFlag ? undefined : words[++i]) }]);
      continue;
    }
    for (let at = 1; at < word.length; at++) {
      const letter = word[at];
      if (FLAG_LETTERS.includes(letter)) {
        options.push([word, { letter }]);
        continue;
      }
      const rest = word.slice(at + 1);
      options.push([word, { letter, value: rest === "" ? words[++i] : rest }]);
      break;
    }
  }
  return options;
}

/** Slurm's limits are whole minutes; it rounds up. */
export function minutesOf(ms: number): number {
  return Math.ceil(ms / 60_000);
}
