/** `tutti down`: stops the scheduler. */
import type { Command } from "commander";
import { Client } from "../../api/client/client.ts";
import { NoDaemonError, RefusedError } from "../../api/client/errors.ts";
import { sleep } from "../../host/sleep.ts";
import type { ShutdownAnswer } from "../../protocol/schema.ts";
import { visibleLine } from "../../words/visible.ts";
import { UsageError } from "../errors.ts";
import { commandName, hint, writeOut } from "../text/text.ts";

interface Options {
  readonly kill?: boolean;
  readonly keepPilot?: boolean;
}

const POLL_MS = 50;

export function configure(command: Command): void {
  command
    .option(
      "--kill",
      "also end running jobs; without this option, the scheduler does not stop while jobs run",
    )
    .option(
      "--keep-pilot",
      "on Slurm: end only the scheduler; its pilot and running jobs continue until the next tutti serve",
    )
    .action(async ({ kill = false, keepPilot = false }: Options) => {
      if (kill && keepPilot)
        throw new UsageError("Cannot end jobs and keep the pilot: use one of the options");
      const client = new Client();
      const body = { killJobs: kill, ...(keepPilot && { keepPilot }) };
      const { warning } = await client.ask<ShutdownAnswer>("/v1/shutdown", { method: "POST", body });
      await untilGone(client);
      if (warning !== undefined) hint(`tutti: warning: ${visibleLine(warning)}`);
      const kept = keepPilot ? "Its pilot and running jobs continue." : "Waiting jobs are kept.";
      writeOut(`The scheduler has stopped. ${kept} The next ${commandName()} serve finds them.\n`);
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
