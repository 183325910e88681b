/** `tutti history`: jobs that have ended, the newest last. */
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import { historyTable } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { integer } from "./parse.ts";
import { writeOut } from "./text.ts";

export function configure(command: Command): void {
  command
    .option("--last <n>", "so many", integer(1, 1_000_000), 20)
    .option("--json", "print as JSON")
    .action(async ({ last, json }: { readonly last: number; readonly json?: boolean }) => {
      const answer = await new Client().jobs({ states: ["done", "failed", "cancelled"], last });
      if (json) writeJson(answer);
      else writeOut(answer.jobs.length === 0 ? "No job has ended yet.\n" : historyTable(answer.jobs));
    });
}
