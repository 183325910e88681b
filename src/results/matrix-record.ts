/** What a report shows of an Ousterhout matrix: where each gang was first placed, and the matrix at some instants. */

export interface MatrixRecord {
  /** Jobs in order of their first placing, by index; boxes of one job follow each other, one per stretch of processors. */
  readonly boxJob: Int32Array;
  readonly boxFirst: Int32Array;
  readonly boxSize: Int32Array;
  /** Position in the round of the row in which the job was placed first, 0 or more. */
  readonly boxRow: Int32Array;
  /** In order of time. */
  readonly snapshots: readonly MatrixSnapshot[];
  /** Index of the snapshot with the most rows, the earliest of them. */
  readonly busiest: number;
}

/** The matrix after a decision; a piece is a stretch of one row that one job has. */
export interface MatrixSnapshot {
  readonly atS: number;
  readonly rows: number;
  /** Position of the piece's row in the round. */
  readonly row: readonly number[];
  readonly first: readonly number[];
  readonly end: readonly number[];
  /** Index of the job. */
  readonly job: readonly number[];
}
