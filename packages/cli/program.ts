/** Builds the command line as a tree of commands. To save time, only the command in use gets its options. */

import { versionText } from "@tutti/host/version.ts";
import { Command, CommanderError } from "commander";
import { VERBS } from "./registry.ts";
import { foldedToTerminal } from "./text/text.ts";

const AFTER = `
  tutti help COMMAND describes a command and its options. To begin:
  tutti submit -n 4 --time 10m -- ./a.out`;

/**
 * The whole command line.
 * @param verb the command that gets its arguments and options; `all` for every command
 */
export async function makeProgram(verb: string | undefined): Promise<Command> {
  const program = new Command("tutti");
  program
    .description("Schedules parallel jobs as gangs, and measures policies on workloads")
    .option("-V, --version", "print the version, its revision and its date")
    .on("option:version", () => {
      process.stdout.write(`${versionText()}\n`);
      throw new CommanderError(0, "commander.version", "");
    })
    .helpCommand(false)
    .addHelpText("after", AFTER)
    .configureOutput({
      // command-line.ts says what is wrong, in the form of all other messages.
      writeErr: () => {},
      writeOut: (text) => process.stdout.write(foldedToTerminal(text)),
    })
    .configureHelp({ minWidthToWrap: 24 })
    .exitOverride()
    .action(async () => (await import("./verbs/status.ts")).overview());
  for (const { name, group, summary, load } of VERBS) {
    const command = program
      .command(name)
      .description(summary)
      .helpGroup(`${group}:`)
      .copyInheritedSettings(program);
    if (verb === name || verb === "all") (await load()).configure(command, () => makeProgram("all"));
  }
  return program;
}
