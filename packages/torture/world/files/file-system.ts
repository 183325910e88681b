/**
 * One file system: a disk, or memory. A disk has a journal of its names, as ext4 and xfs have: changes become
 * durable in order, all at the next sync of any file or folder. POSIX promises less, so a lax disk keeps, of
 * each folder, some of the changes since that folder's own sync.
 */
import type { Random } from "../contract.ts";
import { sysError } from "../errors.ts";
import { Content, PAGE, type Store, WRITE_BACK_MS } from "./content.ts";
import { FileNode, type System } from "./file-node.ts";

/** When the journal is that long, its first half is written, as when a real journal is full. */
const MAX_JOURNAL = 4096;
/** Blocks of a folder. */
const FOLDER_BYTES = 4096;

/** What the disk had before. */
type Before =
  | { readonly folder: FileNode; readonly name: string; readonly node: FileNode | undefined }
  | { readonly of: FileNode; readonly mode: number; readonly uid: number; readonly gid: number };

/** Changes that a power cut undoes together, or not at all. */
interface Change {
  readonly atMs: number;
  /** The inode whose sync makes it durable on a lax disk. */
  readonly owner: FileNode;
  readonly before: readonly Before[];
  /** The inode that it created. */
  readonly created: FileNode | undefined;
}

/** Faults and facts of a disk, for tests. */
export interface Disk {
  readonly freeBytes: number;
  readonly usedBytes: number;
  /** 0: no new block can be had; what is there can be overwritten. */
  setCapacity(bytes: number): void;
  setReadOnly(isReadOnly: boolean): void;
  /** The next writes or syncs fail with EIO. What a failed sync should have written stays in doubt. */
  failNext(kind: "write" | "sync", count: number): void;
  /** Calls after `count` writes and syncs, at the next one. That fails, and all later ones until `mend`. */
  breakAfter(count: number, onBreak: () => void): void;
  mend(): void;
}

export class FileSystem implements System, Store, Disk {
  readonly dev: number;
  readonly type: number;
  readonly isDisk: boolean;
  readonly root: FileNode;
  readonly unixMs: () => number;
  isReadOnly = false;
  usedBytes = 0;
  #capacity: number;
  readonly #isLax: boolean;
  #lastIno = 1;
  #journal: Change[] = [];
  #failingWrites = 0;
  #failingSyncs = 0;
  #breaks: { left: number; readonly onBreak: () => void } | undefined;

  constructor(options: {
    readonly dev: number;
    readonly type: number;
    readonly kind: "disk" | "lax disk" | "memory";
    readonly rootMode: number;
    readonly capacityBytes: number;
    readonly unixMs: () => number;
  }) {
    this.dev = options.dev;
    this.type = options.type;
    this.isDisk = options.kind !== "memory";
    this.#isLax = options.kind === "lax disk";
    this.#capacity = options.capacityBytes;
    this.unixMs = options.unixMs;
    this.root = new FileNode("folder", this, options.rootMode, 0, 0, options.unixMs());
  }

  nextIno(): number {
    return ++this.#lastIno;
  }

  get freeBytes(): number {
    return Math.max(0, this.#capacity - this.usedBytes);
  }

  use(bytes: number): void {
    this.usedBytes += bytes;
  }

  setCapacity(bytes: number): void {
    this.#capacity = bytes;
  }

  setReadOnly(isReadOnly: boolean): void {
    this.isReadOnly = isReadOnly;
  }

  failNext(kind: "write" | "sync", count: number): void {
    if (kind === "write") this.#failingWrites = count;
    else this.#failingSyncs = count;
  }

  breakAfter(count: number, onBreak: () => void): void {
    this.#breaks = { left: count, onBreak };
  }

  mend(): void {
    this.#breaks = undefined;
  }

  #isBroken(): boolean {
    const breaks = this.#breaks;
    if (breaks === undefined) return false;
    if (breaks.left-- === 0) breaks.onBreak();
    return breaks.left < 0;
  }

  writeProblem(): string | undefined {
    if (this.#isBroken()) return "EIO";
    if (this.isReadOnly) return "EROFS";
    if (this.#failingWrites === 0) return undefined;
    this.#failingWrites--;
    return "EIO";
  }

  syncProblem(): string | undefined {
    if (this.#isBroken()) return "EIO";
    if (this.#failingSyncs === 0) return undefined;
    this.#failingSyncs--;
    return "EIO";
  }

  fail(code: string, syscall: string): never {
    throw sysError(code, syscall);
  }

  makeFile(mode: number, uid: number, gid: number): FileNode {
    const node = new FileNode("file", this, mode, uid, gid, 0);
    node.content = new Content(this, () => this.#commit(node));
    return node;
  }

  /** Before a name changes. @throws ENOSPC if a new folder does not fit */
  add(folder: FileNode, name: string, node: FileNode): void {
    if (node.kind === "folder") {
      this.use(FOLDER_BYTES);
      folder.nlink++;
      node.parent = folder;
      node.name = name;
    }
    this.#note(folder, [{ folder, name, node: undefined }], node);
    this.#setName(folder, name, node);
  }

  hasRoomForFolder(): boolean {
    return this.freeBytes >= FOLDER_BYTES;
  }

  remove(folder: FileNode, name: string, node: FileNode): void {
    this.#note(folder, [{ folder, name, node }]);
    folder.names!.delete(name);
    folder.mtimeMs = this.unixMs();
    this.#lose(folder, node);
  }

  rename(from: FileNode, name: string, node: FileNode, to: FileNode, newName: string): void {
    const replaced = to.names!.get(newName);
    const before: Before[] = [
      { folder: from, name, node },
      { folder: to, name: newName, node: replaced },
    ];
    if (this.#isLax && from !== to) {
      this.#note(to, [before[1]]);
      this.#note(from, [before[0]]);
    } else this.#note(to, before);
    from.names!.delete(name);
    from.mtimeMs = this.unixMs();
    if (replaced !== undefined) this.#lose(to, replaced);
    if (node.kind === "folder") {
      from.nlink--;
      to.nlink++;
      node.parent = to;
      node.name = newName;
    }
    this.#setName(to, newName, node);
  }

  #setName(folder: FileNode, name: string, node: FileNode): void {
    folder.names!.set(name, node);
    folder.mtimeMs = this.unixMs();
  }

  /** A name of it is gone. */
  #lose(folder: FileNode, node: FileNode): void {
    if (node.kind === "folder") {
      folder.nlink--;
      node.nlink = 0;
      node.isGone = true;
    } else node.nlink--;
    this.release(node);
  }

  /** Frees the blocks of a file that has neither a name nor an open file. */
  release(node: FileNode): void {
    if (node.nlink > 0 || node.opens > 0) return;
    this.use(node.kind === "folder" ? -FOLDER_BYTES : -(node.content?.blocks ?? 0) * PAGE);
  }

  /** Before mode or owner of it change. */
  noteAttributes(node: FileNode): void {
    this.#note(node, [{ of: node, mode: node.mode, uid: node.uid, gid: node.gid }]);
  }

  #note(owner: FileNode, before: readonly Before[], created?: FileNode): void {
    if (!this.isDisk) return;
    const atMs = this.unixMs();
    const journal = this.#journal;
    // Linux writes them by itself after a while, so the list stays short.
    if (journal.length > 0 && atMs - journal[0].atMs > WRITE_BACK_MS) this.#expire(atMs);
    if (journal.length === MAX_JOURNAL) journal.splice(0, MAX_JOURNAL / 2);
    journal.push({ atMs, owner, before, created });
  }

  #expire(nowMs: number): void {
    const young = this.#journal.findIndex(({ atMs }) => nowMs - atMs <= WRITE_BACK_MS);
    this.#journal.splice(0, young < 0 ? this.#journal.length : young);
  }

  /** A folder's names, or a file's own ones, are durable. */
  syncNode(node: FileNode, syscall: string): void {
    if (node.content !== undefined) {
      node.content.sync(syscall);
      return;
    }
    const problem = this.syncProblem();
    if (problem !== undefined) this.fail(problem, syscall);
    this.#commit(node);
  }

  #commit(node: FileNode): void {
    if (this.#journal.length === 0) return;
    if (!this.#isLax) this.#journal.length = 0;
    else {
      const created = this.#journal.findIndex((change) => change.created === node);
      const name = created < 0 ? undefined : this.#journal[created].before[0];
      this.#journal = this.#journal.filter(
        ({ owner, before }, i) =>
          owner !== node && !(i <= created && before.some((one) => isSameName(one, name!))),
      );
    }
  }

  /** A disk keeps what was synced, and some of what was not; memory is empty. */
  cutPower(random: Random): void {
    if (this.isDisk) {
      this.#expire(this.unixMs());
      this.#undoLost(random);
      this.#journal = [];
    } else this.root.names!.clear();
    this.#failingWrites = 0;
    this.#failingSyncs = 0;
    this.#check(random);
  }

  #undoLost(random: Random): void {
    const journal = this.#journal;
    const kept = new Map<FileNode | undefined, number>();
    const keyOf = ({ owner }: Change) => (this.#isLax ? owner : undefined);
    for (const change of journal) kept.set(keyOf(change), (kept.get(keyOf(change)) ?? 0) + 1);
    const left = new Map(kept);
    for (const [key, count] of kept) kept.set(key, random.below(count + 1));
    for (const change of journal.toReversed()) {
      const place = left.get(keyOf(change))!;
      left.set(keyOf(change), place - 1);
      if (place > kept.get(keyOf(change))!) for (const before of change.before.toReversed()) undo(before);
    }
  }

  /** Counts names again, as fsck does, and draws what is in the files. */
  #check(random: Random): void {
    this.usedBytes = 0;
    const seen = new Set<FileNode>();
    const folders = [this.root];
    this.root.nlink = 2;
    // A list, because folders may be nested deeper than calls can be.
    for (const folder of folders) {
      for (const [name, node] of folder.names!) {
        const isFolder = node.kind === "folder";
        if (!seen.has(node)) {
          seen.add(node);
          node.nlink = isFolder ? 2 : 0;
          node.opens = 0;
          node.isGone = false;
          node.content?.cutPower(random);
          this.use(isFolder ? FOLDER_BYTES : (node.content?.blocks ?? 0) * PAGE);
        } else if (isFolder) {
          // A lax disk may have moved a folder without removing its old name.
          folder.names!.delete(name);
          continue;
        }
        if (isFolder) {
          node.parent = folder;
          node.name = name;
          folder.nlink++;
          folders.push(node);
        } else node.nlink++;
      }
    }
  }
}

function isSameName(a: Before, b: Before): boolean {
  return "name" in a && "name" in b && a.folder === b.folder && a.name === b.name;
}

function undo(before: Before): void {
  if ("of" in before) {
    const { of, mode, uid, gid } = before;
    Object.assign(of, { mode, uid, gid });
  } else if (before.node === undefined) before.folder.names!.delete(before.name);
  else before.folder.names!.set(before.name, before.node);
}
