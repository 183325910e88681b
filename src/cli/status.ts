/** `tutti status`, and `tutti` alone: the scheduler at a glance, or how to start one. */

import { dirname, join } from "node:path";
import type { Command } from "commander";
import { Client } from "../api/client.ts";
import type { StatusAnswer } from "../api/contract.ts";
import { NoDaemonError } from "../api/errors.ts";
import { currentUid } from "../api/places.ts";
import { jobsTable } from "./job-text.ts";
import { writeJson } from "./json.ts";
import { ACTIVE } from "./selectors.ts";
import { bytesText } from "./size-text.ts";
import { bold, commandName, dim, writeOut } from "./text.ts";
import { visibleLine } from "./visible.ts";

const JOBS_SHOWN = 10;

export function configure(command: Command): void {
  command.option("--json", "print as JSON").action(async ({ json }: { readonly json?: boolean }) => {
    const client = new Client();
    const status = await client.ask<StatusAnswer>("/v1/status");
    if (json) writeJson(status);
    else await writeStatus(client, status);
  });
}

/** What `tutti` alone shows. */
export async function overview(): Promise<void> {
  try {
    const client = new Client();
    await writeStatus(client, await client.ask<StatusAnswer>("/v1/status"));
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    writeOut(HOW_TO_START);
  }
}

const HOW_TO_START = `No scheduler runs here for you.

  tutti serve                start one for this machine's CPUs
  tutti demo                 watch six toy gangs take turns
  tutti compare TRACE --policy fcfs,easy
                             replay a trace through policies: simulate, compare, reproduce, policies, workload
  tutti --help               all verbs
`;

async function writeStatus(client: Client, status: StatusAnswer): Promise<void> {
  const { counts, conductor, cpus, busyCpus, trouble } = status;
  const late =
    conductor.lateP99Ms === undefined
      ? ""
      : `, slots at most ${conductor.lateP99Ms.toFixed(1)} ms late (p99)`;
  const how =
    conductor.freezer === undefined ? "" : `, gangs are stopped by ${visibleLine(conductor.freezer)}`;
  const lines = [
    `${bold("tutti")} ${status.version}: ${busyCpus} of ${cpus} CPUs busy, ${counts.running} running, ${counts.queued} queued, ${counts.held} held`,
    ...(trouble === undefined ? [] : [bold(`trouble: ${visibleLine(trouble)}`)]),
    conductor.connected
      ? `conductor ${conductor.pid ?? ""}${how}${late}`
      : "the conductor is not connected: nothing starts or ends until it is",
    dim(
      `socket ${client.socket}${status.http === undefined ? "" : `, API ${status.http}, token in ${tokenFile(client.socket)}`}, memory ${bytesText(status.residentBytes)}`,
    ),
  ];
  writeOut(`${lines.join("\n")}\n`);
  const { jobs } = await client.jobs({ states: ACTIVE, last: JOBS_SHOWN });
  if (jobs.length > 0) writeOut(`\n${jobsTable(jobs)}`);
  else writeOut(`\nNo job waits or runs. Next: ${commandName()} submit -n 2 -- COMMAND\n`);
}

function tokenFile(socket: string): string {
  return join(dirname(socket), "tokens", String(currentUid()));
}
