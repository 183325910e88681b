/** Runs the command line in the process of the test: a process of its own would take most of the time. */
import { runCommandLine } from "@tutti/cli/command-line.ts";
import { type CommandResult, environment } from "./command.ts";

/** Runs `tutti` with the parameters in a folder: the same code up to the exit code, without a start. */
export async function tuttiHere(folder: string, parameters: readonly string[]): Promise<CommandResult> {
  const before = { cwd: process.cwd(), env: process.env, exitCode: process.exitCode };
  const stdout = new Capture(process.stdout);
  const stderr = new Capture(process.stderr);
  process.chdir(folder);
  process.env = environment();
  process.exitCode = undefined;
  try {
    await runCommandLine(parameters);
    return { status: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
    process.exitCode = before.exitCode;
    stdout.end();
    stderr.end();
  }
}

/** Collects what is written to a stream. */
class Capture {
  text = "";
  readonly #stream: NodeJS.WriteStream;
  readonly #write: NodeJS.WriteStream["write"];
  readonly #listeners: readonly unknown[];

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#write = stream.write;
    this.#listeners = stream.listeners("error");
    stream.write = (piece: string | Uint8Array) => {
      this.text += typeof piece === "string" ? piece : new TextDecoder().decode(piece);
      return true;
    };
  }

  /** The command line leaves its listeners, because its process ends. */
  end(): void {
    this.#stream.write = this.#write;
    for (const listener of this.#stream.listeners("error"))
      if (!this.#listeners.includes(listener)) this.#stream.off("error", listener as () => void);
  }
}
