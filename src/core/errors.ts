/**
 * Kinds of trouble, never mixed: a bug is a plain Error (`assert`, `RuleViolation`) and stops the run; bad input
 * is an InputError and is shown without a stack trace, as is the disk's refusal, a StorageError; an expected refusal is a value with a
 * reason.
 */

/** The user's input cannot be used as it is. The message names the place, the value and what was expected. */
export class InputError extends Error {
  override name = "InputError";
}

/** Parameters of a model, each possible by itself, contradict each other. */
export class ModelError extends InputError {}

/** A place that we must read or write does not let us: a full disk, a file system that is read-only, an error of the device. */
export class StorageError extends Error {
  override name = "StorageError";
}

/** A policy asked the machine for something that is not allowed, such as giving a processor twice. */
export class RuleViolation extends Error {
  override name = "RuleViolation";
  /** Stable word for the rule that was broken, such as `processor-twice`. */
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

/** Throws a plain Error when an invariant of our own does not hold. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${message}`);
}
