/**
 * Defines the exit codes and shows errors: a user's mistake as one line, a bug in Tutti with a stack trace.
 */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError, ModelError, RuleViolation, StorageError } from "@tutti/kernel/core/errors.ts";
import { OutputError } from "@tutti/lab/files/write-whole.ts";
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import { PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { JOB_FIELDS, type JobField } from "@tutti/protocol/job-fields.ts";

export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  noDaemon: 3,
  refused: 4,
  notFound: 5,
  input: 66,
  oldNode: 69,
  bug: 70,
  output: 74,
  tryLater: 75,
  interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** What each means, as the table of docs/cli.md has it. */
export const EXIT_MEANINGS: Readonly<Record<keyof typeof ExitCode, string>> = {
  ok: "success; also if the reader of a pipe closes it early (`| head`)",
  failed:
    "the run failed: a policy broke a rule, failed, or never started some jobs; or a check failed. `wait`: a job did not succeed. `lab torture`: something did not hold. `doctor --on ssh`: a host cannot be used. `down`: something may be left",
  usage:
    "the command line is wrong: unknown command, option, policy or parameter, or a value out of range; also in `#TUTTI` and `#SBATCH` lines",
  noDaemon: "no scheduler that you can use is running",
  refused:
    "the scheduler refused: not your job, wrong state, too large, not possible there, or `--after` a job that does not exist",
  notFound: "the job that you named does not exist, or a selector such as `state:failed` matches no job",
  input: "the input cannot be read or used; `serve`: also if the store is damaged or its file is not a store",
  oldNode: "Node is too old",
  bug: "a bug in Tutti; only in this case does Tutti print a stack trace",
  output:
    "the result cannot be written; `serve`: the state cannot be written, because the disk is full, fails or is read-only",
  tryLater: "the scheduler cannot accept the request now; try again later",
  interrupted: "interrupted with Ctrl-C; nothing is left behind",
};

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
  if (error instanceof RefusedError)
    return { message: inOptions(error.message), exitCode: refusalExitCode(error) };
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

const OF_BODY = /^Cannot use the body: /;

/** The scheduler names fields of the API, or `field (--option)`; on the command line, they are options. */
function inOptions(message: string): string {
  const optionOf = (field: string) =>
    Object.hasOwn(JOB_FIELDS, field)
      ? /--[\w-]+/.exec((JOB_FIELDS[field as keyof typeof JOB_FIELDS] as JobField).option?.[1] ?? "")?.[0]
      : undefined;
  const text = message.replace(/\b(\w+) \((--[^)]+)\)/g, (whole, field, option) =>
    Object.hasOwn(JOB_FIELDS, field) ? option : whole,
  );
  if (!OF_BODY.test(text)) return text;
  return text
    .replace(OF_BODY, "Cannot use ")
    .replace(
      /(^Cannot use |; )(?:[\w.[\]]+\.)?(\w+): /g,
      (_, before, field) => `${before}${optionOf(field) ?? `the ${field}`}: it `,
    );
}

function refusalExitCode({ refused, message }: RefusedError): ExitCode {
  switch (refused) {
    case "invalid":
      return OF_BODY.test(message) ? ExitCode.usage : ExitCode.refused;
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
