/**
 * `tutti demo`: starts a scheduler for half a minute, runs six toy gangs on it, and shows the matrix while
 * its rows run in turn. With --web, it shows them in the page for a minute. It leaves nothing behind.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { Job, JobsAnswer, MatrixAnswer, StatusAnswer, SubmitJob } from "@tutti/protocol/schema.ts";
import type { Command } from "commander";
import { CheckFailed, ExitCode } from "../errors.ts";
import { untilSignal } from "../live/signals.ts";
import { duration } from "../options/parse.ts";
import { historyTable } from "../text/job-text.ts";
import { commandName, hint, writeOut } from "../text/text.ts";
import { watchMatrix } from "./matrix.ts";
import { makeLink } from "./web.ts";

interface Options {
  readonly slot: number;
  readonly work: number;
  readonly web?: boolean;
}

const START_MS = 15_000;
const POLL_MS = 50;
/** How long `--web` keeps the gangs running. */
const WEB_MS = 60_000;
/** Iterations that a shell loop makes per second, roughly. */
const COUNTS_PER_SECOND = 1_000_000;

/**
 * Runs the scheduler, ends it with its gangs when standard input closes, and removes the folder. So nothing
 * is left behind, however the demo ends: its terminal may vanish, and it may be killed. The first two
 * arguments are those that start the command line.
 */
const KEEPER = `
exec 3<&0 < /dev/null
"$@" 3<&- & scheduler=$!
{ cat <&3 > /dev/null; "$1" "$2" down --kill > /dev/null 2>&1 || kill $scheduler; } & ender=$!
wait $scheduler
kill $ender 2> /dev/null
rm -rf "$0"
`;

export function configure(command: Command): void {
  command
    .option(
      "--slot <duration>",
      "length of a slot, in seconds unless a unit is given",
      duration("above zero"),
      0.5,
    )
    .option(
      "--work <duration>",
      "approximate work of each gang, in seconds unless a unit is given",
      duration("above zero"),
      2,
    )
    .option("--web", "show them in a browser, for a minute: prints the link to the page")
    .action(run);
}

async function run({ slot, work, web = false }: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-demo-"));
  const env = { ...process.env, TUTTI_SOCKET: join(folder, "run", "tutti.sock") };
  const http = web ? ["--port", "0"] : ["--no-http"];
  const serve = ["serve", "--private", ...http, "--state", join(folder, "state"), "--slot", `${slot}s`];
  // It gets its own session, so that Ctrl-C reaches only this process.
  const keeper = spawn("/bin/sh", ["-c", KEEPER, folder, process.execPath, process.argv[1], ...serve], {
    env,
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
  });
  const interrupt = untilSignal(["SIGINT", "SIGTERM", "SIGHUP"]);
  try {
    const client = await connect(env, keeper);
    if (web) await showInBrowser(client, work, interrupt);
    else await show(client, work, interrupt);
  } finally {
    if (interrupt.aborted) hint("Interrupted: ending the gangs");
    const gone = keeper.exitCode === null ? once(keeper, "exit") : undefined;
    keeper.stdin.end();
    await gone;
  }
  if (interrupt.aborted) process.exitCode = ExitCode.interrupted;
}

async function show(client: Client, work: number, interrupt: AbortSignal): Promise<void> {
  const { cpus } = await client.ask<StatusAnswer>("/v1/status");
  const body = { jobs: toyGangs(cpus, work) };
  const { jobs } = await client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body });
  hint(`Six gangs on ${cpus} CPUs; the rows take turns, and each has the CPUs for one slot at a time.`);
  let ended = 0;
  const allEnded = new AbortController();
  const waiting = Promise.all(
    jobs.map(async ({ job }) => {
      const endedJob = await client.ended(job, interrupt);
      ended++;
      return endedJob;
    }),
  ).finally(() => allEnded.abort());
  // The await below reports a failure. Without this handler, it would be unhandled until then.
  waiting.catch(() => {});
  const below = () => `\n${ended} of ${jobs.length} gangs have ended\n`;
  const ask = () => client.ask<MatrixAnswer>("/v1/matrix");
  await watchMatrix(
    ask,
    AbortSignal.any([allEnded.signal, interrupt]),
    process.stdout,
    below,
    () => !interrupt.aborted,
  );
  if (interrupt.aborted) return;
  const done: Job[] = await waiting;
  const table = historyTable(done, 0, false);
  const next = `${commandName()} serve, then ${commandName()} submit -n ${Math.min(2, cpus)} -- COMMAND`;
  writeOut(`\n${table.heading()}${table.lines(done)}${table.foot()}\nNext: ${next}\n`);
  if (done.some(({ state }) => state !== "done")) throw new CheckFailed("a gang did not succeed");
}

/** Prints the link and keeps six gangs running: each is submitted again when it has ended. */
async function showInBrowser(client: Client, work: number, interrupt: AbortSignal): Promise<void> {
  const { cpus } = await client.ask<StatusAnswer>("/v1/status");
  const { url } = await makeLink(client);
  writeOut(`${url}\n`);
  hint(`Open this link in a browser: six gangs take turns on ${cpus} CPUs, for a minute or until Ctrl-C.`);
  const stop = AbortSignal.any([interrupt, AbortSignal.timeout(WEB_MS)]);
  let ended = 0;
  const keepRunning = async (gang: SubmitJob) => {
    while (!stop.aborted) {
      const { jobs } = await client.ask<JobsAnswer>("/v1/jobs", { method: "POST", body: { jobs: [gang] } });
      await client.ended(jobs[0].job, stop);
      ended++;
    }
  };
  try {
    await Promise.all(toyGangs(cpus, work).map(keepRunning));
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  if (interrupt.aborted) return;
  const next = `${commandName()} serve, then ${commandName()} submit -n ${Math.min(2, cpus)} -- COMMAND`;
  writeOut(`${ended} gangs have ended, and others have taken their places.\nNext: ${next}\n`);
}

/**
 * Gangs on all CPUs, on half of them and on one. Each process counts up to a number, so its work is the same
 * however often it is stopped.
 */
function toyGangs(cpus: number, workS: number): SubmitJob[] {
  const half = Math.max(1, Math.floor(cpus / 2));
  const gangs: readonly (readonly [string, number])[] = [
    ["tutti", cpus],
    ["duo-left", half],
    ["duo-right", half],
    ["solo", 1],
    ["tutti-again", cpus],
    ["duo", half],
  ];
  const counts = Math.max(1, Math.round(workS * COUNTS_PER_SECOND));
  const script = `n=0; while [ $n -lt $TUTTI_NTASKS ]; do (i=0; while [ $i -lt ${counts} ]; do i=$((i+1)); done) & n=$((n+1)); done; wait`;
  return gangs.map(([name, tasks]) => ({
    command: ["/bin/sh", "-c", script],
    name,
    tasks,
    cwd: "/",
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
    limitMs: 600_000,
  }));
}

async function connect(env: NodeJS.ProcessEnv, keeper: ChildProcess): Promise<Client> {
  const deadlineMs = performance.now() + START_MS;
  while (performance.now() < deadlineMs && keeper.exitCode === null) {
    if (existsSync(env.TUTTI_SOCKET!)) return new Client(env);
    await sleep(POLL_MS);
  }
  throw new CheckFailed("the scheduler of the demo did not start");
}
