/** Runs the policies of `simulate` and `compare` on whatever the source names. */

import type { Comparison } from "@tutti/lab/results/comparison.ts";
import { chooseWing } from "@tutti/papers/on-wings.ts";
import type { Command } from "commander";
import { asUsage } from "../errors.ts";
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
  if (wing === undefined) return runPolicies(source, options, counted, command);
  const { runWing } = await import("./wing-run.ts");
  await runWing(source, wing, options, command);
  return undefined;
}
