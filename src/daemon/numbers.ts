/**
 * STATE/numbers: how far the scheduler has come, beside the store, so that an older store is noticed and no number is given twice.
 *
 *   tutti numbers 1 given 0000000000000123 job 0000000000000120 event 0000000000004567 sum 89abcdef
 *
 * given      highest number of a job that was given out; on disk before the turn that gives it is committed
 * job, event highest number of a job and of an event that were committed; written after the commit and not forced to disk, so that after a
 *            power failure they may lag behind the store, but are never ahead of it
 *
 * One line of fixed length, written over itself: no name changes and no length does, so that a forced write costs one write of the disk.
 */
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import type { JobNumber } from "./protocol.ts";

export interface Numbers {
  readonly given: JobNumber;
  readonly job: JobNumber;
  readonly event: number;
}

/** Where the line is; a test puts a disk there that forgets. */
export interface LineFile {
  /** Undefined: there is no such file. */
  read(): string | undefined;
  write(line: string): void;
  /** Returns when what was written survives a power failure. */
  sync(): void;
  close(): void;
}

const LINE = /^(tutti numbers 1 given (\d{16}) job (\d{16}) event (\d{16})) sum ([0-9a-f]{8})\n$/;
const NONE: Numbers = { given: 0, job: 0, event: 0 };
const LENGTH = formatNumbers(NONE).length;

export class NumbersFile {
  /** What was there at the start; undefined when there was nothing that can be believed. */
  readonly found: Numbers | undefined;
  /** Why not. */
  readonly problem: "missing" | "damaged" | undefined;
  readonly #file: LineFile;
  #now: Numbers;

  constructor(file: LineFile) {
    this.#file = file;
    const text = file.read();
    this.found = text === undefined ? undefined : parseNumbers(text);
    this.problem = text === undefined ? "missing" : this.found === undefined ? "damaged" : undefined;
    this.#now = this.found ?? NONE;
  }

  /** What this life goes on from; nothing in it may be lower than what was found. Forced to disk. */
  begin(numbers: Numbers): void {
    this.#write(numbers);
    this.#file.sync();
  }

  /** The numbers up to this one are to be given out. Forced to disk when it returns. */
  give(job: JobNumber): void {
    if (job <= this.#now.given) return;
    this.#write({ ...this.#now, given: job });
    this.#file.sync();
  }

  /**
   * The store holds events up to this one, and jobs. Not forced to disk.
   * @param job undefined: no more than before
   */
  committed(job: JobNumber | undefined, event: number): void {
    if (job === undefined && event === this.#now.event) return;
    this.#write({ ...this.#now, event, ...(job !== undefined && { job }) });
  }

  /** Makes the file once more, after it was removed. */
  again(): void {
    this.#file.close();
    this.begin(this.#now);
  }

  close(): void {
    this.#file.close();
  }

  #write(numbers: Numbers): void {
    this.#file.write(formatNumbers(numbers));
    this.#now = numbers;
  }
}

export function formatNumbers({ given, job, event }: Numbers): string {
  const [a, b, c] = [given, job, event].map((value) => String(value).padStart(16, "0"));
  const text = `tutti numbers 1 given ${a} job ${b} event ${c}`;
  return `${text} sum ${sumOf(text)}\n`;
}

/** Undefined when the line is not whole. */
export function parseNumbers(line: string): Numbers | undefined {
  const [, text = "", given, job, event, sum] = LINE.exec(line) ?? [];
  if (sum !== sumOf(text)) return undefined;
  return { given: Number(given), job: Number(job), event: Number(event) };
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

/** The line in a file, which is made, for its owner alone, by the first write. */
export function lineFile(path: string): LineFile {
  let descriptor: number | undefined;
  const make = (): number => {
    const made = openSync(path, "w+", 0o600);
    // Its name too must survive a power failure.
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
    return made;
  };
  return {
    read() {
      try {
        const bytes = readFileSync(path);
        descriptor = openSync(path, "r+");
        // What stands behind the line would stay there.
        if (bytes.length > LENGTH) ftruncateSync(descriptor, LENGTH);
        return bytes.toString("latin1");
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    write(line) {
      descriptor ??= make();
      writeSync(descriptor, line, 0, "latin1");
    },
    sync() {
      if (descriptor !== undefined) fdatasyncSync(descriptor);
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}
