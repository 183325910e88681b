/** Invariants of rest: when all jobs have ended, nothing of them is left, and nothing stands still. */
import type { Process } from "../../world/contract.ts";
import type { Life } from "../life.ts";

export function checkRest(life: Life): string[] {
  const problems: string[] = [];
  for (const process of life.machine.processes.values()) {
    if (process.end !== undefined) continue;
    if ("TUTTI_GANG" in process.environment) problems.push(`${describe(process)} is left after the last job`);
    else if (process.state === "T" || process.state === "D")
      problems.push(`${describe(process)} stands still`);
  }
  for (const group of life.site.gangGroups())
    problems.push(`the control group ${group} is left after the last job`);
  return [...problems, ...life.site.checkStore()];
}

function describe({ pid, argv, state }: Process): string {
  return `process ${pid} (${argv.join(" ").slice(0, 80)}, ${state})`;
}
