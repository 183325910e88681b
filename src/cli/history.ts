/** `tutti history`: jobs that have ended, the newest last. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { StatusAnswer } from "../api/contract.ts";
import { clockText, historyTable } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { integer } from "./parse.ts";
import { hint, writeOut } from "./text.ts";

export function configure(command: Command): void {
  command
    .option("--last <n>", "so many", integer(1, 1_000_000), 20)
    .option("--json", "print as JSON")
    .action(async ({ last, json }: { readonly last: number; readonly json?: boolean }) => {
      const client = new Client();
      const answer = await client.jobs({ states: ["done", "failed", "cancelled"], last });
      if (json) return writeJson(answer);
      writeOut(answer.jobs.length === 0 ? "No job has ended yet.\n" : historyTable(answer.jobs));
      const { keptSinceMs } = await client.ask<StatusAnswer>("/v1/status");
      if (keptSinceMs !== undefined && answer.jobs.length < last) {
        hint(`Jobs that ended before ${clockText(keptSinceMs)} are forgotten`);
      }
    });
}
