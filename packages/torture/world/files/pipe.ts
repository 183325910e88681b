/** A pipe, with or without a name: a buffer of 64 KiB, and who waits for it. */

const CAPACITY = 65_536;
/** Writes up to this length are not divided. */
const ATOMIC = 4096;
const FIRST_SIZE = 512;

export class Pipe {
  /** Open files that can read, and that can write. */
  readers = 0;
  writers = 0;
  #ring = new Uint8Array(FIRST_SIZE);
  #start = 0;
  #length = 0;
  readonly #readable = new Set<() => void>();
  readonly #writable = new Set<() => void>();

  get canRead(): boolean {
    return this.#length > 0 || this.writers === 0;
  }

  get canWrite(): boolean {
    return this.#length <= CAPACITY - ATOMIC || this.readers === 0;
  }

  /** @returns bytes read, 0 at the end, −1 if it would have to wait */
  read(into: Uint8Array): number {
    const count = Math.min(into.length, this.#length);
    if (count === 0) return this.writers === 0 || into.length === 0 ? 0 : -1;
    const ring = this.#ring;
    for (let i = 0, at = this.#start; i < count; i++) {
      into[i] = ring[at];
      if (++at === ring.length) at = 0;
    }
    this.#start = (this.#start + count) % ring.length;
    this.#length -= count;
    if (this.#writable.size > 0 && this.canWrite) wake(this.#writable);
    return count;
  }

  /** Someone must be able to read. @returns bytes written, −1 if it would have to wait */
  write(bytes: Uint8Array): number {
    const room = CAPACITY - this.#length;
    if (bytes.length > room && (bytes.length <= ATOMIC || room === 0)) return -1;
    const count = Math.min(bytes.length, room);
    if (this.#length + count > this.#ring.length) this.#grow(this.#length + count);
    const ring = this.#ring;
    for (let i = 0, at = (this.#start + this.#length) % ring.length; i < count; i++) {
      ring[at] = bytes[i];
      if (++at === ring.length) at = 0;
    }
    this.#length += count;
    if (count > 0 && this.#readable.size > 0) wake(this.#readable);
    return count;
  }

  #grow(needed: number): void {
    let size = this.#ring.length;
    while (size < needed) size *= 2;
    const ring = new Uint8Array(size);
    for (let i = 0; i < this.#length; i++) ring[i] = this.#ring[(this.#start + i) % this.#ring.length];
    this.#ring = ring;
    this.#start = 0;
  }

  /** One end less, or more. Without any end, a named pipe forgets its bytes. */
  count(readers: number, writers: number): void {
    this.readers += readers;
    this.writers += writers;
    if (this.writers === 0) wake(this.#readable);
    if (this.readers === 0) wake(this.#writable);
    if (this.readers + this.writers === 0) this.#length = 0;
  }

  whenReadable(call: () => void): () => void {
    return wait(this.canRead, this.#readable, call);
  }

  whenWritable(call: () => void): () => void {
    return wait(this.canWrite, this.#writable, call);
  }
}

function wait(isNow: boolean, waiting: Set<() => void>, call: () => void): () => void {
  if (isNow) {
    call();
    return () => {};
  }
  // The same function may wait twice, so each wait is a function of its own.
  const once = () => call();
  waiting.add(once);
  return () => waiting.delete(once);
}

function wake(waiting: Set<() => void>): void {
  if (waiting.size === 0) return;
  // A call may cancel another one.
  for (const call of [...waiting]) if (waiting.delete(call)) call();
}
