/** Errors of cells: in words, and in the form in which they travel between threads and processes. */
import { InputError, RuleViolation } from "@tutti/kernel/core/errors.ts";
import { describeThrown, PolicyError } from "@tutti/own-policies/guarded-policy.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";

/** An error in the form in which it travels between threads. */
export interface CellFailure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly violation: { readonly rule: string; readonly job: number; readonly timeS: number } | undefined;
}

export function failureOf(error: unknown): CellFailure {
  if (!(error instanceof Error))
    return { name: "Error", message: describeThrown(error), stack: undefined, violation: undefined };
  const violation =
    error instanceof RuleViolation ? { rule: error.rule, job: error.job, timeS: error.timeS } : undefined;
  return { name: error.name, message: error.message, stack: error.stack, violation };
}

export function revive(failure: CellFailure): Error {
  const { name, message, stack, violation } = failure;
  if (violation !== undefined)
    return new RuleViolation(violation.rule, violation.job, violation.timeS, message);
  if (name === "InputError") return new InputError(message);
  if (name === "PolicyError") return new PolicyError(message);
  const error = new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}

/** Reports an error of the user's own policy as a failure of the policy, not of Tutti. */
export function policyFailure(policy: string, error: unknown): unknown {
  const [file = ""] = policy.split(":");
  if (
    !isPolicyFile(file) ||
    error instanceof RuleViolation ||
    error instanceof InputError ||
    error instanceof PolicyError
  ) {
    return error;
  }
  const name = file.slice(file.lastIndexOf("/") + 1);
  const stack = error instanceof Error ? String(error.stack) : "";
  const place = stack.split("\n").find((line) => line.includes(name)) ?? "";
  const where = /([^/(\s]+:\d+:\d+)\)?$/.exec(place)?.[1];
  return new PolicyError(
    `Cannot continue with policy "${file}": it failed with ${describeThrown(error)}${where === undefined ? "" : ` at ${where}`}`,
    { cause: error },
  );
}
