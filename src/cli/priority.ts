/** `tutti priority N JOBS`: who is served first among equals of the policy's order. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "./change.ts";
import { integer } from "./parse.ts";

export function configure(command: Command): void {
  command.argument("<n>", "from -100 to 100; above 0 for administrators", integer(-100, 100));
  addSelectors(command).action(
    (priority: number, words: readonly string[], { json = false }: { readonly json?: boolean }) =>
      changeJobs(words, ["queued", "held"], { action: "priority", priority }, json),
  );
}
