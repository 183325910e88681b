/**
 * Runs the command line against a scheduler that is in the test's own process. So it must not block this
 * process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CommandResult } from "./command.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));

export interface Started {
  readonly child: ChildProcess;
  /** Output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly result: Promise<CommandResult>;
}

/** Starts `tutti` with a given socket. */
export function startTutti(
  socket: string,
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly onTerminal?: boolean } = {},
): Started {
  const { TUTTI_TRACES: _, FORCE_COLOR: __, npm_lifecycle_event: ___, ...rest } = process.env;
  const env = { ...rest, NO_COLOR: "1", TUTTI_SOCKET: socket, ...options.env };
  const words = [process.execPath, program, ...parameters];
  const [file, ...list] = options.onTerminal
    ? ["script", "-qec", words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" "), "/dev/null"]
    : words;
  const child = spawn(file!, list, { cwd: options.cwd ?? "/", env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => {
    stdout += piece;
  });
  child.stderr.setEncoding("utf8").on("data", (piece) => {
    stderr += piece;
  });
  const result = new Promise<CommandResult>((resolve) => {
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
  return { child, stdout: () => stdout, stderr: () => stderr, result };
}

/** Waits until something holds; the test's own time limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}
