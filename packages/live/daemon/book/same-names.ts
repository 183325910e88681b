/**
 * Finds the jobs that a singleton waits for: those of the same user with the same name and lower numbers that
 * have not ended.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { JobRecord } from "../contract/record.ts";
import { RisingNumbers } from "./rising-numbers.ts";

type Named = Pick<JobRecord, "job" | "uid" | "name">;

export class SameNames {
  /** Live jobs by user and name. Most have a name of their own, and then need no list. */
  readonly #jobs = new Map<string, JobNumber | RisingNumbers>();
  /** Jobs that became the first of their name since they were last taken. */
  #released: JobNumber[] = [];

  enter(record: Named): void {
    const key = keyOf(record);
    const known = this.#jobs.get(key);
    if (known === undefined) this.#jobs.set(key, record.job);
    else if (known instanceof RisingNumbers) known.add(record.job);
    else {
      const numbers = new RisingNumbers();
      numbers.add(Math.min(known, record.job));
      numbers.add(Math.max(known, record.job));
      this.#jobs.set(key, numbers);
    }
  }

  leave(record: Named): void {
    const key = keyOf(record);
    const known = this.#jobs.get(key);
    if (!(known instanceof RisingNumbers)) {
      this.#jobs.delete(key);
      return;
    }
    known.delete(record.job);
    const [first] = known.rising(1, Number.MAX_SAFE_INTEGER, 1);
    if (first === undefined) this.#jobs.delete(key);
    else if (first > record.job) this.#released.push(first);
  }

  /** Live jobs of the same user and name with lower numbers, at most `most`. */
  before(record: Named, most: number): JobNumber[] {
    const known = this.#jobs.get(keyOf(record));
    return known instanceof RisingNumbers ? known.rising(1, record.job - 1, most) : [];
  }

  /** All live jobs of a user and name, at most `most`. */
  all(named: Omit<Named, "job">, most: number): JobNumber[] {
    const known = this.#jobs.get(keyOf(named));
    if (known === undefined) return [];
    return known instanceof RisingNumbers ? known.rising(1, Number.MAX_SAFE_INTEGER, most) : [known];
  }

  /** The next live job of the same user and name. */
  after(record: Named): JobNumber | undefined {
    const known = this.#jobs.get(keyOf(record));
    return known instanceof RisingNumbers
      ? known.rising(record.job + 1, Number.MAX_SAFE_INTEGER, 1)[0]
      : undefined;
  }

  takeReleased(): JobNumber[] {
    return this.#released.splice(0);
  }
}

function keyOf({ uid, name }: Omit<Named, "job">): string {
  return `${uid} ${name}`;
}
