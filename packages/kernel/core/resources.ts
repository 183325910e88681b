/**
 * Defines the resources of a machine besides processors, such as GPUs or licenses, as a whole number for each
 * kind. A job holds its share while it runs.
 */
import { InputError } from "./errors.ts";

export interface ResourceKind {
  readonly name: string;
  /** How many the machine has. */
  readonly amount: number;
}

/** How much each job needs of a kind, 0 or more. */
export interface Demand {
  readonly kind: string;
  readonly amount: Int32Array;
}

/** @throws InputError unless all kinds have unique names and whole amounts */
export function checkResources(kinds: readonly ResourceKind[]): void {
  for (const [i, { name, amount }] of kinds.entries()) {
    if (!(Number.isInteger(amount) && amount >= 0)) {
      throw new InputError(
        `Cannot give the machine ${amount} of "${name}": expected a whole number, 0 or more`,
      );
    }
    if (kinds.findIndex((other) => other.name === name) < i)
      throw new InputError(`Cannot give the machine "${name}" twice`);
  }
}
