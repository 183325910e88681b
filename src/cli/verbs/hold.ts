/** `tutti hold JOBS`: waiting jobs do not start before they are released. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "../live/change.ts";

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ["queued"], { action: "hold" }, json),
  );
}
