/**
 * Runs one of Slurm's commands: the first word is its name, as the launchers that `tutti slurm-names` writes
 * pass it. Errors are one or more lines that begin with the command's name, as Slurm's are.
 */
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import { parseWords } from "./command.ts";
import { BareError, SlurmError } from "./errors.ts";
import { VERSION } from "./job/facts.ts";
import { COMMANDS } from "./registry.ts";

/** Settled when the command has ended. */
export const ended: Promise<void> = main(process.argv.slice(2));

async function main([name = "", ...words]: readonly string[]): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  process.stderr.on("error", () => {});
  // Jobs find srun in the folder of the launcher that has set this.
  if (!process.env.TUTTI_SLURM_NAMES?.startsWith("/")) {
    process.stderr.write(
      "tutti: Cannot run Slurm's commands from here: expected a call by a file of tutti slurm-names\n",
    );
    process.exitCode = 2;
    return;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    process.stderr.write(
      `tutti: Cannot run "${name}": expected one of ${Object.keys(COMMANDS).join(", ")}\n`,
    );
    process.exitCode = 2;
    return;
  }
  try {
    const command = await COMMANDS[name as keyof typeof COMMANDS]();
    const only = words.length === 1 ? words[0] : "";
    if (only === "--version" || only === "-V") process.stdout.write(`${VERSION}\n`);
    else if (only === "--help" || only === "--usage")
      process.stdout.write(
        `Usage: ${command.usage}\n\nThis is Tutti's ${name}: docs/slurm-names.md lists what it honours.\n`,
      );
    else await command.run(parseWords(name, command, words));
  } catch (error) {
    report(name, error);
  }
}

function report(name: string, error: unknown): void {
  if (error instanceof BareError) process.stderr.write(`${error.message}\n`);
  else if (error instanceof SlurmError || error instanceof RefusedError || isUsageError(error))
    process.stderr.write(error.message.replace(/^/gm, `${name}: error: `).concat("\n"));
  else if (error instanceof NoDaemonError)
    process.stderr.write(
      `${name}: error: Unable to contact slurm controller (connect failure)\n${error.message}\n`,
    );
  else if ((error as NodeJS.ErrnoException).syscall === "uv_cwd")
    process.stderr.write(
      `${name}: error: The current folder has been removed, expected one that exists: change to another one\n`,
    );
  else throw error;
  process.exitCode = error instanceof SlurmError ? error.exitCode : 1;
}

/** Its file loads much that only few of the commands need. */
function isUsageError(error: unknown): error is Error {
  return error instanceof Error && error.name === "UsageError";
}
