/** `tutti down`: stops the scheduler. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import { NoDaemonError, RefusedError } from "../../api/client/errors.ts";
import { sleep } from "../../host/sleep.ts";
import { commandName, writeOut } from "../text/text.ts";

const POLL_MS = 50;

export function configure(command: Command): void {
  command
    .option(
      "--kill",
      "also end running jobs; without this option, the scheduler does not stop while jobs run",
    )
    .action(async ({ kill = false }: { readonly kill?: boolean }) => {
      const client = new Client();
      await client.ask("/v1/shutdown", { method: "POST", body: { killJobs: kill } });
      await untilGone(client);
      writeOut(`The scheduler has stopped. Waiting jobs are kept for the next ${commandName()} serve.\n`);
    });
}

async function untilGone(client: Client): Promise<void> {
  for (;;) {
    try {
      await client.ask("/v1/status");
    } catch (error) {
      if (error instanceof NoDaemonError) return;
      if (!(error instanceof RefusedError)) throw error;
    }
    await sleep(POLL_MS);
  }
}
