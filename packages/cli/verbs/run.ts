/**
 * `tutti run [options] -- COMMAND`: submits a job, shows its output, and exits with its code. Ctrl-C cancels
 * it.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import type { Command } from "commander";
import { ExitCode, UsageError } from "../errors.ts";
import { exitCodeOf, reportEnd } from "../live/job-exit.ts";
import { withOwnInput } from "../live/job-input.ts";
import { copyStreams } from "../live/job-streams.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { onSignals } from "../live/signals.ts";
import { attachTerminal, needTerminal, terminalConnection } from "../live/terminal.ts";
import { remarkOnWaits } from "../live/waiting-remarks.ts";
import { addSubmitOptions, type SubmitOptions, submitJob } from "../options/submit-options.ts";
import { hint } from "../text/text.ts";
import { DRY_RUN_HELP, reportUnkept, submit, tryOut } from "./submit.ts";

interface Options extends SubmitOptions {
  readonly raw?: boolean;
  readonly pty?: boolean;
  readonly dryRun?: boolean;
}

export function configure(command: Command): void {
  addSubmitOptions(command, [
    "tutti run -n 4 --time 10m -- ./a.out input.dat",
    "tutti run job.sh",
    "sort data.txt | tutti run -- ./summarize",
    "tutti run --pty -- bash",
  ])
    .option("--pty", "give the job a terminal, connected with yours: for a shell, an editor, a debugger")
    .option("--raw", "on a terminal, obey the job's escape sequences instead of showing them as text")
    .option("--dry-run", DRY_RUN_HELP)
    .action(run);
  // The option is still accepted here, so that the message can say what to do instead.
  for (const option of command.options) if (option.long === "--array") option.hideHelp();
}

async function run(words: readonly string[], options: Options): Promise<void> {
  const wanted = await submitJob("run", words, options, process.argv);
  // A script may ask for an array, too.
  if (wanted.array !== undefined) {
    throw new UsageError(
      "Cannot run an array: the output of its jobs would be mixed; use tutti submit and tutti wait instead",
    );
  }
  const connection = new ReconnectingClient("tutti jobs shows whether it was submitted");
  if (options.dryRun) return tryOut(connection, [wanted]);
  if (options.pty) return runTerminal(wanted);
  const say = (text: string) => hint(`tutti: ${text}`);
  const withInput = await withOwnInput(connection, wanted, say);
  const from = { stdout: sizeBefore(wanted, "stdout"), stderr: sizeBefore(wanted, "stderr") };
  const { jobs } = await submit(connection, [withInput]);
  const job = jobs[0];
  connection.next = `tutti logs -f ${job.job}`;
  const stop = cancelOnSignal(connection, job.job);
  await reportUnkept(connection, [wanted]);
  const readsInput = withInput.input === "pipe";
  const over = new AbortController();
  void remarkOnWaits(() => connection.client, job.job, over.signal, say);
  const streams = { readsInput, raw: options.raw ?? false, from, say };
  const ended = await copyStreams(connection, job, streams).finally(() => over.abort());
  process.exitCode = stop() ? ExitCode.interrupted : exitCodeOf(ended);
  reportEnd(ended);
}

/** Runs the job in a terminal that is connected with ours. Ctrl-C cancels it as long as it waits. */
async function runTerminal(wanted: SubmitJob): Promise<void> {
  needTerminal("run a job with --pty");
  const connection = terminalConnection("tutti jobs shows whether it was submitted");
  const { jobs } = await submit(connection, [{ ...wanted, input: "terminal" }]);
  const [job] = jobs;
  connection.next = `tutti attach ${job.job}`;
  const stop = cancelOnSignal(connection, job.job);
  await reportUnkept(connection, [wanted]);
  const ended = await attachTerminal(connection, job, true, stop);
  if (ended === undefined) {
    hint(`tutti: detached from job ${job.job}, which keeps running; tutti attach ${job.job} returns to it`);
    return;
  }
  process.exitCode = stop() ? ExitCode.interrupted : exitCodeOf(ended);
  reportEnd(ended);
}

/**
 * Size of the user's output file before the job appends to it. A file that is named after the job is new.
 */
function sizeBefore({ cwd, openMode, ...job }: SubmitJob, stream: "stdout" | "stderr"): number {
  const path = job[stream];
  if (path === undefined || path.includes("%") || openMode === "truncate") return 0;
  try {
    return statSync(resolve(cwd, path)).size;
  } catch {
    return 0;
  }
}

/**
 * Cancels the job at the first Ctrl-C and exits at the second. Returns a function that ends this watch and
 * says whether the job was cancelled.
 */
function cancelOnSignal(connection: ReconnectingClient, job: number): () => boolean {
  let isCancelled = false;
  let isRequested = false;
  const requestCancel = async () => {
    await connection.retry(async (client) => {
      // A second request while the job is ending would make the scheduler kill it.
      const { state } = (await client.job(job)).job;
      if (["queued", "held", "starting", "running", "paused"].includes(state)) {
        await client.ask(`/v1/jobs/${job}/cancel`, { method: "POST" });
      }
    });
    isRequested = true;
  };
  const cancel = (what: string) => {
    if (isCancelled) {
      hint(
        isRequested
          ? `\ntutti: job ${job} is still ending; see tutti show ${job}`
          : `\ntutti: job ${job} is not cancelled, because the request has not reached the scheduler; try tutti cancel ${job} later`,
      );
      process.exit(ExitCode.interrupted);
    }
    isCancelled = true;
    hint(`\ntutti: ${what}, cancelling job ${job}; press Ctrl-C again to exit immediately`);
    // The job may have ended meanwhile. Its state will show that.
    requestCancel().catch(() => {});
  };
  const stop = onSignals(["SIGINT", "SIGTERM", "SIGHUP"], (name) =>
    cancel(name === "SIGINT" ? "interrupted" : "terminated"),
  );
  // When the reader of a pipe closes it, nobody needs the output, so the job is cancelled.
  process.stdout.removeAllListeners("error").on("error", () => {
    const leave = () => process.exit(ExitCode.ok);
    requestCancel().then(leave, leave);
  });
  return () => {
    stop();
    return isCancelled;
  };
}
