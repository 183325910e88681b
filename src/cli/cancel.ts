/** `tutti cancel JOBS`: TERM, then KILL of all their processes. */
import type { Command } from "commander";
import { addSelectors, type Change, changeJobs } from "./change.ts";
import { ACTIVE } from "./selectors.ts";

/** Those that run come first in number, mostly: ended first, they would let others start that are meant too. */
const CHANGE: Change = { method: "POST", path: (job) => `/v1/jobs/${job}/cancel`, isBackwards: true };

export function configure(command: Command): void {
  addSelectors(command).action((words: readonly string[], { json = false }: { readonly json?: boolean }) =>
    changeJobs(words, ACTIVE, CHANGE, json),
  );
}
