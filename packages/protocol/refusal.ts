/**
 * Represents a refused request as a value, never an exception: a code for programs and a message for people.
 */

export const REFUSAL_CODES = [
  "not-found",
  "not-yours",
  "invalid",
  "wrong-state",
  "too-large",
  "full",
  "unavailable",
  "no-token",
  "forbidden",
  "failed",
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface Refusal {
  readonly refused: RefusalCode;
  /** What was refused, why, and what to do next. */
  readonly message: string;
}

export type Answer<T> = T | Refusal;

export function refuse(refused: RefusalCode, message: string): Refusal {
  return { refused, message };
}

/** Whether an answer is a refusal. No other kind of answer has a key `refused`. */
export function isRefusal<Value>(value: Value): value is Extract<Value, { readonly refused: RefusalCode }> {
  return typeof value === "object" && value !== null && "refused" in value;
}
