/** `tutti requeue JOBS`: running jobs are ended and wait again. */
import type { Command } from "commander";
import { addSelectors, changeJobs } from "../live/change.ts";

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ["starting", "running"], { action: "requeue" }, json),
  );
}
