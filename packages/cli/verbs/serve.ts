/**
 * `tutti serve`: starts the scheduler and its API, then prints its addresses and the next command to type,
 * and later what happens to nodes.
 */
import { userInfo } from "node:os";
import { join } from "node:path";
import { parseCpus } from "@tutti/host/machine.ts";
import { ownVersion } from "@tutti/host/version.ts";
import { limitText, plural } from "@tutti/kernel/core/format.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { currentUid, defaultSocket, runtimeDirOf } from "@tutti/live/api/runtime-dir.ts";
import { type Api, checkApi, startApi } from "@tutti/live/api/server/server.ts";
import { type Config, DEFAULT_CONFIG } from "@tutti/live/daemon/config/config.ts";
import type { Provider } from "@tutti/live/daemon/executor/provider.ts";
import { type RunningFrontEnd, startFrontEnd } from "@tutti/live/daemon/main.ts";
import { defaultStateFolder } from "@tutti/live/daemon/state/state-place.ts";
import { isPolicyFile } from "@tutti/own-policies/policy-file.ts";
import type { EventPayloads } from "@tutti/protocol/events.ts";
import { MAX_ROWS, MAX_SLOT_MS, MIN_SLOT_MS } from "@tutti/protocol/limits.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { type Command, InvalidArgumentError, Option } from "commander";
import { asUsage, UsageError } from "../errors.ts";
import { untilSignal } from "../live/signals.ts";
import { duration, integer } from "../options/parse.ts";
import {
  addSlurmOptions,
  providerOf,
  refuseWithoutPilot,
  type SlurmFlags,
} from "../options/serve-on-slurm.ts";
import { firstSteps } from "../text/first-steps.ts";
import { bold, commandName, dim, hint, writeOut } from "../text/text.ts";

interface ServeOptions extends SlurmFlags {
  readonly state?: string;
  readonly config?: string;
  /** A port; undefined: the default port, or any free port if the default is taken. */
  readonly port?: number;
  /** False: serve only the socket. */
  readonly http?: boolean;
  readonly policy?: string;
  readonly slot?: number;
  readonly rows?: number;
  readonly mode?: Config["mode"];
  readonly pack?: Config["pack"];
  readonly cpus?: readonly number[];
  readonly smt?: boolean;
  readonly private?: boolean;
}

interface RunningScheduler {
  readonly api: Api;
  readonly provider: Provider;
  readonly frontEnd: RunningFrontEnd;
}

const DEFAULT_PORT = 7448;
/**
 * Clients that wait for jobs may still ask how they ended: the listener closes after this time without a
 * request, and at the latest after the maximum.
 */
const QUIET_MS = 200;
const MAX_QUIET_MS = 2000;
/** A start that takes longer says what it waits for. */
const PATIENT_MS = 2000;

const HELP = `
Without --state, the state is in the folder that TUTTI_STATE names, otherwise in
/var/lib/tutti for root and in ~/.local/state/tutti for other users. The socket
is at the path in TUTTI_SOCKET, otherwise below /run/tutti or XDG_RUNTIME_DIR.

Started by root, the scheduler serves all users of the machine. Each job runs as
the user who submitted it, and each user has a token in a file that only this
user can read.

Ctrl-C ends the front end. Running jobs continue, and the next tutti serve finds
them again.`;

export function configure(command: Command): void {
  command
    .option("--state <folder>", "folder for jobs and their output")
    .option(
      "--config <file>",
      "TOML or JSON file with queues, limits, resources such as GPUs, and the settings below; command-line options override it",
    )
    .option(
      "--policy <policy>",
      `name:parameter=value; see tutti list policies (default: ${DEFAULT_CONFIG.policy})`,
    )
    .option(
      "--slot <duration>",
      `length of a slot, 20ms to 60s (default: ${DEFAULT_CONFIG.slotMs}ms)`,
      duration("above zero"),
    )
    .option(
      "--rows <n>",
      `maximum number of rows of the matrix (default: ${DEFAULT_CONFIG.maxRows})`,
      integer(1, MAX_ROWS),
    )
    .addOption(
      new Option("--mode <mode>", "what gangs of other rows do during a slot: stop, or run at low priority")
        .choices(["gang", "concurrent"])
        .default(DEFAULT_CONFIG.mode),
    )
    // The help states the default, but an option that is not given must not override the file.
    .setOptionValue("mode", undefined)
    .addOption(
      new Option("--pack <unit>", "what a gang is rounded up to on a cluster: its CPUs, or whole nodes")
        .choices(["cpus", "whole-node"])
        .default(DEFAULT_CONFIG.pack),
    )
    .setOptionValue("pack", undefined)
    .option("--cpus <list>", "CPUs for jobs, such as 0-3,6 (default: one of each core)", cpuList)
    .option("--smt", "two threads of a core are two CPUs for jobs")
    .option(
      "--port <n>",
      `port on 127.0.0.1 for the API; 0 for any free port (default: ${DEFAULT_PORT}, or any free port if that one is taken)`,
      integer(0, 65_535),
    )
    .option("--no-http", "serve the API on the socket only")
    .option("--private", "when started by root, serve only root");
  addSlurmOptions(command);
  command
    .addHelpText("after", HELP)
    .action((sbatch: readonly string[], options: ServeOptions) => run(options, sbatch));
}

async function run(options: ServeOptions, sbatch: readonly string[]): Promise<void> {
  const { policy } = options;
  if (policy !== undefined && !isPolicyFile(policy)) await asUsage(() => choosePolicy(policy));
  const scheduler = await startPatiently(options, await providerOf(options, sbatch));
  const { api, frontEnd } = scheduler;
  writeOut(announcement(scheduler));
  for (const note of frontEnd.notes) hint(`tutti: note: ${note}`);
  for (const warning of frontEnd.service.warnings) hint(`tutti: warning: ${warning}`);
  if (frontEnd.answered !== 0) writeOut(firstSteps(pageText(api), frontEnd.service.status()));
  sayWhatNodesDo(frontEnd);
  const interrupt = untilSignal(["SIGINT", "SIGTERM", "SIGHUP"]);
  const signal = new Promise((resolve) => interrupt.addEventListener("abort", resolve));
  const drained = frontEnd.service.drained.then(() => api.quiet(QUIET_MS, MAX_QUIET_MS));
  const cause = await Promise.race([signal.then(() => "signal"), drained.then(() => "down")]);
  // Jobs and the conductor continue.
  await api.close();
  await frontEnd.stop();
  if (cause === "signal") hint(`The front end has ended; running jobs continue. ${nextStart(scheduler)}`);
  process.exit(0);
}

/** Says what a start waits for, if it takes long. */
async function startPatiently(options: ServeOptions, provider: Provider): Promise<RunningScheduler> {
  const { nodes, place } = provider;
  const asked =
    nodes === undefined || place === undefined ? "" : `: it asks ${plural(nodes, "node")} ${place}`;
  const timer = setTimeout(() => hint(`tutti: still starting${asked}`), PATIENT_MS);
  try {
    return await startScheduler(options, provider);
  } finally {
    clearTimeout(timer);
  }
}

/** A line for each node that falls silent, is lost or is back, and for each pilot that comes or goes. */
function sayWhatNodesDo({ service }: RunningFrontEnd): void {
  service.listen(owner(), service.latestEvent(), (event) => {
    if (event.kind !== "node") return true;
    const { rule, text } = event.data as EventPayloads["node"];
    if (/^(?:node|pilots?|batch-host)-/.test(rule))
      hint(`tutti: ${clockText(event.atMs)}: ${visibleLine(text)}`);
    return true;
  });
}

function owner() {
  return { uid: currentUid(), user: ownName(), isAdministrator: true };
}

/** What takes over, and what is left at other places until it is ended by `tutti down`. */
function nextStart({ provider: { chosenBy } }: RunningScheduler): string {
  const serve = `${commandName()} serve`;
  if (chosenBy === undefined) return `The next ${serve} takes them over.`;
  return `${serve} ${chosenBy}, with the same options, takes them over; after that, ${commandName()} down removes what it has there.`;
}

/**
 * Starts front end and API.
 * @throws InputError when another scheduler runs, or for a wrong setting
 */
async function startScheduler(options: ServeOptions, provider: Provider): Promise<RunningScheduler> {
  const isShared = currentUid() === 0 && options.private !== true && provider.servesAllUsers === true;
  const places = runtimeDirOf(defaultSocket(process.env));
  const ports = options.http === false ? [] : options.port === undefined ? [DEFAULT_PORT, 0] : [options.port];
  const frontEnd = await startFrontEnd({
    stateFolder: options.state ?? defaultStateFolder(process.env),
    configFile: options.config,
    settings: settingsOf(options),
    isShared,
    provider,
    beforeMaking: async () => {
      refuseWithoutPilot(options);
      await checkApi({ places, ports });
    },
  });
  try {
    const api = await startApi({
      service: frontEnd.service,
      version: ownVersion(),
      jobsFolder: frontEnd.jobsFolder,
      places,
      owner: owner(),
      isShared,
      web: frontEnd.config.web,
      ports,
      onNote: (text) => hint(`tutti: ${text}`),
      onBug: (error) => hint(`tutti: bug: ${error instanceof Error ? error.stack : String(error)}`),
    });
    return { api, frontEnd, provider };
  } catch (error) {
    await frontEnd.stop();
    throw error;
  }
}

/** What it schedules, and its addresses. */
function announcement({ api, provider, frontEnd }: RunningScheduler): string {
  const { config, service, jobsFolder } = frontEnd;
  const { nodes, place, capabilities } = provider;
  const { cpus } = service.status();
  const size = nodes === undefined ? plural(cpus, "CPU") : plural(nodes, "node");
  const lines: (readonly [string, string])[] = [
    ["socket", api.socket],
    ["state", join(jobsFolder, "..")],
    ...(api.http === undefined ? [] : [["API", apiText(api)] as const]),
    ...(nodes === undefined
      ? []
      : [["nodes", `${commandName()} allocations shows what holds them`] as const]),
  ];
  const turns = capabilities.timeSharing
    ? `, slots of ${config.slotMs} ms, at most ${config.maxRows} rows`
    : "";
  const { answered } = frontEnd;
  const some = answered === nodes || answered === undefined ? "" : `, of which ${answers(answered)}`;
  const where = place === undefined ? size : `${size} ${place}${some}`;
  const head = `${bold("tutti")} ${ownVersion()} schedules ${where}: policy ${config.policy}${turns}`;
  const facts = lines.map(([name, value]) => `  ${dim(name.padEnd(7))}${value}`);
  return `${[head, ...facts].join("\n")}\n`;
}

function answers(count: number): string {
  return count === 0 ? "none answers" : count === 1 ? "1 answers" : `${count} answer`;
}

/**
 * The link to the page. Only a terminal gets it with a code, which logs in the user who started the
 * scheduler: logs are kept, and other people read them.
 */
function pageText({ http, linkToPage }: Api): string {
  if (http === undefined) return "none, because of --no-http";
  const web = `${commandName()} web`;
  return process.stdout.isTTY === true
    ? `${bold(linkToPage() ?? http)} (works once; ${web} prints another)`
    : `${http} (${web} prints a link that logs you in)`;
}

function apiText({ socket, http }: Api): string {
  return `${http}api with the token in ${join(runtimeDirOf(socket).tokens, String(currentUid()))}`;
}

function settingsOf({ policy, slot, rows, mode, pack, cpus, smt }: ServeOptions): Partial<Config> {
  return {
    ...(policy === undefined ? {} : { policy }),
    ...(slot === undefined ? {} : { slotMs: slotMs(slot) }),
    ...(rows === undefined ? {} : { maxRows: rows }),
    ...(mode === undefined ? {} : { mode }),
    ...(pack === undefined ? {} : { pack }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(smt === undefined ? {} : { machine: { smt } }),
  };
}

function slotMs(seconds: number): number {
  const ms = Math.round(seconds * 1000);
  if (ms >= MIN_SLOT_MS && ms <= MAX_SLOT_MS) return ms;
  throw new UsageError(
    `Cannot use slots of ${limitText(ms)}: expected ${MIN_SLOT_MS} ms to ${limitText(MAX_SLOT_MS)}`,
  );
}

function cpuList(text: string): number[] {
  const cpus = parseCpus(text);
  if (cpus === undefined) throw new InvalidArgumentError("expected CPU numbers, such as 0-3,6");
  return cpus;
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(currentUid());
  }
}
