/** What is recorded of a life, as data that a timeline and a matrix show. Times are true ones, in ms. */
import type { MatrixAnswer } from "@tutti/protocol/answers.ts";

/** Where the jobs of a watched life run: on the scheduler's machine, or on nodes of a Slurm. */
export type Scene = "machine" | "nodes";
/** What somebody who watches a life may do to it. */
export const DEED_NAMES = [
  "conductor",
  "front-end",
  "stop",
  "power",
  "disk",
  "clock",
  "node",
  "network",
  "node-conductor",
] as const;
export type DeedName = (typeof DEED_NAMES)[number];
/** What may be done in which scene. */
export const DEEDS_IN: Readonly<Record<Scene, readonly DeedName[]>> = {
  machine: ["conductor", "front-end", "stop", "power", "disk", "clock"],
  nodes: ["node", "network", "node-conductor", "front-end"],
};
/** Those that go on until they are taken back. */
export const LASTING: readonly DeedName[] = ["stop", "power", "disk", "clock", "node", "network"];

/** Something that was done at an instant of the timeline, when everything until then had happened. */
export interface Deed {
  readonly atUs: number;
  /** What lasts is taken back when it is done again. After `end`, there are no more faults. */
  readonly name: DeedName | "end";
}

/** A fault that was inflicted. */
export interface Inflicted {
  readonly name: string;
  readonly fromMs: number;
  /** Undefined: it is not over. */
  toMs?: number;
}

/** The matrix as the front end says; empty while the machine is off. */
export interface Picture {
  readonly atMs: number;
  readonly matrix: Omit<MatrixAnswer, "schema" | "nowMs">;
}

/** The time in which an attempt was in the matrix on the same CPUs. */
export interface Run {
  readonly job: number;
  readonly attempt: number;
  readonly name: string;
  readonly user: string;
  readonly nodes: NonNullable<MatrixAnswer["nodes"]>;
  readonly row: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Recording {
  readonly seed: number;
  /** Of the trace of the life. */
  readonly hash: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whenever the matrix was another one. */
  readonly pictures: readonly Picture[];
  readonly runs: readonly Run[];
  readonly faults: readonly Inflicted[];
  readonly problems: readonly string[];
}
