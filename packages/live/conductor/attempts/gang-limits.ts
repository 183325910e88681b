/**
 * Limits a gang's CPUs, its memory and the number of its processes. Control groups enforce these limits;
 * without control groups, Tutti pins the CPUs and watches the memory.
 */

import { kernelNumber } from "@tutti/host/machine.ts";
import { spawn } from "@tutti/host/ports/child-process.ts";
import { OWN_ENVIRONMENT } from "@tutti/host/surroundings.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { Containment } from "../freezers/open-containment.ts";
import { MemoryWatch } from "./memory-watch.ts";

export class GangLimits {
  readonly #containment: Containment;
  readonly #gang: string;
  readonly #memoryBytes: number | undefined;
  /** Undefined: a control group limits its memory, or it has no limit. */
  readonly #watch: MemoryWatch | undefined;
  #cpus: readonly number[] = [];
  /** Processes that `applyCpus` and `pinNew` have pinned. */
  #pinned: ReadonlySet<number> = new Set();

  constructor(containment: Containment, gang: string, { memoryBytes }: Pick<LaunchSpec, "memoryBytes">) {
    this.#containment = containment;
    this.#gang = gang;
    this.#memoryBytes = memoryBytes;
    const isWatched = memoryBytes !== undefined && containment.groups.of("memory") === undefined;
    this.#watch = isWatched ? new MemoryWatch(memoryBytes) : undefined;
  }

  get cpuCount(): number {
    return this.#cpus.length;
  }

  /** Sets the CPUs for `applyCpus`. @returns false if they are the same as before */
  setCpus(cpus: readonly number[]): boolean {
    if (cpus.join() === this.#cpus.join()) return false;
    this.#cpus = cpus;
    return true;
  }

  /** Limits memory and processes. The groups must exist. */
  apply(): void {
    const { groups } = this.#containment;
    // Half of the machine's limit, so that a fork bomb does not take the machine down.
    const maxProcesses = Math.min(...["pid_max", "threads-max"].map(kernelNumber)) / 2;
    groups.write("pids", this.#gang, "pids.max", String(Math.floor(maxProcesses)));
    const bytes = this.#memoryBytes;
    if (bytes === undefined) return;
    const limits =
      groups.of("memory")?.version === 1
        ? { "memory.limit_in_bytes": bytes, "memory.memsw.limit_in_bytes": bytes }
        : { "memory.max": bytes, "memory.swap.max": 0, "memory.oom.group": 1 };
    for (const [file, limit] of Object.entries(limits)) {
      groups.write("memory", this.#gang, file, String(limit));
    }
  }

  /** @param hasBegun whether processes run, which must be moved one by one if there is no cpuset */
  applyCpus(hasBegun: boolean): void {
    const { groups, freezer } = this.#containment;
    if (this.#cpus.length === 0) return;
    const list = this.#cpus.join(",");
    if (groups.of("cpuset") !== undefined) {
      if (groups.setCpus(this.#gang, list)) return;
      console.error(
        `Cannot pin job ${this.#gang} to CPUs ${list}: the kernel refused them, expected CPUs that are online`,
      );
    } else if (hasBegun) {
      const pids = freezer.pids(this.#gang);
      this.#pinned = new Set(pids);
      this.#pin(pids);
    }
  }

  /** Pins the processes that others have started for the gang since the last time. */
  pinNew(): void {
    if (this.#cpus.length === 0 || this.#containment.groups.of("cpuset") !== undefined) return;
    const pids = this.#containment.freezer.pids(this.#gang);
    const newOnes = pids.filter((pid) => !this.#pinned.has(pid));
    this.#pinned = new Set(pids);
    if (newOnes.length > 0) this.#pin(newOnes);
  }

  #pin(pids: readonly number[]): void {
    const script = 'list=$1; shift; for pid; do taskset -apc "$list" "$pid"; done';
    const options = { env: OWN_ENVIRONMENT, stdio: "ignore" } as const;
    const words = ["-c", script, "sh", this.#cpus.join(","), ...pids.map(String)];
    spawn("/bin/sh", words, options).on("error", () => {});
  }

  /** CPUs to which the job pins itself before it becomes the command; empty if a cpuset does that. */
  cpusForGate(): string {
    return this.#containment.groups.of("cpuset") === undefined ? this.#cpus.join(",") : "";
  }

  /** Whether its processes have more memory than they may, where no control group limits it. */
  isOverMemory(nowMs: number): boolean {
    return (this.#watch?.look(nowMs, () => this.#containment.freezer.pids(this.#gang)) ?? 0) > 1;
  }

  /** What its processes had at the last look, as a share of the limit; undefined: nobody looks. */
  get memoryShare(): number | undefined {
    return this.#watch?.share;
  }

  /** Whether the kernel has killed processes because the gang exceeded its memory limit. */
  get isOutOfMemory(): boolean {
    if (this.#memoryBytes === undefined) return false;
    const { groups } = this.#containment;
    const file = groups.of("memory")?.version === 1 ? "memory.oom_control" : "memory.events";
    const text = groups.read("memory", this.#gang, file) ?? "";
    return Number(/oom_kill (\d+)/.exec(text)?.[1] ?? 0) > 0;
  }
}
