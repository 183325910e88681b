/**
 * The cell: one pure unit of experiment, as plain data. What it gives is a function of what stands in it and of the jobs that its source
 * names, of nothing else. Comparisons, audits, findings, golden schedules and papers are lists of cells, and the kinds of cells are listed in
 * kinds.ts. Nothing of this touches Node, so that a page can run cells (runner.ts) as well as a worker thread.
 */
import type { Instance } from "../../core/jobs.ts";
import type { PolicyChoice } from "../../core/policy.ts";
import type { Rules } from "../../core/rules.ts";
import type { JobSource } from "./jobs.ts";

/** One policy on one machine: what the cells of most kinds share. */
export interface MachineCell {
  readonly source: JobSource;
  /** Size of the machine; without it the one that the source names. */
  readonly processors?: number | undefined;
  readonly rules: Rules;
  /** As on the command line: `easy:order=shortest`. */
  readonly policy: string;
  /** Time sharing only. */
  readonly slotS: number;
  readonly switchS: number;
}

/** Where a cell gets what it only names. */
export interface CellInputs {
  /**
   * The jobs made ready for the machine, and the policy.
   * @throws InputError for a source, machine or policy that cannot be used
   */
  ready(cell: MachineCell): Promise<{ readonly instance: Instance; readonly choice: PolicyChoice }>;
  /** What the key stands for; the last one is kept, so that cells of the same jobs make them once. */
  once<Made>(key: object, make: () => Made): Made;
  /** Called now and then during a simulation with the number of jobs that have arrived. */
  progress?: ((arrived: number, of: number) => void) | undefined;
}

/**
 * The one text of plain data: JSON without spaces, members in the order of their names' code units, those that are undefined left out,
 * numbers as ECMAScript prints them.
 * @throws RangeError for a number that JSON has no word for
 */
export function canonicalText(value: unknown): string {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`Cannot write ${value} into a cell: expected a finite number`);
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`);
  return `{${members.join(",")}}`;
}

/**
 * SHA-256 of a cell's canonical text in UTF-8, 64 hexadecimal digits: the same on every machine and in every later version. A trace and a
 * policy's file count by their names; what stood in the trace is told by the workload's hash in the result.
 */
export async function cellHash(cell: object): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonicalText(cell)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
