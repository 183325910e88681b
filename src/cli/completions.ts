/** `tutti completions SHELL`: a completion script, made from the command line itself. */
import { Argument, type Command } from "commander";
import { ALL_POLICIES, POLICIES } from "../policies/registry.ts";
import { MODELS } from "../workload/models.ts";
import { makeProgram } from "./program.ts";
import { writeOut } from "./text.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

const TAKE_JOBS = ["jobs", "show", "logs", "wait", "cancel", "hold", "release", "requeue", "priority", "why"];

interface VerbWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly { readonly flag: string; readonly summary: string }[];
  /** Words that may stand as an argument; file names may where there are none. */
  readonly words: readonly string[];
}

export function configure(command: Command): void {
  command
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText(
      "after",
      `
bash: tutti completions bash > ~/.local/share/bash-completion/completions/tutti
zsh:  tutti completions zsh > ~/.zfunc/_tutti     (with ~/.zfunc in fpath)
fish: tutti completions fish > ~/.config/fish/completions/tutti.fish`,
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const verbs = describe(await makeProgram("all"));
      writeOut({ bash: bashScript, zsh: zshScript, fish: fishScript }[shell](verbs));
    });
}

function describe(program: Command): VerbWords[] {
  const policies = POLICIES.map(({ name }) => name);
  const jobs = ["last", "all"];
  const words: Readonly<Record<string, readonly string[]>> = {
    policies: ALL_POLICIES.map(({ name }) => name),
    policy: policies,
    whatif: policies,
    ...Object.fromEntries(TAKE_JOBS.map((verb) => [verb, jobs])),
    completions: SHELLS,
    simulate: MODELS.map(({ name }) => name),
    compare: MODELS.map(({ name }) => name),
  };
  return program.commands.map((command) => ({
    name: command.name(),
    summary: command.description(),
    options: optionsOf([command, ...command.commands]),
    words: [...(words[command.name()] ?? []), ...command.commands.map((sub) => sub.name())],
  }));
}

/** Options of a verb and of the verbs below it, each once. */
function optionsOf(commands: readonly Command[]): VerbWords["options"] {
  const all = commands.flatMap((command) =>
    command.options.map((option) => ({ flag: option.long ?? option.flags, summary: option.description })),
  );
  return all.filter(({ flag }, i) => all.findIndex((other) => other.flag === flag) === i);
}

function bashScript(verbs: readonly VerbWords[]): string {
  const cases = verbs.map(
    ({ name, options, words }) =>
      `    ${name}) words="${[...options.map(({ flag }) => flag), ...words].join(" ")}" ;;`,
  );
  return `# bash completion for tutti
_tutti() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map(({ name }) => name).join(" ")} help --help --version" -- "$word"))
    return
  fi
  if [ "$before" = "--policy" ]; then
    COMPREPLY=($(compgen -W "${POLICIES.map(({ name }) => name).join(" ")}" -- "$word") $(compgen -f -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}
complete -o filenames -F _tutti tutti
`;
}

function zshScript(verbs: readonly VerbWords[]): string {
  const safe = (text: string) => text.replace(/['[\]:\\]/g, " ");
  const cases = verbs.map(
    ({ name, options, words }) => `    ${name})
      _arguments \\
${options.map(({ flag, summary }) => `        '${flag}[${safe(summary)}]' \\`).join("\n")}
        '*:argument:_alternative "words\\:word\\:(${words.join(" ")})" "files\\:file\\:_files"' ;;`,
  );
  return `#compdef tutti
_tutti() {
  local -a verbs
  verbs=(
${verbs.map(({ name, summary }) => `    '${name}:${safe(summary)}'`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  case "$words[2]" in
${cases.join("\n")}
  esac
}
_tutti "$@"
`;
}

function fishScript(verbs: readonly VerbWords[]): string {
  const safe = (text: string) => text.replace(/['\\]/g, " ");
  const lines = verbs.flatMap(({ name, summary, options, words }) => [
    `complete -c tutti -n __fish_use_subcommand -a ${name} -d '${safe(summary)}'`,
    ...options.map(
      ({ flag, summary: text }) =>
        `complete -c tutti -n '__fish_seen_subcommand_from ${name}' -l ${flag.replace(/^--/, "")} -d '${safe(text)}'`,
    ),
    ...(words.length === 0
      ? []
      : [`complete -c tutti -n '__fish_seen_subcommand_from ${name}' -a '${words.join(" ")}'`]),
  ]);
  return `# fish completion for tutti\n${lines.join("\n")}\n`;
}
