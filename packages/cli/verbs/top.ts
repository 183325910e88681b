/** `tutti top`: jobs, matrix and output on a whole terminal, with keys. */
import type { Command } from "commander";
import { ExitCode, UsageError } from "../errors.ts";
import { runTop } from "../top/top.ts";

const HELP = `
It follows the scheduler until you press q. Keys:
  Up, Down, k, j   select a job
  Enter, l         show what the job writes; Tab: its standard error
  w                say why the job waits, or where it runs
  p                pause a running job, resume a paused one
  h                hold a waiting job, release a held one
  c                cancel the job, after a question
  /                filter the jobs, such as sim or state:failed
  ?                list all keys

Examples:
  $ tutti top
  $ NO_COLOR=1 tutti top`;

export function configure(command: Command): void {
  command.addHelpText("after", HELP).action(async () => {
    if (!process.stdin.isTTY || !process.stdout.isTTY) {
      const what = process.stdout.isTTY ? "standard input" : "standard output";
      throw new UsageError(
        `Cannot run tutti top: ${what} is not a terminal; use tutti jobs, or tutti events -f`,
      );
    }
    if ((process.env.TERM ?? "dumb") === "dumb")
      throw new UsageError(
        "Cannot run tutti top: TERM says that this terminal cannot move its cursor; use tutti jobs, or tutti matrix",
      );
    if (await runTop()) process.exitCode = ExitCode.interrupted;
  });
}
