/**
 * Locks on a database file, and the memory that its connections share in WAL mode. In reality, both belong to
 * the kernel: locks on ranges of the file, and a mapping of the file "…-shm". Here they belong to the inode.
 */
import type { Inode } from "../../world/contract.ts";
import type { Heap, Pointer } from "./heap.ts";

export const NONE = 0;
const SHARED = 1;
const RESERVED = 2;
const PENDING = 3;

/** Someone who locks a file: one open file of one connection. */
export interface Holder {
  /** NONE to PENDING, or 4 for EXCLUSIVE. */
  level: number;
  /** Bits of the locks on the shared memory that it has. */
  sharedMask: number;
  exclusiveMask: number;
}

const STATES = new WeakMap<Inode, LockState>();

export function lockStateOf(inode: Inode): LockState {
  let state = STATES.get(inode);
  if (state === undefined) {
    state = new LockState();
    STATES.set(inode, state);
  }
  return state;
}

export class LockState {
  /** All that have a lock on the file. */
  readonly #holders: Holder[] = [];
  /** All that use the shared memory. */
  readonly #users: Holder[] = [];
  /** The shared memory, by region. */
  readonly regions: Pointer[] = [];

  /** @returns whether the holder has that lock now */
  lock(holder: Holder, level: number): boolean {
    if (holder.level >= level) return true;
    let highest = NONE;
    for (const other of this.#holders) if (other !== holder && other.level > highest) highest = other.level;
    if (level === SHARED) {
      if (highest >= PENDING) return false;
      this.#holders.push(holder);
    } else if (level === RESERVED) {
      if (highest >= RESERVED) return false;
    } else {
      if (highest >= PENDING) return false;
      // New readers wait from now on, so that the old ones come to an end.
      if (holder.level === RESERVED) holder.level = PENDING;
      if (highest !== NONE) return false;
    }
    holder.level = level;
    return true;
  }

  /** @param level SHARED or NONE */
  unlock(holder: Holder, level: number): void {
    if (holder.level <= level) return;
    holder.level = level;
    if (level === NONE) remove(this.#holders, holder);
  }

  /** Whether anyone intends to write. */
  get isReserved(): boolean {
    return this.#holders.some((holder) => holder.level >= RESERVED);
  }

  get isShared(): boolean {
    return this.#users.length > 0;
  }

  share(holder: Holder): void {
    this.#users.push(holder);
  }

  /** @returns whether nobody uses the memory from now on, so that it is freed */
  unshare(holder: Holder, heap: Heap): boolean {
    holder.sharedMask = 0;
    holder.exclusiveMask = 0;
    remove(this.#users, holder);
    if (this.#users.length > 0) return false;
    for (const region of this.regions) heap.c.free(region);
    this.regions.length = 0;
    return true;
  }

  /** Takes or releases `count` locks on the shared memory from `first` on. @returns whether that worked */
  lockShared(holder: Holder, first: number, count: number, isLock: boolean, isExclusive: boolean): boolean {
    const mask = ((1 << count) - 1) << first;
    if (!isLock) {
      holder.sharedMask &= ~mask;
      holder.exclusiveMask &= ~mask;
      return true;
    }
    for (const other of this.#users) {
      if (other === holder) continue;
      if ((other.exclusiveMask & mask) !== 0) return false;
      if (isExclusive && (other.sharedMask & mask) !== 0) return false;
    }
    if (isExclusive) holder.exclusiveMask |= mask;
    else holder.sharedMask |= mask;
    return true;
  }
}

function remove(holders: Holder[], holder: Holder): void {
  const index = holders.indexOf(holder);
  if (index >= 0) holders.splice(index, 1);
}
