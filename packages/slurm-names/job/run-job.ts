/** Runs a job to its end as `srun` and `salloc` do: shows its output, cancels it when interrupted. */

import { withOwnInput } from "@tutti/cli/live/job-input.ts";
import { copyStreams } from "@tutti/cli/live/job-streams.ts";
import { ReconnectingClient } from "@tutti/cli/live/reconnecting-client.ts";
import { onSignals } from "@tutti/cli/live/signals.ts";
import { attachTerminal, needTerminal } from "@tutti/cli/live/terminal.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import type { Job, SubmitJob } from "@tutti/protocol/schema.ts";
import { SlurmError } from "../errors.ts";
import { exitCodeOf } from "./states.ts";
import { submit } from "./submission.ts";

/** After this time a job that has not started is said to wait. */
const QUIET_MS = 1000;

/** A job as its submitter sees it. */
interface Run {
  readonly connection: ReconnectingClient;
  readonly job: Job;
  readonly say: (text: string) => void;
  /** Ctrl-C no longer cancels the job, and its wait is not reported. */
  readonly started: () => void;
}

async function begin(client: Client, command: "srun" | "salloc", asked: SubmitJob): Promise<Run> {
  const connection = new ReconnectingClient("squeue");
  const [job] = await submit(client, command, asked, "Unable to allocate resources: ");
  const say = sayerOf(command);
  const stop = cancelOnSignal(connection, job.job, say);
  const timer = setTimeout(() => reportWait(client, job.job, say), QUIET_MS);
  timer.unref();
  const started = () => {
    clearTimeout(timer);
    stop();
  };
  return { connection, job, say, started };
}

/**
 * As in Slurm, the command reads our standard input.
 * @param readsInput false: it reads nothing, or something else
 * @returns the exit code of the command
 */
export async function runJob(
  client: Client,
  command: "srun" | "salloc",
  asked: SubmitJob,
  readsInput = true,
): Promise<number> {
  const own = readsInput
    ? await withOwnInput(new ReconnectingClient("squeue"), asked, sayerOf(command))
    : asked;
  const { connection, job, say, started } = await begin(client, command, own);
  if (command === "salloc") say(`Granted job allocation ${job.job}`);
  const from = { stdout: 0, stderr: 0 };
  const ended = await copyStreams(connection, job, {
    readsInput: own.input === "pipe",
    raw: true,
    from,
    say,
  });
  started();
  return reportEnd(command, ended, say);
}

/**
 * Runs the job in a terminal that is connected with ours.
 * @throws UsageError without a terminal
 */
export async function runInTerminal(
  client: Client,
  command: "srun" | "salloc",
  asked: SubmitJob,
): Promise<number> {
  const { connection, job, say, started } = await begin(client, command, { ...asked, input: "terminal" });
  connection.next = `tutti attach ${job.job}`;
  const ended = await attachTerminal(connection, job, true, () => {
    started();
    if (command === "salloc") say(`Granted job allocation ${job.job}`);
  });
  if (ended !== undefined) return reportEnd(command, ended, say);
  say(`detached from job ${job.job}, which keeps running; tutti attach ${job.job} returns to it`);
  return 0;
}

function sayerOf(command: "srun" | "salloc"): Run["say"] {
  return (text) => process.stderr.write(`${command}: ${text}\n`);
}

/** @throws SlurmError */
export function checkTerminal(what: string, instead: string): void {
  try {
    needTerminal(what);
  } catch (error) {
    throw new SlurmError(`${(error as Error).message}; ${instead}`);
  }
}

function reportEnd(command: "srun" | "salloc", ended: Job, say: (text: string) => void): number {
  const { job } = ended;
  if (command === "salloc") say(`Relinquishing job allocation ${job}`);
  const { reason = "", state } = ended;
  if (state === "cancelled") say(`error: Job ${job} has been cancelled`);
  else if (reason === "time limit") say(`error: Job ${job} exceeded its time limit`);
  else if (reason.startsWith("lost: ") || reason === "memory limit") say(`error: Job ${job}: ${reason}`);
  return exitCodeOf(ended);
}

async function reportWait(client: Client, job: number, say: (text: string) => void): Promise<void> {
  try {
    const { state } = (await client.job(job)).job;
    if (state === "queued" || state === "held") say(`job ${job} queued and waiting for resources`);
  } catch {
    // The scheduler is away; the copy of the output says so.
  }
}

/** Ctrl-C cancels the job. */
function cancelOnSignal(
  connection: ReconnectingClient,
  job: number,
  say: (text: string) => void,
): () => void {
  return onSignals(["SIGINT", "SIGTERM", "SIGHUP"], (name) => {
    say(`${name === "SIGINT" ? "interrupted" : "terminated"}: cancelling job ${job}`);
    connection
      .retry((client) => client.ask(`/v1/jobs/${job}/cancel`, { method: "POST" }))
      .catch(() => {
        // It has ended meanwhile.
      });
  });
}
