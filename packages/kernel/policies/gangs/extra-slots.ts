/**
 * Defines the parameter for extra slots (slot unification): whether jobs also run in idle slots of other
 * rows, and whether they keep these slots.
 */
import { choice } from "../../core/parameters.ts";
import type { Condition, ParameterSpec, ParameterValues } from "../../core/policy.ts";

export type ExtraSlots = "none" | "kept" | "returned";

export const EXTRA_SLOTS = choice(
  "extraSlots",
  ["none", "kept", "returned"],
  "slot unification: whether jobs also run in other rows, and whether they keep these slots",
);
/** The same parameter, also under its older name `unify`, for the policies that had that name. */
export const UNIFY: ParameterSpec = { ...EXTRA_SLOTS, aliases: ["unify"] };

/** Value of the parameter; `none` if it is not set. */
export function extraSlotsOf({ extraSlots }: ParameterValues): ExtraSlots {
  return extraSlots === "kept" || extraSlots === "returned" ? extraSlots : "none";
}

/** A condition for rules. */
export function withExtraSlots(value: ExtraSlots): Condition {
  return (parameters) => extraSlotsOf(parameters) === value;
}
