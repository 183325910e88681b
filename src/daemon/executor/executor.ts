/**
 * What carries out the decisions of the front end: it has nodes with processors, runs attempts on them, and gives each row of the matrix its
 * slots, also while no front end is there. Nothing above it knows how many nodes there are, nor how they are reached.
 */
import type { NodeCpus, NodeTable } from "../../core/machine.ts";
import type {
  AttemptCommand,
  AttemptKey,
  AttemptReport,
  AttemptState,
  FreezerKind,
  MatrixSchedule,
} from "../../protocol/attempts.ts";

/** What jobs may have, all together. */
export interface Capacity {
  readonly nodes: NodeTable;
  readonly memoryBytes: number;
}

/** A gang in a row: these CPUs are its own for that row's slot. */
interface PlacedGang extends AttemptKey {
  readonly nodes: readonly NodeCpus[];
}

export type Matrix = MatrixSchedule<PlacedGang>;

export type Command = { readonly type: "matrix"; readonly matrix: Matrix } | AttemptCommand;

/** Commands reach it from now on; whatever else was told before is to be compared with this. */
export interface Connected {
  readonly type: "connected";
  /** All attempts that it knows of. */
  readonly attempts: readonly AttemptState[];
  /** Number of the matrix whose rows have their slots now. */
  readonly sequence: number;
  /** Beginning of slot 0 on the monotonic clock of this machine, in ms. */
  readonly epochMs: number;
  /** Whether it tells attempts back with their identity, and can keep one outside the rows; one of the first release does neither. */
  readonly knowsIdentities: boolean;
  /** For people. */
  readonly facts: { readonly pid?: number; readonly freezer?: FreezerKind };
}

export type Report = Connected | AttemptReport;

export interface Executor {
  readonly capacity: Capacity;
  /**
   * Never throws and never blocks. What is said while it is not connected is dropped: after each `connected` the front end says again what it
   * wants.
   */
  apply(commands: readonly Command[]): void;
  /**
   * @param onReport called for every report, beginning with `connected`
   * @param onDisconnect called when it cannot be reached any more, with a reason for people; it connects again by itself
   * @returns how to take both away
   */
  listen(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void;
  /** Lets go of it; it goes on. */
  close(): void;
}
