/** The questions and orders to Slurm, each a command. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { lastWords, outputOf, type RunCommand, SlurmError } from "./commands.ts";
import { SlurmFormatError } from "./formats/format-error.ts";
import {
  type JobNode,
  NODE_FORMAT,
  type NodeReason,
  parseJobNodes,
  parseNodes,
  parseReasons,
  REASON_FORMAT,
  type SlurmNode,
} from "./formats/nodes.ts";
import { parseQueue, QUEUE_FORMAT, type QueuedJob } from "./formats/queue.ts";
import { parseConfig, parseShownJobs, type ShownJob } from "./formats/scontrol.ts";

/** All methods reject with a SlurmError, or with a SlurmFormatError. */
interface AnySlurm {
  /** All jobs of this user that Slurm remembers. */
  queue(): Promise<readonly QueuedJob[]>;
  /** @returns id of the job */
  submit(options: readonly string[], script: string): Promise<string>;
  /** Resolves also if the job has ended. */
  cancel(id: string): Promise<void>;
}

/** What a pilot needs. */
export interface Slurm extends AnySlurm {
  /** The job, also after its end as long as Slurm remembers it; undefined: Slurm does not know it. */
  job(id: string): Promise<QueuedJob | undefined>;
  /** What a running job has on each node. */
  nodesOfJob(id: string): Promise<readonly JobNode[]>;
  /** All nodes, or the given ones; of a partition, or of all. */
  nodes(names: readonly string[] | undefined, partition?: string): Promise<readonly SlurmNode[]>;
  /** All nodes, or those of a partition, with the reason of their state. */
  nodeReasons(partition?: string): Promise<readonly NodeReason[]>;
  /** Whether Slurm binds tasks to CPUs, so that srun knows the option --cpu-bind. */
  bindsTasks(): Promise<boolean>;
}

/** What attempts need that are jobs of their own. */
export interface JobsOfSlurm extends AnySlurm {
  /** How a job ended; undefined: Slurm does not know it any longer. */
  shown(id: string): Promise<ShownJob | undefined>;
  release(id: string): Promise<void>;
  /** To the batch script and all its steps. Resolves also if the job has ended. */
  signal(id: string, signal: "TERM" | "KILL"): Promise<void>;
}

/** What the commands say about a job that they do not know, or that has ended. */
const GONE = /invalid job id|already completing or completed|job\/step already/i;
/** Asks squeue also for jobs that have ended. */
const QUEUE = ["--noheader", "--states=all", `--Format=${QUEUE_FORMAT}`];
const JOB_ID = /^\d+$/;
/** What sacct prints of a job that Slurm itself has forgotten. */
const ACCOUNTED = /^(\d+)\|([A-Z_]+)[^|]*\|(\d+):(\d+)\|(\d+|Unknown|None)\|(\d+|Unknown|None)$/m;

/** Where the jobs of a state folder can be. */
export const IN_SLURM = "in Slurm (squeue --me shows a comment that begins with tutti:)";

/** The Slurm that the commands of this machine belong to. */
export class SlurmCommands implements Slurm, JobsOfSlurm {
  readonly #run: RunCommand;
  #version: string | undefined;

  constructor(run: RunCommand) {
    this.#run = run;
  }

  async submit(options: readonly string[], script: string): Promise<string> {
    const text = await this.#output("sbatch", ["--parsable", ...options], script);
    // With several clusters, the name of the cluster follows the id.
    const [, id] = /^(\d+)(?:;.*)?\n$/.exec(text) ?? [];
    if (id === undefined) throw await this.#formatError("sbatch --parsable", text, "a job id");
    return id;
  }

  async job(id: string): Promise<QueuedJob | undefined> {
    const query = [...QUEUE, `--jobs=${idOf(id)}`];
    const outcome = await this.#run("squeue", query);
    if (outcome.code !== 0 && !outcome.isTimeout && GONE.test(lastWords(outcome.stderr))) return undefined;
    const text = await outputOf(async () => outcome, "squeue", query);
    return (await this.#read((version) => parseQueue(text, version))).find((job) => job.id === id);
  }

  async queue(): Promise<readonly QueuedJob[]> {
    const text = await this.#output("squeue", [...QUEUE, `--user=${process.getuid!()}`]);
    return this.#read((version) => parseQueue(text, version));
  }

  async shown(id: string): Promise<ShownJob | undefined> {
    const query = ["show", "job", idOf(id)];
    const outcome = await this.#run("scontrol", query);
    if (outcome.code !== 0 && !outcome.isTimeout && GONE.test(lastWords(outcome.stderr)))
      return this.#accounted(id);
    const text = await outputOf(async () => outcome, "scontrol", query);
    return (await this.#read((version) => parseShownJobs(text, version))).find((job) => job.id === id);
  }

  /** Asks the accounting, which not every site has. */
  async #accounted(id: string): Promise<ShownJob | undefined> {
    const fields = "JobIDRaw,State,ExitCode,Start,End";
    const words = ["--noheader", "--allocations", "--parsable2", `--jobs=${id}`, `--format=${fields}`];
    const { stdout } = await this.#run("sacct", words).catch(() => ({ stdout: "" }));
    const [, found, state, exitCode, signal, start, end] = ACCOUNTED.exec(stdout) ?? [];
    if (found !== id) return undefined;
    const timeOf = (text: string) => (/^\d+$/.test(text) ? Number(text) : undefined);
    return {
      ...{ id, state, reason: "None", exitCode: Number(exitCode), signal: Number(signal) },
      ...{ restarts: 0, startS: timeOf(start), endS: timeOf(end), eligibleS: undefined },
      ...{ nodes: "", comment: "" },
    };
  }

  async nodesOfJob(id: string): Promise<readonly JobNode[]> {
    const text = await this.#output("scontrol", ["--oneliner", "--details", "show", "job", idOf(id)]);
    return this.#read((version) => parseJobNodes(text, version));
  }

  async nodes(names: readonly string[] | undefined, partition?: string): Promise<readonly SlurmNode[]> {
    const which = [
      ...(names === undefined ? [] : [`--nodes=${names.join(",")}`]),
      ...(partition === undefined ? [] : [`--partition=${partition}`]),
    ];
    const text = await this.#output("sinfo", ["--noheader", "--Node", ...which, `--format=${NODE_FORMAT}`]);
    return this.#read((version) => parseNodes(text, version));
  }

  async nodeReasons(partition?: string): Promise<readonly NodeReason[]> {
    const which = partition === undefined ? [] : [`--partition=${partition}`];
    const text = await this.#output("sinfo", ["--noheader", "--Node", ...which, `--format=${REASON_FORMAT}`]);
    return this.#read((version) => parseReasons(text, version));
  }

  async bindsTasks(): Promise<boolean> {
    const settings = parseConfig(await this.#output("scontrol", ["show", "config"]));
    return /affinity|cgroup/.test(settings.get("TaskPlugin") ?? "");
  }

  /** The partition that Slurm chooses if a job names none. */
  async defaultPartition(): Promise<string> {
    // Slurm marks it with a star.
    const name = /^(\S+)\*$/m.exec(await this.#output("sinfo", ["--noheader", "--format=%P"]))?.[1];
    if (name !== undefined) return name;
    throw new InputError(
      "Cannot choose a partition: Slurm has no default, expected one after --, such as -- --partition=long",
    );
  }

  async release(id: string): Promise<void> {
    await this.#output("scontrol", ["release", idOf(id)]);
  }

  async signal(id: string, signal: "TERM" | "KILL"): Promise<void> {
    await this.#unlessGone(["--full", `--signal=${signal}`, idOf(id)]);
  }

  async cancel(id: string): Promise<void> {
    await this.#unlessGone([idOf(id)]);
  }

  /** scancel fails for a job that has ended. */
  async #unlessGone(args: readonly string[]): Promise<void> {
    try {
      await this.#output("scancel", args);
    } catch (error) {
      if (!GONE.test((error as Error).message)) throw error;
    }
  }

  #output(program: string, args: readonly string[], input?: string): Promise<string> {
    return outputOf(this.#run, program, args, input);
  }

  /** A format error names the version of Slurm, which is asked only then. */
  async #read<T>(parse: (version?: string) => T): Promise<T> {
    try {
      return parse(this.#version);
    } catch (error) {
      if (!(error instanceof SlurmFormatError) || this.#version !== undefined) throw error;
      return parse(await this.#ownVersion());
    }
  }

  async #formatError(what: string, found: string, expected: string): Promise<SlurmFormatError> {
    return new SlurmFormatError(what, found, expected, await this.#ownVersion());
  }

  async #ownVersion(): Promise<string | undefined> {
    this.#version ??= (await this.#run("squeue", ["--version"]).catch(() => undefined))?.stdout.trim();
    return this.#version;
  }
}

function idOf(id: string): string {
  if (JOB_ID.test(id)) return id;
  throw new SlurmError(`Cannot use the job id "${id}" of Slurm: expected a number`, false);
}
