/**
 * Defines the options of `submit` and `run`, which a job script may also set, and builds the request from
 * them.
 */
import { basename, resolve } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { whyNoFolder } from "../../host/files.ts";
import { MAX_RETRIES, MAX_TASKS } from "../../protocol/limits.ts";
import { updateBody } from "../../protocol/requests.ts";
import type { HypotheticalJob, SubmitJob, UpdateBody } from "../../protocol/schema.ts";
import { clockText } from "../../words/times.ts";
import { visibleLine } from "../../words/visible.ts";
import { UsageError } from "../errors.ts";
import { hint } from "../text/text.ts";
import { interpreterOf, readJobScript, splitWords } from "./job-script.ts";
import {
  arrayIndices,
  beginTime,
  dependencies,
  jobName,
  limitSeconds,
  limitSignal,
  mailAddresses,
  newsEvents,
  retryDelay,
  retryWords,
  webAddress,
} from "./job-values.ts";
import { shellAdvice } from "./no-shell.ts";
import { bytes, integer, PRIORITY_HELP, priority, units } from "./parse.ts";
import { readScript } from "./read-script.ts";
import { reportOutputs, reportThreads } from "./submit-remarks.ts";

/** Fields of a job that are set by options. */
export type SubmitOptions = Partial<SubmitJob> & {
  /** The time limit in seconds if it was given without a unit: Slurm would read it as minutes. */
  readonly bareLimitS?: number | undefined;
};

const UPDATABLE: readonly (keyof SubmitJob)[] = Object.keys(updateBody.shape) as (keyof UpdateBody)[];

const BEGIN_HELP = "this time: 23:00, +2h, tomorrow, 2026-12-01 or 2026-12-01T08:00, in your time zone";
const HELP = `
End with -- COMMAND ARGS or with the name of a script. #TUTTI lines in a script
can set these options, and common #SBATCH lines work too. Options on the command
line override both.

OMP_NUM_THREADS is -c, unless your environment sets it. With -n alone it is
unset on one machine: a single program uses all CPUs, and ranks of Open MPI
have one thread each. Other programs that you start N times: -n N -c 1.`;

/**
 * Adds options and arguments. Everything from the first word that is not an option belongs to the job.
 * @param examples lines for the end of the help
 */
export function addSubmitOptions(command: Command, examples: readonly string[]): Command {
  command.parent?.enablePositionalOptions();
  return addOptions(command)
    .argument("[command...]", "a command after --, or a script")
    .optionsGroup("Options:")
    .passThroughOptions()
    .addHelpText("after", [HELP, ...examples].join("\n  "));
}

/**
 * The job that a command line describes. Reports on standard error which lines of a script are ignored.
 * @param verb the one that the user typed
 * @throws UsageError
 */
export async function submitJob(
  verb: "submit" | "run",
  words: readonly string[],
  given: SubmitOptions,
  raw: readonly string[],
): Promise<SubmitJob> {
  if (words.length === 0) {
    throw new UsageError(
      `Cannot ${verb} a job without a command: expected a command after --, or a script; see tutti ${verb} --help`,
    );
  }
  // Commander removes the `--`. With it, the words are a command; without it, they name a script.
  const isCommand = raw[raw.length - words.length - 1] === "--";
  if (isCommand) {
    reportBareLimit(given);
    reportBegin(given);
    const advice = shellAdvice(words);
    if (advice !== undefined) hint(`tutti: ${visibleLine(advice)}`);
    const job = jobOf(verb, words, basename(words[0]), given);
    reportThreads(given, job);
    return withFolder(verb, job);
  }
  const content = readScript(verb, words[0]);
  const script = content.toString("utf8");
  const { words: inScript, lines, warnings, isForSlurm } = readJobScript(script);
  for (const warning of warnings) hint(`tutti: ${visibleLine(warning)}`);
  const options = { ...parseScriptOptions(inScript, lines, words[0]), ...given };
  reportBareLimit(options);
  reportBegin(options);
  const path = resolve(words[0]);
  const interpreter = interpreterOf(script) ?? ["/bin/sh"];
  const job = jobOf(verb, [...interpreter, path, ...words.slice(1)], basename(path), options);
  reportThreads(options, job);
  // The scheduler sets Slurm's other variables, such as the job's number.
  const env = isForSlurm ? { ...job.env, SLURM_SUBMIT_DIR: resolve(".") } : job.env;
  // The scheduler stores a copy of the script, because people edit scripts while their jobs wait.
  return withFolder(verb, {
    ...job,
    env,
    script: { base64: content.toString("base64"), word: interpreter.length },
  });
}

/** Fields of a job that a question about the future may set. */
const HYPOTHETICAL = ["tasks", "threads", "limitMs", "memoryBytes", "use", "queue", "priority"] as const;

/**
 * A job that is not submitted, from options such as `-n 4 --time 2h`.
 * @throws UsageError
 */
export function hypotheticalJob(text: string): HypotheticalJob {
  const refuse = (problem: string) =>
    new UsageError(
      `Cannot use "${text}" in --job: ${problem}, expected options of tutti submit such as "-n 4 --time 2h"; possible are -n, -c, --time, --mem, --use, --queue and --priority`,
    );
  const words = splitWords(text);
  const options = parseOptions(words, (problem) => refuse(problem));
  const { bareLimitS: _, ...job } = options;
  const other = Object.keys(job).find((field) => !HYPOTHETICAL.some((allowed) => allowed === field));
  if (words.length === 0) throw refuse("it has no options");
  if (other !== undefined) throw refuse("another option says nothing about when the job starts");
  reportBareLimit(options);
  return job;
}

/**
 * The environment that a job gets: `all`, `none`, names, `PREFIX*` and `NAME=value`, separated by commas. A
 * value alone does not include `all`.
 */
export function chooseEnvironment(spec: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const part of spec.split(",").filter((word) => word !== "")) {
    const equals = part.indexOf("=");
    if (equals === 0) throw new UsageError(`Cannot use "${part}" in --env: expected a name before =`);
    if (equals > 0) {
      chosen[part.slice(0, equals)] = part.slice(equals + 1);
      continue;
    }
    if (part === "none") continue;
    const isChosen =
      part === "all"
        ? () => true
        : part.endsWith("*")
          ? (name: string) => name.startsWith(part.slice(0, -1))
          : (name: string) => name === part;
    for (const [name, value] of Object.entries(env)) {
      if (value !== undefined && name !== "" && isChosen(name)) chosen[name] = value;
    }
  }
  return chosen;
}

/** An option that sets a field of the job. */
class JobOption extends Option {
  readonly field: keyof SubmitJob;

  constructor(
    field: keyof SubmitJob,
    flags: string,
    text: string,
    parse?: (text: string, before: unknown) => unknown,
  ) {
    super(flags, text);
    this.field = field;
    if (parse !== undefined) this.argParser(parse);
  }

  override attributeName(): string {
    return this.field;
  }
}

/** By heading in the help. */
const jobOptions = (): Readonly<Record<string, readonly JobOption[]>> => ({
  "Resources:": [
    new JobOption(
      "tasks",
      "-n, --tasks <n>",
      "number of processes, such as MPI ranks (default: 1)",
      integer(1, MAX_TASKS),
    ),
    new JobOption(
      "threads",
      "-c, --threads <n>",
      "CPUs for the threads of each process; the job gets -n times -c CPUs, and OMP_NUM_THREADS is set to -c (default: 1)",
      integer(1, MAX_TASKS),
    ),
    new JobOption(
      "limitMs",
      "-t, --time <duration>",
      "limit on running time, such as 90s, 10m, 2h or 1:30:00; policies use it as the estimate",
      (text) => Math.max(1, Math.round(limitSeconds(text) * 1000)),
    ),
    new JobOption(
      "memoryBytes",
      "--mem <size>",
      "memory of the whole job, such as 512M or 2G; enforced as a limit if `tutti doctor` reports memory limits",
      bytes,
    ),
    new JobOption(
      "use",
      "--use <units>",
      "units of countable resources that the job holds, such as gpu or gpu:2,licence:1; tutti status lists the resources",
      units,
    ),
    new JobOption(
      "tasksRun",
      "--tasks-run <how>",
      "once: the command runs once and starts its other processes itself; each: it runs once per task, on all nodes of the job, only on a cluster (default: once)",
      (text) => {
        if (text === "once" || text === "each") return text;
        throw new InvalidArgumentError("Expected once or each.");
      },
    ),
    new JobOption(
      "mpi",
      "--mpi <type>",
      "type of MPI with which the cluster starts the tasks, such as pmix; with --tasks-run each",
    ),
    new JobOption("queue", "-q, --queue <name>", "queue (default: chosen by the scheduler)"),
  ],
  "Name and start:": [
    new JobOption("name", "-J, --name <name>", "name of the job (default: the program's name)", jobName),
    new JobOption(
      "after",
      "--after <jobs>",
      "start after these jobs have succeeded: 12,13, 12-40 or last; any:12 after job 12 has ended, even if it failed; notok:12 only if it failed; each:12 with -a: each job after the one with its index in that array",
      dependencies,
    ),
    new JobOption("singleton", "--singleton", "start after your earlier jobs with the same name have ended"),
    new JobOption(
      "array",
      "-a, --array <indices>",
      "one job per index: 1-100, 0-20:5 or 1,4,9; with 1-100%4, at most four run at once",
      arrayIndices,
    ),
    new JobOption("beginAtMs", "--begin <time>", `do not start before ${BEGIN_HELP}`, beginTime),
    new JobOption("held", "--hold", "hold the job until you run `tutti release`"),
    new JobOption("priority", "--priority <n>", PRIORITY_HELP, priority),
    new JobOption(
      "retries",
      "--retries <n>",
      "maximum number of restarts after the job is lost or requeued, or ends as --retry-on names (default: 0)",
      integer(0, MAX_RETRIES),
    ),
    new JobOption(
      "retryOn",
      "--retry-on <ends>",
      "also restart after these ends, separated by commas: fail (any failure), exit codes such as 75, signals such as SIGBUS; needs --retries",
      retryWords,
    ),
    new JobOption(
      "retryDelayMs",
      "--retry-delay <duration>",
      "wait before the first such restart, 1s to 1d; doubled each time, up to 6 minutes (default: 10s)",
      retryDelay,
    ),
  ],
  "News:": [
    new JobOption(
      "onStart",
      "--on-start <command>",
      "run this shell command as you when an attempt begins, at most 30 s; TUTTI_JOB, TUTTI_EVENT and other variables say what happened",
    ),
    new JobOption("onEnd", "--on-end <command>", "the same when the job has ended, in whatever way"),
    new JobOption("onFail", "--on-fail <command>", "the same when the job has failed"),
    new JobOption(
      "webhook",
      "--webhook <url>",
      "send a POST with JSON to this address, http or https, at the events of --notify",
      webAddress,
    ),
    new JobOption(
      "mail",
      "--mail <addresses>",
      "send a mail to these addresses, separated by commas, at the events of --notify; an array sends one for all its jobs",
      mailAddresses,
    ),
    new JobOption(
      "notify",
      "--notify <events>",
      "events for --webhook and --mail, separated by commas: start, end, fail (default: end)",
      newsEvents,
    ),
    new JobOption(
      "limitSignal",
      "--signal <signal>",
      "send a signal before the time limit: USR1@30 sends SIGUSR1 30 s before it (default: 60 s), to all processes but the script itself; B:USR1@30 to the script only",
      limitSignal,
    ),
  ],
  "Files and environment:": [
    new JobOption(
      "stdout",
      "-o, --output <file>",
      "file for standard output, and for standard error unless -e is given; %j stands for the job, %A the array, %a the index, %x the name, %u the user, %N the machine (default: kept for tutti logs)",
    ),
    new JobOption("stderr", "-e, --error <file>", "file for standard error"),
    new JobOption("cwd", "-D, --cwd <folder>", "working directory (default: the current one)", (text) =>
      resolve(text),
    ),
    new JobOption(
      "env",
      "--env <list>",
      "environment: all, none, NAME, PREFIX* or NAME=value, separated by commas (default: all)",
      (text) => chooseEnvironment(text, process.env),
    ),
  ],
});

/** Options of `tutti update`: those of a submit that can change while a job waits. */
export function addUpdateOptions(command: Command): Command {
  for (const option of Object.values(jobOptions()).flat()) {
    if (UPDATABLE.includes(option.field)) command.addOption(option);
  }
  return command;
}

function addOptions(command: Command): Command {
  for (const [heading, options] of Object.entries(jobOptions())) {
    command.optionsGroup(heading);
    for (const option of options) command.addOption(option);
  }
  const isBare = (text: string) => /^[\d.]+$/.test(text.trim());
  return command.on("option:time", (text: string) =>
    command.setOptionValue("bareLimitS", isBare(text) ? limitSeconds(text) : undefined),
  );
}

function reportBareLimit({ bareLimitS }: SubmitOptions): void {
  if (bareLimitS !== undefined)
    hint(`tutti: the time limit is ${bareLimitS} s; for minutes, write ${bareLimitS}m`);
}

/** A time can be read in several ways, so it is repeated with its day. */
function reportBegin({ beginAtMs }: SubmitOptions): void {
  if (beginAtMs === undefined || beginAtMs <= Date.now()) return;
  const isToday = new Date(beginAtMs).toDateString() === new Date().toDateString();
  hint(`tutti: the job begins no earlier than ${clockText(beginAtMs)}${isToday ? " today" : ""}`);
}

/**
 * The job, if its user can work in its folder. A job that waits for others is not checked: they may make it.
 * @throws UsageError
 */
async function withFolder(verb: string, job: SubmitJob): Promise<SubmitJob> {
  reportOutputs(job);
  const why = job.after === undefined ? await whyNoFolder(job.cwd) : undefined;
  if (why === undefined) return job;
  throw new UsageError(
    `Cannot ${verb} a job in the folder "${job.cwd}": it ${why}, expected a folder in which the job can run; --cwd names another one`,
  );
}

function currentFolder(verb: string): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError(
      `Cannot ${verb} a job in this folder: it was removed, expected a folder that exists; --cwd names one`,
    );
  }
}

function jobOf(
  verb: string,
  command: readonly string[],
  defaultName: string,
  options: SubmitOptions,
): SubmitJob {
  const { retries = 0, retryOn, retryDelayMs } = options;
  if (retryOn !== undefined && retries === 0) {
    throw new UsageError(
      "Cannot use --retry-on without --retries: expected a number of restarts, such as --retries 3",
    );
  }
  if (retryDelayMs !== undefined && retryOn === undefined) {
    throw new UsageError("Cannot use --retry-delay without --retry-on: expected one, such as fail");
  }
  return {
    command: [...command],
    name: defaultName,
    ...surroundings(verb, options),
    ...givenFields(options),
  };
}

/** What a job has from the folder and the shell in which it is submitted. */
export function surroundings(verb: string, options: SubmitOptions): Pick<SubmitJob, "cwd" | "env" | "umask"> {
  return {
    cwd: options.cwd ?? currentFolder(verb),
    env: options.env ?? chooseEnvironment("all", process.env),
    umask: process.umask().toString(8).padStart(3, "0"),
  };
}

/** The fields of a job that options have set. */
export function givenFields(options: SubmitOptions): Partial<SubmitJob> {
  const given = Object.values(jobOptions())
    .flat()
    .map(({ field }) => [field, options[field]])
    .filter(([, value]) => value !== undefined);
  return { ...(options.stdout !== undefined && { stderr: options.stdout }), ...Object.fromEntries(given) };
}

/** The long names of the options of a job, such as `time`. */
export function optionNames(): string[] {
  return Object.values(jobOptions())
    .flat()
    .map(({ long }) => long!.slice(2));
}

function parseScriptOptions(words: readonly string[], lines: readonly string[], path: string): SubmitOptions {
  // Each line alone first, so that a message shows the line.
  for (const line of lines) {
    const refuse = (problem: string) =>
      new UsageError(`Cannot use the line "${visibleLine(line)}" of "${path}": ${problem}`);
    parseOptions(splitWords(line.slice("#TUTTI".length)), refuse);
  }
  return parseOptions(
    words,
    (problem) => new UsageError(`Cannot use the #TUTTI lines of "${path}": ${problem}`),
  );
}

/** Options from their words. @param refuse makes the error of a problem */
export function parseOptions(
  words: readonly string[],
  refuse: (problem: string) => UsageError,
): SubmitOptions {
  const parser = addOptions(new Command("script").exitOverride().configureOutput({ writeErr: () => {} }));
  try {
    parser.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw refuse(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  }
  return parser.opts();
}
