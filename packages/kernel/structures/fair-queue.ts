/**
 * Serves users fairly (fair queueing by virtual time). Each user has a virtual time that grows with the cost
 * of the user's served items. The user with the smallest virtual time is next, and the items of one user are
 * served in order of arrival. A user who returns after a pause starts at the present virtual time at the
 * earliest: nobody saves up credit, but debts remain.
 *
 * The queue has no clock; the caller reports the cost of each item, in any unit. `take` is linear in the
 * waiting users.
 */
export class FairQueue<Item> {
  readonly #lines = new Map<number, Line<Item>>();
  /** Virtual time of the user who was served last. */
  #now = 0;
  #waiting = 0;

  /** Number of waiting items of all users. */
  get size(): number {
    return this.#waiting;
  }

  add(user: number, item: Item): void {
    const line = this.#lineOf(user);
    line.items.push(item);
    this.#waiting++;
  }

  /** The item that `take` would return. */
  peek(): Item | undefined {
    const user = this.#next();
    return user === undefined ? undefined : this.#lines.get(user)!.items[0];
  }

  /** Removes and returns the next item. Call `charge` with its cost before the next call. */
  take(): { readonly user: number; readonly item: Item } | undefined {
    const user = this.#next();
    if (user === undefined) return undefined;
    const line = this.#lines.get(user)!;
    this.#now = Math.max(this.#now, line.time);
    this.#waiting--;
    return { user, item: line.items.shift()! };
  }

  /** The user whose item is next. */
  #next(): number | undefined {
    let next: number | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [user, { items, time }] of this.#lines) {
      if (items.length > 0 && time < least) {
        next = user;
        least = time;
      } else if (items.length === 0 && time <= this.#now) this.#lines.delete(user);
    }
    return next;
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
