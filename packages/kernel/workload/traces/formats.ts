/** Lists the formats of traces: how each is recognised by its first bytes, and read. See also writers.ts. */
import { InputError } from "../../core/errors.ts";
import type { Workload } from "../../core/jobs.ts";
import { otherFile } from "../other-files.ts";
import { BatsimReader } from "./batsim.ts";
import { JsonlReader } from "./jsonl.ts";
import { SacctReader } from "./sacct.ts";
import type { SizePlace } from "./size-from.ts";
import { SwfReader } from "./swf.ts";

/** Reads a trace piece by piece; pieces may be split anywhere. */
export interface TraceReader {
  /** Reads the next chunk and does not keep it. @throws InputError if the text is not of the format */
  push(chunk: Uint8Array): void;
  /** Ends the reading. @throws InputError if the text is not of the format */
  end(): Workload;
}

interface TraceFormat {
  /** As written on the command line. */
  readonly name: string;
  readonly title: string;
  /**
   * Whether a text with this beginning is of this format; the first format of the list that accepts it reads
   * it.
   * @param head the first FORMAT_HEAD_BYTES of the text, without a byte order mark
   */
  accepts(head: string): boolean;
  /**
   * @param name of the workload
   * @param bytes length of the text if known, a hint that saves memory; 0 if unknown
   * @param place where sizes are; only for formats with `hasSizePlaces`
   */
  open(name: string, bytes: number, place?: SizePlace): TraceReader;
  /** Whether the place of the sizes can be declared. */
  readonly hasSizePlaces?: boolean;
}

/** Bytes at the beginning of a text by which its format is recognised. */
export const FORMAT_HEAD_BYTES = 4096;

/** The last format accepts every text and reports line by line what is wrong with it. */
export const FORMATS: readonly TraceFormat[] = [
  {
    name: "jsonl",
    title: "Tutti workload file (JSON Lines)",
    accepts: (head) => /^\s*\{[^\n]*"schema"\s*:\s*"tutti\.workload-file\//.test(head),
    open: (name) => new JsonlReader(name),
  },
  {
    name: "batsim",
    title: "Batsim workload (JSON)",
    accepts: (head) => /^\s*\{/.test(head),
    open: (name) => new BatsimReader(name),
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
    open: (name, bytes, place) => new SwfReader(name, bytes, place),
    hasSizePlaces: true,
  },
];

/**
 * The format of a text, by its first FORMAT_HEAD_BYTES (or all bytes if there are fewer).
 * @param name of the file, for messages
 * @throws InputError if it is a file of a well-known kind that is not a trace
 */
export function detectFormat(head: Uint8Array, name = "the file"): TraceFormat {
  const first = head.subarray(0, FORMAT_HEAD_BYTES);
  const text = new TextDecoder().decode(first);
  const last = FORMATS[FORMATS.length - 1];
  const format = FORMATS.find((other) => other.accepts(text)) ?? last;
  const other = format === last ? otherFile(first) : undefined;
  if (other !== undefined) throw new InputError(`Cannot read "${name}": ${other}`);
  return format;
}
