/** A simulated machine with a shell, and what a script has left there or on the real one. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { installShell } from "../packages/torture/shell/install.ts";
import type { OpenFile, Process } from "../packages/torture/world/contract.ts";
import { createFiles } from "../packages/torture/world/files/files.ts";
import {
  createMachine,
  type GroupsKind,
  type SimulatedMachine,
} from "../packages/torture/world/kernel/machine.ts";
import { Draws } from "../packages/torture/world/random.ts";
import { WorldTimeline } from "../packages/torture/world/timeline.ts";

export function makeMachine(groups: GroupsKind = "none"): SimulatedMachine {
  const seed = new Draws(1);
  const timeline = new WorldTimeline(seed);
  const machine = createMachine({
    name: "node1",
    timeline,
    random: seed,
    cpus: 4,
    memoryBytes: 2 ** 34,
    users: [],
    groups,
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
const O_NONBLOCK = 0o4000;

/**
 * Starts a program with files as its output.
 * @param input a descriptor that stays open; left out: /dev/null
 */
export function start(
  machine: SimulatedMachine,
  argv: readonly string[],
  cwd: string,
  output: string,
  input?: number,
): Process {
  const { files, root: who } = machine;
  const errors = output === "/dev/null" ? output : `${output}.err`;
  const opened = [
    input === undefined ? files.open(who, "/dev/null", O_RDONLY) : files.duplicate(who, input),
    files.open(who, output, O_WRONLY | O_CREAT, 0o644),
    files.open(who, errors, O_WRONLY | O_CREAT, 0o644),
  ];
  const given = new Map<number, OpenFile>(opened.map((descriptor, i) => [i, who.files.get(descriptor)!]));
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const child = machine.start(undefined, { argv, environment, cwd, files: given, isDetached: true });
  for (const descriptor of opened) files.close(who, descriptor);
  return child;
}

/** Writes into a pipe that somebody reads. @returns false if nobody does */
export function openPipe(machine: SimulatedMachine, path: string, text: string): boolean {
  const { files, root: who } = machine;
  try {
    const descriptor = files.open(who, path, O_WRONLY | O_NONBLOCK);
    files.write(who, descriptor, Buffer.from(text));
    files.close(who, descriptor);
    return true;
  } catch {
    return false;
  }
}

/** Lets time pass until the process has ended. */
export function finish(machine: SimulatedMachine, child: Process): void {
  const timeline = machine.timeline as WorldTimeline;
  for (let events = 0; child.end === undefined; events++) {
    if (events > 200_000 || !timeline.step(Number.MAX_SAFE_INTEGER)) throw new Error("It never ends");
  }
}

export function readText(machine: SimulatedMachine, path: string): string {
  const { files, root: who } = machine;
  const descriptor = files.open(who, path, O_RDONLY);
  const buffer = Buffer.alloc(files.fstat(who, descriptor).size);
  files.read(who, descriptor, buffer);
  files.close(who, descriptor);
  return buffer.toString("utf8");
}

export function simulatedFiles(machine: SimulatedMachine, top: string, below = ""): string[] {
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

/** Kinds and texts by path. */
export function realFiles(top: string, below = ""): string[] {
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
