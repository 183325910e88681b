/**
 * Starts the command line from the bundle of clients: one file with the verbs that only ask a scheduler,
 * which are most of all starts. scripts/client-bundles.ts says which.
 */
import { runCommandLine } from "./command-line.ts";
import { NeedsWholeProgram } from "./whole-program.ts";

/** Whether the command was run; otherwise nothing has happened, and the whole program must run it. */
export const ended: Promise<boolean> = runCommandLine(process.argv.slice(2)).then(
  () => true,
  (error) => {
    if (error instanceof NeedsWholeProgram) return false;
    throw error;
  },
);
