/**
 * Writes what jobs have written on hosts into their output files on this machine, as the jobs' users. Nothing
 * is written twice or left out when this process dies in between: what is known of a file is on disk before
 * and after each piece, and only this process writes it.
 */
import { spawn } from "@tutti/host/ports/child-process.ts";
import { once } from "@tutti/host/ports/events.ts";
import { findSetpriv } from "@tutti/live/conductor/attempts/shim.ts";

/** An output file of a job, and under which user it is written. */
export interface OutputTarget {
  readonly path: string;
  readonly uid: number;
  readonly gid: number;
  readonly umask: number;
}

/** Arguments: path, umask. Prints the size. */
const LOOK = `
[ -f "$1" ] || { echo 0; exit 0; }
stat -L -c %s -- "$1"
`;
/** Appends its input, and prints the size. A pipe that nobody reads would take for ever. */
const APPEND = `
umask "$2"
[ -d "\${1%/*}/" ] || mkdir -p -- "\${1%/*}/"
if [ -e "$1" ] && ! [ -f "$1" ]; then
  echo "it is not a regular file" >&2
  exit 1
fi
cat >> "$1" || exit 1
stat -L -c %s -- "$1"
`;

/** @throws Error with a reason for people */
export async function sizeOf(target: OutputTarget): Promise<number> {
  return Number(await run(target, LOOK));
}

/** @returns the size of the file @throws Error with a reason for people */
export async function append(target: OutputTarget, content: Buffer): Promise<number> {
  return Number(await run(target, APPEND, content));
}

/**
 * Changes of one file follow each other, whichever host they come from: so what a piece has added is known.
 */
export class FileQueues {
  readonly #last = new Map<string, Promise<unknown>>();

  add<Result>({ path }: OutputTarget, act: () => Promise<Result>): Promise<Result> {
    const result = (this.#last.get(path) ?? Promise.resolve()).then(act, act);
    this.#last.set(path, result);
    const clear = () => {
      if (this.#last.get(path) === result) this.#last.delete(path);
    };
    result.then(clear, clear);
    return result;
  }
}

async function run({ path, uid, gid, umask }: OutputTarget, script: string, input?: Buffer): Promise<string> {
  const shell = ["/bin/sh", "-c", script, "tutti-output", path, umask.toString(8)];
  const isOwn = uid === process.getuid!();
  const user = [`--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
  const [program = "", ...args] = isOwn ? shell : [findSetpriv() ?? "setpriv", ...user, ...shell];
  const child = spawn(program, args, { cwd: "/", env: { PATH: process.env.PATH, LC_ALL: "C" } });
  let [stdout, errors] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString("latin1");
  });
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-1000);
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return stdout;
  throw new Error(
    `Cannot write output to "${path}": ${errors.trim().split("\n").at(-1) ?? `status ${code}`}`,
  );
}
