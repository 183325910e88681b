/**
 * `tutti status`: shows the scheduler's state. `tutti` alone does the same, or says how to start a scheduler.
 */
import { dirname, join } from "node:path";
import { Client } from "@tutti/live/api/client/client.ts";
import { NoDaemonError } from "@tutti/live/api/client/errors.ts";
import { currentUid } from "@tutti/live/api/runtime-dir.ts";
import type { NodeAnswer, StatusAnswer, Stray } from "@tutti/protocol/schema.ts";
import { ACTIVE_STATES } from "@tutti/protocol/states.ts";
import {
  billText,
  conductorText,
  drainText,
  forecastsText,
  machineText,
  nodesText,
  nodeText,
  nodeWarnings,
  noJobsText,
  resourcesText,
  straysText,
  strayText,
} from "@tutti/words/status.ts";
import { bytesText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { windowText } from "@tutti/words/windows.ts";
import type { Command } from "commander";
import { jobPages } from "../live/job-lists.ts";
import { show } from "../live/show.ts";
import { firstSteps } from "../text/first-steps.ts";
import { JobLines, jobsTable } from "../text/job-text.ts";
import { bold, commandName, dim, wrap, writeOut } from "../text/text.ts";

const LINES_SHOWN = 10;
const STRAYS_SHOWN = 10;
const NODES_SHOWN = 40;
const WINDOWS_SHOWN = 3;

export function configure(command: Command): void {
  show(command, {
    ask: ({ client }) => client.ask<StatusAnswer>("/v1/status"),
    text: (status, { client }) => statusText(client, status),
  });
}

/** What `tutti` alone shows. */
export async function overview(): Promise<void> {
  try {
    const client = new Client();
    writeOut(await statusText(client, await client.ask<StatusAnswer>("/v1/status")));
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    writeOut(howToStart(commandName()));
  }
}

/** The address without the last slash, so that a route can be appended. */
function baseAddress(http: string): string {
  return http.replace(/\/$/, "");
}

function howToStart(tutti: string): string {
  return `No scheduler is running here for you. To start one for this machine's CPUs:

  ${tutti} serve

Without a scheduler:

  ${tutti} demo                                   watch six toy gangs take turns
  ${tutti} compare TRACE --policy fcfs,easy       replay a trace under policies
  ${tutti} --help                                 all commands
`;
}

async function statusText(client: Client, status: StatusAnswer): Promise<string> {
  const { counts, conductor, cpus, busyCpus, trouble, drain, forecasts, nodes, machine, resources } = status;
  const { windows = [] } = status;
  const running = counts.starting + counts.running + counts.ending;
  const listed = ACTIVE_STATES.reduce((sum, state) => sum + counts[state], 0);
  const facts = {
    conductor: conductorText(conductor, nodes?.length !== 0),
    CPUs: machine && machineText(machine),
    nodes: nodes && nodesText(nodes),
    bill: status.bill && billText(status.bill),
    units: resources && resourcesText(resources),
    page: listed > 0 ? status.http && pageText(status.http) : undefined,
    socket: client.socket,
    API: status.http && `${baseAddress(status.http)} with the token in ${tokenFile(client.socket)}`,
    forecasts: forecasts && forecastsText(forecasts),
    memory: `${bytesText(status.residentBytes)} in the front end`,
  };
  const paused = counts.paused > 0 ? `${counts.paused} paused, ` : "";
  const head = `tutti ${status.version}: ${busyCpus} of ${cpus} CPUs busy, ${running} running, ${paused}${counts.queued} queued, ${counts.held} held`;
  const lines = [
    wrap(head, 0).replace(/^tutti/, bold),
    ...(trouble === undefined ? [] : [bold(`trouble: ${visibleLine(trouble)}`)]),
    ...(drain === undefined ? [] : [bold(wrap(`drained: ${drainText(drain)}`, 0))]),
    ...windows.slice(0, WINDOWS_SHOWN).map((window) => bold(wrap(`window ${windowText(window)}`, 0))),
    ...nodeWarnings(nodes ?? []).map((warning) => bold(wrap(`warning: ${warning}`, 0))),
    ...Object.entries(facts).flatMap(([name, value]) =>
      value === undefined ? [] : [dim(`  ${name.padEnd(10)}${wrap(value, 12)}`)],
    ),
    ...nodeLines(nodes ?? []),
  ];
  const strays = status.strays === undefined ? "" : `\n${strayLines(status.strays)}`;
  return `${lines.join("\n")}\n${strays}\n${await jobsText(client, status)}`;
}

function pageText(http: string | undefined): string {
  return http === undefined ? "none, because of --no-http" : `${commandName()} web prints a link to it`;
}

/** The jobs that have not ended, at most some lines of them. */
async function jobsText(client: Client, { counts, cpus, nodes, user, http }: StatusAnswer): Promise<string> {
  const listed = new JobLines(LINES_SHOWN);
  for await (const { jobs } of jobPages(client, { states: ACTIVE_STATES }))
    for (const job of jobs) listed.add(job);
  if (listed.count === 0) return `${noJobsText(counts)}\n${firstSteps(pageText(http), { cpus, nodes })}`;
  const { lines: shown, more } = listed.shown();
  const left = more > 0 ? `and ${more} more: ${commandName()} jobs\n` : "";
  return `${jobsTable(shown, user)}${left}`;
}

function nodeLines(nodes: readonly NodeAnswer[]): string[] {
  if (nodes.length === 0) return [];
  const more = nodes.length - NODES_SHOWN;
  return [
    "",
    ...nodes.slice(0, NODES_SHOWN).map((node) => `  ${wrap(nodeText(node), 4)}`),
    ...(more > 0 ? [`  and ${more} more: ${commandName()} status --json`] : []),
  ];
}

/** Running attempts that the store does not know, and what to do about them. */
function strayLines(strays: readonly Stray[]): string {
  const tutti = commandName();
  const [first] = strays;
  if (first === undefined) return "";
  const head = `${straysText(strays)} ${tutti} cancel ${first.job} ends the first one.`;
  const lines = strays
    .slice(0, STRAYS_SHOWN)
    .map((stray) => `  ${strayText(stray)}\n    in ${visibleLine(stray.folder)}`);
  const more = strays.length - lines.length;
  return [
    wrap(head, 0),
    ...lines,
    ...(more > 0 ? [`  and ${more} more: ${tutti} status --json`] : []),
    "",
  ].join("\n");
}

function tokenFile(socket: string): string {
  return join(dirname(socket), "tokens", String(currentUid()));
}
