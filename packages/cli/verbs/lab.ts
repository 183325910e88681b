/** `tutti lab --one-file FILE`: writes the laboratory as one HTML file, which needs no server. */

import { labPage } from "@tutti/lab/files/lab-page.ts";
import { writeOutput } from "@tutti/lab/files/write-whole.ts";
import type { Command } from "commander";
import { hint } from "../text/text.ts";

const HELP = `
The page reads traces, runs policies and draws results in the browser. It opens
from a disk, needs no network, and sends nothing anywhere: send it by mail, or
keep it on a stick.`;

export function configure(command: Command): void {
  command
    .requiredOption("--one-file <path>", "write the page to this file")
    .addHelpText("after", HELP)
    .action(run);
}

async function run({ oneFile }: { readonly oneFile: string }): Promise<void> {
  await writeOutput(oneFile, [labPage()]);
  hint(`Open ${oneFile} in a browser.`);
}
