/** Runs the command line as a user does: in its own process, from its own folder. */
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `tutti` with the parameters in a folder. */
export function tutti(
  folder: string,
  parameters: readonly string[],
  options: SpawnSyncOptions = {},
): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...parameters], {
    cwd: folder,
    env: environment(),
    ...options,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** Runs a shell command in which `tutti` is the program. */
export function shell(folder: string, line: string): CommandResult {
  const { status, stdout, stderr } = spawnSync(
    "bash",
    // Node's pipes are sockets, for which bash takes us for a login from elsewhere and reads .bashrc.
    ["--norc", "-c", `set -o pipefail; tutti() { "${process.execPath}" "${program}" "$@"; }\n${line}`],
    { cwd: folder, env: environment(), encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

/** That of the test, without what changes results. */
export function environment(): NodeJS.ProcessEnv {
  const { TUTTI_TRACES: _, FORCE_COLOR: __, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1" };
}

export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "tutti-cli-"));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Names in a folder, including hidden ones. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

/** An SWF line with number, submit, run time, processors and estimate; the other fields are unknown. */
export function swfLine(id: number, submitS: number, runS: number, size: number, estimateS: number): string {
  return `${id} ${submitS} -1 ${runS} ${size} -1 -1 ${size} ${estimateS} -1 1 -1 -1 -1 -1 -1 -1 -1`;
}

/** A small trace on 8 processors with a queue: jobs of varied sizes that arrive faster than they can run. */
export function smallTrace(jobs = 40): string {
  const lines = ["; MaxProcs: 8"];
  for (let i = 0; i < jobs; i++) {
    const runS = 50 + ((i * 37) % 200);
    lines.push(swfLine(i + 1, i * 30, runS, 1 + ((i * 5) % 8), runS + 20));
  }
  return `${lines.join("\n")}\n`;
}
