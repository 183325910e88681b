/**
 * Decides which gangs run now. At the beginning of each slot, the gangs outside the slot's row are stopped,
 * and then the gangs in the row are continued.
 *
 *   slot k:  row = (k − fromSlot) mod rows      gang:        stop others, continue row
 *                                               concurrent:  others get low priority, continue all
 *
 * A kept attempt (a stray, which is not in the matrix) runs in every slot. A closed gang does not run.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { allowedCpus, onlineCpus } from "@tutti/host/machine.ts";
import { gangName } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix, PlacedGang } from "@tutti/protocol/conductor.ts";
import type { GangPart, Machine } from "./attempts/gang-part.ts";
import { rowOnTurn, strictRowOnTurn } from "./clock.ts";
import { Matrices } from "./matrices.ts";

const AGAIN_MS = 5;

export const EMPTY_MATRIX: ConductorMatrix = { sequence: -1, slotMs: 100, mode: "gang", rows: [] };

interface RoundRobinOptions {
  readonly machine: Machine;
  readonly attempts: ReadonlyMap<string, GangPart>;
  /** Whether a gang that has no attempt yet is about to be launched. */
  readonly awaitsLaunch: (gang: string) => boolean;
  /** The present slot. May replace the matrix, if another one is in force from this slot on. */
  readonly slot: () => number;
  /**
   * Whether it is one of several conductors that turn the same rows. Their matrices may name CPUs that this
   * machine does not have, as a test cluster declares them; gangs on these are not pinned.
   */
  readonly cluster: boolean;
}

export class RoundRobin {
  readonly matrices = new Matrices(EMPTY_MATRIX);
  readonly #options: RoundRobinOptions;
  #again: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: RoundRobinOptions) {
    this.#options = options;
  }

  get matrix(): ConductorMatrix {
    return this.matrices.inForce;
  }

  /**
   * Whether the matrix newly asks for mode concurrent, which does not work here, so that its gangs are
   * stopped.
   */
  lacksWeights(matrix: ConductorMatrix): boolean {
    const isNew = matrix.mode === "concurrent" && this.matrix.mode === "gang";
    return isNew && !this.#options.machine.shares.canWeigh;
  }

  /** Why a valid matrix cannot be used on this machine; undefined if it can. */
  missingCpu(matrix: ConductorMatrix): string | undefined {
    if (this.#options.cluster) return undefined;
    const online = onlineCpus();
    for (const { job, cpus } of matrix.rows.flat()) {
      const missing = cpus.find((cpu) => !online.has(cpu));
      if (missing !== undefined) {
        return `job ${job} has CPU ${missing}, which is not online on this machine`;
      }
    }
    return undefined;
  }

  /**
   * Pins the gangs, and marks the paused ones before they are stopped, so that the guardian leaves them.
   * @param isSaved The matrix is the one that the last conductor has saved. It may be older than the marks of
   *   that conductor. So gangs with a mark stay paused until the front end sends its matrix.
   */
  followMatrix(isSaved = false): void {
    const { attempts, cluster, machine } = this.#options;
    const { paused } = machine.containment;
    const gangs = new Set(this.matrix.paused?.map(gangName));
    if (isSaved) paused.add(gangs);
    else paused.set(gangs);
    const allowed = cluster ? new Set(allowedCpus()) : undefined;
    for (const gang of this.matrix.rows.flat()) {
      if (allowed !== undefined && !gang.cpus.every((cpu) => allowed.has(cpu))) continue;
      attempts.get(gangName(gang))?.pin(gang.cpus);
    }
  }

  /** Stops and continues gangs according to the row that has the slot now. May be called at any time. */
  turn(nowMs: number): void {
    if (this.#closed) return;
    const on = new Set(this.#rowNow().map(gangName));
    const { machine, attempts } = this.#options;
    const { containment, shares } = machine;
    const isConcurrent = this.matrix.mode === "concurrent" && shares.canWeigh;
    const behind = isConcurrent ? new Set(this.matrix.rows.flat().map(gangName)) : undefined;
    const toFreeze: GangPart[] = [];
    for (const attempt of attempts.values()) {
      if (attempt.isOver) continue;
      attempt.slotEnds(nowMs);
      if (attempt.kept) on.add(attempt.name);
      if (!attempt.turns || on.has(attempt.name)) continue;
      if (behind?.has(attempt.name) && shares.weigh(attempt.name, true)) {
        if (attempt.frozen) attempt.thaw();
      } else if (!attempt.frozen || containment.freezer.kind === "signals") toFreeze.push(attempt);
    }
    if (!containment.freezer.freeze(...toFreeze.map(({ name }) => name))) this.#turnAgainSoon();
    for (const attempt of toFreeze) attempt.frozen = true;
    for (const name of on) {
      const attempt = attempts.get(name);
      if (attempt === undefined || attempt.isOver || attempt.phase === "stopping") continue;
      if (attempt.begun) {
        shares.weigh(name, false);
        if (attempt.frozen) attempt.thaw();
      }
      attempt.slotBegins(nowMs);
    }
  }

  /** The guardian has continued all gangs and given them equal weights. */
  takeAgain(): void {
    if (this.#closed) return;
    for (const attempt of this.#options.attempts.values()) attempt.frozen = false;
    this.#options.machine.shares.forgetWeights();
    this.turn(monotonicMs());
  }

  /** Ends the turns: gangs are no longer stopped. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#again);
  }

  #rowNow(): readonly PlacedGang[] {
    const { attempts, awaitsLaunch, machine, slot } = this.#options;
    const { paused } = machine.containment;
    const now = slot();
    const { rows, strict, fromSlot = 0 } = this.matrix;
    const isLeft = (gang: PlacedGang) => {
      const name = gangName(gang);
      if (gang.closed || paused.has(name)) return false;
      const attempt = attempts.get(name);
      return attempt === undefined ? awaitsLaunch(name) : !attempt.isOver && !attempt.kept;
    };
    const row = strict ? strictRowOnTurn(rows, now - fromSlot) : rowOnTurn(rows, now - fromSlot, isLeft);
    return row.filter((gang) => !gang.closed && !paused.has(gangName(gang)));
  }

  /**
   * Processes that cannot stop before the conductor sleeps may have started other processes. At most once
   * per boundary.
   */
  #turnAgainSoon(): void {
    this.#again ??= setTimeout(() => {
      this.turn(monotonicMs());
      this.#again = undefined;
    }, AGAIN_MS);
  }
}
