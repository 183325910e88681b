/**
 * Reads workload logs in the Standard Workload Format 2.2 of the Parallel Workloads Archive (Chapin et al.
 * 1999, "Benchmarks and standards for the evaluation of parallel job schedulers"; the archive's page "swf").
 * A job line becomes a row if it can be simulated; swf-rules.ts says what happens to all others.
 *
 *   chunks → lines (a line cut by a chunk's end waits in #carry) → 18 numbers → rules → columns
 */
import { DiagnosticCollector, EXAMPLES_KEPT } from "../../core/diagnostics.ts";
import { assert } from "../../core/errors.ts";
import { UNKNOWN, type Workload } from "../../core/jobs.ts";
import type { SizePlace } from "./size-from.ts";
import {
  FIELD_COUNT,
  FIELD_NAMES,
  Field,
  fieldText,
  isBlank,
  isInRange,
  isUsable,
  NOT_PLAIN,
  parseFields,
  printable,
} from "./swf-fields.ts";
import { MAX_COMMENT_BYTES, MAX_LINE_LENGTH, SWF_RULES, type SwfCode } from "./swf-rules.ts";
import { finishColumns, makeColumns, resizeColumns, type SwfColumns } from "./swf-table.ts";

/**
 * The field that gives a job's size if both fields are known: the allocated processors, since the recorded
 * run time is the time on those. The other field is used if this one is unknown.
 */
const SIZE_FIELD = Field.allocated;
const OTHER_SIZE_FIELD = Field.requested;

/** The rule above in words, as results print it. */
export const SIZE_RULE =
  "size=allocated: a job's size is its allocated processors, or its requested processors if these are unknown";

/** Typical length of a job line in bytes, to guess the number of rows from the number of bytes. */
const USUAL_LINE = 64;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SEMICOLON = 59;

/**
 * Reads a trace piece by piece; pieces may be split anywhere. Memory beyond the columns and the header is
 * bounded.
 *
 *   const reader = new SwfReader("KTH-SP2.swf");
 *   for (const chunk of chunks) reader.push(chunk);
 *   const workload = requireJobs(reader.end());
 */
export class SwfReader {
  readonly #name: string;
  readonly #diagnostics = new DiagnosticCollector(SWF_RULES);
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #header: string[] = [];
  #commentBytes = 0;
  readonly #values = new Float64Array(FIELD_COUNT);
  readonly #place: SizePlace | undefined;
  readonly #columns: SwfColumns = makeColumns(0);
  #count = 0;
  #capacity = 0;
  #byteHint: number;
  /** Number of the current line, from 1. */
  #line = 0;
  /** The beginning of a line whose end has not been pushed yet. */
  #carry = new Uint8Array(0);
  #carryLength = 0;
  /** The current line is longer than MAX_LINE_LENGTH. */
  #tooLong = false;
  #ended = false;
  #extraLines = 0;

  /**
   * @param name shown in tables and messages: the file name without its folder
   * @param bytes length of the uncompressed trace if known; saves memory while reading
   * @param place where the size of a job is; default: as SIZE_RULE says
   */
  constructor(name: string, bytes = 0, place?: SizePlace) {
    this.#place = place;
    this.#name = name;
    this.#byteHint = bytes;
  }

  /** Reads the next chunk and does not keep it. */
  push(chunk: Uint8Array): void {
    assert(!this.#ended, "push after end");
    if (this.#byteHint === 0) this.#byteHint = chunk.length;
    // All byte arrays must have one hidden class: subclasses such as Node's Buffer would halve the speed of
    // the parser.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
    let start = 0;
    while (start < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline;
      if (newline >= 0 && this.#carryLength === 0) {
        this.#readLine(bytes, start, end);
      } else {
        this.#carryOver(bytes, start, end);
        if (newline >= 0) this.#readCarried();
      }
      start = end + 1;
    }
  }

  /**
   * Ends the reading; a last line without a newline counts. A trace without jobs gives a workload of 0 jobs
   * (see requireJobs).
   */
  end(): Workload {
    assert(!this.#ended, "end called twice");
    if (this.#carryLength > 0) this.#readCarried();
    this.#ended = true;
    return {
      name: this.#name,
      count: this.#count,
      ...finishColumns(this.#columns, this.#count, this.#diagnostics),
      processors: headerProcessors(this.#header, this.#place?.countsNodes ? ["MaxNodes"] : SIZE_KEYS),
      sizeRule: this.#place?.rule,
      header: this.#header,
      diagnostics: this.#diagnostics.list(),
    };
  }

  #carryOver(chunk: Uint8Array, start: number, end: number): void {
    const length = Math.min(end - start, MAX_LINE_LENGTH - this.#carryLength);
    if (length < end - start) this.#tooLong = true;
    // One more byte, for the newline that parseFields needs.
    if (this.#carryLength + length >= this.#carry.length) {
      const larger = new Uint8Array(Math.min(MAX_LINE_LENGTH, 2 * (this.#carryLength + length)) + 1);
      larger.set(this.#carry.subarray(0, this.#carryLength));
      this.#carry = larger;
    }
    this.#carry.set(chunk.subarray(start, start + length), this.#carryLength);
    this.#carryLength += length;
  }

  #readCarried(): void {
    const length = this.#carryLength;
    this.#carryLength = 0;
    this.#carry[length] = NEWLINE;
    this.#readLine(this.#carry, 0, length);
    this.#tooLong = false;
  }

  #readLine(bytes: Uint8Array, start: number, end: number): void {
    this.#line++;
    let first = start;
    if (this.#line === 1 && bytes[first] === 0xef && bytes[first + 1] === 0xbb && bytes[first + 2] === 0xbf)
      first += 3;
    const from = first;
    const tooLong = this.#tooLong || end - start > MAX_LINE_LENGTH;
    const searchEnd = tooLong ? start + MAX_LINE_LENGTH : end;
    while (first < searchEnd && isBlank(bytes[first])) first++;
    if (first < searchEnd && bytes[first] === SEMICOLON) this.#readComment(bytes, from, end, tooLong);
    else if (tooLong) this.#note("long-line", UNKNOWN, printable(bytes, from, searchEnd));
    else if (first < end) this.#readJob(bytes, first, end);
  }

  #readComment(bytes: Uint8Array, start: number, end: number, tooLong: boolean): void {
    const textEnd = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    if (tooLong || this.#commentBytes + textEnd - start > MAX_COMMENT_BYTES) {
      this.#note("header-cut", UNKNOWN, printable(bytes, start, textEnd));
      return;
    }
    this.#commentBytes += textEnd - start + 1;
    this.#header.push(this.#decoder.decode(bytes.subarray(start, textEnd)));
  }

  #readJob(bytes: Uint8Array, start: number, end: number): void {
    const values = this.#values;
    const parsed = parseFields(bytes, start, end, values);
    const fieldCount = parsed & ~NOT_PLAIN;
    if (fieldCount < FIELD_COUNT) {
      this.#note("short-line", UNKNOWN, printable(bytes, start, end));
      return;
    }
    const status = values[Field.status];
    const place = this.#place;
    const declared = place === undefined ? "" : fieldText(bytes, start, end, place.field, MAX_LINE_LENGTH);
    const size =
      place !== undefined
        ? place.sizeIn(declared)
        : values[SIZE_FIELD] > 0
          ? values[SIZE_FIELD]
          : values[OTHER_SIZE_FIELD];
    const bad = parsed === fieldCount ? UNKNOWN : this.#badNeededField(size);
    if (status === 2 || status === 3 || status === 4) this.#note("part-of-job", Field.status, String(status));
    else if (bad >= 0) this.#note("bad-needed-field", bad, fieldText(bytes, start, end, bad));
    else if (values[Field.submit] < 0)
      this.#note("negative-submit", Field.submit, String(values[Field.submit]));
    else if (values[Field.run] < 0) this.#note("no-run-time", Field.run, String(values[Field.run]));
    else if (place !== undefined && !(size > 0 && isInRange(SIZE_FIELD, size)))
      this.#note("no-declared-size", UNKNOWN, declared);
    else if (size <= 0) this.#note("no-processors", SIZE_FIELD, String(values[SIZE_FIELD]));
    else {
      if (parsed !== fieldCount) this.#repair(bytes, start, end);
      if (fieldCount > FIELD_COUNT) this.#noteExtraFields(bytes, start, end);
      if (place !== undefined) values[SIZE_FIELD] = size;
      this.#append(size);
    }
  }

  #noteExtraFields(bytes: Uint8Array, start: number, end: number): void {
    // If a log has them, all its lines do: the text is made for the examples only.
    if (this.#extraLines++ >= EXAMPLES_KEPT) {
      this.#note("extra-fields", UNKNOWN, "");
      return;
    }
    let at = start;
    for (let field = 0; field < FIELD_COUNT; field++) {
      while (isBlank(bytes[at])) at++;
      while (!isBlank(bytes[at])) at++;
    }
    while (isBlank(bytes[at])) at++;
    this.#note("extra-fields", UNKNOWN, printable(bytes, at, end).trimEnd());
  }

  #badNeededField(size: number): number {
    const values = this.#values;
    if (!isInRange(Field.submit, values[Field.submit])) return Field.submit;
    if (!isInRange(Field.run, values[Field.run])) return Field.run;
    if (this.#place !== undefined) return UNKNOWN;
    if (!isInRange(SIZE_FIELD, values[SIZE_FIELD])) return SIZE_FIELD;
    if (!isInRange(OTHER_SIZE_FIELD, size)) return OTHER_SIZE_FIELD;
    return UNKNOWN;
  }

  /** Sets unusable fields to −1; called only for lines that become rows. */
  #repair(bytes: Uint8Array, start: number, end: number): void {
    const values = this.#values;
    for (let field = 0; field < FIELD_COUNT; field++) {
      if (isUsable(field, values[field])) continue;
      values[field] = UNKNOWN;
      // A bad job number is counted when it is replaced.
      if (field !== Field.jobNumber) this.#note("bad-field", field, fieldText(bytes, start, end, field));
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
    const submitS = values[Field.submit];
    if (row > 0 && submitS < columns.submitS[row - 1]) {
      this.#note("unsorted-submit", Field.submit, String(submitS));
    }
    if (values[Field.run] === 0) this.#note("zero-run-time", Field.run, "0");
    if (values[Field.estimate] === 0) {
      values[Field.estimate] = UNKNOWN;
      this.#note("zero-estimate", Field.estimate, "0");
    }
    columns.line[row] = this.#line;
    columns.id[row] = values[Field.jobNumber];
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

  /** Counts the current line under a rule; `field` is UNKNOWN if the rule concerns the whole line. */
  #note(code: SwfCode, field: number, value: string): void {
    const number = this.#values[Field.jobNumber];
    this.#diagnostics.add(code, {
      line: this.#line,
      job: field >= 0 && number >= 0 ? number : undefined,
      field: field >= 0 ? FIELD_NAMES[field] : undefined,
      value,
    });
  }
}

const SIZE_KEYS = ["MaxProcs", "MaxNodes"];

/** Processors of the machine: the number at the beginning of the first of these keys; text may follow it. */
function headerProcessors(header: readonly string[], keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const pattern = new RegExp(`^\\s*;\\s*${key}\\s*:\\s*(\\d{1,9})(?!\\d)`, "i");
    for (const line of header) {
      const processors = Number(pattern.exec(line)?.[1] ?? 0);
      if (processors > 0) return processors;
    }
  }
  return undefined;
}
