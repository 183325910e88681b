/**
 * The shell of the simulated world against dash: the same scripts print the same, end with the same status
 * and leave the same files.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { SimulatedMachine } from "../packages/torture/world/kernel/machine.ts";
import { Draws } from "../packages/torture/world/random.ts";
import { randomScript } from "./shell-grammar.ts";
import { finish, makeMachine, readText, realFiles, simulatedFiles, start } from "./simulated-machine.ts";
import { root } from "./sources.ts";

const RANDOM_SCRIPTS = 100;

interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  /** 128 + n for signal n. */
  readonly status: number;
  /** Kinds and texts by path. */
  readonly files: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "tutti-shell-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs all scripts with one dash, each in a folder of its own. */
function runInDash(scripts: readonly string[]): Outcome[] {
  scripts.forEach((script, i) => {
    mkdirSync(join(folder, `${i}`));
    writeFileSync(join(folder, `script${i}`), script);
  });
  const all = `i=0; while [ $i -lt ${scripts.length} ]; do
    ( cd $i; exec /bin/dash ../script$i < /dev/null > ../out$i 2> ../err$i ) 2> /dev/null
    echo $? > status$i
    i=$((i+1))
  done`;
  spawnSync("/bin/dash", ["-c", all], { cwd: folder, env: { PATH: process.env.PATH }, timeout: 60_000 });
  const outcomes = scripts.map((_, i) => ({
    stdout: readFileSync(join(folder, `out${i}`), "utf8"),
    stderr: readFileSync(join(folder, `err${i}`), "utf8"),
    status: Number(readFileSync(join(folder, `status${i}`), "utf8")),
    files: realFiles(join(folder, `${i}`)),
  }));
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  return outcomes;
}

const SIGNALS: Readonly<Record<string, number>> = { SIGKILL: 9, SIGUSR1: 10, SIGPIPE: 13, SIGTERM: 15 };

function runSimulated(machine: SimulatedMachine, script: string, i: number): Outcome {
  const top = `/work/${i}`;
  machine.makeFolder(top);
  machine.writeFile(`/work/script${i}`, script);
  const child = start(machine, ["/bin/dash", `../script${i}`], top, `/work/out${i}`);
  finish(machine, child);
  const { end } = child;
  return {
    stdout: readText(machine, `/work/out${i}`),
    stderr: readText(machine, `/work/out${i}.err`),
    status: end?.signal === undefined ? (end?.code ?? -1) : 128 + SIGNALS[end.signal],
    files: simulatedFiles(machine, top),
  };
}

const scripts = readFileSync(join(root, "test/shell-twin.txt"), "utf8").split("----\n");

describe("against dash", () => {
  const expected = runInDash(scripts);
  const machine = makeMachine();
  test.each(scripts.map((script, i) => [script, i] as const))("%s", (script, i) => {
    expect({ script, ...runSimulated(machine, script, i) }).toEqual({ script, ...expected[i] });
  });
});

describe("against dash, at random", () => {
  const random = new Draws(20_261_129);
  const some = Array.from({ length: RANDOM_SCRIPTS }, () => randomScript(random));
  const expected = runInDash(some);
  const machine = makeMachine();
  test.each(some.map((script, i) => [i, script] as const))("script %i", (i, script) => {
    const outcome = runSimulated(machine, script, i);
    // What they complain about counts, and not the line that dash thinks it is on.
    const { stderr: _, ...seen } = { script, ...outcome };
    const { stderr: __, ...known } = { script, ...expected[i] };
    expect(seen, outcome.stderr).toEqual(known);
  });
});
