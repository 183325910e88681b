/**
 * Shifts the wall clock of the front end and the conductor by the number of ms in a file, as if somebody had
 * set the machine's clock. They load this file first (`node --import`). The machine's own clock does not
 * change.
 */
import childProcess from "node:child_process";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The front end starts the conductor with another environment, which would not load this file. */
const { NODE_OPTIONS, TUTTI_TEST_CLOCK } = process.env;
const { spawn } = childProcess;
childProcess.spawn = ((file: string, words: string[], options: childProcess.SpawnOptions) =>
  file === process.execPath
    ? spawn(file, words, { ...options, env: { ...options.env, NODE_OPTIONS, TUTTI_TEST_CLOCK } })
    : spawn(file, words, options)) as typeof spawn;
syncBuiltinESMExports();

const RealDate = Date;

function now(): number {
  try {
    return RealDate.now() + Number(readFileSync(process.env.TUTTI_TEST_CLOCK ?? "", "utf8"));
  } catch {
    return RealDate.now();
  }
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words, as) => Reflect.construct(target, words.length === 0 ? [now()] : words, as),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
