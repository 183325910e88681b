/**
 * Who is served next, when all want the same thing: users take turns by what they have cost. Each user has a virtual time that grows
 * with the cost of what was done for the user, and the one whose time is least is next; within a user the order is that of arrival.
 * A user who comes back after a pause begins at the present virtual time, so nobody saves up credit, and debts are kept.
 *
 * The queue knows no clock: the caller says what something has cost, in any unit. `take` looks at each user that waits.
 */
export class FairQueue<Item> {
  readonly #lines = new Map<number, Line<Item>>();
  /** Virtual time of the user that was served last. */
  #now = 0;
  #waiting = 0;

  /** Items that wait, of all users. */
  get size(): number {
    return this.#waiting;
  }

  add(user: number, item: Item): void {
    const line = this.#lineOf(user);
    line.items.push(item);
    this.#waiting++;
  }

  /** Takes the next item out; tell its cost with `charge` before the next call. */
  take(): { readonly user: number; readonly item: Item } | undefined {
    let next: number | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [user, { items, time }] of this.#lines) {
      if (items.length > 0 && time < least) {
        next = user;
        least = time;
      } else if (items.length === 0 && time <= this.#now) this.#lines.delete(user);
    }
    if (next === undefined) return undefined;
    this.#now = Math.max(this.#now, least);
    this.#waiting--;
    return { user: next, item: this.#lines.get(next)!.items.shift()! };
  }

  charge(user: number, cost: number): void {
    this.#lineOf(user).time += cost;
  }

  #lineOf(user: number): Line<Item> {
    const line = this.#lines.get(user) ?? { time: this.#now, items: [] };
    if (line.items.length === 0) line.time = Math.max(line.time, this.#now);
    this.#lines.set(user, line);
    return line;
  }
}

interface Line<Item> {
  time: number;
  readonly items: Item[];
}
