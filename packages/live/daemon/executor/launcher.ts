/** Prepares the launch of an attempt: its folder, its environment, its host file. */
import { HOSTS, makeAttemptFolder, SCRIPTS } from "@tutti/host/attempt-folder.ts";
import { environmentWords } from "@tutti/host/job-environment.ts";
import { existsSync } from "@tutti/host/ports/fs.ts";
import { hostname } from "@tutti/host/ports/os.ts";
import { basename, isAbsolute, join } from "@tutti/host/ports/path.ts";
import { removeFolder } from "@tutti/host/remove-folder.ts";
import type { JobNumber, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { GPU, ofKind, type Resource, variableOf } from "@tutti/protocol/resources.ts";
import { commandWithValues, valueIn } from "@tutti/protocol/sweep-values.ts";
import { FIRST_NODE, isElsewhere, type JobRecord, outputsOf } from "../contract/record.ts";
import { latestStartIn, numberedIn } from "../state/job-folders.ts";
import type { Account, Accounts } from "./accounts.ts";
import { hostsOf, sizeVariables } from "./size-variables.ts";
import { slurmVariables } from "./slurm-variables.ts";

interface LauncherOptions {
  /** Folder that holds a folder per job. */
  readonly jobsFolder: string;
  readonly graceMs: number;
  readonly accounts: Accounts;
  /** Jobs run on other machines, which the front end chooses. Left out: on this one, or somebody chooses. */
  readonly choosesNodes?: boolean;
  /** Countable resources; default: none. */
  readonly resources?: readonly Resource[];
}

const OUTPUTS = ["stdout", "stderr"];
const IN_THE_WAY: ReadonlySet<string> = new Set(["EEXIST", "EISDIR", "ELOOP", "ENOTDIR", "ERR_FS_EISDIR"]);
const MAX_NAME_BYTES = 255;

export class Launcher {
  readonly #options: LauncherOptions;
  /** Up to the slash before the number of a job. Large arrays ask for many folders. */
  readonly #beforeJob: string;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#beforeJob = join(options.jobsFolder, "/");
  }

  folderOf(job: JobNumber): string {
    return this.#beforeJob + job;
  }

  attemptFolderOf(job: JobNumber, attempt: number): string {
    return join(this.folderOf(job), String(attempt));
  }

  /** Numbers of all jobs that have a folder. */
  jobsWithFolders(): JobNumber[] {
    return numberedIn(this.#options.jobsFolder);
  }

  /** The highest number of a started attempt of this job; 0: there is none. */
  latestStart(job: JobNumber): number {
    return latestStartIn(this.folderOf(job));
  }

  /** Whether the attempt's folder exists. If it is missing after the commit, somebody has removed it. */
  isPrepared({ job, attempt }: JobRecord): boolean {
    return existsSync(this.attemptFolderOf(job, attempt));
  }

  /** The account of a job's owner, or why it cannot be used. */
  accountFor(owner: Parameters<Accounts>[0]): ReturnType<Accounts> {
    return this.#options.accounts(owner);
  }

  /** Why this job cannot be launched, as text for its user; undefined if it can. */
  refusal(record: JobRecord): string | undefined {
    const account = this.#options.accounts(record);
    return "refused" in account ? account.refused : undefined;
  }

  /**
   * Makes the folder of the record's attempt.
   * @param script content of the job's script, written again for every attempt, because the job may have
   *   changed its copy
   * @throws Error if the disk refuses, which concerns all jobs; never because of a user's request or files
   */
  prepare(record: JobRecord, script?: Uint8Array): void {
    const jobFolder = this.folderOf(record.job);
    const outputs = OUTPUTS.map((name) => join(jobFolder, name));
    try {
      makeAttemptFolder({
        jobFolder,
        folder: this.attemptFolderOf(record.job, record.attempt),
        account: this.#accountOf(record),
        hosts: hostsOf(record),
        script: script && { path: this.#scriptPath(record), content: script },
        outputs: outputs.filter((path) => path === record.stdout || path === record.stderr),
        tasks: [],
      });
    } catch (error) {
      // Another job of this user has put a file in the way. The conductor will report that it cannot start
      // this job; other jobs continue.
      const isOwn = this.#accountOf(record).uid === process.getuid!();
      if (!isOwn || !IN_THE_WAY.has(String((error as NodeJS.ErrnoException).code))) throw error;
    }
  }

  #accountOf(record: JobRecord): Account {
    const account = this.#options.accounts(record);
    if ("refused" in account)
      throw new Error(`Broken invariant: job ${record.job} is launched: ${account.refused}`);
    return account;
  }

  /** Removes a job's folder, including files of other users. Resolves to whether the folder is gone. */
  remove(job: JobNumber): Promise<boolean> {
    return removeFolder(this.folderOf(job));
  }

  /** The copy keeps the name of the user's file, because interpreters print it in their messages. */
  #scriptPath({ job, command, scriptWord = 0 }: JobRecord): string {
    const name = basename(command[scriptWord]);
    const isName = name !== "" && name !== "." && name !== ".." && Buffer.byteLength(name) <= MAX_NAME_BYTES;
    return join(this.folderOf(job), SCRIPTS, isName ? name : "script");
  }

  /** As the conductor gets it. */
  commandOf(record: JobRecord): readonly string[] {
    const command = commandWithValues(record.command, record.values, record.scriptWord);
    const words =
      record.script === undefined ? command : command.with(record.scriptWord ?? 0, this.#scriptPath(record));
    return [...environmentWords(record), ...words];
  }

  spec(record: JobRecord, requested: Readonly<Record<string, string>>): LaunchSpec {
    const folder = this.attemptFolderOf(record.job, record.attempt);
    const environment = record.values === undefined ? requested : { ...requested, ...record.values };
    return {
      job: record.job,
      attempt: record.attempt,
      identity: record.identity,
      folder,
      command: this.commandOf(record),
      cwd: record.cwd,
      env: {
        ...sizeVariables(record, environment),
        TUTTI_JOB_ID: String(record.job),
        TUTTI_JOB_NAME: record.name,
        TUTTI_ATTEMPT: String(record.attempt),
        TUTTI_CPUS: cpusOf(record.nodes),
        TUTTI_NODELIST: record.nodes.map(({ node }) => node).join(","),
        TUTTI_HOSTFILE: join(folder, HOSTS),
        ...(record.script !== undefined && { TUTTI_SCRIPT: record.command[record.scriptWord ?? 0] }),
        ...(record.array !== undefined && { TUTTI_ARRAY_JOB_ID: String(record.array) }),
        ...(record.arrayIndex !== undefined && { TUTTI_ARRAY_INDEX: String(record.arrayIndex) }),
        ...slurmVariables(record, this.#accountOf(record), environment),
        ...unitNames(record, this.#options.resources ?? []),
      },
      ...outputsOf(record),
      ...this.#accountOf(record),
      // Tasks that run each append to one file, so none of them may empty it.
      openMode: record.tasksRun === "each" ? undefined : record.openMode,
      umask: record.umask,
      memoryBytes: record.memoryBytes,
      limitMs: record.limitMs,
      limitSignal: record.limitSignal && signalOf(record, record.limitSignal),
      graceMs: this.#options.graceMs,
      ...(isElsewhere(record.nodes) && { nodes: record.nodes, tasks: record.tasks }),
      threads: record.threads,
      tasksRun: record.tasksRun,
      mpi: record.mpi,
      gpus: ofKind(record.units, GPU),
      input: record.input,
    };
  }

  /**
   * Path of an output file: %j job, %A array (the job if it is in no array), %a array index, %x name, %u
   * user, %N machine, %% a percent sign. %4j is padded with zeros to four digits. On a cluster, the machine
   * is the first node of the gang, which `outputsOf` fills in. {name} is the job's value of a variable.
   */
  outputPath(pattern: string | undefined, fallback: string, record: OutputNames): string {
    const { job, array = job, arrayIndex = "", name, user, cwd, values: ofSweep } = record;
    if (pattern === undefined) return `${this.folderOf(job)}/${fallback}`;
    const inPath = (text: string): string => text.replaceAll("/", "_");
    const values: Readonly<Record<string, string>> = {
      j: String(job),
      J: String(job),
      A: String(array),
      a: String(arrayIndex),
      x: inPath(name),
      u: inPath(user),
      N: this.#options.choosesNodes ? FIRST_NODE : inPath(hostname()),
    };
    const path = pattern.replace(
      /%%|%(\d{0,2})([jJAaxuN])|\{(\w*)\}/g,
      (match, width: string, letter: string | undefined, variable = "") => {
        if (match === "%%") return "%";
        if (letter === undefined) return inPath(valueIn(variable, ofSweep) ?? match);
        const value = values[letter];
        return /^\d/.test(value) ? value.padStart(Number(width), "0") : value;
      },
    );
    return isAbsolute(path) ? path : join(cwd, path);
  }
}

type OutputNames = Pick<JobRecord, "job" | "array" | "arrayIndex" | "values" | "name" | "user" | "cwd">;

/**
 * The units of a job, by variable: lists with commas. A job without units of a kind gets the empty list, so
 * it sees no GPU, as under a Slurm that constrains devices, whatever its user's shell has set.
 */
function unitNames({ units }: JobRecord, resources: readonly Resource[]): Record<string, string> {
  const variables: Record<string, string> = {};
  // A unit may have left the configuration since the job was started.
  const gone = Object.keys(units ?? {}).filter((kind) => resources.every(({ name }) => name !== kind));
  for (const kind of gone) variables[variableOf(kind)] = ofKind(units, kind)!.join(",");
  for (const { name, variables: more, units: all } of resources) {
    if (all.length === 0) continue;
    const list = (ofKind(units, name) ?? []).join(",");
    for (const variable of [variableOf(name), ...more]) variables[variable] = list;
  }
  // So that CUDA counts GPUs in the order of /dev/nvidia*, and not the fastest first.
  if (variables.CUDA_VISIBLE_DEVICES) variables.CUDA_DEVICE_ORDER = "PCI_BUS_ID";
  return variables;
}

/** CPU numbers as a list, such as `0,1,4`; with their nodes if there are several: `n1:0,1 n2:0`. */
function cpusOf(nodes: JobRecord["nodes"]): string {
  if (nodes.length === 1) return nodes[0].cpus.join(",");
  return nodes.map(({ node, cpus }) => `${node}:${cpus.join(",")}`).join(" ");
}

/**
 * As in Slurm, the shell of a script gets the signal only if nothing else does. In a container, it is not the
 * first process, and all get the signal.
 */
function signalOf(
  { script, image }: JobRecord,
  { name, beforeMs, batchOnly }: NonNullable<JobRecord["limitSignal"]>,
) {
  if (image !== undefined) return { name, beforeMs, to: "all" } as const;
  return { name, beforeMs, to: batchOnly ? "first" : script === undefined ? "all" : "others" } as const;
}
