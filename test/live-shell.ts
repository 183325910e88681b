/** Starts lines of a shell that call the command line, also in a terminal (script) and as other users. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { TestAccount } from "./accounts.ts";
import { until } from "./live-command.ts";

const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
/** The command line as a shell calls it. */
export const tutti = `${process.execPath} ${program}`;

export interface Shell {
  readonly child: ChildProcess;
  /** Output so far, and errors. */
  readonly shown: () => string;
  readonly exit: Promise<number | null>;
}

interface Options {
  readonly socket: string;
  readonly cwd: string;
  /** In a terminal of 30 × 100. Its name is shown first. */
  readonly isTerminal?: boolean;
  /** Root starts it as this user, as after a login. */
  readonly as?: TestAccount | undefined;
}

/** Starts a line in which `tutti` is this one. */
export function startShell(line: string, { socket, cwd, isTerminal = false, as }: Options): Shell {
  const whole = `tutti() { ${tutti} "$@"; }; ${isTerminal ? "stty rows 30 cols 100; echo on $(tty); " : ""}${line}`;
  const words = isTerminal ? ["script", "-qefc", whole, "/dev/null"] : ["bash", "-c", whole];
  if (as !== undefined)
    words.unshift("setpriv", `--reuid=${as.uid}`, `--regid=${as.gid}`, "--init-groups", "--");
  const { npm_lifecycle_event: _, ...ours } = process.env;
  const env = as === undefined ? ours : { PATH: "/usr/bin:/bin", HOME: "/" };
  const child = spawn(words[0], words.slice(1), {
    cwd,
    env: { ...env, SHELL: "/bin/bash", TERM: "xterm", NO_COLOR: "1", TUTTI_SOCKET: socket },
    stdio: [isTerminal ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (piece) => {
      out += piece;
    });
  }
  const exit = new Promise<number | null>((resolve) => {
    child.on("close", resolve);
  });
  return { child, shown: () => out, exit };
}

export function type({ child }: Shell, keys: string): void {
  child.stdin?.write(keys);
}

export const shows = (of: Shell, text: string) => until(() => of.shown().includes(text));
