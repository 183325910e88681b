/**
 * Runs the program that V8 compiles wrongly in many processes, with Tutti's flag. It also tells how many go
 * wrong without, since the proof is worth nothing if none do.
 *
 *   node test/compiler/many.ts 1000
 */
import { execFileSync } from "node:child_process";
import { COMPILER_FLAG } from "@tutti/lab/experiments/compiler-flag.ts";
import { lostNumbers } from "./shared-numbers.ts";

/** The program in a new process, which sets a flag while it runs, as bin/tutti.js does. */
export function inProcess(flag: string): ReturnType<typeof lostNumbers> {
  const set = `process.getBuiltinModule("node:v8").setFlagsFromString(${JSON.stringify(flag)});`;
  const code = `${set}\nconsole.log(JSON.stringify((${lostNumbers})()));`;
  return JSON.parse(execFileSync(process.execPath, ["--eval", code], { encoding: "utf8" }));
}

/** How many of some processes lost a number. */
function wrongOf(processes: number, flag: string): number {
  let wrong = 0;
  for (let i = 0; i < processes; i++) {
    const { loop, recursion } = inProcess(flag);
    if (loop + recursion > 0) wrong++;
  }
  return wrong;
}

if (import.meta.main) {
  const processes = Number(process.argv[2] ?? 1000);
  const others = Math.ceil(processes / 20);
  const wrong = wrongOf(processes, COMPILER_FLAG);
  const wrongOthers = wrongOf(others, "--maglev");
  console.log(`${wrong} of ${processes} processes wrong (without the flag ${wrongOthers} of ${others})`);
  if (wrong > 0) process.exitCode = 1;
}
