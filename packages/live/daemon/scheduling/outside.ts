/**
 * Gangs with processes that the policy does not know, because they are in no row until something happens:
 * they have lost a node, until they have ended, or they are paused and hold no processors, until they are
 * resumed.
 */
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import type { LiveMachine } from "./live-machine.ts";

export class Outside {
  readonly #machine: LiveMachine;
  /** They are in no row until they have ended, even if the node comes back. */
  readonly #incomplete = new Set<JobNumber>();
  /** The paused ones, and the memory that each keeps. */
  readonly #paused = new Map<JobNumber, { readonly record: JobRecord; readonly bytes: number }>();

  constructor(machine: LiveMachine) {
    this.#machine = machine;
  }

  /** Memory that paused gangs keep; under space sharing, the processors that they keep stand for it. */
  pausedBytes(isOwn: (record: JobRecord) => boolean): number {
    const own = [...this.#paused.values()].filter(({ record }) => isOwn(record));
    return own.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  has(job: JobNumber): boolean {
    return this.#incomplete.has(job) || this.#paused.has(job);
  }

  /** At an adoption, finds out which gangs are outside. @returns the others */
  takeFrom(records: Iterable<JobRecord>, choice: PolicyChoice): JobRecord[] {
    this.#paused.clear();
    return [...records].filter((record) => {
      const { job, memoryBytes = 0 } = record;
      if (this.#isIncomplete(record)) return false;
      if (record.state !== "paused" || this.#machine.heldProcessors(record, choice) > 0) return true;
      this.#paused.set(job, { record, bytes: choice.definition.sharing === "time" ? memoryBytes : 0 });
      return false;
    });
  }

  /**
   * A job has ended.
   * @returns undefined: it was inside. Else whether it held memory, for which others may wait
   */
  departed(job: JobNumber): { readonly heldMemory: boolean } | undefined {
    const { bytes = 0 } = this.#paused.get(job) ?? {};
    const wasOutside = this.has(job);
    this.#paused.delete(job);
    this.#incomplete.delete(job);
    return wasOutside ? { heldMemory: bytes > 0 } : undefined;
  }

  /** Whether a gang has lost CPUs and cannot get others. It ends when the executor says so. */
  #isIncomplete({ job, nodes }: JobRecord): boolean {
    // Nor can a part have it of which one node is in another one now.
    const hasLost = !this.#machine.movesGangs && !this.#machine.parts.some((part) => part.has(nodes));
    if (hasLost) this.#incomplete.add(job);
    return this.#incomplete.has(job);
  }
}
