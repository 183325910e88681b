/**
 * Defines the options of `submit` and `run`, which a job script may also set, and builds the request from
 * them.
 */
import { basename, resolve } from "node:path";
import { whyNoFolder } from "@tutti/host/files.ts";
import type { Client } from "@tutti/live/api/client/client.ts";
import {
  fieldsWith,
  JOB_FIELDS,
  type JobField,
  OPTION_GROUPS,
  type OptionGroup,
} from "@tutti/protocol/job-fields.ts";
import type { HypotheticalJob, SubmitJob } from "@tutti/protocol/schema.ts";
import { clockText } from "@tutti/words/times.ts";
import { visibleLine } from "@tutti/words/visible.ts";
import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../errors.ts";
import { ownNames } from "../slurm-names.ts";
import { hint } from "../text/text.ts";
import { usageProblem } from "../usage-text.ts";
import type { Parsed } from "./getopt.ts";
import { interpreterOf, readJobScript, splitWords } from "./job-script.ts";
import { chooseEnvironment, limitSeconds, parserOf } from "./job-values.ts";
import { shellAdvice } from "./no-shell.ts";
import { readScript } from "./read-script.ts";
import { merged, optionsOfVariables } from "./slurm-given.ts";
import { forgetOuterJob, ownWords, SCRIPT_VOICE, type SlurmWish, settled } from "./slurm-job.ts";
import { reportOutputs, reportThreads } from "./submit-remarks.ts";

/** Fields of a job that are set by options. */
export type SubmitOptions = Partial<SubmitJob> & {
  /** The time limit in seconds if it was given without a unit: Slurm would read it as minutes. */
  readonly bareLimitS?: number | undefined;
};

/** A job of a script for Slurm has wishes that only the scheduler can settle. */
export type AskedJob = SubmitJob & { readonly slurm?: SlurmWish | undefined };

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
): Promise<AskedJob> {
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
  const { words: inScript, lines, slurm } = readJobScript(script);
  const wish = slurm && wishOf(verb, slurm);
  // The command line wins over #TUTTI lines, and these over #SBATCH lines.
  const ofSlurm = wish === undefined ? [] : ownWords(wish.given, wish.voice, slurm?.words);
  const options = { ...parseScriptOptions([...ofSlurm, ...inScript], lines, words[0]), ...given };
  reportBareLimit(options);
  reportBegin(options);
  const path = resolve(words[0]);
  const interpreter = interpreterOf(script) ?? ["/bin/sh"];
  const job = jobOf(verb, [...interpreter, path, ...words.slice(1)], basename(path), options);
  reportThreads(options, job);
  // The scheduler stores a copy of the script, because people edit scripts while their jobs wait.
  return withFolder(verb, {
    ...job,
    ...(wish !== undefined && { slurm: wish }),
    script: { base64: content.toString("base64"), word: interpreter.length },
  });
}

/** A script with `#SBATCH` lines is submitted as sbatch does it; `tutti run` shows its output. */
function wishOf(verb: "submit" | "run", { given }: Parsed): SlurmWish {
  forgetOuterJob(process.env);
  const names = (isElsewhere: boolean) =>
    isElsewhere ? undefined : (process.env.TUTTI_SLURM_NAMES ?? namesOrRemark());
  const all = merged(given, optionsOfVariables(process.env));
  return { given: all, isBatch: verb === "submit", voice: SCRIPT_VOICE, names };
}

/** A user without a home can still submit: the script may do without these commands. */
function namesOrRemark(): string | undefined {
  try {
    return ownNames();
  } catch (error) {
    hint(`tutti: the job has no srun and no other command of Slurm: ${(error as Error).message}`);
    return undefined;
  }
}

/**
 * The job as a scheduler gets it.
 * @throws UsageError for what is not there
 */
export async function settledJob(client: Client, { slurm, ...job }: AskedJob): Promise<SubmitJob> {
  if (slurm === undefined) return job;
  return settled(client, job, slurm, (words) => parseOptions(words, (problem) => new UsageError(problem)));
}

/**
 * A job that is not submitted, from options such as `-n 4 --time 2h`.
 * @throws UsageError
 */
export function hypotheticalJob(text: string): HypotheticalJob {
  const refuse = (problem: string) =>
    new UsageError(
      `Cannot use "${text}" in --job: ${problem}; possible are options of tutti submit such as "-n 4 --time 2h": -n, -c, --time, --mem, --use, --queue and --priority`,
    );
  const words = splitWords(text);
  const options = parseOptions(words, (problem) => refuse(problem));
  const { bareLimitS: _, ...job } = options;
  const other = Object.keys(job).find((field) => !("isAsked" in JOB_FIELDS[field as keyof SubmitJob]));
  if (words.length === 0) throw refuse("it has no options");
  if (other !== undefined) throw refuse("another option says nothing about when the job starts");
  reportBareLimit(options);
  return job;
}

/** An option that sets a field of the job. */
class JobOption extends Option {
  readonly field: keyof SubmitJob;
  readonly group: OptionGroup;

  constructor(field: keyof SubmitJob, row: JobField, [group, flags, help]: NonNullable<JobField["option"]>) {
    super(flags, help);
    this.field = field;
    this.group = group;
    const parse = parserOf(row);
    if (parse !== undefined) this.argParser(parse);
  }

  override attributeName(): string {
    return this.field;
  }
}

/** New ones each time: a command keeps its state in them. */
const jobOptions = (): readonly JobOption[] =>
  fieldsWith("option").map((field) => new JobOption(field, JOB_FIELDS[field], JOB_FIELDS[field].option));

/** Options of `tutti update`: those of a submit that can change while a job waits. */
export function addUpdateOptions(command: Command): Command {
  for (const option of jobOptions()) if ("changes" in JOB_FIELDS[option.field]) command.addOption(option);
  return command;
}

function addOptions(command: Command): Command {
  const options = jobOptions();
  for (const group of OPTION_GROUPS) {
    command.optionsGroup(group);
    for (const option of options) if (option.group === group) command.addOption(option);
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
async function withFolder(verb: string, job: AskedJob): Promise<AskedJob> {
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
  const given = fieldsWith("option").flatMap((field) =>
    options[field] === undefined ? [] : [[field, options[field]] as const],
  );
  return { ...(options.stdout !== undefined && { stderr: options.stdout }), ...Object.fromEntries(given) };
}

/** The long names of the options of a job, such as `time`. */
export function optionNames(): string[] {
  return jobOptions().map(({ long }) => long!.slice(2));
}

function parseScriptOptions(words: readonly string[], lines: readonly string[], path: string): SubmitOptions {
  // Each line alone first, so that a message shows the line.
  for (const line of lines) {
    const refuse = (problem: string) =>
      new UsageError(`Cannot use the line "${visibleLine(line)}" of "${path}": ${problem}`);
    parseOptions(splitWords(line.slice("#TUTTI".length)), refuse);
  }
  return parseOptions(words, (problem) => new UsageError(`Cannot use the options of "${path}": ${problem}`));
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
    const { what, why } = usageProblem(error, parser);
    throw refuse(`${what}: ${why}`);
  }
  return parser.opts();
}
