/** Completion scripts for shells, generated from the command line's own definitions. */

import { POLICIES } from "@tutti/kernel/policies/registry.ts";
import { MODELS } from "@tutti/kernel/workload/models/registry.ts";
import { WINGS } from "@tutti/papers/wings/wings.ts";
import type { Command } from "commander";
import { SELECTOR_HELP } from "../live/selectors.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

/** Commands whose argument may be a file: a script, a program or a trace. */
const TAKE_FILES = ["submit", "run", "simulate", "compare", "workload", "config", "store", "lab"];

interface VerbWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** Known words for the arguments. */
  readonly words: readonly string[];
  /** Whether an argument may be a file. */
  readonly takesFiles: boolean;
}

interface OptionWords {
  readonly flag: string;
  readonly summary: string;
  /** Possible values, if they are known. */
  readonly values: readonly string[];
  /** Whether several values are separated by commas. */
  readonly isList: boolean;
}

export function completionScript(shell: (typeof SHELLS)[number], wholeProgram: Command): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](describe(wholeProgram));
}

function describe(program: Command): VerbWords[] {
  const policies = POLICIES.map(({ name }) => name);
  const sources = [...MODELS, ...WINGS].map(({ name }) => name);
  const words: Readonly<Record<string, readonly string[]>> = {
    list: [...policies, ...WINGS.flatMap((wing) => wing.policies.map(({ name }) => name)), ...sources],
    policy: policies,
    whatif: policies,
    config: SHELLS,
    simulate: sources,
    compare: sources,
  };
  return program.commands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    options: optionsOf([command, ...command.commands]),
    words: [
      ...(words[command.name()] ?? []),
      ...(takesJobs(command) ? ["last", "all"] : []),
      ...command.commands.map((sub) => sub.name()),
    ],
    takesFiles: TAKE_FILES.includes(command.name()),
  }));
}

function takesJobs({ registeredArguments }: Command): boolean {
  return registeredArguments.some(({ description }) => description.startsWith(SELECTOR_HELP));
}

/** Options of a command and of its subcommands, without duplicates. */
function optionsOf(commands: readonly Command[]): VerbWords["options"] {
  const all = commands.flatMap((command) =>
    command.options.map((option) => ({
      flag: option.long ?? option.flags,
      summary: option.description,
      values: option.argChoices ?? [],
      isList: option.flags.endsWith("<names>"),
    })),
  );
  return all.filter(({ flag }, i) => all.findIndex((other) => other.flag === flag) === i);
}

function bashScript(verbs: readonly VerbWords[]): string {
  const cases = verbs.map(
    ({ name, options, words, takesFiles }) =>
      `    ${name}) words="${[...options.map(({ flag }) => flag), ...words].join(" ")}"${takesFiles ? " files=yes" : ""} ;;`,
  );
  const valued = new Map(
    verbs.flatMap(({ options }) =>
      options.flatMap((option) => (option.values.length === 0 ? [] : [[option.flag, option] as const])),
    ),
  );
  const values = [...valued].map(
    ([flag, { values, isList }]) =>
      `    ${flag}) words="${values.join(" ")}"${isList ? " isList=yes" : ""} ;;`,
  );
  return `# bash completion for tutti
_tutti() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words="" files="" isList=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map(({ name }) => name).join(" ")} help --help --version" -- "$word"))
    return
  fi
  if [ "$before" = "--policy" ]; then
    COMPREPLY=($(compgen -W "${POLICIES.map(({ name }) => name).join(" ")}" -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case "$before" in
${values.join("\n")}
    -o|-e|-D|--output|--error|--cwd|--config|--state|--html|--swf|--svg) files=yes ;;
    *) case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac ;;
  esac
  if [ -n "$isList" ] && [[ "$word" == *,* ]]; then
    COMPREPLY=($(compgen -P "\${word%,*}," -W "$words" -- "\${word##*,}"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word") $([ -n "$files" ] && compgen -f -- "$word"))
}
complete -o filenames -F _tutti tutti
`;
}

function zshScript(verbs: readonly VerbWords[]): string {
  const safe = (text: string) => text.replace(/['[\]:\\]/g, " ");
  const cases = verbs.map(
    ({ name, options, words, takesFiles }) => `    ${name})
      _arguments \\
${options.map((option) => `        '${option.flag}[${safe(option.summary)}]${zshValues(option)}' \\`).join("\n")}
        '*:argument: _alternative "words\\:word\\:(${words.join(" ")})"${takesFiles ? ' "files\\:file\\:_files"' : ""}' ;;`,
  );
  return `#compdef tutti
_tutti() {
  local -a verbs
  verbs=(
${verbs.map(({ name, summary }) => `    '${name}:${safe(summary)}'`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
# If zsh loads this file as a function, complete now. If the file is sourced, register the function.
if [ "$funcstack[1]" = "_tutti" ]; then _tutti "$@"; else compdef _tutti tutti; fi
`;
}

function zshValues({ values, isList }: OptionWords): string {
  if (values.length === 0) return "";
  return isList ? `:value:_values -s , name ${values.join(" ")}` : `:value:(${values.join(" ")})`;
}

function fishScript(verbs: readonly VerbWords[]): string {
  const safe = (text: string) => text.replace(/['\\]/g, " ");
  const lines = verbs.flatMap(({ name, summary, options, words, takesFiles }) => [
    `complete -c tutti -n __fish_use_subcommand -a ${name} -d '${safe(summary)}'`,
    ...options.map(
      (option) =>
        `complete -c tutti -n '__fish_seen_subcommand_from ${name}' -l ${option.flag.replace(/^--/, "")}${fishValues(option)} -d '${safe(option.summary)}'`,
    ),
    ...(words.length === 0
      ? []
      : [
          `complete -c tutti -n '__fish_seen_subcommand_from ${name}'${takesFiles ? "" : " -f"} -a '${words.join(" ")}'`,
        ]),
  ]);
  return `# fish completion for tutti\n${lines.join("\n")}\n`;
}

function fishValues({ values, isList }: OptionWords): string {
  if (values.length === 0) return "";
  const words = values.join(" ");
  return ` -x -a '${isList ? `(__fish_append , ${words})` : words}'`;
}
