/**
 * Observes a gang simulation and keeps what a report needs to draw the matrix. Snapshots are taken after
 * decisions, at first after each one. When there are too many, every second snapshot is dropped and the
 * interval between new ones is doubled. In the end, the snapshots are spread evenly over the run. The instant
 * with the most rows is always among them.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { RowId } from "@tutti/kernel/core/policy.ts";
import type { Observer } from "@tutti/kernel/core/schedule.ts";
import { NumberList } from "../observers.ts";
import type { MatrixDecisions, MatrixRecord, MatrixSnapshot } from "../results/matrix-record.ts";

const MAX_SNAPSHOTS = 60;
/** Maximum pieces of all snapshots together. */
const MAX_PIECES = 20_000;

interface Piece {
  readonly job: JobIndex;
  readonly first: number;
  readonly end: number;
}

export class MatrixRecorder implements Observer {
  readonly #size: Int32Array;
  /** In the order of the round: rows are added at its end. */
  readonly #rows = new Map<RowId, Piece[]>();
  readonly #rowsOfJob = new Map<JobIndex, RowId[]>();
  readonly #isPlaced: Uint8Array;
  /** Job, first processor, size and row of the boxes, one after the other. */
  readonly #boxes = new NumberList();
  #snapshots: MatrixSnapshot[] = [];
  readonly #done: { -readonly [Name in keyof MatrixDecisions]: number } = {
    placed: 0,
    ended: 0,
    extraSlots: 0,
    released: 0,
    exchanges: 0,
    migrations: 0,
    rowsAdded: 0,
    rowsDeleted: 0,
  };
  #pieces = 0;
  #stepS = 0;
  #nextS = Number.NEGATIVE_INFINITY;
  #busiest: MatrixSnapshot | undefined;

  constructor({ count, size }: Instance) {
    this.#size = size;
    this.#isPlaced = new Uint8Array(count);
  }

  rowAdded(_timeS: number, row: RowId): void {
    this.#done.rowsAdded++;
    this.#rows.set(row, []);
  }

  rowDeleted(_timeS: number, row: RowId): void {
    this.#done.rowsDeleted++;
    this.#rows.delete(row);
  }

  placed(_timeS: number, job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void {
    if (this.#isPlaced[job] === 0) this.#done.placed++;
    else this.#done.extraSlots++;
    this.#place(job, row, first, stretches);
  }

  released(_timeS: number, job: JobIndex, row: RowId): void {
    this.#done.released++;
    this.#release(job, row);
  }

  departed(_timeS: number, job: JobIndex): void {
    this.#done.ended++;
    for (const row of this.#rowsOfJob.get(job) ?? []) this.#takeOut(job, row);
    this.#rowsOfJob.delete(job);
  }

  /** Jobs of the range change their row as a whole, since no gang crosses its bounds. */
  exchanged(_timeS: number, a: RowId, b: RowId, first: number, end: number): void {
    if (a === b) return;
    this.#done.exchanges++;
    const isWithin = (piece: Piece) => piece.first >= first && piece.end <= end;
    const [rowA, rowB] = [this.#rows.get(a)!, this.#rows.get(b)!];
    const moves = (pieces: readonly Piece[]) => pieces.filter(isWithin);
    const stays = (pieces: readonly Piece[]) => pieces.filter((piece) => !isWithin(piece));
    const [fromA, fromB] = [moves(rowA), moves(rowB)];
    this.#rows.set(a, [...stays(rowA), ...fromB]);
    this.#rows.set(b, [...stays(rowB), ...fromA]);
    for (const job of new Set(fromA.map((piece) => piece.job))) this.#moved(job, a, b);
    for (const job of new Set(fromB.map((piece) => piece.job))) this.#moved(job, b, a);
  }

  /** The gang has one slot per round. */
  migrated(_timeS: number, job: JobIndex, row: RowId, first: number): void {
    this.#done.migrations++;
    const [from] = this.#rowsOfJob.get(job)!;
    this.#release(job, from!);
    this.#place(job, row, first);
  }

  decided(timeS: number): void {
    const isBusiest = this.#rows.size > (this.#busiest?.rows ?? 0);
    if (!isBusiest && timeS < this.#nextS) return;
    const snapshot = this.#snapshot(timeS);
    if (isBusiest) this.#busiest = snapshot;
    if (timeS < this.#nextS) return;
    this.#snapshots.push(snapshot);
    this.#pieces += snapshot.job.length;
    this.#nextS = timeS + this.#stepS;
    while (this.#snapshots.length > MAX_SNAPSHOTS || this.#pieces > MAX_PIECES) {
      if (this.#snapshots.length < 2) break;
      this.#thinOut();
    }
  }

  record(): MatrixRecord {
    const boxes = this.#boxes.values;
    const column = (at: number) =>
      Int32Array.from({ length: this.#boxes.length / 4 }, (_, box) => boxes[4 * box + at]);
    const busiest = this.#busiest;
    const snapshots =
      busiest === undefined
        ? this.#snapshots
        : [...this.#snapshots.filter(({ atS }) => atS !== busiest.atS), busiest].sort(
            (a, b) => a.atS - b.atS,
          );
    return {
      boxJob: column(0),
      boxFirst: column(1),
      boxSize: column(2),
      boxRow: column(3),
      snapshots,
      busiest: busiest === undefined ? 0 : snapshots.indexOf(busiest),
    };
  }

  #place(job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void {
    const bounds = stretches ?? [first, first + this.#size[job]];
    const pieces = this.#rows.get(row)!;
    for (let i = 0; i < bounds.length; i += 2) {
      pieces.push({ job, first: bounds[i], end: bounds[i + 1] });
      if (this.#isPlaced[job] === 0) this.#noteBox(job, row, bounds[i], bounds[i + 1]);
    }
    this.#isPlaced[job] = 1;
    const rows = this.#rowsOfJob.get(job);
    if (rows === undefined) this.#rowsOfJob.set(job, [row]);
    else rows.push(row);
  }

  #release(job: JobIndex, row: RowId): void {
    this.#takeOut(job, row);
    const rows = this.#rowsOfJob.get(job);
    if (rows !== undefined) rows.splice(rows.indexOf(row), 1);
  }

  #noteBox(job: JobIndex, row: RowId, first: number, end: number): void {
    let position = 0;
    for (const earlier of this.#rows.keys()) {
      if (earlier === row) break;
      position++;
    }
    for (const value of [job, first, end - first, position]) this.#boxes.push(value);
  }

  #moved(job: JobIndex, from: RowId, to: RowId): void {
    const rows = this.#rowsOfJob.get(job)!;
    rows[rows.indexOf(from)] = to;
  }

  #takeOut(job: JobIndex, row: RowId): void {
    const pieces = this.#rows.get(row);
    if (pieces === undefined) return;
    this.#rows.set(
      row,
      pieces.filter((piece) => piece.job !== job),
    );
  }

  #snapshot(atS: number): MatrixSnapshot {
    const pieces = [...this.#rows.values()].flatMap((row, position) =>
      row.map((piece) => ({ ...piece, row: position })),
    );
    return {
      atS,
      rows: this.#rows.size,
      row: pieces.map(({ row }) => row),
      first: pieces.map(({ first }) => first),
      end: pieces.map(({ end }) => end),
      job: pieces.map(({ job }) => job),
      done: { ...this.#done },
    };
  }

  #thinOut(): void {
    const spanS = this.#snapshots.at(-1)!.atS - this.#snapshots[0].atS;
    this.#stepS = Math.max(2 * this.#stepS, (2 * spanS) / this.#snapshots.length);
    const kept: MatrixSnapshot[] = [];
    for (const snapshot of this.#snapshots)
      if (kept.length === 0 || snapshot.atS >= kept.at(-1)!.atS + this.#stepS) kept.push(snapshot);
    this.#snapshots = kept;
    this.#pieces = kept.reduce((sum, { job }) => sum + job.length, 0);
    this.#nextS = kept.at(-1)!.atS + this.#stepS;
  }
}
