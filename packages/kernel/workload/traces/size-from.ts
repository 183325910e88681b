/**
 * Where in a line of a trace the size of its job is, if not where the format has it. Logs of today count
 * nodes, cores or hardware threads in the format's own fields, not always the same.
 */
import { InputError } from "../../core/errors.ts";
import { Field } from "./swf-fields.ts";

export interface SizePlace {
  /** In words, as results print it. */
  readonly rule: string;
  /** Whether sizes are nodes: then the machine has as many processors as the header has nodes. */
  readonly countsNodes: boolean;
  /** Position of the field, from 0. */
  readonly field: number;
  /** The number in the text of the field; NaN if there is none. */
  sizeIn(text: string): number;
}

/**
 * The log of Frontier of 2024 and 2025 (Maheshwari, Klusáček, Suter and Brewer, JSSPP 2026) as the loader
 * frontier_swf.py of ExaDigiT's RAPS describes it: 21 fields, of which the last is like
 * `frontier:excl:2500x112`, with the number of nodes in front of the x. The format's own fields of processors
 * count nodes in some lines and cores in others.
 */
const FRONTIER: SizePlace = {
  rule: "size=frontier: a job's size is its nodes, the number in front of the x in its 21st field (2500 in frontier:excl:2500x112)",
  countsNodes: true,
  field: 20,
  sizeIn: (text) => Number(/^[^:]+:[^:]+:(\d+)x\d+$/.exec(text)?.[1] ?? Number.NaN),
};

const WHOLE = /^\d+$/;
const LAST_FIELD = 1000;

/**
 * Reads `allocated`, `requested`, `frontier` or `field=N`.
 * @returns undefined for `allocated`, which is the rule of the format's readers
 * @throws InputError for anything else
 */
export function parseSizeFrom(text: string): SizePlace | undefined {
  if (text === "allocated") return undefined;
  if (text === "frontier") return FRONTIER;
  const field = text === "requested" ? Field.requested + 1 : Number(/^field=(\d{1,4})$/.exec(text)?.[1] ?? 0);
  if (!(field >= 1 && field <= LAST_FIELD)) {
    throw new InputError(
      `Cannot use "${text}" as the place of sizes: expected allocated, requested, frontier, or field=N with the number of a field from 1 to ${LAST_FIELD}`,
    );
  }
  return {
    rule: `size=${text}: a job's size is the number in field ${field} of its line`,
    countsNodes: false,
    field: field - 1,
    sizeIn: (found) => (WHOLE.test(found) ? Number(found) : Number.NaN),
  };
}
