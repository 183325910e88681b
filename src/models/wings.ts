/** The one list of wings. */
import { sites } from "./sites/wing.ts";
import { tasks } from "./tasks/wing.ts";
import type { Wing } from "./wing.ts";

export const WINGS: readonly Wing[] = [sites, tasks];

/** The wing whose policies the text `name:parameter=value` names one of. */
export function wingOfPolicy(text: string): Wing | undefined {
  const [name] = text.split(":");
  return WINGS.find(({ policies }) => policies.some((policy) => policy.name === name));
}
