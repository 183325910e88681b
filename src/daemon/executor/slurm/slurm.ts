/** The questions and orders to Slurm that a pilot needs, each a command. */
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
import { parseConfig } from "./formats/scontrol.ts";
import { JOB_FORMAT, parseJobs, type SlurmJob } from "./formats/squeue.ts";

/** All methods reject with a SlurmError, or with a SlurmFormatError. */
export interface Slurm {
  /** @returns id of the job */
  submit(options: readonly string[], script: string): Promise<string>;
  /** The job, also after its end as long as Slurm remembers it; undefined: Slurm does not know it. */
  job(id: string): Promise<SlurmJob | undefined>;
  /** All jobs of this user that Slurm remembers. */
  ownJobs(): Promise<readonly SlurmJob[]>;
  /** What a running job has on each node. */
  nodesOfJob(id: string): Promise<readonly JobNode[]>;
  /** All nodes, or the given ones; of a partition, or of all. */
  nodes(names: readonly string[] | undefined, partition?: string): Promise<readonly SlurmNode[]>;
  /** All nodes, or those of a partition, with the reason of their state. */
  nodeReasons(partition?: string): Promise<readonly NodeReason[]>;
  /** Whether Slurm binds tasks to CPUs, so that srun knows the option --cpu-bind. */
  bindsTasks(): Promise<boolean>;
  /** Resolves also if the job has ended. */
  cancel(id: string): Promise<void>;
}

/** What squeue and scancel say about a job that they do not know. */
const UNKNOWN = /invalid job id/i;
const JOB_ID = /^\d+$/;

/** The Slurm that the commands of this machine belong to. */
export class SlurmCommands implements Slurm {
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

  async job(id: string): Promise<SlurmJob | undefined> {
    const query = ["--noheader", "--states=all", `--jobs=${idOf(id)}`, `--format=${JOB_FORMAT}`];
    const outcome = await this.#run("squeue", query);
    if (outcome.code !== 0 && !outcome.isTimeout && UNKNOWN.test(lastWords(outcome.stderr))) return undefined;
    const text = await outputOf(async () => outcome, "squeue", query);
    return (await this.#read((version) => parseJobs(text, version))).find((job) => job.id === id);
  }

  async ownJobs(): Promise<readonly SlurmJob[]> {
    const text = await this.#output("squeue", [
      "--noheader",
      "--states=all",
      `--user=${process.getuid!()}`,
      `--format=${JOB_FORMAT}`,
    ]);
    return this.#read((version) => parseJobs(text, version));
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

  async cancel(id: string): Promise<void> {
    try {
      await this.#output("scancel", [idOf(id)]);
    } catch (error) {
      // scancel fails for a job that has ended.
      if (!/invalid job id|already completing or completed/i.test((error as Error).message)) throw error;
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
