/**
 * Makes the folder that users put on their PATH: a small launcher for each of Slurm's commands. A launcher
 * names the Node and the program by their full paths, so it works whatever else is on the PATH.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UsageError } from "./errors.ts";

/** The commands of Slurm that Tutti has. */
export const SLURM_COMMANDS = [
  "sbatch",
  "srun",
  "salloc",
  "squeue",
  "scancel",
  "sinfo",
  "sacct",
  "sacctmgr",
  "scontrol",
  "seff",
  "sstat",
  "sreport",
  "sshare",
  "sprio",
] as const;

/** The second line of each launcher; a file without it is somebody else's. Older ones were shell scripts. */
const MARK = "// Made by tutti slurm-names; it may be made again.";
const MARKS: readonly (string | undefined)[] = [MARK, MARK.replace("//", "#")];
/** What the kernel reads of a first line. */
const MAX_FIRST_LINE = 255;
const PROGRAM = "bin/slurm-names.js";

/** @throws UsageError if a file with one of the names is not ours */
export function makeNames(folder: string): { readonly folder: string; readonly names: readonly string[] } {
  const names = SLURM_COMMANDS;
  const path = resolve(folder);
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw new UsageError(`Cannot make the folder "${path}": ${(error as Error).message}`);
  }
  const own = realpathSync(path);
  const foreign = names.filter((name) => isForeign(join(own, name)));
  if (foreign.length > 0) {
    throw new UsageError(
      `Cannot make Slurm's names in "${path}": ${foreign.join(", ")} ${foreign.length === 1 ? "is" : "are"} there and not made by Tutti, expected a folder without files of these names`,
    );
  }
  const program = programPath();
  for (const name of names) {
    const file = join(own, name);
    const text = launcher(name, own, program);
    if (isThere(file, text)) continue;
    // A launcher that is running keeps its old file.
    const draft = `${file}.${process.pid}`;
    try {
      writeFileSync(draft, text, { mode: 0o755, flag: "wx" });
      chmodSync(draft, 0o755);
      renameSync(draft, file);
    } catch (error) {
      rmSync(draft, { force: true });
      throw new UsageError(`Cannot write "${file}": ${(error as Error).message}`);
    }
  }
  return { folder: own, names };
}

/**
 * The user's own folder of these names, made or renewed where needed. Jobs of scripts for Slurm have it first
 * on their PATH.
 */
export function ownNames(): string {
  const { XDG_DATA_HOME } = process.env;
  const data = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : join(homedir(), ".local/share");
  return makeNames(join(data, "tutti/slurm-names")).folder;
}

function isForeign(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isFile()) return true;
  return !MARKS.includes(readFileSync(path, "utf8").split("\n")[1]);
}

function isThere(file: string, text: string): boolean {
  try {
    return readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}

/** From the bundle and from the sources, the program is above this file. */
function programPath(): string {
  for (let folder = new URL(".", import.meta.url); ; folder = new URL("..", folder)) {
    const path = fileURLToPath(new URL(PROGRAM, folder));
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return path;
    if (folder.pathname === "/") throw new Error(`Broken installation: ${PROGRAM} is missing`);
  }
}

/**
 * Runs in Node at once: a shell in between would drop variables whose names it could not write, such as
 * functions that bash has exported.
 */
function launcher(name: string, folder: string, program: string): string {
  const node = process.execPath;
  // The kernel ends the program's name at a blank; env, from coreutils 8.30 on, does not.
  const first = /\s/.test(node) ? `#!/usr/bin/env -S ${JSON.stringify(node)}` : `#!${node}`;
  if (Buffer.byteLength(first) > MAX_FIRST_LINE)
    throw new UsageError(
      `Cannot make Slurm's names: the path of Node, "${node}", is too long for the first line of a program, expected at most ${MAX_FIRST_LINE - 2} bytes; install Tutti in a folder with a shorter path`,
    );
  return `${first}
${MARK}
process.env.TUTTI_SLURM_NAMES = ${JSON.stringify(folder)};
process.argv.splice(2, 0, ${JSON.stringify(name)});
import(${JSON.stringify(pathToFileURL(program).href)});
`;
}
