/** What srun, slurmstepd and the controller know of a step. */
import type { Process, ProcessEnd } from "../world/contract.ts";
import type { LanEnd, Peer } from "../world/lan.ts";

/** Between srun and slurmstepd. */
export type StepMessage =
  | { readonly type: "input"; readonly bytes: Uint8Array }
  | { readonly type: "end of input" }
  | { readonly type: "output"; readonly descriptor: 1 | 2; readonly bytes: Uint8Array }
  | { readonly type: "ended"; readonly rank: number; readonly end: ProcessEnd }
  | { readonly type: "done" };

/** What a step is on one node. */
export interface StepPart {
  readonly job: number;
  /** Such as 7.0 or 7.batch. */
  readonly step: string;
  readonly uid: number;
  readonly gid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Variables of each task. */
  readonly tasks: ReadonlyMap<number, Readonly<Record<string, string>>>;
  /** Of srun: which streams it carries. */
  readonly carries: readonly (0 | 1 | 2)[];
  /** File for the output of a batch script. */
  readonly output?: string;
}

export interface StepRequest {
  readonly job: number;
  readonly nodes: readonly string[];
  /** Tasks on each of them. */
  readonly tasks: readonly number[];
  readonly keepsOnFailure: boolean;
  readonly overlaps: boolean;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly carries: readonly (0 | 1 | 2)[];
}

/** An srun, as the controller knows it. */
export interface StepClient {
  readonly process: Process;
  /** Slurm has given the node up. */
  nodeFailed(node: string): void;
}

export interface Step {
  readonly job: number;
  readonly id: number;
  /** Such as 7.0. */
  readonly name: string;
  readonly nodes: readonly string[];
  readonly tasks: readonly number[];
  readonly keepsOnFailure: boolean;
  readonly srun: StepClient;
}

export interface Launch {
  readonly part: StepPart;
  readonly srun: Peer<StepMessage>;
  readonly onWire: (wire: LanEnd<StepMessage>) => void;
  readonly onFailure: () => void;
}

/** Why srun gets no step, and after which time it says so. */
export interface Refusal {
  readonly problem: string;
  readonly afterMs: number;
}

/** What srun asks the controller for. */
export interface StepMaker {
  makeStep(request: StepRequest, srun: StepClient): Step | Refusal;
  /** Starts the part of a step on a node. */
  launch(node: string, launch: Launch): void;
  /** Ends a step on all its nodes. */
  killStep(step: Step): void;
  /** srun has ended. */
  clientGone(step: Step): void;
}
