/** Entry of the command line: finds the verb, runs it, turns every error into one line and an exit code. */
import { CommanderError } from "commander";
import { closest } from "../core/closest.ts";
import { CheckFailed, ExitCode, explainError, UsageError } from "./errors.ts";
import { makeProgram } from "./program.ts";
import { VERBS } from "./registry.ts";

async function main(parameters: readonly string[]): Promise<void> {
  watchOutput();
  const words = parameters.filter((word) => !word.startsWith("-"));
  const verb = words[0] === "help" ? words[1] : words[0];
  try {
    checkVerb(verb);
    const program = await makeProgram(verb);
    await program.parseAsync(parameters, { from: "user" });
  } catch (error) {
    process.exitCode = report(error);
  }
}

function checkVerb(verb: string | undefined): void {
  const names = VERBS.map(({ name }) => name);
  if (verb === undefined || names.includes(verb)) return;
  throw new UsageError(
    `Cannot find verb "${verb}"${closest(verb, names)}: expected one of ${names.join(", ")}`,
  );
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.usage;
  if (error instanceof CheckFailed) return ExitCode.failed;
  const { message, exitCode } = explainError(error);
  process.stderr.write(`tutti: ${message}\n`);
  return exitCode;
}

/** A reader that has closed its end (`| head`) has what it wanted; anything else that stops output is told. */
function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(ExitCode.ok);
    const reason = error.code === "ENOSPC" ? "no space is left on the device" : error.message;
    process.stderr.write(`tutti: Cannot write to standard output: ${reason}, expected room for the result\n`);
    process.exit(ExitCode.output);
  });
  process.stderr.on("error", () => {});
}

await main(process.argv.slice(2));
