/** Matrices of a simulated conductor: staged, about to be in force, and in force. */
import type { ConductorMatrix, FromConductor, PlacedGang, ToTurning } from "@tutti/protocol/conductor.ts";

export class FakeRows {
  matrix: ConductorMatrix = { sequence: -1, slotMs: 100, mode: "gang", rows: [] };
  epochMs: number;
  #staged: ConductorMatrix | undefined;
  #turning: { readonly matrix: ConductorMatrix; readonly atSlot: number }[] = [];
  /** This node's monotonic clock. */
  readonly #nodeMs: () => number;

  constructor(nodeMs: () => number) {
    this.#nodeMs = nodeMs;
    this.epochMs = nodeMs();
  }

  /** The answer to a message, if it has one. */
  receive(message: Exclude<ToTurning, { type: "ping" | "grid" }>): FromConductor | undefined {
    this.settle();
    if (message.type === "stage") {
      this.#staged = message.matrix;
      return { type: "staged", sequence: message.matrix.sequence };
    }
    const { sequence } = message;
    const matrix = this.#staged?.sequence === sequence ? this.#staged : undefined;
    if (matrix !== undefined) this.#staged = undefined;
    if (message.type === "revoke") {
      this.#turning = this.#turning.filter((entry) => entry.matrix.sequence !== sequence);
      return undefined;
    }
    const { atSlot } = message;
    if (matrix === undefined || this.#slotOf(matrix) >= atSlot) {
      return { type: "refused", message: `Cannot turn matrix ${sequence} at slot ${atSlot}` };
    }
    this.#turning.push({ matrix, atSlot });
    return { type: "turning", sequence, atSlot };
  }

  /** The conductor is killed: what is not in force or about to be is gone. */
  die(): void {
    this.#staged = undefined;
  }

  get turning() {
    return this.#turning.map(({ matrix: { sequence }, atSlot }) => ({ sequence, atSlot }));
  }

  get slot(): number {
    return this.#slotOf(this.matrix);
  }

  /** Gangs of the row that has the slot now. */
  rowNow(): readonly PlacedGang[] {
    this.settle();
    const { rows, fromSlot = 0 } = this.matrix;
    const count = rows.length;
    return count === 0 ? [] : rows[(((this.slot - fromSlot) % count) + count) % count];
  }

  /** When the next slot begins, on the node's clock. */
  nextBoundaryMs(): number {
    const { slotMs } = this.#turning[0]?.matrix ?? this.matrix;
    return this.epochMs + (Math.floor((this.#nodeMs() - this.epochMs) / slotMs + 1e-9) + 1) * slotMs;
  }

  /** Uses the matrices whose slots have begun. */
  settle(): void {
    for (;;) {
      const [next] = this.#turning;
      if (next === undefined || this.#slotOf(next.matrix) < next.atSlot) return;
      this.#turning.shift();
      this.matrix = next.matrix;
    }
  }

  #slotOf({ slotMs }: ConductorMatrix): number {
    // A timer that fires at the boundary may be a rounding error before it.
    return Math.floor((this.#nodeMs() - this.epochMs) / slotMs + 1e-9);
  }
}
