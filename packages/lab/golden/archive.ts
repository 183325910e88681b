/**
 * Writes golden schedules for other programs: every start and end, and the processors.
 *
 * A schedule is a table in the form of Batsim's `jobs.csv`, with those of its columns that a simulation
 * without a platform has. Under space sharing the simulator only counts processors; the table has the numbers
 * that Tutti's charts show, dealt afterwards (metrics/processors.ts). Under time sharing a job may be in
 * several rows and change its place, so the processors are in a second table, with a line for each stay in a
 * row.
 */
import type { Instance, JobIndex } from "@tutti/kernel/core/jobs.ts";
import type { RowId } from "@tutti/kernel/core/policy.ts";
import { asGiven, type Observer, type Schedule } from "@tutti/kernel/core/schedule.ts";
import { dealProcessors } from "@tutti/kernel/metrics/processors.ts";

const COLUMNS =
  "job_id,submission_time,requested_number_of_resources,requested_time,starting_time,execution_time,finish_time";
const PLACES = "job_id,row,from,until,allocated_resources";

/** Stretches as in Batsim's tables: `0-3 7`, from pairs of a first processor and an end. */
function rangesText(stretches: readonly number[]): string {
  const ranges: string[] = [];
  for (let i = 0; i < stretches.length; i += 2) {
    const [first, end] = [stretches[i], stretches[i + 1]];
    ranges.push(end === first + 1 ? `${first}` : `${first}-${end - 1}`);
  }
  return ranges.join(" ");
}

/** The schedule as a table; under space sharing with the processors that were dealt afterwards. */
export function scheduleTable(instance: Instance, schedule: Schedule): string {
  const { count, id, submitS, estimateS } = instance;
  const { size, runS } = asGiven(instance, schedule);
  const { startS, endS, gang } = schedule;
  const dealt = gang === undefined ? dealProcessors(instance, schedule) : undefined;
  const lines = [dealt === undefined ? COLUMNS : `${COLUMNS},allocated_resources`];
  for (let job = 0; job < count; job++) {
    // The difference of start and end would be rounded.
    const executionS = dealt === undefined ? endS[job] - startS[job] : runS[job];
    const line = `${id[job]},${submitS[job]},${size[job]},${estimateS[job]},${startS[job]},${executionS},${endS[job]}`;
    if (dealt === undefined) lines.push(line);
    else {
      const stretches: number[] = [];
      for (let run = dealt.offset[job]; run < dealt.offset[job + 1]; run++)
        stretches.push(dealt.first[run], dealt.first[run] + dealt.size[run]);
      lines.push(`${line},${rangesText(stretches)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A job's processors in a row, since when. */
interface Stay {
  readonly fromS: number;
  readonly stretches: readonly number[];
}

/** Observes a gang simulation and lists all stays in rows, in the order of their ends. */
export class PlacesRecorder implements Observer {
  readonly #instance: Instance;
  readonly #lines: string[] = [PLACES];
  readonly #rows = new Map<RowId, Map<JobIndex, Stay>>();
  /** Rows in which each job is. */
  readonly #rowsOf = new Map<JobIndex, RowId[]>();

  constructor(instance: Instance) {
    this.#instance = instance;
  }

  placed(timeS: number, job: JobIndex, row: RowId, first: number, stretches?: readonly number[]): void {
    this.#enter(timeS, job, row, stretches ?? [first, first + this.#instance.size[job]]);
  }

  released(timeS: number, job: JobIndex, row: RowId): void {
    this.#leave(timeS, job, row);
  }

  departed(timeS: number, job: JobIndex): void {
    for (const row of [...(this.#rowsOf.get(job) ?? [])]) this.#leave(timeS, job, row);
    this.#rowsOf.delete(job);
  }

  exchanged(timeS: number, a: RowId, b: RowId, first: number, end: number): void {
    if (a === b) return;
    const moving = [
      [a, b],
      [b, a],
    ].flatMap(([from, to]) =>
      [...(this.#rows.get(from) ?? [])]
        .filter(([, { stretches }]) => stretches[0] >= first && stretches.at(-1)! <= end)
        .map(([job, { stretches }]) => ({ job, from, to, stretches })),
    );
    // A job may be in both rows.
    for (const { job, from } of moving) this.#leave(timeS, job, from);
    for (const { job, to, stretches } of moving) this.#enter(timeS, job, to, stretches);
  }

  /** The gang has one slot per round. */
  migrated(timeS: number, job: JobIndex, row: RowId, first: number): void {
    this.#leave(timeS, job, this.#rowsOf.get(job)![0]);
    this.#enter(timeS, job, row, [first, first + this.#instance.size[job]]);
  }

  table(): string {
    return `${this.#lines.join("\n")}\n`;
  }

  #enter(timeS: number, job: JobIndex, row: RowId, stretches: readonly number[]): void {
    const stays = this.#rows.get(row);
    const stay = { fromS: timeS, stretches };
    if (stays === undefined) this.#rows.set(row, new Map([[job, stay]]));
    else stays.set(job, stay);
    const rows = this.#rowsOf.get(job);
    if (rows === undefined) this.#rowsOf.set(job, [row]);
    else rows.push(row);
  }

  #leave(timeS: number, job: JobIndex, row: RowId): void {
    const stays = this.#rows.get(row)!;
    const { fromS, stretches } = stays.get(job)!;
    stays.delete(job);
    const rows = this.#rowsOf.get(job)!;
    rows.splice(rows.indexOf(row), 1);
    // During one decision, a job may pass through rows.
    if (fromS < timeS)
      this.#lines.push(`${this.#instance.id[job]},${row},${fromS},${timeS},${rangesText(stretches)}`);
  }
}
