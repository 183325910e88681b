/**
 * The scripts of list.json: scripts as people write them for Slurm, each with what it covers, how it is
 * started, and the outcome that a real Slurm gives. record.ts writes the outcomes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface SlurmScript {
  /** File in scripts/. */
  readonly script: string;
  readonly covers: string;
  /** Kind of public script, or repository, whose structure it has. */
  readonly from: string;
  /** How many nodes it needs. */
  readonly nodes: 1 | 2;
  /** The line that a user types, in a folder that has the script and its inputs. */
  readonly line: string;
  /** Files of inputs/ that it needs. */
  readonly inputs: readonly string[];
  /** It uses GPUs, so no other such script runs meanwhile: which ones it gets is in its outcome. */
  readonly hasGpus: boolean;
  /** Files whose lines come in an order that Slurm leaves open. */
  readonly unordered: readonly string[];
  /** What a real Slurm gives. */
  readonly outcome: Outcome;
}

/** Numbers of jobs, names of nodes, times and paths are replaced; see outcome.ts. */
export interface Outcome {
  /** Exit code of the line. */
  readonly status: number;
  readonly jobs: readonly EndOfJob[];
  /** By path below the folder; `stdout` and `stderr` are those of the line. Inputs are left out. */
  readonly files: Readonly<Record<string, FileText>>;
}

export interface EndOfJob {
  /** Such as job1, or job1_2 for a task of an array. */
  readonly job: string;
  readonly name: string;
  /** As Slurm says it, and the reason of those that never start. */
  readonly state: string;
  /** Code and signal. */
  readonly exitCode: string;
  readonly restarts: number;
}

export interface FileText {
  /** What programs wrote. */
  readonly text: readonly string[];
  /** What commands and daemons of Slurm said, such as `srun: error: …`. */
  readonly said?: readonly string[];
}

const LIST = fileURLToPath(new URL("list.json", import.meta.url));

export function readList(): readonly SlurmScript[] {
  return JSON.parse(readFileSync(LIST, "utf8"));
}

export function writeList(list: readonly SlurmScript[]): void {
  writeFileSync(LIST, `${JSON.stringify(list, null, 2)}\n`);
}
