/**
 * Reads workload logs in the Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al. 1999,
 * "Benchmarks and standards for the evaluation of parallel job schedulers"; archive page "swf").
 *
 * A job line becomes a row when it can be simulated. What is done with the others, by diagnostic code:
 *
 *   dropped   short-line, extra-fields   not 18 fields
 *             long-line                  more than 64 KiB
 *             part-of-job                status 2, 3 or 4: one stretch of a preempted job; its summary line counts
 *             bad-needed-field           submit time, run time or processors is no number, is above 10^12 s or above
 *                                        the largest Int32, or a processor count has a fraction
 *             negative-submit            submit time below 0
 *             no-run-time                run time below 0: cancelled before it started
 *             no-processors              neither allocated nor requested processors known
 *   repaired  bad-field                  any other field of that kind, or negative and not −1: set to −1
 *             zero-estimate              requested time 0: counts as missing
 *             bad-job-number             number missing or unreadable: given a new one
 *             duplicate-job-number       number used before: given a new one
 *             unsorted-submit            submitted before the line above: rows are sorted by submit time, ties in file order
 *             header-cut                 a comment line beyond 1 MiB of comments, or longer than 64 KiB
 *   kept      zero-run-time              run time 0
 *
 * Every line that is neither blank nor a comment is either a row or counted under one "dropped" code.
 */
import { DiagnosticCollector } from "../core/diagnostics.ts";
import { assert } from "../core/errors.ts";
import { UNKNOWN, type Workload } from "../core/jobs.ts";
import {
  FIELD_COUNT,
  FIELD_NAMES,
  Field,
  fieldText,
  isBlank,
  isInRange,
  isUsable,
  parseFields,
  printable,
} from "./swf-fields.ts";
import { makeColumns, repairJobNumbers, resizeColumns, type SwfColumns, sortBySubmit } from "./swf-table.ts";

/**
 * The field that gives a job's size where both are known: the processors that it was allocated, since the recorded
 * run time is the time on those. The other field is used where this one is unknown.
 */
const SIZE_FIELD: typeof Field.allocated | typeof Field.requested = Field.allocated;
const OTHER_SIZE_FIELD = SIZE_FIELD === Field.allocated ? Field.requested : Field.allocated;

/** The rule above in words, as results print it. */
export const SIZE_RULE =
  SIZE_FIELD === Field.allocated
    ? "size=allocated: a job's size is its allocated processors, where unknown its requested ones"
    : "size=requested: a job's size is its requested processors, where unknown its allocated ones";

const LONGEST_LINE = 65536;
const MOST_COMMENT_BYTES = 1048576;
/** Bytes of a usual job line, to guess the number of rows from the number of bytes. */
const USUAL_LINE = 64;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SEMICOLON = 59;

/**
 * Reads a trace piece by piece; pieces may be split anywhere. Memory beyond the columns and the header is bounded.
 *
 *   const reader = new SwfReader("KTH-SP2.swf");
 *   for (const chunk of chunks) reader.push(chunk);
 *   const workload = requireJobs(reader.end());
 */
export class SwfReader {
  readonly #name: string;
  readonly #diagnostics = new DiagnosticCollector();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #header: string[] = [];
  #commentBytes = 0;
  readonly #values = new Float64Array(FIELD_COUNT);
  readonly #columns: SwfColumns = makeColumns(0);
  #count = 0;
  #capacity = 0;
  #byteHint: number;
  #lastSubmitS = 0;
  #sorted = true;
  /** All numbers so far are valid and each is above the one before. */
  #numbersAscend = true;
  #lastNumber = -1;
  /** Lines begun before the present one. */
  #line = 0;
  /** Start of a line whose end has not been pushed yet. */
  #carry = new Uint8Array(0);
  #carryLength = 0;
  /** The present line is longer than LONGEST_LINE. */
  #tooLong = false;
  #ended = false;

  /**
   * @param name shown in tables and messages: file name without folder
   * @param bytes length of the uncompressed trace where known; saves memory while reading
   */
  constructor(name: string, bytes = 0) {
    this.#name = name;
    this.#byteHint = bytes;
  }

  /** Reads on. The chunk is not kept. */
  push(chunk: Uint8Array): void {
    assert(!this.#ended, "push after end");
    if (this.#byteHint === 0) this.#byteHint = chunk.length;
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline < 0 ? chunk.length : newline;
      if (newline >= 0 && this.#carryLength === 0) {
        this.#readLine(chunk, start, end);
      } else {
        this.#carryOver(chunk, start, end);
        if (newline >= 0) this.#readCarried();
      }
      start = end + 1;
    }
  }

  /** Ends the reading; a last line without line end counts. A trace without a job gives a workload of 0 jobs (see requireJobs). */
  end(): Workload {
    assert(!this.#ended, "end called twice");
    if (this.#carryLength > 0) this.#readCarried();
    this.#ended = true;
    const count = this.#count;
    const columns = this.#columns;
    resizeColumns(columns, count);
    if (!this.#numbersAscend) repairJobNumbers(columns.id, columns.line, this.#diagnostics);
    if (!this.#sorted) sortBySubmit(columns);
    const { id, submitS, runS, size, estimateS, line: _, ...trace } = columns;
    return {
      name: this.#name,
      count,
      jobs: { id, submitS, runS, size, estimateS },
      processors: headerProcessors(this.#header),
      trace,
      header: this.#header,
      diagnostics: this.#diagnostics.list(),
    };
  }

  #carryOver(chunk: Uint8Array, start: number, end: number): void {
    const length = Math.min(end - start, LONGEST_LINE - this.#carryLength);
    if (length < end - start) this.#tooLong = true;
    if (this.#carryLength + length > this.#carry.length) {
      const larger = new Uint8Array(Math.min(LONGEST_LINE, 2 * (this.#carryLength + length)));
      larger.set(this.#carry.subarray(0, this.#carryLength));
      this.#carry = larger;
    }
    this.#carry.set(chunk.subarray(start, start + length), this.#carryLength);
    this.#carryLength += length;
  }

  #readCarried(): void {
    const length = this.#carryLength;
    this.#carryLength = 0;
    this.#readLine(this.#carry, 0, length);
    this.#tooLong = false;
  }

  #readLine(bytes: Uint8Array, start: number, end: number): void {
    this.#line++;
    let first = start;
    if (this.#line === 1 && bytes[first] === 0xef && bytes[first + 1] === 0xbb && bytes[first + 2] === 0xbf)
      first += 3;
    const from = first;
    const tooLong = this.#tooLong || end - start > LONGEST_LINE;
    const searchEnd = tooLong ? start + LONGEST_LINE : end;
    while (first < searchEnd && isBlank(bytes[first])) first++;
    if (first < searchEnd && bytes[first] === SEMICOLON) this.#readComment(bytes, from, end, tooLong);
    else if (tooLong) {
      this.#drop(
        "long-line",
        "The line is longer than 64 KiB: left out",
        UNKNOWN,
        printable(bytes, from, searchEnd),
      );
    } else if (first < end) this.#readJob(bytes, first, end);
  }

  #readComment(bytes: Uint8Array, start: number, end: number, tooLong: boolean): void {
    const textEnd = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    if (tooLong || this.#commentBytes + textEnd - start > MOST_COMMENT_BYTES) {
      this.#diagnostics.add(
        "header-cut",
        "repaired",
        "The comment line is longer than 64 KiB or beyond 1 MiB of comments: left out of the header",
        { line: this.#line, value: printable(bytes, start, textEnd) },
      );
      return;
    }
    this.#commentBytes += textEnd - start + 1;
    this.#header.push(this.#decoder.decode(bytes.subarray(start, textEnd)));
  }

  #readJob(bytes: Uint8Array, start: number, end: number): void {
    const values = this.#values;
    const found = parseFields(bytes, start, end, values);
    if (found !== FIELD_COUNT) {
      const text = printable(bytes, start, end);
      if (found < FIELD_COUNT)
        this.#drop("short-line", "The line has fewer than 18 fields: left out", UNKNOWN, text);
      else this.#drop("extra-fields", "The line has more than 18 fields: left out", UNKNOWN, text);
      return;
    }
    const status = values[Field.status];
    if (status === 2 || status === 3 || status === 4) {
      this.#drop(
        "part-of-job",
        "Status 2, 3 or 4 marks a part of a preempted job: left out, the job's summary line counts",
      );
      return;
    }
    const size = values[SIZE_FIELD] > 0 ? values[SIZE_FIELD] : values[OTHER_SIZE_FIELD];
    let bad: number = UNKNOWN;
    if (!isInRange(Field.submit, values[Field.submit])) bad = Field.submit;
    else if (!isInRange(Field.run, values[Field.run])) bad = Field.run;
    else if (!isInRange(SIZE_FIELD, values[SIZE_FIELD])) bad = SIZE_FIELD;
    else if (!isInRange(OTHER_SIZE_FIELD, size)) bad = OTHER_SIZE_FIELD;
    if (bad >= 0) {
      this.#drop(
        "bad-needed-field",
        "A field that is needed (submit time, run time, processors) is not a number, not whole or too large: line left out",
        bad,
        fieldText(bytes, start, end, bad),
      );
    } else if (values[Field.submit] < 0) {
      this.#drop(
        "negative-submit",
        "The submit time is negative: line left out",
        Field.submit,
        String(values[Field.submit]),
      );
    } else if (values[Field.run] < 0) {
      this.#drop(
        "no-run-time",
        "The run time is unknown, the job was cancelled before it started: line left out",
        Field.run,
      );
    } else if (size <= 0) {
      this.#drop(
        "no-processors",
        "Neither allocated nor requested processors are known: line left out",
        SIZE_FIELD,
      );
    } else {
      this.#repair(bytes, start, end);
      this.#append(size);
    }
  }

  /** Sets fields that cannot be used to −1; only called for lines that become rows. */
  #repair(bytes: Uint8Array, start: number, end: number): void {
    const values = this.#values;
    for (let field = 0; field < FIELD_COUNT; field++) {
      if (isUsable(field, values[field])) continue;
      values[field] = UNKNOWN;
      if (field === Field.jobNumber) continue;
      this.#note(
        "bad-field",
        "repaired",
        "The field is not a number, not whole, too large, or negative and not −1: set to −1",
        field,
        fieldText(bytes, start, end, field),
      );
    }
    if (values[Field.jobNumber] < 0) {
      this.#numbersAscend = false;
      const text = fieldText(bytes, start, end, Field.jobNumber);
      this.#note(
        "bad-job-number",
        "repaired",
        "The job has no usable number: it was given a new one",
        Field.jobNumber,
        text,
      );
    }
    if (values[Field.estimate] === 0) {
      values[Field.estimate] = UNKNOWN;
      this.#note(
        "zero-estimate",
        "repaired",
        "The requested time is 0: counts as missing",
        Field.estimate,
        "0",
      );
    }
    if (values[Field.run] === 0) {
      this.#note(
        "zero-run-time",
        "kept",
        "The run time is 0: the job ends in the instant in which it starts",
        Field.run,
      );
    }
  }

  #append(size: number): void {
    if (this.#count === this.#capacity) {
      this.#capacity = Math.max(16, Math.ceil(this.#byteHint / USUAL_LINE), 2 * this.#capacity);
      resizeColumns(this.#columns, this.#capacity);
    }
    const values = this.#values;
    const columns = this.#columns;
    const row = this.#count++;
    const number = values[Field.jobNumber];
    if (number <= this.#lastNumber) this.#numbersAscend = false;
    this.#lastNumber = number;
    const submitS = values[Field.submit];
    if (submitS < this.#lastSubmitS) {
      this.#sorted = false;
      const text = String(submitS);
      this.#note(
        "unsorted-submit",
        "repaired",
        "Submitted before the line above: jobs are sorted by submit time",
        Field.submit,
        text,
      );
    }
    this.#lastSubmitS = submitS;
    columns.line[row] = this.#line;
    columns.id[row] = number;
    columns.submitS[row] = submitS;
    columns.runS[row] = values[Field.run];
    columns.size[row] = size;
    columns.estimateS[row] = values[Field.estimate];
    columns.waitS[row] = values[Field.wait];
    columns.cpuS[row] = values[Field.cpu];
    columns.allocated[row] = values[Field.allocated];
    columns.requested[row] = values[Field.requested];
    columns.usedMemoryKB[row] = values[Field.usedMemory];
    columns.requestedMemoryKB[row] = values[Field.requestedMemory];
    columns.status[row] = values[Field.status];
    columns.user[row] = values[Field.user];
    columns.group[row] = values[Field.group];
    columns.application[row] = values[Field.application];
    columns.queue[row] = values[Field.queue];
    columns.partition[row] = values[Field.partition];
    columns.precedingJob[row] = values[Field.precedingJob];
    columns.thinkTimeS[row] = values[Field.thinkTime];
  }

  #drop(code: string, message: string, field: number = UNKNOWN, value?: string): void {
    this.#note(code, "dropped", message, field, value);
  }

  #note(
    code: string,
    action: "kept" | "repaired" | "dropped",
    message: string,
    field: number,
    value?: string,
  ): void {
    const number = this.#values[Field.jobNumber];
    this.#diagnostics.add(code, action, message, {
      line: this.#line,
      job: field >= 0 && number >= 0 ? number : undefined,
      field: field >= 0 ? FIELD_NAMES[field] : undefined,
      value,
    });
  }
}

/** Reads a whole trace that is in memory. */
export function readSwf(source: string | Uint8Array, name: string): Workload {
  const reader = new SwfReader(name);
  reader.push(typeof source === "string" ? new TextEncoder().encode(source) : source);
  return reader.end();
}

/** Processors of the machine: the number that MaxProcs begins with, else MaxNodes; text may follow the number. */
function headerProcessors(header: readonly string[]): number | undefined {
  for (const key of ["MaxProcs", "MaxNodes"]) {
    const pattern = new RegExp(`^\\s*;\\s*${key}\\s*:\\s*(\\d{1,9})(?!\\d)`, "i");
    for (const line of header) {
      const processors = Number(pattern.exec(line)?.[1] ?? 0);
      if (processors > 0) return processors;
    }
  }
  return undefined;
}
