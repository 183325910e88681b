/**
 * Defines the options of `submit` and `run`, which a job script may also set, and builds the request from
 * them.
 */
import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { MAX_DEPENDENCIES, MAX_RETRIES, MAX_SCRIPT_BYTES, MAX_TASKS } from "../../protocol/limits.ts";
import type { HypotheticalJob, SubmitJob } from "../../protocol/schema.ts";
import { visibleLine } from "../../words/visible.ts";
import { UsageError } from "../errors.ts";
import { hint } from "../text/text.ts";
import { interpreterOf, readJobScript, splitWords } from "./job-script.ts";
import { duration, integer, PRIORITY_HELP, priority } from "./parse.ts";
import { slurmSeconds } from "./slurm-options.ts";

/** Fields of a job that are set by options. */
export type SubmitOptions = Partial<SubmitJob> & {
  /** The time limit in seconds if it was given without a unit: Slurm would read it as minutes. */
  readonly bareLimitS?: number | undefined;
};

const HELP = `
End with -- COMMAND ARGS or with the name of a script. #TUTTI lines in a script
can set these options, and common #SBATCH lines work too. Options on the command
line override both.`;

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
    return jobOf(words, basename(words[0]), given);
  }
  const content = readScript(verb, words[0]);
  const script = content.toString("utf8");
  const { words: inScript, warnings, isForSlurm } = readJobScript(script);
  for (const warning of warnings) hint(`tutti: ${visibleLine(warning)}`);
  const options = { ...parseScriptOptions(inScript, words[0]), ...given };
  reportBareLimit(options);
  const path = resolve(words[0]);
  const interpreter = interpreterOf(script) ?? ["/bin/sh"];
  const job = jobOf([...interpreter, path, ...words.slice(1)], basename(path), options);
  // The scheduler sets Slurm's other variables, such as the job's number.
  const env = isForSlurm ? { ...job.env, SLURM_SUBMIT_DIR: resolve(".") } : job.env;
  // The scheduler stores a copy of the script, because people edit scripts while their jobs wait.
  return { ...job, env, script: { base64: content.toString("base64"), word: interpreter.length } };
}

/** Fields of a job that a question about the future may set. */
const HYPOTHETICAL = ["tasks", "limitMs", "memoryBytes", "queue", "priority"] as const;

/**
 * A job that is not submitted, from options such as `-n 4 --time 2h`.
 * @throws UsageError
 */
export function hypotheticalJob(text: string): HypotheticalJob {
  const refuse = (problem: string) =>
    new UsageError(
      `Cannot use "${text}" in --job: ${problem}, expected options of tutti submit such as "-n 4 --time 2h"; possible are -n, --time, --mem, --queue and --priority`,
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

/** Bytes of 512M, 2G, 1.5T; powers of 1024. */
export function bytes(text: string): number {
  const [, digits, unit = ""] = /^(\d+\.?\d*)\s*([KMGT])i?B?$/i.exec(text.trim()) ?? [];
  const value = Math.round(Number(digits) * 1024 ** " KMGT".indexOf(unit.toUpperCase()));
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("Expected a size with a unit, such as 512M or 2G.");
}

/** An option that sets a field of the job. */
class JobOption extends Option {
  readonly field: keyof SubmitJob;

  constructor(field: keyof SubmitJob, flags: string, text: string, parse?: (text: string) => unknown) {
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
      "number of processes, each on its own CPU (default: 1)",
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
    new JobOption("queue", "-q, --queue <name>", "queue (default: chosen by the scheduler)"),
  ],
  "Name and start:": [
    new JobOption("name", "-J, --name <name>", "name of the job (default: the program's name)"),
    new JobOption(
      "after",
      "--after <jobs>",
      "start after these jobs have succeeded: 12,13 or 12-40; any:12 starts after job 12 has ended, even if it failed",
      dependencies,
    ),
    new JobOption(
      "array",
      "-a, --array <indices>",
      "one job per index: 1-100, 0-20:5 or 1,4,9; with 1-100%4, at most four run at once",
    ),
    new JobOption("held", "--hold", "hold the job until you run `tutti release`"),
    new JobOption("priority", "--priority <n>", PRIORITY_HELP, priority),
    new JobOption(
      "retries",
      "--retries <n>",
      "maximum number of restarts after the job is lost or requeued (default: 0)",
      integer(0, MAX_RETRIES),
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

/**
 * Reads a duration with a unit, or Slurm's notation if it has a colon or a dash. A bare number is seconds
 * here, but minutes in Slurm.
 */
function limitSeconds(text: string): number {
  const inSlurm = /[:-]/.test(text) ? slurmSeconds(text.trim()) : undefined;
  return inSlurm !== undefined && inSlurm > 0 ? inSlurm : duration("above zero")(text);
}

function reportBareLimit({ bareLimitS }: SubmitOptions): void {
  if (bareLimitS !== undefined)
    hint(`tutti: the time limit is ${bareLimitS} s; for minutes, write ${bareLimitS}m`);
}

function dependencies(text: string): NonNullable<SubmitJob["after"]> {
  return text.split(",").flatMap((part) => {
    const [, any, first, last = first] =
      /^(any:)?([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(part.trim()) ?? [];
    const count = Number(last) - Number(first) + 1;
    if (count >= 1 && count <= MAX_DEPENDENCIES) {
      return Array.from({ length: count }, (_, i) => ({ job: Number(first) + i, ok: any === undefined }));
    }
    throw new InvalidArgumentError(
      `Expected at most ${MAX_DEPENDENCIES} job numbers separated by commas, such as 12,13, 12-40 or any:12.`,
    );
  });
}

function jobOf(command: readonly string[], defaultName: string, options: SubmitOptions): SubmitJob {
  const given = Object.values(jobOptions())
    .flat()
    .map(({ field }) => [field, options[field]])
    .filter(([, value]) => value !== undefined);
  return {
    command: [...command],
    name: defaultName,
    cwd: resolve("."),
    env: options.env ?? chooseEnvironment("all", process.env),
    umask: process.umask().toString(8).padStart(3, "0"),
    ...(options.stdout !== undefined && { stderr: options.stdout }),
    ...Object.fromEntries(given),
  };
}

function readScript(verb: string, path: string): Buffer {
  const refusal = (why: string) =>
    new UsageError(
      `Cannot ${verb} "${path}": ${why}, expected a script; to run a command, write tutti ${verb} -- ${path}`,
    );
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw refusal(`it is ${stats.isDirectory() ? "a folder" : "not an ordinary file"}`);
    const content = stats.size > MAX_SCRIPT_BYTES ? undefined : readFileSync(path);
    if (content === undefined || content.length > MAX_SCRIPT_BYTES) {
      throw new UsageError(
        `Cannot ${verb} "${path}": it has ${content?.length ?? stats.size} bytes, expected a script of at most ${MAX_SCRIPT_BYTES} bytes; move its data to another file, or write tutti ${verb} -- ${path}, which copies nothing`,
      );
    }
    if (content.subarray(0, 4096).includes(0)) throw refusal("it is a binary program");
    return content;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: "there is no such file",
      EACCES: "you are not allowed to read it",
    };
    throw refusal(reasons[code] ?? message);
  }
}

function parseScriptOptions(words: readonly string[], path: string): SubmitOptions {
  return parseOptions(
    words,
    (problem) => new UsageError(`Cannot use the #TUTTI lines of "${path}": ${problem}`),
  );
}

function parseOptions(words: readonly string[], refuse: (problem: string) => UsageError): SubmitOptions {
  const parser = addOptions(new Command("script").exitOverride().configureOutput({ writeErr: () => {} }));
  try {
    parser.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw refuse(error.message.replace(/^error: /, "").replace(/\.$/, ""));
  }
  return parser.opts();
}
