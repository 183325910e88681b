/** Lists the options that were renamed. The old name still works, but help does not show it. */
import { type Command, Option } from "commander";

/**
 * Adds an option with its older long flag. If both are given, the later one wins.
 * @param flags as for `Command.option`, such as `-p, --processors <n>`
 * @param older the older long flag with the same argument, such as `--procs <n>`
 */
export function addRenamedOption<Value>(
  command: Command,
  flags: string,
  older: string,
  description: string,
  parse: (text: string) => Value,
  byDefault?: Value,
): Command {
  const option = new Option(flags, description).argParser(parse).default(byDefault);
  const alias = new Option(older, description).argParser(parse).hideHelp();
  return command
    .addOption(option)
    .addOption(alias)
    .on(`option:${alias.name()}`, () => {
      const name = alias.attributeName();
      command.setOptionValueWithSource(option.attributeName(), command.getOptionValue(name), "cli");
      command.setOptionValue(name, undefined);
    });
}
