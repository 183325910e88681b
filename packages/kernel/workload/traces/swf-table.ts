/** Collects the columns of a trace while it is read. They grow, and are sorted once all lines are known. */
import type { DiagnosticCollector } from "../../core/diagnostics.ts";
import type { JobColumns, TraceColumns } from "../../core/jobs.ts";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** All columns of one table, and for each row the line of the source that it came from. */
export type SwfColumns = Writable<JobColumns & TraceColumns> & { line: Uint32Array };

/** What may be wrong with job numbers. */
type NumberCode = "bad-job-number" | "duplicate-job-number";

const MAX_JOB_NUMBER = 2147483647;

/** Columns without rows, with room for `capacity` rows. */
export function makeColumns(capacity: number): SwfColumns {
  const float = () => new Float64Array(capacity);
  const int = () => new Int32Array(capacity);
  return {
    id: int(),
    submitS: float(),
    runS: float(),
    size: int(),
    estimateS: float(),
    waitS: float(),
    cpuS: float(),
    allocated: int(),
    requested: int(),
    usedMemoryKB: float(),
    requestedMemoryKB: float(),
    status: int(),
    user: int(),
    group: int(),
    application: int(),
    queue: int(),
    partition: int(),
    precedingJob: int(),
    thinkTimeS: float(),
    line: new Uint32Array(capacity),
  };
}

/** Changes the length of every column; new rows are 0. Earlier column objects become unusable. */
export function resizeColumns(columns: SwfColumns, length: number): void {
  mapColumns(columns, (column) => {
    const Column = column.constructor as new (source: number | ArrayBuffer) => typeof column;
    // The pages of a new array are not touched until they are written; those of a longer transfer() are.
    if (length > column.length) {
      const longer = new Column(length);
      longer.set(column);
      return longer;
    }
    return new Column((column.buffer as ArrayBuffer).transfer(length * column.BYTES_PER_ELEMENT));
  });
}

/** Ends the reading: every row gets a job number of its own, and the rows are sorted by submit time. */
export function finishColumns(
  columns: SwfColumns,
  count: number,
  diagnostics: DiagnosticCollector<NumberCode>,
): { readonly jobs: Writable<JobColumns>; readonly trace: TraceColumns } {
  resizeColumns(columns, count);
  repairJobNumbers(columns.id, columns.line, diagnostics);
  sortBySubmit(columns);
  const { id, submitS, runS, size, estimateS, line: _, ...trace } = columns;
  return { jobs: { id, submitS, runS, size, estimateS }, trace };
}

/** Sorts all rows by submit time; rows with the same submit time keep their order. */
function sortBySubmit(columns: SwfColumns): void {
  const { submitS } = columns;
  if (submitS.every((at, row) => row === 0 || at >= submitS[row - 1])) return;
  const order = Uint32Array.from({ length: submitS.length }, (_, row) => row);
  order.sort((a, b) => submitS[a] - submitS[b] || a - b);
  mapColumns(columns, (column) => {
    const sorted = column.slice();
    for (let row = 0; row < order.length; row++) sorted[row] = column[order[row]];
    return sorted;
  });
}

/**
 * Gives a new number to every row whose number is negative or was used by an earlier row: the smallest free
 * number above all numbers of the trace, or the smallest free number from 1 if the largest Int32 is reached.
 */
function repairJobNumbers(
  id: Int32Array,
  line: Uint32Array,
  diagnostics: DiagnosticCollector<NumberCode>,
): void {
  if (id.every((number, row) => number > (row === 0 ? -1 : id[row - 1]))) return;
  const sorted = id.slice().sort();
  const used = new Set<number>();
  const repeated = new Set<number>();
  for (let i = 1; i < sorted.length; i++) if (sorted[i] === sorted[i - 1]) repeated.add(sorted[i]);
  let candidate = Math.max(0, sorted[sorted.length - 1]);
  for (let row = 0; row < id.length; row++) {
    const number = id[row];
    if (number >= 0 && !repeated.has(number)) continue;
    if (number >= 0 && !used.has(number)) {
      used.add(number);
      continue;
    }
    do {
      candidate = candidate === MAX_JOB_NUMBER ? 1 : candidate + 1;
    } while (contains(sorted, candidate));
    id[row] = candidate;
    const code = number < 0 ? "bad-job-number" : "duplicate-job-number";
    const value = number < 0 ? undefined : String(number);
    diagnostics.add(code, { line: line[row], job: candidate, field: "job number", value });
  }
}

function mapColumns(
  columns: SwfColumns,
  change: (column: Float64Array | Int32Array | Uint32Array) => Float64Array | Int32Array | Uint32Array,
): void {
  const byName = columns as Record<string, Float64Array | Int32Array | Uint32Array>;
  for (const name of Object.keys(byName)) byName[name] = change(byName[name]);
}

/** Binary search in ascending numbers. */
function contains(sorted: Int32Array, number: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low < sorted.length && sorted[low] === number;
}
