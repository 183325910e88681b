/** The questions and orders to Slurm that jobs of their own need, each a command. */
import { constants } from "node:os";
import { InputError } from "../../../../core/errors.ts";
import { lastWords, outputOf, type RunCommand } from "../commands.ts";
import { SlurmFormatError } from "../formats/format-error.ts";
import { NODE_FORMAT, parseNodes, type SlurmNode } from "../formats/nodes.ts";
import { parseQueue, QUEUE_FORMAT, type QueuedJob } from "../formats/queue.ts";
import { parseShownJobs, type ShownJob } from "../formats/scontrol.ts";

/** All methods reject with a SlurmError, or with a SlurmFormatError. */
export interface NativeSlurm {
  /** @returns id of the job */
  submit(options: readonly string[], script: string): Promise<string>;
  /** All jobs of this user that Slurm remembers. */
  queue(): Promise<readonly QueuedJob[]>;
  /** How a job ended; undefined: Slurm does not know it any longer. */
  shown(id: string): Promise<ShownJob | undefined>;
  release(id: string): Promise<void>;
  /** To the batch script and all its steps. Resolves also if the job has ended. */
  signal(id: string, signal: "TERM" | "KILL"): Promise<void>;
  /** Resolves also if the job has ended. */
  cancel(id: string): Promise<void>;
}

const GONE = /invalid job id|already completing or completed|job\/step already/i;
/** What sacct prints of a job that Slurm itself has forgotten. */
const ACCOUNTED = /^(\d+)\|([A-Z_]+)[^|]*\|(\d+):(\d+)\|(\d+|Unknown|None)\|(\d+|Unknown|None)$/m;

export class NativeCommands implements NativeSlurm {
  readonly #run: RunCommand;

  constructor(run: RunCommand) {
    this.#run = run;
  }

  async submit(options: readonly string[], script: string): Promise<string> {
    const text = await this.#output("sbatch", ["--parsable", ...options], script);
    // With several clusters, the name of the cluster follows the id.
    const [, id] = /^(\d+)(?:;.*)?\n$/.exec(text) ?? [];
    if (id === undefined) throw new SlurmFormatError("sbatch --parsable", text, "a job id");
    return id;
  }

  async queue(): Promise<readonly QueuedJob[]> {
    const text = await this.#output("squeue", [
      "--noheader",
      "--states=all",
      `--user=${process.getuid!()}`,
      `--Format=${QUEUE_FORMAT}`,
    ]);
    try {
      return parseQueue(text);
    } catch (error) {
      if (!(error instanceof SlurmFormatError)) throw error;
      return parseQueue(text, (await this.#output("squeue", ["--version"])).trim());
    }
  }

  async shown(id: string): Promise<ShownJob | undefined> {
    const outcome = await this.#run("scontrol", ["show", "job", id]);
    if (outcome.code !== 0 && !outcome.isTimeout && GONE.test(lastWords(outcome.stderr)))
      return this.#accounted(id);
    const text = await outputOf(async () => outcome, "scontrol", ["show", "job", id]);
    return parseShownJobs(text).find((job) => String(job.id) === id);
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
      ...{ id: Number(id), state, reason: "None", exitCode: Number(exitCode), signal: Number(signal) },
      ...{ restarts: 0, startS: timeOf(start), endS: timeOf(end), eligibleS: undefined },
      ...{ nodes: "", comment: "" },
    };
  }

  async release(id: string): Promise<void> {
    await this.#output("scontrol", ["release", id]);
  }

  async signal(id: string, signal: "TERM" | "KILL"): Promise<void> {
    await this.#unlessGone(["--full", `--signal=${signal}`, id]);
  }

  async cancel(id: string): Promise<void> {
    await this.#unlessGone([id]);
  }

  async #unlessGone(args: readonly string[]): Promise<void> {
    try {
      await this.#output("scancel", args);
    } catch (error) {
      // scancel fails for a job that has ended.
      if (!GONE.test((error as Error).message)) throw error;
    }
  }

  #output(program: string, args: readonly string[], input?: string): Promise<string> {
    return outputOf(this.#run, program, args, input);
  }
}

/**
 * The nodes on which the jobs count: those of the partition, or the first ones.
 * @throws InputError if there are fewer; SlurmError
 */
export async function nodesFor(
  run: RunCommand,
  {
    nodes: wanted,
    partition,
  }: { readonly nodes?: number | undefined; readonly partition?: string | undefined },
): Promise<readonly SlurmNode[]> {
  const name = partition ?? (await defaultPartition(run));
  const words = ["--noheader", "--Node", `--partition=${name}`, `--format=${NODE_FORMAT}`];
  const nodes = parseNodes(await outputOf(run, "sinfo", words)).filter(({ isDown }) => !isDown);
  if (nodes.length > 0 && nodes.length >= (wanted ?? 1)) return nodes.slice(0, wanted);
  throw new InputError(
    `Cannot use ${wanted ?? 1} nodes of the partition "${name}": Slurm has ${nodes.length} there that are not down, expected a smaller --nodes, or another --partition after --`,
  );
}

/** Slurm marks it with a star. */
async function defaultPartition(run: RunCommand): Promise<string> {
  const text = await outputOf(run, "sinfo", ["--noheader", "--format=%P"]);
  const name = /^(\S+)\*$/m.exec(text)?.[1];
  if (name !== undefined) return name;
  throw new InputError(
    "Cannot choose a partition: Slurm has no default, expected one after --, such as -- --partition=long",
  );
}

/** Name of a signal such as SIGKILL; undefined for 0. */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
