/** Defines what the laboratory's page and its workers send each other. */
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import type { MachineCell } from "@tutti/lab/experiments/cell.ts";
import type { Cell, CellResult } from "@tutti/lab/experiments/kinds.ts";
import type { Boxes } from "@tutti/lab/report/page/boxes.ts";
import type { RunCurves } from "@tutti/lab/report/page/curves.ts";
import type { PrintedTable } from "@tutti/lab/report/printed-table.ts";
import type { Agreed, Packed } from "./worker/packed.ts";
import type { ShownPaper, TableName } from "./worker/papers.ts";

/** Jobs at a point in time and size, for the first picture. */
export interface Scatter {
  readonly submitS: Float64Array;
  readonly runS: Float64Array;
  readonly size: Int32Array;
}

/** What `tutti workload info` says about jobs. */
export interface OpenedJobs {
  readonly workload: Workload;
  readonly hash: string;
  /** SHA-256 of the file; undefined for models, and where the browser offers none. */
  readonly sha256: string | undefined;
  readonly ms: number;
}

/** What a worker can be asked; `answer` is what it sends back in the end, and `progress` what before that. */
export interface Questions {
  /** Reads a file. */
  read: {
    readonly asks: { readonly file: File; readonly sizeFrom: string };
    readonly answer: OpenedJobs;
    readonly progress: { readonly share: number } | { readonly beginning: Scatter };
  };
  /** Generates the jobs of a model. */
  generate: {
    readonly asks: { readonly model: string; readonly seed: number };
    readonly answer: OpenedJobs;
    readonly progress: never;
  };
  /** Gives the worker the jobs of cells whose source has this name and this seed. */
  jobs: {
    readonly asks: { readonly name: string; readonly seed: number; readonly workload: Workload };
    readonly answer: true;
    readonly progress: never;
  };
  /** Runs a cell. */
  run: {
    readonly asks: { readonly cell: Cell<"summary"> };
    readonly answer: RunAnswer;
    readonly progress: { readonly share: number };
  };
  /** Assigns processors to the jobs of the cell's schedule. */
  deal: {
    readonly asks: { readonly cell: MachineCell; readonly schedule: Schedule };
    readonly answer: Boxes;
    readonly progress: never;
  };
  /** What is published of the papers, from the packed text of docs/papers/values.json. */
  papers: {
    readonly asks: { readonly packed: string };
    readonly answer: readonly ShownPaper[];
    readonly progress: never;
  };
  /** The simulations that a table of a paper needs. */
  "table-cells": { readonly asks: TableName; readonly answer: readonly Cell[]; readonly progress: never };
  /** Runs one of them. */
  "paper-cell": {
    readonly asks: { readonly cell: Cell };
    readonly answer: CellResult;
    readonly progress: never;
  };
  /** Makes the table of their results. */
  table: {
    readonly asks: { readonly name: TableName; readonly results: readonly CellResult[] };
    readonly answer: PrintedTable;
    readonly progress: never;
  };
  /** Explains in sentences why a job started when it did. */
  explain: {
    readonly asks: { readonly cell: MachineCell; readonly job: number };
    readonly answer: readonly string[];
    readonly progress: never;
  };
}

export interface RunAnswer {
  /** All of the result but the schedule, computed at least twice. */
  readonly result: Agreed;
  readonly schedule: Packed;
  readonly curves: RunCurves;
  /** Of the simulation alone. */
  readonly ms: number;
}

export type RunResult = Omit<CellResult<"summary">, "schedule"> & { readonly schedule: Schedule };

export type Topic = keyof Questions;

export type Question = { [T in Topic]: { readonly topic: T } & Questions[T]["asks"] }[Topic];

/** A worker answers questions in order, each with any number of `progress` and one `answer` or `failure`. */
export type Reply =
  | { readonly progress: Questions[Topic]["progress"] }
  | { readonly answer: Questions[Topic]["answer"] }
  | { readonly failure: Failure };

export interface Failure {
  readonly message: string;
  /** Whether the input is to blame, and not the program. */
  readonly isInput: boolean;
}
