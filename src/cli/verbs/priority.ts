/** `tutti priority N JOBS`: who is served first among equals of the policy's order. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "../live/change.ts";
import { PRIORITY_HELP, priority } from "../options/parse.ts";

export function configure(command: Command): void {
  command.argument("<n>", PRIORITY_HELP, priority);
  addSelectors(command).action(
    (value: number, words: readonly string[], { json = false }: { readonly json?: boolean }) =>
      changeJobs(words, ["queued", "held"], { action: "priority", priority: value }, json),
  );
}
