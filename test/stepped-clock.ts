/**
 * Loaded into front end and conductor before all else (`node --import`), it shifts their wall clock by the ms that a file tells, from one
 * moment to the next, as somebody who sets the machine's clock does. The machine's own clock stays as it is.
 */
import childProcess from "node:child_process";
import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** The front end starts the conductor with an environment of its own, where it would not find us. */
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
