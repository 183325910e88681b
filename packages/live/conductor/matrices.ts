/**
 * Keeps the matrix in force and those that replace it at an agreed slot, so that all conductors of a
 * cluster change in the same slot:
 *
 *   stage ──▶ staged ── turn at slot k ──▶ turning ── slot k begins ──▶ in force
 *               └──── revoke ────▶ dropped ◀─ revoke ──┘
 *
 * Sequence numbers only grow: of several matrices whose slot has begun, the highest is in force. Slot k is
 * counted in slots of the matrix that takes over there.
 */
import type { ConductorMatrix } from "@tutti/protocol/conductor.ts";

/** A matrix that is in force from the beginning of slot `atSlot` on. */
export interface TurningMatrix {
  readonly matrix: ConductorMatrix;
  readonly atSlot: number;
}

/** The present slot, if slots have this length in ms. */
type SlotNow = (slotMs: number) => number;

export class Matrices {
  #inForce: ConductorMatrix;
  #staged: ConductorMatrix | undefined;
  /** By sequence, ascending. */
  #turning: readonly TurningMatrix[] = [];

  constructor(first: ConductorMatrix) {
    this.#inForce = first;
  }

  get inForce(): ConductorMatrix {
    return this.#inForce;
  }

  get turning(): readonly TurningMatrix[] {
    return this.#turning;
  }

  /** The matrix is in force at once, and older ones never will be. */
  use(matrix: ConductorMatrix, turning: readonly TurningMatrix[] = []): void {
    this.#inForce = matrix;
    this.#turning = [...this.#turning, ...turning].filter((later) => isAfter(later.matrix, matrix));
    if (this.#staged !== undefined && !isAfter(this.#staged, matrix)) this.#staged = undefined;
  }

  /** Keeps a matrix instead of the one that was kept. @returns why it does not */
  stage(matrix: ConductorMatrix): string | undefined {
    const { sequence } = this.#turning.at(-1)?.matrix ?? this.#inForce;
    if (matrix.sequence <= sequence) return `matrix ${sequence} came before it, expected a higher number`;
    this.#staged = matrix;
    return undefined;
  }

  /** Takes the staged matrix into use from a slot on; may be repeated. @returns why it does not */
  turn(sequence: number, atSlot: number, slotNow: SlotNow): string | undefined {
    const known = this.#turning.find(({ matrix }) => matrix.sequence === sequence);
    if (known?.atSlot === atSlot) return undefined;
    const matrix = known?.matrix ?? this.#staged;
    if (matrix?.sequence !== sequence) return "it was not staged, or it was revoked";
    const now = slotNow(matrix.slotMs);
    if (now >= atSlot) return `slot ${atSlot} has begun (this is slot ${now}), expected a later one`;
    const others = this.#turning.filter((turning) => turning !== known);
    this.#turning = [...others, { matrix, atSlot }].sort((a, b) => a.matrix.sequence - b.matrix.sequence);
    if (known === undefined) this.#staged = undefined;
    return undefined;
  }

  /** Drops a matrix that is not in force yet. @returns whether there was one */
  revoke(sequence: number): boolean {
    const wasStaged = this.#staged?.sequence === sequence;
    if (wasStaged) this.#staged = undefined;
    const left = this.#turning.filter(({ matrix }) => matrix.sequence !== sequence);
    const was = wasStaged || left.length < this.#turning.length;
    this.#turning = left;
    return was;
  }

  /** Takes the matrices into force whose slot has begun. @returns the new matrix in force, if it changed */
  settle(slotNow: SlotNow): ConductorMatrix | undefined {
    const due = this.#turning.findLast(({ matrix, atSlot }) => slotNow(matrix.slotMs) >= atSlot);
    if (due === undefined) return undefined;
    this.use(due.matrix);
    return due.matrix;
  }
}

function isAfter(one: ConductorMatrix, other: ConductorMatrix): boolean {
  return one.sequence > other.sequence;
}
