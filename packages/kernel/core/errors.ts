/**
 * Defines the errors that Tutti throws. There are four kinds of failure, which are never mixed:
 *
 *   a bug              a plain Error (`assert`, `RuleViolation`), which stops the run
 *   bad input          an InputError, shown without a stack trace
 *   a failing disk     a StorageError, also shown without a stack trace
 *   expected refusal   not an exception but a value with a reason
 */

/** The input cannot be used. The message names the place, the value and what was expected. */
export class InputError extends Error {
  override name = "InputError";
}

/** Parameters of a model that are each valid contradict each other. */
export class ModelError extends InputError {}

/** A file cannot be read or written: the disk is full, the file system is read-only, or the device fails. */
export class StorageError extends Error {
  override name = "StorageError";
}

/** A policy asked the machine for something that is not allowed, such as using a processor twice. */
export class RuleViolation extends Error {
  override name = "RuleViolation";
  /** Stable identifier of the broken rule, such as `processor-twice`. */
  readonly rule: string;
  /** Row of the job, or −1. */
  readonly job: number;
  readonly timeS: number;

  constructor(rule: string, job: number, timeS: number, message: string) {
    super(message);
    this.rule = rule;
    this.job = job;
    this.timeS = timeS;
  }
}

/** Throws a plain Error if one of our own invariants does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${message}`);
}

/** What was thrown, in words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
