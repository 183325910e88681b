/**
 * STATE/numbers: how far the scheduler has come, beside the store, so that an older store is noticed and no number is given twice.
 *
 *   tutti numbers 1 reserved 0000000000001123 job 0000000000000120 event 0000000000004567 boot 0f1e…32 digits sum 89abcdef
 *
 * reserved   no number above this one was given out. Raised by a thousand and forced to disk before the cycle that would go beyond it is
 *            committed, so that few cycles pay for it; a front end that ends in order gives back what it has not used
 * job, event highest number of a job and of an event that were committed; written after the commit and before the answer, not forced to disk
 * boot       hash of the machine's start in which that was. In this start the file is as it was written, so no number above `job` was
 *            acknowledged. After another one `job` and `event` may lag behind the store, are never ahead of it, and `reserved` counts
 *
 * One line of fixed length, written over itself: no name changes and no length does, so that a forced write costs one write of the disk.
 */
import { createHash } from "node:crypto";
import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { syncPath } from "../../host/files.ts";
import type { JobNumber } from "../../protocol/attempts.ts";

export interface Numbers {
  readonly reserved: JobNumber;
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

const LINE =
  /^(tutti numbers 1 reserved (\d{16}) job (\d{16}) event (\d{16}) boot ([0-9a-f]{32})) sum ([0-9a-f]{8})\n$/;
const NONE: Numbers = { reserved: 0, job: 0, event: 0 };
const LENGTH = formatNumbers(NONE, bootDigits("")).length;
/** Numbers that are reserved at a time: so many may be passed over after a power failure. */
const RESERVE = 1000;

export class NumbersFile {
  /** What was there at the start; undefined when there was nothing that can be believed. */
  readonly found: (Numbers & { readonly boot: string }) | undefined;
  /** Why not. */
  readonly problem: "missing" | "damaged" | undefined;
  /** No number above this one was ever acknowledged, as far as the file tells. */
  readonly givenAtMost: JobNumber;
  readonly #file: LineFile;
  readonly #boot: string;
  #now: Numbers;

  /** @param bootId changes with every start of the machine */
  constructor(file: LineFile, bootId: string) {
    this.#file = file;
    this.#boot = bootDigits(bootId);
    const text = file.read();
    const found = text === undefined ? undefined : parseNumbers(text);
    this.found = found;
    this.problem = text === undefined ? "missing" : found === undefined ? "damaged" : undefined;
    this.#now = found ?? NONE;
    const isExact = found?.boot === this.#boot;
    this.givenAtMost = found === undefined ? 0 : isExact ? found.job : Math.max(found.job, found.reserved);
  }

  /** What this life goes on from; nothing in it may be lower than what was found. Forced to disk. */
  begin(numbers: Numbers): void {
    this.#write(numbers);
    this.#file.sync();
  }

  /** The numbers up to this one are to be given out. What is reserved is on disk when it returns. */
  give(job: JobNumber): void {
    if (job <= this.#now.reserved) return;
    this.begin({ ...this.#now, reserved: job + RESERVE });
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

  /** Gives back what was reserved and not used, and lets go of the file. */
  close(): void {
    try {
      if (this.#now.reserved > this.#now.job) this.begin({ ...this.#now, reserved: this.#now.job });
    } catch {
      // Then some numbers are passed over.
    }
    this.#file.close();
  }

  #write({ reserved, job, event }: Numbers): void {
    this.#now = { reserved, job, event };
    this.#file.write(formatNumbers(this.#now, this.#boot));
  }
}

export function formatNumbers({ reserved, job, event }: Numbers, boot: string): string {
  const [a, b, c] = [reserved, job, event].map((value) => String(value).padStart(16, "0"));
  const text = `tutti numbers 1 reserved ${a} job ${b} event ${c} boot ${boot}`;
  return `${text} sum ${sumOf(text)}\n`;
}

/** Undefined when the line is not whole. */
export function parseNumbers(line: string): (Numbers & { readonly boot: string }) | undefined {
  const [, text = "", reserved, job, event, boot = "", sum] = LINE.exec(line) ?? [];
  if (sum !== sumOf(text)) return undefined;
  return { reserved: Number(reserved), job: Number(job), event: Number(event), boot };
}

/** 32 digits, whatever the machine calls its start. */
export function bootDigits(bootId: string): string {
  return createHash("sha256").update(bootId).digest("hex").slice(0, 32);
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
    syncPath(dirname(path));
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
