/**
 * The file system layer ("VFS") of SQLite over the simulated Files. It does what SQLite's layer for Unix does
 * (os_unix.c): the same open flags, modes and owners, the same result code of each error, and the files
 * "…-journal", "…-wal" and "…-shm". Each simulated process has a layer of its own, because only the layer
 * says which process calls; the functions are the same.
 *
 * Once a process has ended, calls for it do nothing and fail. So its connections can be closed, which frees
 * their memory, without a trace on the disk.
 */
import type { Caller, FileData, Files, Inode, Random, Stat, SysError } from "../../world/contract.ts";
import { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, R_OK, W_OK } from "../../world/files/open-flags.ts";
import {
  BROKEN_FILE_SYSTEM,
  BUSY,
  CANNOT_OPEN,
  DELETE_FAILED,
  FOLDER_SYNC_FAILED,
  FULL,
  NOT_FOUND,
  NOTHING_TO_DELETE,
  OK,
  OK_LINK,
  OPEN_CREATE,
  OPEN_DELETE_ON_CLOSE,
  OPEN_EXCLUSIVE,
  OPEN_MAIN_JOURNAL,
  OPEN_READONLY,
  OPEN_READWRITE,
  OPEN_SUPER_JOURNAL,
  OPEN_WAL,
  READ_FAILED,
  READ_ONLY,
  READ_ONLY_CANNOT_INITIALIZE,
  READ_ONLY_FOLDER,
  SHM_OPEN_FAILED,
  SHM_SIZE_FAILED,
  SHORT_READ,
  STAT_FAILED,
  SYNC_FAILED,
  TRUNCATE_FAILED,
  WRITE_FAILED,
} from "./codes.ts";
import type { Heap, Pointer } from "./heap.ts";
import { type Holder, type LockState, lockStateOf, NONE } from "./locks.ts";
import { MemoryFile } from "./memory-file.ts";

const O_CLOEXEC = 0o2000000;

/** What SQLite gives each open file: a pointer to the methods, and the number of its handle. */
const FILE_BYTES = 8;
const MAX_PATH = 512;
const MAX_LINKS = 200;
const SECTOR_BYTES = 4096;
/** An overwritten range leaves the bytes around it as they are; a page may be read in parts. */
const CHARACTERISTICS = 0x1000 | 0x8000;
const PAGE = 4096;
/** Milliseconds between the epoch of SQLite, a Julian date, and that of Unix. */
const JULIAN_MS = 210_866_760_000_000;
const DAY_MS = 86_400_000;

const CONTROL_LOCK_STATE = 1;
const CONTROL_SIZE_HINT = 5;
const CONTROL_PERSIST_WAL = 10;
const CONTROL_POWERSAFE_OVERWRITE = 13;
const CONTROL_HAS_MOVED = 20;

const SHM_UNLOCK = 1;
const SHM_EXCLUSIVE = 8;

/** A simulated process as this layer sees it. */
export class SqliteProcess {
  readonly files: Files;
  readonly who: Caller;
  readonly unixMs: () => number;
  isDead = false;
  /** An error that is not a failed system call, so a mistake of this program: must not pass through C. */
  mistake: unknown;

  constructor(files: Files, who: Caller, unixMs: () => number) {
    this.files = files;
    this.who = who;
    this.unixMs = unixMs;
  }

  /** The code of a failed system call. */
  codeOf(error: unknown): string {
    const { code } = (error ?? {}) as Partial<SysError>;
    if (typeof code === "string" && (error as SysError).syscall !== undefined) return code;
    this.mistake ??= error;
    return "EIO";
  }

  close(descriptor: number): void {
    if (this.isDead || descriptor < 0) return;
    try {
      this.files.close(this.who, descriptor);
    } catch (error) {
      this.codeOf(error);
    }
  }
}

class Handle implements Holder {
  readonly process: SqliteProcess;
  readonly path: string;
  readonly data: FileData;
  /** −1: a temporary file in memory. */
  readonly descriptor: number;
  readonly inode: Inode | undefined;
  readonly locks: LockState | undefined;
  level = NONE;
  sharedMask = 0;
  exclusiveMask = 0;
  /** A journal is new, so its folder must be synced with it. */
  syncsFolder: boolean;
  /** The file "…-shm"; undefined: this handle does not use the shared memory. */
  shared: SharedFile | undefined = undefined;

  constructor(
    process: SqliteProcess,
    path: string,
    data: FileData,
    descriptor: number,
    inode: Inode | undefined,
    syncsFolder: boolean,
  ) {
    this.process = process;
    this.path = path;
    this.data = data;
    this.descriptor = descriptor;
    this.inode = inode;
    this.locks = inode && lockStateOf(inode);
    this.syncsFolder = syncsFolder;
  }
}

interface SharedFile {
  readonly descriptor: number;
  readonly data: FileData;
  readonly isReadOnly: boolean;
  /** Nobody had made the memory yet, and we may not. */
  isWaiting: boolean;
}

export class Vfs {
  readonly #heap: Heap;
  readonly #processes = new Map<Pointer, SqliteProcess>();
  /** By number; 0 is free. */
  readonly #handles: (Handle | undefined)[] = [undefined];
  readonly #free: number[] = [];
  readonly #methods: Pointer;
  readonly #calls: readonly Pointer[];
  #random: Random | undefined;
  #layers = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#methods = this.#table(2, [
      heap.install("ip", (file: Pointer) => this.#close(file)),
      heap.install("ippij", (file: Pointer, into: Pointer, count: number, position: bigint) =>
        this.#read(this.#handle(file), into, count, Number(position)),
      ),
      heap.install("ippij", (file: Pointer, from: Pointer, count: number, position: bigint) =>
        this.#write(this.#handle(file), from, count, Number(position)),
      ),
      heap.install("ipj", (file: Pointer, size: bigint) => this.#truncate(this.#handle(file), Number(size))),
      heap.install("ipi", (file: Pointer) => this.#sync(this.#handle(file))),
      heap.install("ipp", (file: Pointer, into: Pointer) => this.#size(this.#handle(file), into)),
      heap.install("ipi", (file: Pointer, level: number) => this.#lock(this.#handle(file), level)),
      heap.install("ipi", (file: Pointer, level: number) => this.#unlock(this.#handle(file), level)),
      heap.install("ipp", (file: Pointer, into: Pointer) => this.#isReserved(this.#handle(file), into)),
      heap.install("ipip", (file: Pointer, control: number, argument: Pointer) =>
        this.#control(this.#handle(file), control, argument),
      ),
      heap.install("ip", () => SECTOR_BYTES),
      heap.install("ip", () => CHARACTERISTICS),
      heap.install(
        "ipiiip",
        (file: Pointer, region: number, bytes: number, extends_: number, into: Pointer) =>
          this.#map(this.#handle(file), region, bytes, extends_ !== 0, into),
      ),
      heap.install("ipiii", (file: Pointer, first: number, count: number, flags: number) =>
        this.#lockShared(this.#handle(file), first, count, flags),
      ),
      heap.install("vp", () => {}),
      heap.install("ipi", (file: Pointer, isDeleted: number) =>
        this.#unmap(this.#handle(file), isDeleted !== 0),
      ),
    ]);
    this.#calls = [
      heap.install("ipppip", (vfs: Pointer, name: Pointer, file: Pointer, flags: number, out: Pointer) =>
        this.#open(this.#processes.get(vfs), name, file, flags, out),
      ),
      heap.install("ippi", (vfs: Pointer, name: Pointer, isDurable: number) =>
        this.#delete(this.#processes.get(vfs), heap.textAt(name), (isDurable & 1) !== 0),
      ),
      heap.install("ippip", (vfs: Pointer, name: Pointer, kind: number, into: Pointer) =>
        this.#access(this.#processes.get(vfs), heap.textAt(name), kind, into),
      ),
      heap.install("ippip", (vfs: Pointer, name: Pointer, room: number, into: Pointer) =>
        this.#fullPath(this.#processes.get(vfs), heap.textAt(name), room, into),
      ),
      ...[0, 0, 0, 0],
      heap.install("ipip", (_vfs: Pointer, count: number, into: Pointer) => this.#randomness(count, into)),
      // Nothing in this thread could change during a sleep.
      heap.install("ipi", (_vfs: Pointer, us: number) => us),
      heap.install("ipp", (vfs: Pointer, into: Pointer) => {
        heap.view.setFloat64(into, this.#julianMs(vfs) / DAY_MS, true);
        return OK;
      }),
      heap.install("ipip", () => 0),
      heap.install("ipp", (vfs: Pointer, into: Pointer) => {
        heap.view.setBigInt64(into, BigInt(Math.floor(this.#julianMs(vfs))), true);
        return OK;
      }),
    ];
    heap.c.sqlite3_vfs_register(this.#layer(), 1);
  }

  /** From now on, everything that SQLite draws depends on this source alone. */
  seed(random: Random): void {
    this.#random = random;
    this.#heap.c.sqlite3_randomness(0, 0);
  }

  /** Makes a layer for a process. @returns its address; its name is at `nameOf` */
  add(process: SqliteProcess): Pointer {
    const vfs = this.#layer();
    this.#processes.set(vfs, process);
    this.#heap.c.sqlite3_vfs_register(vfs, 0);
    return vfs;
  }

  nameOf(vfs: Pointer): Pointer {
    return this.#heap.word(vfs + 16);
  }

  remove(vfs: Pointer): void {
    const { c } = this.#heap;
    c.sqlite3_vfs_unregister(vfs);
    this.#processes.delete(vfs);
    c.free(this.nameOf(vfs));
    c.free(vfs);
  }

  #layer(): Pointer {
    const vfs = this.#table(2, [
      ...[FILE_BYTES, MAX_PATH, 0, this.#heap.newText(`tutti-${++this.#layers}`), 0],
      ...this.#calls,
    ]);
    return vfs;
  }

  /** A struct of C: a version, and words. */
  #table(version: number, words: readonly number[]): Pointer {
    const pointer = this.#heap.c.malloc(4 + words.length * 4);
    this.#heap.setWord(pointer, version);
    for (const [index, word] of words.entries()) this.#heap.setWord(pointer + 4 + index * 4, word);
    return pointer;
  }

  #handle(file: Pointer): Handle {
    return this.#handles[this.#heap.word(file + 4)] as Handle;
  }

  #julianMs(vfs: Pointer): number {
    return JULIAN_MS + (this.#processes.get(vfs)?.unixMs() ?? 0);
  }

  #randomness(count: number, into: Pointer): number {
    const { bytes } = this.#heap;
    for (let index = 0; index < count; index++) bytes[into + index] = this.#random?.below(256) ?? 0;
    return count;
  }

  // Files ---------------------------------------------------------------------------------------------------

  #open(
    process: SqliteProcess | undefined,
    name: Pointer,
    file: Pointer,
    flags: number,
    out: Pointer,
  ): number {
    const heap = this.#heap;
    // SQLite closes only files that have methods.
    heap.setWord(file, 0);
    if (process === undefined || process.isDead) return CANNOT_OPEN;
    let handle: Handle | undefined;
    let given = flags;
    if (name === 0) {
      handle = new Handle(process, "", new MemoryFile(), -1, undefined, false);
    } else {
      const path = heap.textAt(name);
      const result = openFile(process, path, flags);
      if (result.code !== OK) return result.code;
      const { files, who } = process;
      const inode = who.files.get(result.descriptor)?.inode as Inode;
      const isNew = isNewJournal(flags);
      handle = new Handle(process, path, files.data(inode), result.descriptor, inode, isNew);
      given = result.flags;
      if ((flags & OPEN_DELETE_ON_CLOSE) !== 0) this.#delete(process, path, false);
    }
    const number = this.#free.pop() ?? this.#handles.length;
    this.#handles[number] = handle;
    heap.setWord(file, this.#methods);
    heap.setWord(file + 4, number);
    if (out !== 0) heap.setWord(out, given);
    return OK;
  }

  #close(file: Pointer): number {
    const number = this.#heap.word(file + 4);
    const handle = this.#handles[number] as Handle;
    if (handle.shared !== undefined) this.#unmap(handle, false);
    handle.locks?.unlock(handle, NONE);
    handle.process.close(handle.descriptor);
    this.#handles[number] = undefined;
    this.#free.push(number);
    this.#heap.setWord(file, 0);
    return OK;
  }

  #read({ data, process }: Handle, into: Pointer, count: number, position: number): number {
    if (process.isDead) return READ_FAILED;
    const { bytes } = this.#heap;
    try {
      const got = data.readAt(bytes.subarray(into, into + count), position);
      if (got === count) return OK;
      bytes.fill(0, into + got, into + count);
      return SHORT_READ;
    } catch (error) {
      return process.codeOf(error) === "EIO" ? BROKEN_FILE_SYSTEM : READ_FAILED;
    }
  }

  #write({ data, process }: Handle, from: Pointer, count: number, position: number): number {
    if (process.isDead) return WRITE_FAILED;
    try {
      data.writeAt(this.#heap.bytes.subarray(from, from + count), position);
      return OK;
    } catch (error) {
      return process.codeOf(error) === "ENOSPC" ? FULL : WRITE_FAILED;
    }
  }

  #truncate({ data, process }: Handle, size: number): number {
    if (process.isDead) return TRUNCATE_FAILED;
    try {
      data.truncate(size);
      return OK;
    } catch (error) {
      process.codeOf(error);
      return TRUNCATE_FAILED;
    }
  }

  #sync(handle: Handle): number {
    const { data, process, path } = handle;
    if (process.isDead) return SYNC_FAILED;
    try {
      data.sync();
    } catch (error) {
      process.codeOf(error);
      return SYNC_FAILED;
    }
    if (handle.syncsFolder) {
      handle.syncsFolder = false;
      // As in SQLite's layer for Unix, a failure has no effect here.
      syncFolder(process, path);
    }
    return OK;
  }

  #size({ data, process }: Handle, into: Pointer): number {
    if (process.isDead) return STAT_FAILED;
    // SQLite takes one byte for nothing, because of a file system on which it had to write one.
    const size = data.size === 1 ? 0 : data.size;
    this.#heap.setWord(into, size | 0);
    this.#heap.setWord(into + 4, Math.floor(size / 2 ** 32));
    return OK;
  }

  #control(handle: Handle, control: number, argument: Pointer): number {
    const { process, path, inode } = handle;
    switch (control) {
      case CONTROL_LOCK_STATE:
        this.#heap.setWord(argument, handle.level);
        return OK;
      case CONTROL_SIZE_HINT:
        return OK;
      case CONTROL_PERSIST_WAL:
        if (this.#heap.word(argument) < 0) this.#heap.setWord(argument, 0);
        return OK;
      case CONTROL_POWERSAFE_OVERWRITE:
        if (this.#heap.word(argument) < 0) this.#heap.setWord(argument, 1);
        return OK;
      case CONTROL_HAS_MOVED:
        this.#heap.setWord(argument, inode !== undefined && inodeAt(process, path) !== inode ? 1 : 0);
        return OK;
      default:
        return NOT_FOUND;
    }
  }

  // Names ---------------------------------------------------------------------------------------------------

  #delete(process: SqliteProcess | undefined, path: string, isDurable: boolean): number {
    if (process === undefined || process.isDead) return DELETE_FAILED;
    try {
      process.files.unlink(process.who, path);
    } catch (error) {
      return process.codeOf(error) === "ENOENT" ? NOTHING_TO_DELETE : DELETE_FAILED;
    }
    return isDurable && !syncFolder(process, path) ? FOLDER_SYNC_FAILED : OK;
  }

  /** @param kind 0: whether there is something, and not an empty file; 1: whether we may read and write it */
  #access(process: SqliteProcess | undefined, path: string, kind: number, into: Pointer): number {
    let isSo = false;
    if (process !== undefined && !process.isDead) {
      const { files, who } = process;
      try {
        if (kind === 1) {
          files.access(who, path, R_OK | W_OK);
          isSo = true;
        } else {
          const stat = files.stat(who, path);
          isSo = stat.kind !== "file" || stat.size > 0;
        }
      } catch (error) {
        process.codeOf(error);
      }
    }
    this.#heap.setWord(into, isSo ? 1 : 0);
    return OK;
  }

  #fullPath(process: SqliteProcess | undefined, path: string, room: number, into: Pointer): number {
    if (process === undefined || process.isDead) return CANNOT_OPEN;
    const resolved = resolve(process, path);
    if (resolved === undefined) return CANNOT_OPEN;
    const heap = this.#heap;
    const bytes = heap.text(resolved.path);
    if (bytes + 1 > room) return CANNOT_OPEN;
    heap.bytes.copyWithin(into, heap.at, heap.at + bytes + 1);
    return resolved.links > 0 ? OK_LINK : OK;
  }

  // Locks and shared memory ---------------------------------------------------------------------------------

  #lock(handle: Handle, level: number): number {
    if (handle.process.isDead) return BUSY;
    return handle.locks === undefined || handle.locks.lock(handle, level) ? OK : BUSY;
  }

  #unlock(handle: Handle, level: number): number {
    handle.locks?.unlock(handle, level);
    return OK;
  }

  #isReserved(handle: Handle, into: Pointer): number {
    this.#heap.setWord(into, handle.locks?.isReserved === true ? 1 : 0);
    return OK;
  }

  #map(handle: Handle, region: number, bytes: number, isExtended: boolean, into: Pointer): number {
    const heap = this.#heap;
    heap.setWord(into, 0);
    const { process, locks } = handle;
    if (process.isDead || locks === undefined) return SHM_OPEN_FAILED;
    try {
      const code = handle.shared === undefined ? share(handle, locks) : OK;
      const { shared } = handle;
      if (shared === undefined) return code;
      if (shared.isWaiting) {
        if (!locks.isShared) return READ_ONLY_CANNOT_INITIALIZE;
        shared.isWaiting = false;
        locks.share(handle);
      }
      while (locks.regions.length <= region) {
        if (!isExtended) break;
        // Takes the space on the disk now, page by page, as SQLite does: a later fault would be a signal.
        const end = (locks.regions.length + 1) * bytes;
        for (let at = end - bytes + PAGE - 1; at < end; at += PAGE) shared.data.writeAt(ZERO, at);
        const memory = heap.c.malloc(bytes);
        heap.bytes.fill(0, memory, memory + bytes);
        locks.regions.push(memory);
      }
      heap.setWord(into, locks.regions[region] ?? 0);
      return shared.isReadOnly ? READ_ONLY : OK;
    } catch (error) {
      process.codeOf(error);
      return SHM_SIZE_FAILED;
    }
  }

  #lockShared(handle: Handle, first: number, count: number, flags: number): number {
    const { process, locks, shared } = handle;
    const isLock = (flags & SHM_UNLOCK) === 0;
    if (locks === undefined || shared === undefined) return SHM_OPEN_FAILED;
    if (isLock && process.isDead) return BUSY;
    const isExclusive = (flags & SHM_EXCLUSIVE) !== 0;
    // A write lock needs a file that is open for writing.
    if (isLock && isExclusive && shared.isReadOnly) return BUSY;
    return locks.lockShared(handle, first, count, isLock, isExclusive) ? OK : BUSY;
  }

  #unmap(handle: Handle, isDeleted: boolean): number {
    const { process, locks, shared, path } = handle;
    if (locks === undefined || shared === undefined) return OK;
    handle.shared = undefined;
    if (locks.unshare(handle, this.#heap) && isDeleted && !process.isDead) {
      try {
        process.files.unlink(process.who, `${path}-shm`);
      } catch (error) {
        process.codeOf(error);
      }
    }
    process.close(shared.descriptor);
    return OK;
  }
}

const ZERO = new Uint8Array(1);

function isNewJournal(flags: number): boolean {
  return (flags & OPEN_CREATE) !== 0 && (flags & (OPEN_SUPER_JOURNAL | OPEN_MAIN_JOURNAL | OPEN_WAL)) !== 0;
}

interface Opened {
  readonly code: number;
  readonly descriptor: number;
  /** As SQLite gave them, or read-only. */
  readonly flags: number;
}

function openFile(process: SqliteProcess, path: string, flags: number): Opened {
  const { files, who } = process;
  const failed = (code: number): Opened => ({ code, descriptor: -1, flags });
  /** A journal has the mode and the owner of its database. */
  let like: Stat | undefined;
  if ((flags & (OPEN_WAL | OPEN_MAIN_JOURNAL)) !== 0) {
    try {
      like = files.stat(who, path.replace(/-(?:wal|journal)$/, ""));
    } catch (error) {
      process.codeOf(error);
      return failed(STAT_FAILED);
    }
  }
  const isWriting = (flags & OPEN_READWRITE) !== 0;
  const create =
    (flags & OPEN_CREATE) === 0 ? 0 : (flags & OPEN_EXCLUSIVE) === 0 ? O_CREAT : O_CREAT | O_EXCL;
  const mode = (flags & OPEN_DELETE_ON_CLOSE) !== 0 ? 0o600 : like && like.mode & 0o777;
  let result = tryOpen(process, path, (isWriting ? O_RDWR : O_RDONLY) | create, mode);
  let given = flags;
  if (typeof result === "string") {
    if (result === "EACCES" && isNewJournal(flags) && exists(process, path)) return failed(READ_ONLY_FOLDER);
    if (result !== "EISDIR" && isWriting) {
      given = (flags & ~(OPEN_READWRITE | OPEN_CREATE)) | OPEN_READONLY;
      result = tryOpen(process, path, O_RDONLY, mode);
    }
    if (typeof result === "string") return failed(CANNOT_OPEN);
  }
  if (like !== undefined) own(process, result, like);
  return { code: OK, descriptor: result, flags: given };
}

/** @returns a descriptor, or the code of the error */
function tryOpen(process: SqliteProcess, path: string, flags: number, mode?: number): number | string {
  const { files, who } = process;
  try {
    const descriptor = files.open(who, path, flags | O_NOFOLLOW | O_CLOEXEC, mode ?? 0o644);
    const stat = files.fstat(who, descriptor);
    if (stat.kind !== "file") {
      files.close(who, descriptor);
      return "EISDIR";
    }
    // The umask has no say in the mode of a journal.
    if (mode !== undefined && stat.size === 0 && (stat.mode & 0o777) !== mode) {
      try {
        files.fchmod(who, descriptor, mode);
      } catch (error) {
        process.codeOf(error);
      }
    }
    return descriptor;
  } catch (error) {
    return process.codeOf(error);
  }
}

/** As in SQLite's layer for Unix, a failure has no effect. */
function own(process: SqliteProcess, descriptor: number, { uid, gid }: Stat): void {
  const { files, who } = process;
  if (who.uid !== 0) return;
  try {
    files.fchown(who, descriptor, uid, gid);
  } catch (error) {
    process.codeOf(error);
  }
}

function exists(process: SqliteProcess, path: string): boolean {
  try {
    process.files.access(process.who, path, 0);
    return true;
  } catch (error) {
    process.codeOf(error);
    return false;
  }
}

function inodeAt(process: SqliteProcess, path: string): Inode | undefined {
  try {
    return process.files.find(process.who, path);
  } catch (error) {
    process.codeOf(error);
    return undefined;
  }
}

/** @returns whether nothing failed, except that the folder may not be readable for us */
function syncFolder(process: SqliteProcess, path: string): boolean {
  const { files, who } = process;
  let descriptor: number;
  try {
    descriptor = files.open(who, path.slice(0, path.lastIndexOf("/")) || "/", O_CLOEXEC);
  } catch (error) {
    process.codeOf(error);
    return true;
  }
  try {
    files.sync(who, descriptor);
    return true;
  } catch (error) {
    process.codeOf(error);
    return false;
  } finally {
    process.close(descriptor);
  }
}

/** Opens the file "…-shm" and begins to use the shared memory. @throws SysError */
function share(handle: Handle, locks: LockState): number {
  const { process, path } = handle;
  const { files, who } = process;
  let like: Stat;
  try {
    like = files.fstat(who, handle.descriptor);
  } catch (error) {
    process.codeOf(error);
    return STAT_FAILED;
  }
  const name = `${path}-shm`;
  let isReadOnly = false;
  let descriptor = tryOpen(process, name, O_RDWR | O_CREAT, like.mode & 0o777);
  if (typeof descriptor === "string") {
    isReadOnly = true;
    descriptor = tryOpen(process, name, O_RDONLY, like.mode & 0o777);
  }
  if (typeof descriptor === "string") return CANNOT_OPEN;
  if (!isReadOnly) own(process, descriptor, like);
  const data = files.data(who.files.get(descriptor)?.inode as Inode);
  const isWaiting = isReadOnly && !locks.isShared;
  // The first user begins with an empty file; what processes before it left there is not valid.
  if (!isReadOnly && !locks.isShared) data.truncate(3);
  handle.shared = { descriptor, data, isReadOnly, isWaiting };
  if (!isWaiting) locks.share(handle);
  return isWaiting ? READ_ONLY_CANNOT_INITIALIZE : OK;
}

/** An absolute path without symbolic links, "." and ".."; the last names need not exist. */
function resolve(process: SqliteProcess, path: string): { path: string; links: number } | undefined {
  const { files, who } = process;
  const pending = path.split("/").reverse();
  let done = "";
  let links = 0;
  if (!path.startsWith("/")) pending.push(...files.pathOf(who.cwd).split("/").reverse());
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      done = done.slice(0, Math.max(0, done.lastIndexOf("/")));
      continue;
    }
    const next = `${done}/${name}`;
    try {
      if (files.lstat(who, next).kind === "link") {
        if (++links > MAX_LINKS) return undefined;
        const target = files.readLink(who, next);
        if (target.startsWith("/")) done = "";
        pending.push(...target.split("/").reverse());
        continue;
      }
    } catch (error) {
      if (process.codeOf(error) !== "ENOENT") return undefined;
    }
    done = next;
  }
  return done === "" ? undefined : { path: done, links };
}
