/**
 * Defines what a report shows of an Ousterhout matrix: the first placement of each gang, and the matrix at
 * some instants.
 */

export interface MatrixRecord {
  /**
   * Job indices in the order of their first placement. A job has one box per stretch of processors, one after
   * the other.
   */
  readonly boxJob: Int32Array;
  readonly boxFirst: Int32Array;
  readonly boxSize: Int32Array;
  /** Position in the round, from 0, of the row of the job's first placement. */
  readonly boxRow: Int32Array;
  /** In order of time. */
  readonly snapshots: readonly MatrixSnapshot[];
  /** Index of the earliest snapshot with the most rows. */
  readonly busiest: number;
}

/** The matrix after a decision. A piece is a stretch of processors of one job in one row. */
export interface MatrixSnapshot {
  readonly atS: number;
  readonly rows: number;
  /** Position of the piece's row in the round. */
  readonly row: readonly number[];
  readonly first: readonly number[];
  readonly end: readonly number[];
  /** Index of the job. */
  readonly job: readonly number[];
  /** What the policy has done since the beginning. */
  readonly done: MatrixDecisions;
}

/** Numbers of changes of the matrix. */
export interface MatrixDecisions {
  readonly placed: number;
  readonly ended: number;
  /** Additional slots given to multi-slot jobs, and taken back. */
  readonly extraSlots: number;
  readonly released: number;
  /** Legal exchanges between two rows. */
  readonly exchanges: number;
  readonly migrations: number;
  readonly rowsAdded: number;
  readonly rowsDeleted: number;
}
