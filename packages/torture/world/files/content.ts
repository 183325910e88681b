/**
 * The bytes of a regular file, and what a disk would have of them after a power cut. Linux writes dirty pages
 * back when it likes, in any order, and the disk writes them in sectors. So of each page that was written
 * since the last sync, we keep what the disk had before; the cut draws what it has.
 */
import type { FileData, Random } from "../contract.ts";

export const PAGE = 4096;
const SECTOR = 512;
/** Linux writes a file back once it has been dirty for 30 s, and looks every 5 s. */
export const WRITE_BACK_MS = 35_000;
const MAX_SIZE = 2 ** 31;
const EMPTY = new Uint8Array(0);

/** The file system of a file. */
export interface Store {
  /** Whether it survives a power cut. */
  readonly isDisk: boolean;
  readonly freeBytes: number;
  unixMs(): number;
  /** Takes blocks, or gives them back. */
  use(bytes: number): void;
  /** @returns the code of the error that a write must fail with */
  writeProblem(): string | undefined;
  syncProblem(): string | undefined;
  fail(code: string, syscall: string): never;
}

/** Of pages by number: what the disk had before they were written; null: nothing. */
type OldPages = Map<number, Uint8Array | null>;

export class Content implements FileData {
  size = 0;
  /** At least `size` bytes; the rest is zero. */
  bytes: Uint8Array = EMPTY;
  mtimeMs: number;
  readonly #store: Store;
  /** Makes changes of names durable, too. */
  readonly #onSync: () => void;
  #dirty: OldPages | undefined;
  #dirtySinceMs = 0;
  /** Pages that a failed sync left behind. Linux calls them clean, so no later sync writes them. */
  #doubtful: OldPages | undefined;
  #diskSize = 0;

  constructor(store: Store, onSync: () => void) {
    this.#store = store;
    this.#onSync = onSync;
    this.mtimeMs = store.unixMs();
  }

  get blocks(): number {
    return Math.ceil(this.size / PAGE);
  }

  readAt(into: Uint8Array, position: number): number {
    const count = Math.min(into.length, this.size - position);
    if (count <= 0) return 0;
    const { bytes } = this;
    // For a few bytes, a loop is faster than a view and a copy.
    if (count <= 64) for (let i = 0; i < count; i++) into[i] = bytes[position + i];
    else into.set(bytes.subarray(position, position + count));
    return count;
  }

  writeAt(bytes: Uint8Array, position: number): void {
    const count = this.writeSome(bytes, position);
    if (count < bytes.length) this.#store.fail("ENOSPC", "write");
  }

  /** @returns bytes written: fewer if the disk got full. @throws ENOSPC if no byte could be written */
  writeSome(bytes: Uint8Array, position: number): number {
    const store = this.#store;
    const problem = store.writeProblem();
    if (problem !== undefined) store.fail(problem, "write");
    let count = bytes.length;
    if (count === 0) return 0;
    if (position + count > MAX_SIZE) store.fail("EFBIG", "write");
    const blocks = this.blocks;
    const more = Math.ceil((position + count) / PAGE) - blocks;
    if (more > 0 && more * PAGE > store.freeBytes) {
      count = (blocks + Math.floor(store.freeBytes / PAGE)) * PAGE - position;
      if (count <= 0) store.fail("ENOSPC", "write");
    }
    const end = position + count;
    this.#touch(position, end);
    if (end > this.bytes.length) this.#grow(end);
    this.bytes.set(count === bytes.length ? bytes : bytes.subarray(0, count), position);
    if (end > this.size) {
      store.use((Math.ceil(end / PAGE) - blocks) * PAGE);
      this.size = end;
    }
    return count;
  }

  truncate(size: number): void {
    const store = this.#store;
    const problem = store.writeProblem();
    if (problem !== undefined) store.fail(problem, "ftruncate");
    if (size > MAX_SIZE) store.fail("EFBIG", "ftruncate");
    const change = (Math.ceil(size / PAGE) - this.blocks) * PAGE;
    if (change > store.freeBytes) store.fail("ENOSPC", "ftruncate");
    this.#touch(Math.min(size, this.size), Math.max(size, this.size));
    store.use(change);
    if (size === 0) this.bytes = EMPTY;
    else if (size < this.size) this.bytes.fill(0, size, this.size);
    else if (size > this.bytes.length) this.#grow(size);
    this.size = size;
  }

  sync(syscall = "fsync"): void {
    const store = this.#store;
    const problem = store.syncProblem();
    if (problem !== undefined) {
      for (const [page, old] of this.#dirty ?? []) {
        this.#doubtful ??= new Map();
        if (!this.#doubtful.has(page)) this.#doubtful.set(page, old);
      }
      this.#dirty = undefined;
      store.fail(problem, syscall);
    }
    this.#writeBack();
    this.#onSync();
  }

  /** The disk has what was written since the last time. */
  #writeBack(): void {
    if (this.#doubtful !== undefined)
      for (const page of this.#dirty?.keys() ?? []) this.#doubtful.delete(page);
    this.#dirty = undefined;
    this.#diskSize = this.size;
  }

  /** Before these bytes change. */
  #touch(from: number, to: number): void {
    const store = this.#store;
    this.mtimeMs = store.unixMs();
    if (!store.isDisk || from === to) return;
    this.#writeBackOld(this.mtimeMs);
    if (this.#dirty === undefined) {
      this.#dirty = new Map();
      this.#dirtySinceMs = this.mtimeMs;
    }
    const dirty = this.#dirty;
    for (let page = Math.floor(from / PAGE); page * PAGE < to; page++) {
      if (!dirty.has(page)) dirty.set(page, this.#onDisk(page));
    }
  }

  /** What the disk has of a page that has not changed since the last sync. */
  #onDisk(page: number): Uint8Array | null {
    const doubtful = this.#doubtful?.get(page);
    if (doubtful !== undefined) return doubtful;
    const from = page * PAGE;
    return from >= this.#diskSize || from >= this.size ? null : this.bytes.slice(from, from + PAGE);
  }

  #writeBackOld(nowMs: number): void {
    if (this.#dirty !== undefined && nowMs - this.#dirtySinceMs > WRITE_BACK_MS) this.#writeBack();
  }

  #grow(needed: number): void {
    const bytes = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    bytes.set(this.bytes);
    this.bytes = bytes;
  }

  /** What is there when the power returns. */
  cutPower(random: Random): void {
    this.#writeBackOld(this.#store.unixMs());
    const dirty = this.#dirty ?? new Map<number, Uint8Array | null>();
    for (const [page, old] of this.#doubtful ?? []) if (!dirty.has(page)) dirty.set(page, old);
    if (dirty.size > 0 || this.size !== this.#diskSize) {
      const size = random.chance(0.5) ? this.size : this.#diskSize;
      const bytes = new Uint8Array(Math.ceil(size / PAGE) * PAGE);
      bytes.set(this.bytes.subarray(0, Math.min(size, this.size)));
      for (const [page, old] of dirty) this.#drawPage(bytes, page, old, random);
      bytes.fill(0, size);
      this.bytes = bytes;
      this.size = size;
    }
    this.#dirty = undefined;
    this.#doubtful = undefined;
    this.#diskSize = this.size;
  }

  /** Old, new, or the first sectors of one and the rest of the other. */
  #drawPage(bytes: Uint8Array, page: number, old: Uint8Array | null, random: Random): void {
    const from = page * PAGE;
    if (from >= bytes.length) return;
    const isCutOff = from >= this.size;
    const drawn = isCutOff ? 0 : random.below(4);
    if (drawn === 1) return;
    const cut = drawn === 0 ? 0 : random.between(1, PAGE / SECTOR - 1) * SECTOR;
    const [first, last] = drawn === 2 ? [0, cut] : [cut, PAGE];
    bytes.fill(0, from + first, from + last);
    if (old !== null) bytes.set(old.subarray(first, last), from + first);
  }
}
