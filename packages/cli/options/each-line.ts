/**
 * Reads `--each-line FILE`: one job for each line that is not empty. Its index is the number of the line. The
 * file is read in pieces and only as far as needed, so that a huge one is refused before it is in memory.
 */

import { isUtf8 } from "node:buffer";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatCount } from "@tutti/kernel/core/format.ts";
import { MAX_JOBS_PER_BATCH, MAX_STRING_LENGTH, MAX_SUBMIT_BYTES } from "@tutti/protocol/limits.ts";
import { LINE_VARIABLE } from "@tutti/protocol/sweep-values.ts";
import { nameOfInput, openInput } from "./read-text.ts";

interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Linux limits a variable with its name, the equals sign and the final zero. */
const MAX_LINE_BYTES = MAX_STRING_LENGTH - LINE_VARIABLE.length - 2;
const NEWLINE = 10;
const BOM = "\uFEFF";

/**
 * The lines of a file, or of standard input if it is `-`.
 * @param wanted numbers of the only lines to read; undefined: all
 * @throws InputError
 */
export async function readLines(file: string, wanted?: ReadonlySet<number>): Promise<Line[]> {
  const what = nameOfInput(file);
  const collector = new LineCollector(what, wanted);
  try {
    for await (const chunk of openInput(file)) if (!collector.push(chunk)) break;
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(
      `Cannot read ${what}: ${whyUnreadable(error)}, expected a file with one job per line`,
    );
  }
  return collector.end();
}

class LineCollector {
  readonly #what: string;
  readonly #wanted: ReadonlySet<number> | undefined;
  readonly #lines: Line[] = [];
  /** The beginning of the present line. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #number = 1;
  #bytes = 0;
  readonly #last: number;

  constructor(what: string, wanted: ReadonlySet<number> | undefined) {
    this.#what = what;
    this.#wanted = wanted;
    this.#last = wanted === undefined ? Number.POSITIVE_INFINITY : Math.max(...wanted);
  }

  /** @returns whether more is needed */
  push(chunk: Buffer): boolean {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#extend(chunk.subarray(from, end));
      this.#finish();
      from = end + 1;
      if (this.#number > this.#last) return false;
    }
    this.#extend(chunk.subarray(from));
    return true;
  }

  end(): Line[] {
    this.#finish();
    return this.#lines;
  }

  #extend(part: Buffer): void {
    if (this.#wanted !== undefined && !this.#wanted.has(this.#number)) return;
    this.#pendingBytes += part.length;
    // A carriage return does not count yet: it may belong to the end of the line.
    if (this.#pendingBytes > MAX_LINE_BYTES + 1) throw this.#tooLong();
    if (part.length > 0) this.#pending.push(part);
  }

  #finish(): void {
    const bytes = Buffer.concat(this.#pending);
    const number = this.#number++;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (bytes.length === 0) return;
    if (!isUtf8(bytes)) throw this.#refusal(number, "is not UTF-8", "UTF-8; iconv converts other encodings");
    const whole = bytes.toString("utf8").replace(/\r$/, "");
    const text = number === 1 && whole.startsWith(BOM) ? whole.slice(1) : whole;
    if (text === "") return;
    if (text.includes("\0")) throw this.#refusal(number, "contains a NUL character", "text");
    if (Buffer.byteLength(text) > MAX_LINE_BYTES) throw this.#tooLong(number);
    this.#lines.push({ number, text });
    this.#bytes += bytes.length;
    if (this.#lines.length > MAX_JOBS_PER_BATCH) {
      throw new InputError(
        `Cannot submit the lines of ${this.#what}: there are more than ${formatCount(MAX_JOBS_PER_BATCH)}; submit parts of them, such as --array 1-${MAX_JOBS_PER_BATCH}`,
      );
    }
    if (this.#bytes > MAX_SUBMIT_BYTES) {
      throw new InputError(
        `Cannot submit the lines of ${this.#what}: up to line ${number}, they have more than ${formatCount(MAX_SUBMIT_BYTES)} bytes together; submit parts of them with --array, or put data into files`,
      );
    }
  }

  #tooLong(number = this.#number): InputError {
    return this.#refusal(
      number,
      `has more than ${formatCount(MAX_LINE_BYTES)} bytes`,
      "less, because Linux limits arguments; put long data into files",
    );
  }

  #refusal(number: number, fact: string, expected: string): InputError {
    return new InputError(
      `Cannot use line ${formatCount(number)} of ${this.#what}: it ${fact}, expected ${expected}`,
    );
  }
}
