/**
 * Says what is wrong with a command line, in the form of all other messages: `Cannot use WHAT: why, expected
 * something; what to do`. Commander's own messages have another form.
 */
import type { Command, CommanderError } from "commander";
import { type UsageError, unknownName } from "./errors.ts";

interface Problem {
  /** What cannot be used, such as `--tasks "0"`. */
  readonly what: string;
  /** Why, and what was expected. */
  readonly why: string;
}

/** The command with those that it is part of: `tutti window add`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The command that a command line names, as far as it is known. */
export function commandOf(program: Command, parameters: readonly string[]): Command {
  let command = program;
  for (const word of parameters.filter((one) => !one.startsWith("-"))) {
    const part = command.commands.find((own) => own.name() === word);
    if (part === undefined) break;
    command = part;
  }
  return command;
}

export function unknownPart(command: Command, word: string): UsageError {
  const names = command.commands.map((part) => part.name()).filter((name) => name !== "help");
  return unknownName(`command of ${pathOf(command)}`, word, names);
}

/** The whole message. @param advice what to do instead of an unknown option */
export function usageText(error: CommanderError, command: Command, advice?: string): string {
  const path = pathOf(command);
  const { message, code } = error;
  const help = `see ${path} --help`;
  const [, name = ""] = /'(.*)'/s.exec(message) ?? [];
  switch (code) {
    case "commander.missingArgument": {
      const argument = command.registeredArguments.find((own) => own.name() === name);
      const expected = argument?.description ? `, expected ${argument.description}` : "";
      return `Cannot run "${path}": ${name.toUpperCase()} is missing${expected}; ${help}`;
    }
    case "commander.missingMandatoryOptionValue":
      return `Cannot run "${path}": ${name} is missing; ${help}`;
    case "commander.help":
      return `Cannot run "${path}" alone: expected ${command.commands.map((part) => part.name()).join(", ")} after it; ${help}`;
    case "commander.unknownCommand":
      return unknownPart(command, name).message;
    case "commander.unknownOption":
      return `${sentence(usageProblem(error, command))}; ${advice ?? help}`;
    case "commander.excessArguments":
      return `${sentence(usageProblem(error, command))}; ${help}`;
    default:
      return sentence(usageProblem(error, command));
  }
}

const sentence = ({ what, why }: Problem) => `Cannot use ${what}: ${why}`;

/** What is wrong with options or words that were given. */
export function usageProblem({ message, code }: CommanderError, command: Command): Problem {
  const text = message.replace(/^error: /, "");
  switch (code) {
    case "commander.invalidArgument": {
      const [, flags = "", value = "", why = text] =
        /^option '(.*?)' argument '(.*)' is invalid\. (.*)$/s.exec(text) ??
        /^command-argument ()value '(.*)' is invalid for argument '.*'\. (.*)$/s.exec(text) ??
        [];
      const choices = why.replace(/^Allowed choices are (.*)\.$/s, "expected one of $1");
      return { what: `${longOf(flags)} ${JSON.stringify(value)}`.trim(), why: choices };
    }
    case "commander.optionMissingArgument":
      return { what: longOf(/'(.*)'/.exec(text)?.[1] ?? ""), why: "its value is missing" };
    case "commander.unknownOption": {
      const [, option = ""] = /^unknown option '(.*?)'(?:\n|$)/s.exec(text) ?? [];
      const [, similar] = /\(Did you mean (?:one of )?(.*)\?\)$/.exec(text) ?? [];
      const guess = similar === undefined ? "" : ` (did you mean ${similar}?)`;
      return { what: JSON.stringify(option), why: `there is no such option${guess}` };
    }
    case "commander.excessArguments": {
      const { length } = command.registeredArguments;
      const most = length === 0 ? "only options" : `at most ${length} ${length === 1 ? "word" : "words"}`;
      return { what: JSON.stringify(command.args[length] ?? ""), why: `expected ${most}` };
    }
    case "commander.conflictingOption": {
      const [one = "", other = ""] = [...text.matchAll(/'(.*?)'/g)].map(([, flags]) => longOf(flags));
      return { what: `${one} with ${other}`, why: "expected one or the other" };
    }
    default:
      return { what: pathOf(command), why: text };
  }
}

/** `--tasks` of `-n, --tasks <n>`. */
function longOf(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags.split(" ")[0] ?? "";
}
