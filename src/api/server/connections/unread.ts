/**
 * Bytes of answers that are made and not yet read by their clients. They are memory of ours that others decide about, so each user may
 * have a bounded number of them, and all users together too. A user who has more is refused before work is done; one answer may exceed the bound.
 */
const MOST_OF_USER_BYTES = 8 * 2 ** 20;
const MOST_OF_ALL_BYTES = 64 * 2 ** 20;
/** What a user may have while all together have too many: small answers still come. */
const MOST_WHEN_CROWDED_BYTES = 256 * 2 ** 10;

export class Unread {
  readonly #bytes = new Map<number, number>();
  #total = 0;
  #wakers: (() => void)[] = [];

  /** Of all users. */
  get total(): number {
    return this.#total;
  }

  /** Counts bytes for a user; less than 0 when they have been read. */
  add(user: number, bytes: number): void {
    const left = (this.#bytes.get(user) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(user, left);
    else this.#bytes.delete(user);
    this.#total += bytes;
    if (bytes >= 0 || this.#wakers.length === 0) return;
    const wakers = this.#wakers;
    this.#wakers = [];
    for (const wake of wakers) wake();
  }

  isTooMuch(user: number): boolean {
    const most = this.#total > MOST_OF_ALL_BYTES ? MOST_WHEN_CROWDED_BYTES : MOST_OF_USER_BYTES;
    return (this.#bytes.get(user) ?? 0) > most;
  }

  /** Resolves when the user has read enough, or the client that waits has left. */
  async room(user: number, isGone: () => boolean): Promise<void> {
    while (this.isTooMuch(user) && !isGone()) {
      await new Promise<void>((wake) => this.#wakers.push(wake));
    }
  }
}
