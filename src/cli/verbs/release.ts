/** `tutti release JOBS`: held jobs may start. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "../live/change.ts";

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ["held"], { action: "release" }, json),
  );
}
