/** The options of `submit` and `run`, which a job script may hold as well, and the request that they make. */
import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import type { SubmitJob } from "../protocol/schema.ts";
import { UsageError } from "./errors.ts";
import { interpreterOf, readJobScript } from "./job-script.ts";
import { duration, integer } from "./parse.ts";
import { slurmSeconds } from "./slurm-options.ts";
import { hint } from "./text.ts";
import { visibleLine } from "./visible.ts";

export interface SubmitOptions {
  readonly tasks?: number;
  readonly time?: TimeLimit;
  readonly mem?: number;
  readonly queue?: string;
  readonly name?: string;
  readonly after?: NonNullable<SubmitJob["after"]>;
  readonly array?: string;
  readonly hold?: boolean;
  readonly priority?: number;
  readonly retries?: number;
  readonly output?: string;
  readonly error?: string;
  readonly cwd?: string;
  readonly env?: string;
}

export interface TimeLimit {
  readonly seconds: number;
  /** Without a unit: Slurm would take it for minutes. */
  readonly isBare: boolean;
}

/** What the scheduler keeps of a script. */
const MAX_SCRIPT_BYTES = 2 ** 20;

const HELP = `
What to run comes last: after -- a command with its arguments, else a script, whose lines #TUTTI may hold these options and whose common
lines #SBATCH are understood. Options on the command line win.
  tutti submit -n 4 --time 10m -- ./a.out input.dat
  tutti submit job.sh
  tutti submit --array 1-100%4 -- sh -c './a.out $TUTTI_ARRAY_INDEX'`;

/** Adds options and arguments; everything after the first word that is no option belongs to the job. */
export function addSubmitOptions(command: Command): Command {
  command.parent?.enablePositionalOptions();
  return addOptions(command)
    .argument("[command...]", "a command after --, or a script")
    .passThroughOptions()
    .addHelpText("after", HELP);
}

/**
 * The job that a command line asks for. Says on standard error what it does not understand in a script.
 * @throws UsageError
 */
export async function submitJob(
  words: readonly string[],
  given: SubmitOptions,
  raw: readonly string[],
): Promise<SubmitJob> {
  if (words.length === 0) {
    throw new UsageError(
      "Cannot submit nothing: expected a command after --, or a script; see tutti submit --help",
    );
  }
  // Commander takes the -- away; whether it stood before the command tells a command from a script.
  const isCommand = raw[raw.length - words.length - 1] === "--";
  if (isCommand) {
    tellBareLimit(given);
    return makeJob(words, basename(words[0]!), given);
  }
  const content = readScript(words[0]!);
  const script = content.toString("utf8");
  const { words: inScript, warnings, isForSlurm } = readJobScript(script);
  for (const warning of warnings) hint(`tutti: ${visibleLine(warning)}`);
  const options = { ...parseScriptOptions(inScript, words[0]!), ...given };
  tellBareLimit(options);
  const path = resolve(words[0]!);
  const interpreter = interpreterOf(script) ?? ["/bin/sh"];
  const job = makeJob([...interpreter, path, ...words.slice(1)], basename(path), options);
  // The scheduler adds the number of the job and the like.
  const env = isForSlurm ? { ...job.env, SLURM_SUBMIT_DIR: resolve(".") } : job.env;
  // The scheduler keeps it as it is now: people go on editing while their jobs wait.
  return { ...job, env, script: { base64: content.toString("base64"), word: interpreter.length } };
}

/** The environment that a job gets: `all`, `none`, names, `PREFIX*`, `NAME=value`, with commas between; `all` is to be named when values are added. */
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
    const isMeant =
      part === "all"
        ? () => true
        : part.endsWith("*")
          ? (name: string) => name.startsWith(part.slice(0, -1))
          : (name: string) => name === part;
    for (const [name, value] of Object.entries(env)) {
      if (value !== undefined && name !== "" && isMeant(name)) chosen[name] = value;
    }
  }
  return chosen;
}

/** Bytes of 512M, 2G, 1.5T; powers of 1024. */
export function bytes(text: string): number {
  const [, digits, unit = ""] = /^(\d+\.?\d*)\s*([KMGT])i?B?$/i.exec(text.trim()) ?? [];
  const value = Math.round(Number(digits) * 1024 ** " KMGT".indexOf(unit.toUpperCase()));
  if (value >= 1 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError("Expected a size with its unit, such as 512M or 2G.");
}

function addOptions(command: Command): Command {
  return command
    .option("-n, --tasks <n>", "processes, each on a CPU of its own (default: 1)", integer(1, 65_536))
    .option(
      "-t, --time <duration>",
      "limit on running time, such as 90s, 10m, 2h, 1:30:00; also the estimate for policies",
      timeLimit,
    )
    .option("--mem <size>", "memory of the whole job, such as 512M or 2G", bytes)
    .option("-q, --queue <name>", "queue (default: chosen by the scheduler)")
    .option("-J, --name <name>", "name of the job (default: that of the program)")
    .option(
      "--after <jobs>",
      "start when these have ended well: 12,13 or 12-40; any:12 however it ended",
      dependencies,
    )
    .option("-a, --array <indices>", "a job per index: 1-100, 0-20:5, 1,4,9; 1-100%4 at most four at once")
    .option("--hold", "do not start before tutti release")
    .option("--priority <n>", "from -100 to 100; above 0 for administrators", integer(-100, 100))
    .option(
      "--retries <n>",
      "start anew so many times when it was lost or requeued (default: 0)",
      integer(0, 1000),
    )
    .option(
      "-o, --output <file>",
      "standard output, and standard error unless -e: %j job, %A array, %a index, %x name, %u user, %N machine (default: kept for tutti logs)",
    )
    .option("-e, --error <file>", "standard error")
    .option("-D, --cwd <folder>", "working directory (default: this one)")
    .option(
      "--env <list>",
      "environment: all, none, NAME, PREFIX*, NAME=value with commas between (default: all)",
    );
}

/** Seconds: a duration with a unit, or what only Slurm's notation can mean; a bare number is seconds here and minutes there. */
function timeLimit(text: string): TimeLimit {
  const inSlurm = /[:-]/.test(text) ? slurmSeconds(text.trim()) : undefined;
  const seconds = inSlurm !== undefined && inSlurm > 0 ? inSlurm : duration("above zero")(text);
  return { seconds, isBare: /^[\d.]+$/.test(text.trim()) };
}

function tellBareLimit({ time }: SubmitOptions): void {
  if (time?.isBare) hint(`tutti: limit ${time.seconds} s; write ${time.seconds}m for minutes`);
}

/** What the scheduler takes at most. */
const MOST_AFTER = 1000;

function dependencies(text: string): NonNullable<SubmitJob["after"]> {
  return text.split(",").flatMap((part) => {
    const [, any, first, last = first] =
      /^(any:)?([1-9]\d{0,14})(?:-([1-9]\d{0,14}))?$/.exec(part.trim()) ?? [];
    const count = Number(last) - Number(first) + 1;
    if (count >= 1 && count <= MOST_AFTER) {
      return Array.from({ length: count }, (_, i) => ({ job: Number(first) + i, ok: any === undefined }));
    }
    throw new InvalidArgumentError(
      `Expected numbers of at most ${MOST_AFTER} jobs with commas between, such as 12,13, 12-40 or any:12.`,
    );
  });
}

function makeJob(command: readonly string[], defaultName: string, options: SubmitOptions): SubmitJob {
  const { tasks, time, mem, queue, name = defaultName, after, array, hold, priority, retries } = options;
  const { output, error = output } = options;
  return {
    command: [...command],
    name,
    cwd: resolve(options.cwd ?? "."),
    env: chooseEnvironment(options.env ?? "all", process.env),
    umask: process.umask().toString(8).padStart(3, "0"),
    ...(tasks === undefined ? {} : { tasks }),
    ...(time === undefined ? {} : { limitMs: Math.max(1, Math.round(time.seconds * 1000)) }),
    ...(mem === undefined ? {} : { memoryBytes: mem }),
    ...(queue === undefined ? {} : { queue }),
    ...(after === undefined ? {} : { after }),
    ...(array === undefined ? {} : { array }),
    ...(hold === undefined ? {} : { held: hold }),
    ...(priority === undefined ? {} : { priority }),
    ...(retries === undefined ? {} : { retries }),
    ...(output === undefined ? {} : { stdout: output }),
    ...(error === undefined ? {} : { stderr: error }),
  };
}

function readScript(path: string): Buffer {
  const expected = `expected a script; for a command write tutti submit -- ${path}`;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) {
      throw new UsageError(
        `Cannot submit "${path}": it is ${stats.isDirectory() ? "a folder" : "no ordinary file"}, ${expected}`,
      );
    }
    const content = stats.size > MAX_SCRIPT_BYTES ? undefined : readFileSync(path);
    if (content === undefined || content.length > MAX_SCRIPT_BYTES) {
      throw new UsageError(
        `Cannot submit "${path}": it has ${content?.length ?? stats.size} bytes, expected a script of at most ${MAX_SCRIPT_BYTES}; put its data into a file, or write tutti submit -- ${path}, which copies nothing`,
      );
    }
    if (content.subarray(0, 4096).includes(0)) {
      throw new UsageError(`Cannot submit "${path}": it is a program, ${expected}`);
    }
    return content;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT"
        ? "there is no such file"
        : code === "EACCES"
          ? "you are not allowed to read it"
          : message;
    throw new UsageError(`Cannot submit "${path}": ${why}, ${expected}`);
  }
}

function parseScriptOptions(words: readonly string[], path: string): SubmitOptions {
  const parser = addOptions(new Command("script").exitOverride().configureOutput({ writeErr: () => {} }));
  try {
    parser.parse(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new UsageError(
      `Cannot use the #TUTTI lines of "${path}": ${error.message.replace(/^error: /, "")}`,
    );
  }
  return parser.opts();
}
