/**
 * Steps of a program: its calls that others can see. A process may be killed between any two of them, also in
 * the middle of what the program does without a pause.
 */
import type { Files } from "../world/contract.ts";

/** A change of a file, a transaction, a signal, a new process, or bytes sent. */
export type Step = "file" | "commit" | "signal" | "spawn" | "send";

/** Makes a call, unless the process is killed before it; and does not go on if it is killed after it. */
export type Stepper = <Result>(step: Step, call: () => Result) => Result;

const CHANGES: readonly (keyof Files)[] = [
  ...(["write", "sync", "truncate", "unlink", "rename", "link", "makeLink", "makePipe"] as const),
  ...(["makeFolder", "removeFolder", "chmod", "fchmod", "chown", "fchown"] as const),
];
const O_CREAT = 0o100;
const O_TRUNC = 0o1000;

/** The same files. Changes are steps. */
export function inSteps(files: Files, step: Stepper): Files {
  const given = files as unknown as Record<string, (...values: unknown[]) => unknown>;
  const own: typeof given = {};
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(files)))
    if (typeof given[name] === "function") own[name] = given[name].bind(files);
  for (const name of CHANGES) {
    const change = own[name];
    own[name] = (...values) => step("file", () => change(...values));
  }
  const { open } = own;
  own.open = (who, path, flags, mode) =>
    ((flags as number) & (O_CREAT | O_TRUNC)) === 0
      ? open(who, path, flags, mode)
      : step("file", () => open(who, path, flags, mode));
  return own as unknown as Files;
}
