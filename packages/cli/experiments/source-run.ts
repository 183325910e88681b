/** Runs the policies of `simulate` and `compare` on whatever the source names. */

import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { chooseWing } from "@tutti/papers/on-wings.ts";
import type { Command } from "commander";
import { asUsage, UsageError } from "../errors.ts";
import { type PolicyRun, runPolicies } from "./policy-run.ts";

/**
 * @param counted the unit of the progress bar
 * @returns the result for the jobs of one machine; undefined for a wing, whose result is then printed
 */
export async function runSource(
  source: string,
  options: PolicyRun,
  counted: "jobs" | "runs",
  command: Command,
): Promise<Comparison | undefined> {
  const wing = await asUsage(() => chooseWing(source));
  if (wing === undefined) {
    if (options.explain !== undefined) jobNumber(options.explain);
    return runPolicies(source, options, counted, command);
  }
  const { runWing } = await import("./wing-run.ts");
  await runWing(source, wing, options, command);
  return undefined;
}

/**
 * Only a machine with jobs of its own can have names for them.
 * @throws UsageError for a text that is not a number
 */
export function jobNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`Cannot explain job "${text}": expected its number, an integer of 0 or more`);
}
