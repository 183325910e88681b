/** Records who had which units when, for pictures. */
import type { Gang, PhasesInstance, PhasesObserver, Turn, Unit } from "./contract.ts";

/** One turn; times in ms, NaN for what has not come. */
export interface RecordedTurnBox {
  readonly gang: Gang;
  readonly units: readonly Unit[];
  readonly wantedMs: number;
  readonly gotMs: number;
  beganMs: number;
  yieldedMs: number;
  /** When another gang could have the units: they were saved, or the gang itself got them again. */
  freedMs: number;
}

export class PhasesRecorder implements PhasesObserver {
  /** In the order in which they got their units. */
  readonly boxes: RecordedTurnBox[] = [];
  readonly #gangOf: Gang[] = [];
  readonly #wantedMs = new Map<Turn, number>();
  readonly #boxOf = new Map<Turn, RecordedTurnBox>();

  constructor({ gangs, firstTurn }: PhasesInstance) {
    for (const gang of gangs.keys())
      for (let turn = firstTurn[gang]; turn < firstTurn[gang + 1]; turn++) this.#gangOf.push(gang);
  }

  wanted(timeMs: number, turn: Turn): void {
    this.#wantedMs.set(turn, timeMs);
  }

  got(timeMs: number, turn: Turn, units: readonly Unit[]): void {
    const before = this.#boxOf.get(turn - 1);
    if (before !== undefined && Number.isNaN(before.freedMs)) before.freedMs = timeMs;
    const box = {
      ...{ gang: this.#gangOf[turn], units, wantedMs: this.#wantedMs.get(turn)!, gotMs: timeMs },
      ...{ beganMs: Number.NaN, yieldedMs: Number.NaN, freedMs: Number.NaN },
    };
    this.boxes.push(box);
    this.#boxOf.set(turn, box);
  }

  began(timeMs: number, turn: Turn): void {
    this.#boxOf.get(turn)!.beganMs = timeMs;
  }

  yielded(timeMs: number, turn: Turn): void {
    this.#boxOf.get(turn)!.yieldedMs = timeMs;
  }

  freed(timeMs: number, turn: Turn): void {
    const box = this.#boxOf.get(turn)!;
    if (Number.isNaN(box.freedMs)) box.freedMs = timeMs;
  }
}
