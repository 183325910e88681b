/** `tutti cancel JOBS`: TERM, then KILL of all their processes. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "./change.ts";
import { ACTIVE } from "./selectors.ts";

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ACTIVE, { action: "cancel" }, json),
  );
}
