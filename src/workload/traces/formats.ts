/** Formats of traces: how each is told by its first bytes, read and written. This list is the only one. */
import type { Workload } from "../../core/jobs.ts";
import { BatsimReader, writeBatsim } from "./batsim.ts";
import { SacctReader } from "./sacct.ts";
import { SwfReader } from "./swf.ts";
import { writeSwf } from "./swf-writer.ts";

/** Reads a trace piece by piece; pieces may be split anywhere. */
export interface TraceReader {
  /** Reads on; the chunk is not kept. @throws InputError when the text is not of the format */
  push(chunk: Uint8Array): void;
  /** Ends the reading. @throws InputError when the text is not of the format */
  end(): Workload;
}

interface TraceFormat {
  /** As written on the command line. */
  readonly name: string;
  readonly title: string;
  /**
   * Whether a text that begins so is of this format; formats are asked in the order of the list.
   * @param head the text up to FORMAT_HEAD_BYTES, without a byte order mark
   */
  accepts(head: string): boolean;
  /**
   * @param name of the workload
   * @param bytes length of the text where known, a hint that saves memory; 0 where not
   */
  open(name: string, bytes: number): TraceReader;
  /** The jobs as text in pieces; undefined for formats that are only read. */
  readonly write?: (workload: Workload) => Iterable<string>;
}

/** Bytes at the beginning that tell the format. */
export const FORMAT_HEAD_BYTES = 4096;

/** The last one takes everything that no other takes, and says what is wrong with it line by line. */
export const FORMATS: readonly TraceFormat[] = [
  {
    name: "batsim",
    title: "Batsim workload (JSON)",
    accepts: (head) => /^\s*\{/.test(head),
    open: (name) => new BatsimReader(name),
    write: writeBatsim,
  },
  {
    name: "sacct",
    title: "Slurm accounting (sacct --parsable2)",
    accepts: (head) =>
      /^\s*([^\n]*\|)?JobID(Raw)?\s*(\||[\r\n]|$)/i.test(head) && /^[^\n]*\|/.test(head.trimStart()),
    open: (name) => new SacctReader(name),
  },
  {
    name: "swf",
    title: "Standard Workload Format 2.2",
    accepts: () => true,
    open: (name, bytes) => new SwfReader(name, bytes),
    write: writeSwf,
  },
];

/** The format of a text by its first bytes (FORMAT_HEAD_BYTES of them, or all where there are less). */
export function detectFormat(head: Uint8Array): TraceFormat {
  const text = new TextDecoder().decode(head.subarray(0, FORMAT_HEAD_BYTES));
  return FORMATS.find((format) => format.accepts(text)) ?? FORMATS[FORMATS.length - 1];
}
