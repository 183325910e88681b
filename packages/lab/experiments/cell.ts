/**
 * Defines the cell, the unit of an experiment, as plain data. Its result depends only on the cell and on the
 * jobs that its source names. Comparisons, audits, findings, golden schedules and papers are lists of cells;
 * kinds.ts lists the kinds of cells. Nothing here needs Node, so a web page can run cells (runner.ts), and so
 * can a worker thread.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Rules } from "@tutti/kernel/core/rules.ts";
import type { JobSource } from "./jobs.ts";

/** One policy on one machine: the fields that most kinds of cells share. */
export interface MachineCell {
  readonly source: JobSource;
  /** Size of the machine; undefined: the size that the source names. */
  readonly processors?: number | undefined;
  readonly rules: Rules;
  /** As on the command line: `easy:order=shortest`. */
  readonly policy: string;
  /** Time sharing only. */
  readonly slotS: number;
  readonly switchS: number;
}

/** Provides what a cell only names. */
export interface CellInputs {
  /**
   * The jobs, prepared for the machine, and the policy.
   * @throws InputError for a source, machine or policy that cannot be used
   */
  ready(cell: MachineCell): Promise<{ readonly instance: Instance; readonly choice: PolicyChoice }>;
  /**
   * Makes the value of a key. Only the last value is kept, so that adjacent cells with the same jobs make it
   * once.
   */
  once<Made>(key: object, make: () => Made): Made;
  /** Called occasionally during a simulation, with the number of jobs that have arrived. */
  progress?: ((arrived: number, of: number) => void) | undefined;
}

/**
 * The canonical text of plain data: JSON without spaces, members sorted by the code units of their names,
 * undefined members left out, numbers as ECMAScript prints them.
 * @throws RangeError for a number that JSON cannot express
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
 * SHA-256 of a cell's canonical text in UTF-8, as 64 hexadecimal digits: the same on every machine and in
 * every later version. A trace and a policy's file count by their names; the workload's hash in the result
 * covers the content of the trace.
 */
export async function cellHash(cell: object): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonicalText(cell)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
