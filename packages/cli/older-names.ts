/** Replaces an older name of a command by the words that do the same today. */
import { OLDER_NAMES } from "./registry.ts";
import { hint } from "./text/text.ts";

/** @returns the command line without an older name. On a terminal, the command of today is named once. */
export function withoutOlderName(parameters: readonly string[]): readonly string[] {
  const at = parameters.findIndex((word) => !word.startsWith("-"));
  const older = parameters[at] ?? "";
  if (!Object.hasOwn(OLDER_NAMES, older)) return parameters;
  const words = OLDER_NAMES[older];
  if (process.stderr.isTTY) hint(`tutti ${older} is an older name of tutti ${words.replace(/=$/, " N")}`);
  const rest = parameters.slice(at + 1);
  const [last = "", ...others] = words.split(" ").reverse();
  if (!last.endsWith("=")) return [...parameters.slice(0, at), ...words.split(" "), ...rest];
  const valueAt = rest.findIndex((word) => /^(?:[^-]|-\d)/.test(word));
  const value = valueAt < 0 ? [] : [`${last}${rest[valueAt]}`];
  return [...parameters.slice(0, at), ...others.reverse(), ...value, ...rest.filter((_, i) => i !== valueAt)];
}
