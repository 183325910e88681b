/** What policies of phases have in common that admit gangs in the order in which they came. */
import type { Gang, PhasesGangsView, PhasesMachine, PhasesPolicy, Turn } from "../contract.ts";

export abstract class AdmittingPolicy implements PhasesPolicy {
  protected readonly machine: PhasesMachine;
  protected readonly gangs: PhasesGangsView;
  /** Those that wait, from an index on: others have been admitted. */
  #waiting: Gang[] = [];
  #first = 0;
  /** Whether anything has come or gone since the last time; otherwise nothing new can be admitted. */
  #hasChanged = false;

  constructor(machine: PhasesMachine, gangs: PhasesGangsView) {
    this.machine = machine;
    this.gangs = gangs;
  }

  /** Where the gang may be resident now, as it will be admitted there; undefined if nowhere. */
  protected abstract homeFor(gang: Gang): readonly number[] | undefined;

  /** Gangs that have a queue in common are admitted in order. */
  protected queuesOf(_gang: Gang): readonly number[] {
    return [0];
  }

  /** How many queues there are: once all have a gang that must wait, nobody else needs to be looked at. */
  protected queueCount = 1;

  abstract wanted(turn: Turn): void;
  abstract decide(): void;

  arrived(gang: Gang): void {
    this.#waiting.push(gang);
    this.#hasChanged = true;
  }

  left(_gang: Gang): void {
    this.#hasChanged = true;
  }

  admit(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const blocked = new Set<number>();
    const kept: Gang[] = [];
    let next = this.#first;
    for (; next < this.#waiting.length && blocked.size < this.queueCount; next++) {
      const gang = this.#waiting[next];
      const queues = this.queuesOf(gang);
      const home = queues.some((queue) => blocked.has(queue)) ? undefined : this.homeFor(gang);
      if (home !== undefined) {
        this.machine.admit(gang, home);
        continue;
      }
      for (const queue of queues) blocked.add(queue);
      kept.push(gang);
    }
    this.#first = next - kept.length;
    for (const [i, gang] of kept.entries()) this.#waiting[this.#first + i] = gang;
    if (this.#first < this.#waiting.length / 2) return;
    this.#waiting = this.#waiting.slice(this.#first);
    this.#first = 0;
  }
}
