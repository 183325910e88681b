/** `tutti down`: stops the scheduler. */

import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import { NoDaemonError, RefusedError } from "@tutti/live/api/client/errors.ts";
import type { ShutdownAnswer } from "@tutti/protocol/schema.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, Option } from "commander";
import { ExitCode, UsageError } from "../errors.ts";
import { commandName, hint, writeOut } from "../text/text.ts";

interface Options {
  readonly kill?: boolean;
  readonly keepAllocation?: boolean;
  /** The older name. */
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
      "--keep-allocation",
      "on Slurm: end only the scheduler; its nodes and running jobs stay for the next tutti serve",
    )
    .addOption(new Option("--keep-pilot", "an older name of --keep-allocation").hideHelp())
    .action(async ({ kill = false, keepPilot = false, keepAllocation = keepPilot }: Options) => {
      if (kill && keepAllocation)
        throw new UsageError("Cannot end jobs and keep the allocation: use one of the options");
      const client = new Client();
      // The older name, which schedulers of earlier versions know as well.
      const body = { killJobs: kill, ...(keepAllocation && { keepPilot: true }) };
      const { warning, givenBack = [] } = await client.ask<ShutdownAnswer>("/v1/shutdown", {
        method: "POST",
        body,
      });
      await untilGone(client);
      if (warning !== undefined) {
        hint(`tutti: warning: ${visibleLine(warning)}`);
        process.exitCode = ExitCode.failed;
      }
      const kept = keepAllocation ? "Its allocation and running jobs continue." : "Waiting jobs are kept.";
      const back =
        givenBack.length === 0
          ? ""
          : `Given back: ${givenBack.map((name) => visibleLine(name)).join(", ")}. `;
      writeOut(`The scheduler has stopped. ${back}${kept} The next ${commandName()} serve finds them.\n`);
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
