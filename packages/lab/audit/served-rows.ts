/**
 * Keeps the checker's own Ousterhout matrix and serves its rows one after the other: the first round slot by
 * slot, then whole rounds at once.
 */
import type { JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { RowId } from "@tutti/kernel/core/policy.ts";
import { overlap } from "./capacity.ts";

/** For each stretch its first processor and its end, ascending. */
export type Stretches = readonly number[];

/** One job's processors in one row. */
interface Run {
  readonly job: JobIndex;
  readonly stretches: Stretches;
}

export interface MatrixRow {
  readonly row: RowId;
  runs: Run[];
}

export class ServedRows {
  /** In the order of the round. */
  readonly rows: MatrixRow[] = [];
  /** Slots of service that each job has had. */
  readonly served: Float64Array;
  /** When each job's first slot began; NaN before it. */
  readonly firstSlotS: Float64Array;
  /** Position of the row that is served next. */
  #pointer = 0;
  /** Number of rows when the round began, and of rows that have joined the round since. */
  #begunWith = 0;
  #joined = 0;

  constructor(jobCount: number) {
    this.served = new Float64Array(jobCount);
    this.firstSlotS = new Float64Array(jobCount).fill(Number.NaN);
  }

  /**
   * The row comes last in the current round while the round has admitted fewer rows than it began with. Later
   * rows go behind the rows that have had their slot.
   */
  add(row: RowId): void {
    const hasRoom = this.#pointer === 0 || this.#joined < this.#begunWith;
    if (this.#pointer > 0 && hasRoom) this.#joined++;
    this.rows.splice(hasRoom ? this.rows.length : this.#pointer++, 0, { row, runs: [] });
  }

  delete(matrixRow: MatrixRow): void {
    const at = this.rows.indexOf(matrixRow);
    this.rows.splice(at, 1);
    if (at < this.#pointer) this.#pointer--;
    if (this.#pointer >= this.rows.length) this.#pointer = 0;
  }

  /** Takes a job out of all rows. */
  takeOut(job: JobIndex): void {
    for (const matrixRow of this.rows)
      if (matrixRow.runs.some((run) => run.job === job))
        matrixRow.runs = matrixRow.runs.filter((run) => run.job !== job);
  }

  /** Two rows exchange processors. Returns a job that this would tear; then nothing happens. */
  exchange(a: MatrixRow, b: MatrixRow, first: number, end: number): JobIndex | undefined {
    const isTouched = ({ stretches }: Run) => overlap(stretches, [first, end]);
    const isInside = ({ stretches }: Run) => stretches[0] >= first && stretches[stretches.length - 1] <= end;
    const moving = [a, b].map(({ runs }) => runs.filter(isTouched));
    const torn = moving.flat().find((run) => !isInside(run));
    if (torn !== undefined) return torn.job;
    a.runs = [...a.runs.filter((run) => !isTouched(run)), ...moving[1]];
    b.runs = [...b.runs.filter((run) => !isTouched(run)), ...moving[0]];
    return undefined;
  }

  get hasJobs(): boolean {
    return this.rows.some(({ runs }) => runs.length > 0);
  }

  /** Serves that many slots; the first begins at `fromS`. */
  serve(slots: number, fromS: number, lengthS: number): void {
    const { rows, served } = this;
    const firstRound = Math.min(slots, rows.length);
    for (let slot = 0; slot < firstRound; slot++) {
      this.#noteRound();
      for (const { job } of rows[this.#pointer].runs) {
        served[job]++;
        if (Number.isNaN(this.firstSlotS[job])) this.firstSlotS[job] = fromS + slot * lengthS;
      }
      this.#pointer = (this.#pointer + 1) % rows.length;
    }
    const wholeRounds = Math.floor((slots - firstRound) / rows.length);
    for (const { runs } of rows) for (const { job } of runs) served[job] += wholeRounds;
    for (let slot = firstRound + wholeRounds * rows.length; slot < slots; slot++) {
      for (const { job } of rows[this.#pointer].runs) served[job]++;
      this.#pointer = (this.#pointer + 1) % rows.length;
    }
  }

  #noteRound(): void {
    if (this.#pointer > 0) return;
    this.#begunWith = this.rows.length;
    this.#joined = 0;
  }
}

/** Number of processors; NaN unless the stretches are in ascending order and none touches the next. */
export function widthOf(stretches: Stretches): number {
  let size = 0;
  for (let i = 0; i < stretches.length; i++) {
    if (i > 0 && !(stretches[i] > stretches[i - 1])) size = Number.NaN;
    size += i % 2 === 0 ? -stretches[i] : stretches[i];
  }
  return size;
}
