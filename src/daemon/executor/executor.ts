/**
 * Defines the executor, which carries out the decisions of the front end: it has nodes with processors, runs
 * attempts on them, and gives each row of the matrix its slots, even while no front end is connected. Only
 * the executor knows how nodes are reached.
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

/** The resources for all jobs together. */
export interface Capacity {
  readonly nodes: NodeTable;
  readonly memoryBytes: number;
}

/** A gang in a row, and the CPUs that it has during the slot of that row. */
interface PlacedGang extends AttemptKey {
  readonly nodes: readonly NodeCpus[];
}

export type Matrix = MatrixSchedule<PlacedGang>;

export type Command = { readonly type: "matrix"; readonly matrix: Matrix } | AttemptCommand;

/** The executor is connected and receives commands from now on. This state replaces all earlier reports. */
export interface Connected {
  readonly type: "connected";
  /** All attempts that the executor knows. */
  readonly attempts: readonly AttemptState[];
  /** Number of its current matrix. */
  readonly sequence: number;
  /** Start of slot 0 on this machine's monotonic clock, in ms. */
  readonly epochMs: number;
  /** Whether it reports identities and can keep attempts outside of rows. False for the first release. */
  readonly knowsIdentities: boolean;
  /** Facts shown to people. */
  readonly facts: { readonly pid?: number; readonly freezer?: FreezerKind };
}

export type Report = Connected | AttemptReport;

export interface Executor {
  readonly capacity: Capacity;
  /**
   * Never throws and never blocks. Commands are dropped while the executor is not connected; after each
   * `connected`, the front end repeats what it wants.
   */
  apply(commands: readonly Command[]): void;
  /**
   * @param onReport called for every report, beginning with `connected`
   * @param onDisconnect called with a reason for people when the connection is lost; the executor reconnects
   *   by itself
   * @returns a function that removes both listeners
   */
  listen(onReport: (report: Report) => void, onDisconnect: (reason: string) => void): () => void;
  /** Disconnects; the executor continues. */
  close(): void;
}
