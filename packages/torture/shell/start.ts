/** What a shell makes of its own arguments. */
import type { Sys, Wait } from "../world/contract.ts";
import { BUILTINS } from "./builtins.ts";
import { codeOf, complain, readAll, readFile, reasonOf, STEP } from "./io.ts";
import { Shell } from "./shell.ts";

/** sh [-efup] [--norc] -c TEXT [NAME [ARGUMENT…]], sh [-efup] FILE [ARGUMENT…], or a script as its input. */
export function* startShell(sys: Sys, isBash: boolean): Generator<Wait, number> {
  yield STEP;
  const words = sys.self.argv;
  let options = "";
  let at = 1;
  for (; /^-./.test(words[at] ?? ""); at++) {
    if (words[at] === "--") {
      at++;
      break;
    }
    if (!words[at].startsWith("--")) options += words[at].slice(1);
  }
  const name = words[0];
  if (options.includes("c")) {
    const [text = "", called = name, ...args] = words.slice(at);
    return yield* run(sys, called, isBash, args, options, text);
  }
  const [path, ...args] = words.slice(at);
  if (path === undefined) return yield* run(sys, name, isBash, [], options, yield* readAll(sys, 0));
  let text: string;
  try {
    text = yield* readFile(sys, path);
  } catch (error) {
    const isMissing = codeOf(error) === "ENOENT";
    yield* complain(sys, `${name}: 0: cannot open ${path}: ${isMissing ? "No such file" : reasonOf(error)}`);
    return isBash ? 127 : 2;
  }
  yield STEP;
  return yield* run(sys, path, isBash, args, options, text);
}

function* run(
  sys: Sys,
  name: string,
  isBash: boolean,
  args: readonly string[],
  options: string,
  text: string,
): Generator<Wait, number> {
  const shell = new Shell(sys, name, isBash, BUILTINS);
  shell.args = [...args];
  shell.options = options.replace(/[^efu]/g, "");
  return yield* shell.main(text);
}
