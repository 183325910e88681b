/**
 * Defines the exit codes and shows errors: a user's mistake as one line, a bug in Tutti with a stack trace.
 */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError, ModelError, RuleViolation, StorageError } from "@tutti/kernel/core/errors.ts";
import { OutputError } from "@tutti/lab/files/write-whole.ts";
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";

/** Listed in docs/cli.md. */
export const ExitCode = {
  ok: 0,
  /** The run failed: a policy broke a rule, a check did not hold, or a job did not succeed. */
  failed: 1,
  /** The command line is wrong: unknown command, option, policy or parameter, value out of range. */
  usage: 2,
  /** No scheduler is running that this user can reach. */
  noDaemon: 3,
  /** The scheduler refused the request. */
  refused: 4,
  /** The job does not exist. */
  notFound: 5,
  /** The input cannot be read or used. */
  input: 66,
  /** A bug in Tutti. */
  bug: 70,
  /** The result cannot be written, or the scheduler cannot write its state. */
  output: 74,
  /** The scheduler cannot accept the request now; the same command may work later. */
  tryLater: 75,
  /** Interrupted with Ctrl-C. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The command line is wrong. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The error for an unknown name, with the closest known name. */
export function unknownName(what: string, name: string, known: readonly string[]): UsageError {
  return new UsageError(
    `Cannot find ${what} "${name}"${closest(name, known)}: expected one of ${known.join(", ")}`,
  );
}

/** A selector matches no job. */
export class NotFoundError extends Error {
  override name = "NotFoundError";
}

/** A check did not hold. The command has already printed its findings, so nothing more is shown. */
export class CheckFailed extends Error {
  override name = "CheckFailed";
}

/**
 * Runs a function that reads a word of the command line. Its InputErrors become UsageErrors: the command line
 * is wrong, not a file.
 */
export async function asUsage<Result>(read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

export function explainError(error: unknown): { message: string; exitCode: ExitCode } {
  if (error instanceof UsageError) return { message: error.message, exitCode: ExitCode.usage };
  if (error instanceof ModelError) return { message: error.message, exitCode: ExitCode.usage };
  if (error instanceof NotFoundError) return { message: error.message, exitCode: ExitCode.notFound };
  if (error instanceof NoDaemonError) return { message: error.message, exitCode: ExitCode.noDaemon };
  if (error instanceof RefusedError) return { message: error.message, exitCode: refusalExitCode(error) };
  if (error instanceof InputError) return { message: error.message, exitCode: ExitCode.input };
  if (error instanceof StorageError) return { message: error.message, exitCode: ExitCode.output };
  if (error instanceof OutputError) return { message: error.message, exitCode: ExitCode.output };
  if (error instanceof RuleViolation) {
    return { message: `rule "${error.rule}" broken: ${error.message}`, exitCode: ExitCode.failed };
  }
  if (error instanceof PolicyError) return { message: error.message, exitCode: ExitCode.failed };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `this is a bug in tutti, please report it\n${text}`, exitCode: ExitCode.bug };
}

function refusalExitCode({ refused }: RefusedError): ExitCode {
  switch (refused) {
    case "not-found":
      return ExitCode.notFound;
    case "full":
    case "unavailable":
      return ExitCode.tryLater;
    case "failed":
      return ExitCode.bug;
    default:
      return ExitCode.refused;
  }
}
