/** The command line: finds the command, runs it, and turns every error into one line and an exit code. */
import { type Command, CommanderError } from "commander";
import { CheckFailed, ExitCode, explainError, UsageError, unknownName } from "./errors.ts";
import { withoutOlderName } from "./older-names.ts";
import { makeProgram } from "./program.ts";
import { VERBS } from "./registry.ts";
import { commandName } from "./text/text.ts";
import { commandOf, usageText } from "./usage-text.ts";
import { NeedsWholeProgram } from "./whole-program.ts";

/** Commands of Slurm and of a shell that people type by habit, with the command to use here. */
const FOREIGN_VERBS: Readonly<Record<string, string>> = {
  sbatch: "submit",
  srun: "run",
  salloc: "run",
  squeue: "jobs",
  scancel: "cancel",
  sinfo: "status or tutti list queues",
  sacct: "jobs --ended",
  scontrol: "show, hold, release, requeue",
  sprio: "why",
  ls: "jobs",
  ps: "jobs",
  queue: "list queues",
  seff: "usage JOBS",
  sshare: "usage --shares",
  sreport: "usage",
  kill: "cancel",
  rm: "cancel",
  stop: "cancel for a job, tutti down for the scheduler",
  start: "serve",
  log: "logs",
  tail: "logs -f",
};

/** Commands that take the options of a job. */
const TAKES_JOBS: ReadonlySet<string> = new Set(["submit", "run", "update"]);
const ONLY_TASKS =
  "-n with the number of tasks, because the scheduler chooses the nodes; -c with the CPUs of a node gives each task a node";
/** Options of Slurm for jobs that people type by habit, with what to use here. */
const FOREIGN_OPTIONS: Readonly<Record<string, string>> = {
  "--ntasks": "-n 4",
  "--cpus-per-task": "-c 4",
  "--nodes": ONLY_TASKS,
  "-N": ONLY_TASKS,
  "--mem-per-cpu": "--mem 2G, for the whole job",
  "--partition": "--queue NAME",
  "-p": "--queue NAME",
  "--job-name": "--name NAME",
  "--dependency": "--after 12,13 or --after any:12",
  "-d": "--after 12,13 or --after any:12",
  "--chdir": "--cwd FOLDER",
  "--export": "--env all, --env none or --env NAME=value",
  "--wrap": "-- sh -c '…'",
  "--gres": "--use gpu:1",
  "--gpus": "--use gpu:1",
  "-G": "--use gpu:1",
  "--licenses": "--use NAME:1",
  "-L": "--use NAME:1",
  "-H": "--hold",
  "--requeue": "--retries 1",
};

/** Options of other commands, with what they do there. */
const OPTIONS_ELSEWHERE: Readonly<Record<string, string>> = {
  "--pty": "use tutti run --pty, which gives a job a terminal",
  "--pack": "tutti serve --pack is for all jobs",
};

/** The same for lists of jobs. */
const LISTS_JOBS: ReadonlySet<string> = new Set(["jobs"]);
const COLUMNS = "--columns job,name,state";
const FOREIGN_LIST_OPTIONS: Readonly<Record<string, string>> = {
  "--format": COLUMNS,
  "--Format": COLUMNS,
  "-o": COLUMNS,
  "-O": COLUMNS,
};

/** @throws NeedsWholeProgram in the bundle of clients */
export async function runCommandLine(given: readonly string[]): Promise<void> {
  watchOutput();
  const parameters = withoutOlderName(withoutHelp(given));
  const verb = parameters.find((word) => !word.startsWith("-"));
  try {
    checkVerb(verb);
    const program = await makeProgram(verb);
    await program.parseAsync(parameters, { from: "user" }).catch((error: unknown) => {
      throw error instanceof CommanderError ? ofCommander(error, program, parameters) : error;
    });
  } catch (error) {
    if (error instanceof NeedsWholeProgram) throw error;
    process.exitCode = report(error);
  }
}

/** In the form of all other messages; unchanged if the command ended well, such as after `--help`. */
function ofCommander(error: CommanderError, program: Command, parameters: readonly string[]): Error {
  if (error.exitCode === 0) return error;
  const command = commandOf(program, parameters);
  const [, written = ""] = /unknown option '(.*?)'/.exec(error.message) ?? [];
  return new UsageError(usageText(error, command, adviceFor(written, command.name(), parameters)));
}

/** `tutti help window add` is `tutti window add --help`. */
function withoutHelp(given: readonly string[]): readonly string[] {
  return given[0] === "help" ? [...given.slice(1), "--help"] : given;
}

function checkVerb(verb: string | undefined): void {
  const names = VERBS.map(({ name }) => name);
  if (verb === undefined || names.includes(verb)) return;
  const replacement = FOREIGN_VERBS[verb];
  if (replacement !== undefined)
    throw new UsageError(`Cannot run "${verb}": there is no such command; use tutti ${replacement}`);
  throw unknownName("command", verb, names);
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return ExitCode.ok;
  if (error instanceof CheckFailed) return ExitCode.failed;
  const { message, exitCode } = explainError(error);
  // The client that made this message does not know whether the program was called as `tutti` or `npx tutti`.
  process.stderr.write(
    `tutti: ${message.replace("; start it with tutti ", `; start it with ${commandName()} `)}\n`,
  );
  return exitCode;
}

/** What to do instead of an option that the command does not have. */
function adviceFor(written: string, verb: string, parameters: readonly string[]): string | undefined {
  const [option = ""] = /^--?[\w-]+/.exec(written) ?? [];
  const ofVerb = TAKES_JOBS.has(verb) ? FOREIGN_OPTIONS : LISTS_JOBS.has(verb) ? FOREIGN_LIST_OPTIONS : {};
  if (ofVerb[option] !== undefined) return `instead of Slurm's ${option}, use ${ofVerb[option]}`;
  if (TAKES_JOBS.has(verb)) return OPTIONS_ELSEWHERE[option];
  const place = /(?:^|\s)--on[ =](slurm|ssh)(?:\s|$)/.exec(parameters.join(" "))?.[1];
  if (place === undefined || option === "") return undefined;
  return `options of ${place === "slurm" ? "sbatch" : "ssh"} follow --, such as -- ${written}`;
}

/**
 * If the reader of a pipe closes it (`| head`), that is a normal exit. Any other failure to write is
 * reported.
 */
function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(ExitCode.ok);
    const reason = error.code === "ENOSPC" ? "no space is left on the device" : error.message;
    process.stderr.write(`tutti: Cannot write the result to standard output: ${reason}\n`);
    process.exit(ExitCode.output);
  });
  process.stderr.on("error", () => {});
}
