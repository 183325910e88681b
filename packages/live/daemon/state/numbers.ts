/**
 * Keeps the highest numbers that the scheduler has given in STATE/numbers, a file next to the store. So an
 * older store is noticed, and no number is given twice. The file is one line, shown here as two:
 *
 *   tutti numbers 1 reserved 0000000000001123 job 0000000000000120 event 0000000000004567
 *     boot 0f1e…32 digits sum 89abcdef
 *
 * reserved   no number above this one was given. Raised by a thousand and synced before the commit of a cycle
 *            that would exceed it, so few cycles pay for it. A front end that ends properly returns
 *            unused numbers
 * job, event highest committed numbers of a job and of an event; written after the commit and before the
 *            answer, not synced
 * boot       hash of the boot id at that time. During this boot the file is exact: no number above `job` was
 *            confirmed. After a reboot, `job` and `event` may be behind the store, but never ahead of it, and
 *            `reserved` counts
 *
 * The line has a fixed length and is written in place. Neither the name nor the length of the file changes,
 * so syncing costs one disk write.
 */

import { syncPath } from "@tutti/host/files.ts";
import { createHash } from "@tutti/host/ports/crypto.ts";
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from "@tutti/host/ports/fs.ts";
import { dirname } from "@tutti/host/ports/path.ts";
import { crc32 } from "@tutti/host/ports/zlib.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";

export interface Numbers {
  readonly reserved: JobNumber;
  readonly job: JobNumber;
  readonly event: number;
}

/** Holds the line; tests pass a disk that forgets. */
export interface LineFile {
  /** Undefined: the file does not exist. */
  read(): string | undefined;
  write(line: string): void;
  /** Returns once the written line would survive a power failure. */
  sync(): void;
  close(): void;
}

const LINE =
  /^(tutti numbers 1 reserved (\d{16}) job (\d{16}) event (\d{16}) boot ([0-9a-f]{32})) sum ([0-9a-f]{8})\n$/;
const NONE: Numbers = { reserved: 0, job: 0, event: 0 };
const LENGTH = formatNumbers(NONE, bootDigits("")).length;
/** Numbers reserved at a time. At most this many are skipped after a power failure. */
const RESERVE = 1000;

export class NumbersFile {
  /** The numbers at the start; undefined if the file was missing or damaged. */
  readonly found: (Numbers & { readonly boot: string }) | undefined;
  /** Why `found` is undefined. */
  readonly problem: "missing" | "damaged" | undefined;
  /** According to the file, no number above this one was ever confirmed. */
  readonly givenAtMost: JobNumber;
  readonly #file: LineFile;
  readonly #boot: string;
  #now: Numbers;

  /** @param bootId changes with every boot of the machine */
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

  /** The numbers from which this front end continues; none may be lower than those found. Synced. */
  begin(numbers: Numbers): void {
    this.#write(numbers);
    this.#file.sync();
  }

  /** Call before numbers up to `job` are given. When it returns, they are reserved on disk. */
  give(job: JobNumber): void {
    if (job <= this.#now.reserved) return;
    this.begin({ ...this.#now, reserved: job + RESERVE });
  }

  /**
   * Notes the highest numbers after a commit. Not synced.
   * @param job undefined: no new jobs
   */
  committed(job: JobNumber | undefined, event: number): void {
    if (job === undefined && event === this.#now.event) return;
    this.#write({ ...this.#now, event, ...(job !== undefined && { job }) });
  }

  /** Creates the file again after it was removed. */
  recreate(): void {
    this.#file.close();
    this.begin(this.#now);
  }

  /** Returns reserved numbers that were not used, and closes the file. */
  close(): void {
    try {
      if (this.#now.reserved > this.#now.job) this.begin({ ...this.#now, reserved: this.#now.job });
    } catch {
      // If this fails, some numbers are skipped.
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

/** Undefined if the line is incomplete or its checksum is wrong. */
export function parseNumbers(line: string): (Numbers & { readonly boot: string }) | undefined {
  const [, text = "", reserved, job, event, boot = "", sum] = LINE.exec(line) ?? [];
  if (sum !== sumOf(text)) return undefined;
  return { reserved: Number(reserved), job: Number(job), event: Number(event), boot };
}

/** 32 digits, for boot ids of any form. */
export function bootDigits(bootId: string): string {
  return createHash("sha256").update(bootId).digest("hex").slice(0, 32);
}

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

/** The line in a file. The first write creates it, accessible only to its owner. */
export function lineFile(path: string): LineFile {
  let descriptor: number | undefined;
  const make = (): number => {
    const made = openSync(path, "w+", 0o600);
    // The file's name must survive a power failure, too.
    syncPath(dirname(path));
    return made;
  };
  return {
    read() {
      try {
        const bytes = readFileSync(path);
        descriptor = openSync(path, "r+");
        // Bytes after the line would never be overwritten.
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
