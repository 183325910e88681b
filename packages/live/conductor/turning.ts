/**
 * Answers the messages by which a cluster's conductors turn the same rows at the same slots: their clocks
 * are measured and given a common grid of slots, and a new matrix is staged and taken into use at a slot on
 * which all have agreed (matrices.ts).
 */
import { monotonicMs } from "@tutti/host/clock.ts";
import type { ConductorMatrix, FromConductor, ToTurning } from "@tutti/protocol/conductor.ts";
import type { SlotClock } from "./clock.ts";
import type { Matrices } from "./matrices.ts";

interface TurningOptions {
  readonly matrices: Matrices;
  readonly clock: SlotClock;
  readonly emit: (message: FromConductor) => void;
  /** Why a valid matrix cannot be used on this machine. */
  readonly problemOf: (matrix: ConductorMatrix) => string | undefined;
  /** Another matrix is in force. */
  readonly onMatrix: () => void;
  /** Another row may have the slot. */
  readonly onGrid: () => void;
  /** When the node is taken away; undefined: it stays. */
  readonly onStopAt: (stopAtMs: number | undefined) => void;
  /** Writes the state to disk before it returns, as far as the disk allows it. */
  readonly save: () => void;
}

export class Turning {
  readonly #options: TurningOptions;

  constructor(options: TurningOptions) {
    this.#options = options;
  }

  get agreed(): readonly { readonly sequence: number; readonly atSlot: number }[] {
    const { turning } = this.#options.matrices;
    return turning.map(({ matrix: { sequence }, atSlot }) => ({ sequence, atSlot }));
  }

  receive(message: ToTurning): void {
    const { emit, matrices } = this.#options;
    if (message.type === "ping") emit({ type: "pong", id: message.id, nowMs: monotonicMs() });
    else if (message.type === "grid") this.#moveGrid(message);
    else {
      this.settle();
      if (message.type === "stage") this.#stage(message.matrix);
      else if (message.type === "turn") this.#turn(message.sequence, message.atSlot);
      else if (matrices.revoke(message.sequence)) this.#options.save();
      else if (matrices.inForce.sequence === message.sequence) {
        this.#refuse(`Cannot revoke matrix ${message.sequence}: it is in force, because its slot has begun`);
      }
      this.settle();
    }
  }

  /** Takes the matrix into force whose slot has begun. */
  settle(): void {
    const { matrices, clock, onMatrix } = this.#options;
    const matrix = matrices.settle((slotMs) => clock.slot(slotMs));
    if (matrix !== undefined && matrix.slotMs !== clock.slotMs) clock.setSlot(matrix.slotMs);
    clock.changeSlot(this.#lengthChange());
    if (matrix !== undefined) onMatrix();
  }

  #moveGrid({ epochMs, stopAtMs }: Extract<ToTurning, { type: "grid" }>): void {
    const { clock, onGrid, onStopAt } = this.#options;
    onStopAt(stopAtMs);
    if (clock.moveEpoch(epochMs)) onGrid();
    this.#options.save();
  }

  #stage(matrix: ConductorMatrix): void {
    const { matrices, problemOf, emit } = this.#options;
    const problem = problemOf(matrix) ?? matrices.stage(matrix);
    if (problem === undefined) emit({ type: "staged", sequence: matrix.sequence });
    else this.#refuse(`Cannot keep matrix ${matrix.sequence}: ${problem}`);
  }

  #turn(sequence: number, atSlot: number): void {
    const { matrices, clock, emit } = this.#options;
    const problem = matrices.turn(sequence, atSlot, (slotMs) => clock.slot(slotMs));
    if (problem !== undefined) {
      this.#refuse(`Cannot use matrix ${sequence} from slot ${atSlot} on: ${problem}`);
      return;
    }
    // The other conductors rely on the answer, also if this one is killed right afterwards.
    this.#options.save();
    emit({ type: "turning", sequence, atSlot });
  }

  /** The next matrix with slots of another length. */
  #lengthChange(): { readonly slotMs: number; readonly atSlot: number } | undefined {
    const { matrices, clock } = this.#options;
    const next = matrices.turning.find(({ matrix }) => matrix.slotMs !== clock.slotMs);
    return next && { slotMs: next.matrix.slotMs, atSlot: next.atSlot };
  }

  #refuse(message: string): void {
    this.#options.emit({ type: "refused", message });
  }
}
