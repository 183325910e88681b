/**
 * The shell of the simulated world against dash: the same scripts print the same, end with the same status
 * and leave the same files.
 */
import { spawnSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { installShell } from "../packages/torture/shell/install.ts";
import type { OpenFile, Process } from "../packages/torture/world/contract.ts";
import { createFiles } from "../packages/torture/world/files/files.ts";
import { createMachine, type SimulatedMachine } from "../packages/torture/world/kernel/machine.ts";
import { Draws } from "../packages/torture/world/random.ts";
import { WorldTimeline } from "../packages/torture/world/timeline.ts";
import { root } from "./sources.ts";

interface Outcome {
  readonly stdout: string;
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
  spawnSync("/bin/dash", ["-c", all], { cwd: folder, env: { PATH: process.env.PATH } });
  const outcomes = scripts.map((_, i) => ({
    stdout: readFileSync(join(folder, `out${i}`), "utf8"),
    status: Number(readFileSync(join(folder, `status${i}`), "utf8")),
    files: realFiles(join(folder, `${i}`)),
  }));
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  return outcomes;
}

function realFiles(top: string, below = ""): string[] {
  return readdirSync(join(top, below))
    .sort()
    .flatMap((name) => {
      const path = join(below, name);
      const stats = lstatSync(join(top, path));
      if (stats.isDirectory()) return [`${path}/`, ...realFiles(top, path)];
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(top, path))}`];
      return [stats.isFIFO() ? `${path} |` : `${path}: ${readFileSync(join(top, path), "utf8")}`];
    });
}

const seed = new Draws(1);

function makeMachine(): SimulatedMachine {
  const timeline = new WorldTimeline(seed);
  const machine = createMachine({
    name: "node1",
    timeline,
    random: seed,
    cpus: 4,
    memoryBytes: 2 ** 34,
    users: [],
    groups: "none",
    unixMsAtZero: 1_800_000_000_000,
    makeFiles: (options) => createFiles({ ...options, capacityBytes: 2 ** 30 }),
  });
  machine.onCrash = (_, error) => {
    throw error;
  };
  installShell(machine);
  machine.makeFolder("/work");
  return machine;
}

const O_RDONLY = 0;
const O_WRONLY = 1;
const O_CREAT = 0o100;

/** Starts a program with files as its output. */
function start(machine: SimulatedMachine, argv: readonly string[], cwd: string, output: string): Process {
  const { files, root: who } = machine;
  const opened = [
    files.open(who, "/dev/null", O_RDONLY),
    files.open(who, output, O_WRONLY | O_CREAT, 0o644),
    files.open(who, `${output}.err`, O_WRONLY | O_CREAT, 0o644),
  ];
  const given = new Map<number, OpenFile>(opened.map((descriptor, i) => [i, who.files.get(descriptor)!]));
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const child = machine.start(undefined, { argv, environment, cwd, files: given, isDetached: true });
  for (const descriptor of opened) files.close(who, descriptor);
  return child;
}

/** Lets time pass until the process has ended. */
function finish(machine: SimulatedMachine, child: Process): void {
  const timeline = machine.timeline as WorldTimeline;
  for (let events = 0; child.end === undefined; events++) {
    if (events > 200_000 || !timeline.step(Number.MAX_SAFE_INTEGER)) throw new Error("It never ends");
  }
}

function readText(machine: SimulatedMachine, path: string): string {
  const { files, root: who } = machine;
  const descriptor = files.open(who, path, O_RDONLY);
  const buffer = Buffer.alloc(files.fstat(who, descriptor).size);
  files.read(who, descriptor, buffer);
  files.close(who, descriptor);
  return buffer.toString("utf8");
}

function simulatedFiles(machine: SimulatedMachine, top: string, below = ""): string[] {
  const { files, root: who } = machine;
  return files
    .readFolder(who, join(top, below))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, kind }) => {
      const path = join(below, name);
      const whole = join(top, path);
      if (kind === "folder") return [`${path}/`, ...simulatedFiles(machine, top, path)];
      if (kind === "link") return [`${path} -> ${files.readLink(who, whole)}`];
      return [kind === "pipe" ? `${path} |` : `${path}: ${readText(machine, whole)}`];
    });
}

const SIGNALS: Readonly<Record<string, number>> = { SIGKILL: 9, SIGUSR1: 10, SIGPIPE: 13, SIGTERM: 15 };

function runSimulated(machine: SimulatedMachine, script: string, i: number): Outcome & { stderr: string } {
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

describe("against dash", () => {
  const scripts = readFileSync(join(root, "test/shell-twin.txt"), "utf8").split("----\n");
  const expected = runInDash(scripts);
  const machine = makeMachine();
  test.each(scripts.map((script, i) => [script, i] as const))("%s", (script, i) => {
    const { stderr, ...outcome } = runSimulated(machine, script, i);
    expect({ script, ...outcome }, stderr).toEqual({ script, ...expected[i] });
  });
});
