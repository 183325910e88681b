/** Combines observers of a simulation. */
import type { Observer } from "@tutti/kernel/core/schedule.ts";

const EVENTS: Readonly<Record<keyof Observer, true>> = {
  arrived: true,
  departed: true,
  started: true,
  molded: true,
  suspended: true,
  resumed: true,
  promised: true,
  decided: true,
  placed: true,
  released: true,
  rowAdded: true,
  rowDeleted: true,
  exchanged: true,
  migrated: true,
};

/** Passes every event to two observers, to the first one first. */
export function bothObservers(a: Observer, b: Observer): Observer {
  const pass =
    (event: keyof Observer): Listener =>
    (...values) => {
      (a[event] as Listener | undefined)?.call(a, ...values);
      (b[event] as Listener | undefined)?.call(b, ...values);
    };
  const events = Object.keys(EVENTS) as (keyof Observer)[];
  return Object.fromEntries(events.map((event) => [event, pass(event)]));
}

type Listener = (...values: never[]) => void;

/** NumberList in one growing buffer. */
export class NumberList {
  length = 0;
  values: Float64Array = new Float64Array(1024);

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }
}

/** A set of jobs that is iterated often: the members are adjacent in an array, in no particular order. */
export class JobSet {
  size = 0;
  readonly members: Int32Array;
  readonly #position: Int32Array;

  /** @param count number of jobs */
  constructor(count: number) {
    this.members = new Int32Array(count);
    this.#position = new Int32Array(count).fill(-1);
  }

  has(job: number): boolean {
    return this.#position[job] >= 0;
  }

  add(job: number): void {
    this.#position[job] = this.size;
    this.members[this.size++] = job;
  }

  delete(job: number): void {
    const at = this.#position[job];
    const last = this.members[--this.size];
    this.members[at] = last;
    this.#position[last] = at;
    this.#position[job] = -1;
  }
}
