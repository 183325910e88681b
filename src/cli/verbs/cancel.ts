/** `tutti cancel JOBS`: TERM, then KILL of all their processes. */
import type { Command } from "commander";
import { ACTIVE_STATES } from "../../protocol/states.ts";
import { addSelectors, changeJobs } from "../live/change.ts";

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ACTIVE_STATES, { action: "cancel" }, json),
  );
}
