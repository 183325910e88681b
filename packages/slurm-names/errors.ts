/** Errors in the words and with the exit codes of Slurm's commands. */

/** Lines for standard error, without the name of the command, and the command's exit code. */
export class SlurmError extends Error {
  override name = "SlurmError";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Printed without the name of the command before each line, as Slurm prints a few of its messages. */
export class BareError extends SlurmError {
  override name = "BareError";
}
