/** The file systems of a machine, as its processes see them: the calls of the interface `Files`. */
import type { Caller, FileData, Files, Inode, Kind, MadeFolder, Random, Stat } from "../contract.ts";
import { sysError } from "../errors.ts";
import { FileNode } from "./file-node.ts";
import { type Disk, FileSystem } from "./file-system.ts";
import { ENTRY, FOLLOW, KEEP, NameSpace } from "./name-space.ts";
import { dropIds, Open } from "./open-file.ts";
import {
  O_ACCMODE,
  O_CREAT,
  O_DIRECTORY,
  O_EXCL,
  O_NOFOLLOW,
  O_NONBLOCK,
  O_RDONLY,
  O_TRUNC,
  O_WRONLY,
  R_OK,
  W_OK,
  X_OK,
} from "./open-flags.ts";
import { Pipe } from "./pipe.ts";
import { groupAndMode, isInGroup, mayRemove, mayReopen, mayUse, ownerOf, withoutIds } from "./rights.ts";

const EXT4 = 0xef53;
const NFS = 0x6969;
/** Above those of a machine's own file systems. */
const SHARED_DEV = 1000;
const TMPFS = 0x01021994;
const SYSFS = 0x62656572;
const SHARED_MODE = 0o1777;
const SET_IDS = 0o6000;

interface FilesOptions {
  /** Draws what a power cut leaves. */
  readonly random: Random;
  /** Time of the machine, for mtimes. */
  readonly unixMs: () => number;
  readonly capacityBytes: number;
  /** The disk keeps no more than POSIX promises: each folder has its own order. */
  readonly isLax?: boolean;
}

export function createFiles(options: FilesOptions): SimulatedFiles {
  return new SimulatedFiles(options);
}

/**
 * A file system that several machines mount, as one of a file server: it keeps all that was written, whatever
 * happens to those who wrote it. Names and contents are the same everywhere at once.
 */
export function createSharedSystem(unixMs: () => number, capacityBytes: number): FileSystem {
  const options = { dev: SHARED_DEV, type: NFS, kind: "disk", rootMode: 0o755 } as const;
  return new FileSystem({ ...options, capacityBytes, unixMs });
}

export class SimulatedFiles implements Files {
  readonly #names: NameSpace;
  readonly #disk: FileSystem;
  readonly #memory: FileSystem[] = [];
  readonly #random: Random;
  readonly #unixMs: () => number;
  #lastDev = 0;

  constructor({ random, unixMs, capacityBytes, isLax = false }: FilesOptions) {
    this.#random = random;
    this.#unixMs = unixMs;
    const kind = isLax ? "lax disk" : "disk";
    this.#disk = this.#makeSystem(kind, EXT4, 0o755, capacityBytes);
    this.#names = new NameSpace(this.#disk.root);
    const init = this.asRoot();
    const devices = this.#addMemory(init, "/dev", 0o755);
    const node = new FileNode("device", devices, 0o666, 0, 0, unixMs());
    devices.add(devices.root, "null", node);
    this.#addMemory(init, "/dev/shm", SHARED_MODE);
    this.#addMemory(init, "/tmp", SHARED_MODE);
    this.#addMemory(init, "/run", 0o755);
  }

  /** The disk beneath "/", for faults. */
  get disk(): Disk {
    return this.#disk;
  }

  /** A caller that may do everything, for the world itself. */
  asRoot(): Caller {
    const files = new Map();
    return { pid: 0, uid: 0, gid: 0, groups: [], umask: 0o022, cwd: this.#names.root, files };
  }

  #makeSystem(kind: "disk" | "lax disk" | "memory", type: number, rootMode: number, capacityBytes: number) {
    return new FileSystem({
      dev: ++this.#lastDev,
      type,
      kind,
      rootMode,
      capacityBytes,
      unixMs: this.#unixMs,
    });
  }

  #addMemory(init: Caller, path: string, rootMode: number): FileSystem {
    const system = this.#makeSystem("memory", TMPFS, rootMode, Number.POSITIVE_INFINITY);
    this.#names.mount(init, path, system.root);
    if (path !== "/dev") this.#memory.push(system);
    return system;
  }

  mount(path: string, tree: MadeFolder, type = SYSFS): void {
    let ino = 0;
    const system = {
      dev: ++this.#lastDev,
      type,
      isReadOnly: false,
      nextIno: () => ++ino,
      unixMs: this.#unixMs,
    };
    this.#names.mountMade(this.asRoot(), path, tree, system);
  }

  /** The ".." of its top is a folder of the machine that has mounted it last. */
  mountShared(path: string, system: FileSystem): void {
    this.#names.mount(this.asRoot(), path, system.root);
  }

  cutPower(): void {
    for (const system of [this.#disk, ...this.#memory]) system.cutPower(this.#random);
  }

  // Looking up ----------------------------------------------------------------------------------------------

  #find(who: Caller, path: string, syscall: string, isFollowed = true): FileNode {
    const node = this.#names.locate(who, path, isFollowed ? FOLLOW : KEEP);
    if (node === undefined) throw sysError(this.#names.problem, syscall, path);
    return node;
  }

  find(who: Caller, path: string): Inode {
    return this.#find(who, path, "stat");
  }

  stat(who: Caller, path: string): Stat {
    return statOf(this.#find(who, path, "stat"));
  }

  lstat(who: Caller, path: string): Stat {
    return statOf(this.#find(who, path, "lstat", false));
  }

  fstat(who: Caller, descriptor: number): Stat {
    return statOf(openOf(who, descriptor, "fstat").inode);
  }

  /** As stat and lstat; undefined if there is no such file. */
  statIfThere(who: Caller, path: string, isFollowed: boolean): Stat | undefined {
    const node = this.#names.locate(who, path, isFollowed ? FOLLOW : KEEP);
    if (node !== undefined) return statOf(node);
    const { problem } = this.#names;
    // Only of stat, Node takes ENOTDIR for the same.
    if (problem === "ENOENT" || (problem === "ENOTDIR" && isFollowed)) return undefined;
    throw sysError(problem, isFollowed ? "stat" : "lstat", path);
  }

  access(who: Caller, path: string, mode: number): void {
    const node = this.#find(who, path, "access");
    if (!mayUse(node, who, mode & 7)) throw sysError("EACCES", "access", path);
    const isOnDisk = node.kind === "file" || node.kind === "folder" || node.kind === "link";
    if ((mode & W_OK) !== 0 && node.system.isReadOnly && isOnDisk) throw sysError("EROFS", "access", path);
  }

  typeOf(who: Caller, path: string): number {
    return this.#find(who, path, "statfs").system.type;
  }

  pathOf(folder: Inode): string {
    let node = folder as FileNode;
    let path = "";
    const isGone = node.isGone;
    for (; node.parent !== node && node.parent !== undefined; node = node.parent)
      path = `/${node.name}${path}`;
    return isGone ? `${path} (deleted)` : path || "/";
  }

  readFolder(who: Caller, path: string): { readonly name: string; readonly kind: Kind }[] {
    const folder = this.#find(who, path, "scandir");
    if (folder.kind !== "folder") throw sysError("ENOTDIR", "scandir", path);
    if (!mayUse(folder, who, R_OK)) throw sysError("EACCES", "scandir", path);
    return this.#list(folder, who);
  }

  data(file: Inode): FileData {
    const { content } = file as FileNode;
    if (content === undefined) throw sysError("EINVAL", "open");
    return content;
  }

  #list(folder: FileNode, who: Caller): { readonly name: string; readonly kind: Kind }[] {
    const { made, mounts } = folder;
    const entries: { readonly name: string; readonly kind: Kind }[] = [];
    if (made === undefined) {
      for (const [name, { kind }] of folder.names!) {
        if (!mounts?.has(name)) entries.push({ name, kind });
      }
    } else {
      for (const name of (made as { readonly folder: MadeFolder }).folder.list(who)) {
        const node = mounts?.has(name) ? undefined : this.#names.child(folder, name, who);
        if (node !== undefined) entries.push({ name, kind: node.kind });
      }
    }
    if (mounts !== undefined) for (const name of mounts.keys()) entries.push({ name, kind: "folder" });
    return entries;
  }

  // Open files ----------------------------------------------------------------------------------------------

  open(who: Caller, path: string, flags: number, mode = 0o666): number {
    const isCreating = (flags & O_CREAT) !== 0;
    const isExclusive = isCreating && (flags & O_EXCL) !== 0;
    const names = this.#names;
    if (isCreating && path.endsWith("/")) {
      const isReached = names.locate(who, path, ENTRY) !== undefined || names.folder !== undefined;
      if (!isReached || !isDots(names.last))
        throw sysError(isReached ? "EISDIR" : names.problem, "open", path);
    }
    const isFollowed = (flags & O_NOFOLLOW) === 0 && !isExclusive;
    let node = names.locate(who, path, isFollowed ? FOLLOW : KEEP);
    if (node === undefined) {
      const { problem, folder, last, isSlashed } = names;
      if (!isCreating || folder === undefined) throw sysError(problem, "open", path);
      // Only the slash at the end of a link can bring us here.
      if (isSlashed) throw sysError("EISDIR", "open", path);
      this.#checkAdding(who, folder, "open", path);
      const [gid, bits] = groupAndMode(folder, false, mode & 0o7777 & ~who.umask, who);
      const system = folder.system as FileSystem;
      node = system.makeFile(bits, who.uid, gid);
      system.add(folder, last, node);
    } else {
      const problem = this.#openProblem(who, node, flags, isExclusive);
      if (problem !== undefined) throw sysError(problem, "open", path);
      if ((flags & O_TRUNC) !== 0 && node.content !== undefined) {
        node.content.truncate(0);
        dropIds(who, node);
      }
    }
    const full = path.charCodeAt(0) === SLASH ? path : `${this.pathOf(who.cwd)}/${path}`;
    return place(who, new Open(node, flags, full));
  }

  #openProblem(who: Caller, node: FileNode, flags: number, isExclusive: boolean): string | undefined {
    if (isExclusive) return "EEXIST";
    const { kind } = node;
    const access = flags & O_ACCMODE;
    if ((flags & O_CREAT) !== 0) {
      if (kind === "folder") return "EISDIR";
      const { folder } = this.#names;
      if (folder !== undefined && kind === "file" && !mayReopen(folder, node, who)) return "EACCES";
    }
    if ((flags & O_DIRECTORY) !== 0 && kind !== "folder") return "ENOTDIR";
    if (kind === "link") return "ELOOP";
    if (kind === "folder" && (access !== O_RDONLY || (flags & O_TRUNC) !== 0)) return "EISDIR";
    const bits =
      (access === O_WRONLY ? 0 : R_OK) | (access === O_RDONLY && (flags & O_TRUNC) === 0 ? 0 : W_OK);
    if (!mayUse(node, who, bits)) return "EACCES";
    if (kind === "socket") return "ENXIO";
    if (kind === "file" && (bits & W_OK) !== 0 && node.system.isReadOnly) return "EROFS";
    const isNonblocking = (flags & O_NONBLOCK) !== 0;
    if (kind === "pipe" && access === O_WRONLY && isNonblocking && node.pipe!.readers === 0) return "ENXIO";
    return undefined;
  }

  /** Whether an entry may be made in that folder. @throws SysError */
  #checkAdding(who: Caller, folder: FileNode, syscall: string, path: string, to?: string): void {
    if (folder.made !== undefined) throw sysError("EACCES", syscall, path, to);
    if (folder.isGone) throw sysError("ENOENT", syscall, path, to);
    if (!mayUse(folder, who, W_OK | X_OK)) throw sysError("EACCES", syscall, path, to);
    if (folder.system.isReadOnly) throw sysError("EROFS", syscall, path, to);
  }

  close(who: Caller, descriptor: number): void {
    const open = openOf(who, descriptor, "close");
    who.files.delete(descriptor);
    if (--open.references > 0) return;
    open.end();
    const { inode } = open;
    if (inode.nlink === 0 && inode.made === undefined) (inode.system as FileSystem).release(inode);
  }

  duplicate(who: Caller, descriptor: number, to?: number): number {
    const open = openOf(who, descriptor, "dup");
    if (to === descriptor) return to;
    open.references++;
    if (to === undefined) return place(who, open);
    if (who.files.has(to)) this.close(who, to);
    who.files.set(to, open);
    return to;
  }

  read(who: Caller, descriptor: number, into: Uint8Array, position?: number): number {
    return openOf(who, descriptor, "read").read(who, into, position);
  }

  write(who: Caller, descriptor: number, bytes: Uint8Array, position?: number): number {
    return openOf(who, descriptor, "write").write(who, bytes, position);
  }

  truncate(who: Caller, descriptor: number, length: number): void {
    const open = openOf(who, descriptor, "ftruncate");
    if (!open.canWrite || open.inode.content === undefined) throw sysError("EINVAL", "ftruncate");
    open.inode.content.truncate(length);
    dropIds(who, open.inode);
  }

  sync(who: Caller, descriptor: number, syscall: "fsync" | "fdatasync" = "fsync"): void {
    const { inode } = openOf(who, descriptor, syscall);
    if (inode.kind !== "file" && inode.kind !== "folder") throw sysError("EINVAL", syscall);
    if (inode.made === undefined) (inode.system as FileSystem).syncNode(inode, syscall);
  }

  whenReadable(who: Caller, descriptor: number, call: () => void): () => void {
    return openOf(who, descriptor, "poll").pipe.whenReadable(call);
  }

  /** As `whenReadable`, for a write of up to 4 KiB. */
  whenWritable(who: Caller, descriptor: number, call: () => void): () => void {
    return openOf(who, descriptor, "poll").pipe.whenWritable(call);
  }

  pipe(who: Caller): [number, number] {
    const node = new FileNode("pipe", this.#disk, 0o600, who.uid, who.gid, this.#unixMs());
    node.pipe = new Pipe();
    node.nlink = 0;
    const path = `pipe:[${node.ino}]`;
    return [place(who, new Open(node, O_RDONLY, path)), place(who, new Open(node, O_WRONLY, path))];
  }

  // Names ---------------------------------------------------------------------------------------------------

  /** The folder for a new entry, whose name is in `last`. @throws EEXIST */
  #place(who: Caller, path: string, syscall: string, isFolder: boolean, from?: string): FileNode {
    const names = this.#names;
    const [first, second] = from === undefined ? [path] : [from, path];
    const node = names.locate(who, path, ENTRY);
    const { problem, folder, isSlashed } = names;
    const isThere = node !== undefined || (problem === "ENOTDIR" && folder !== undefined);
    if (isThere) throw sysError("EEXIST", syscall, first, second);
    if (folder === undefined) throw sysError(problem, syscall, first, second);
    if (isSlashed && !isFolder) throw sysError("ENOENT", syscall, first, second);
    return folder;
  }

  makeFolder(who: Caller, path: string, mode = 0o777): void {
    const folder = this.#place(who, path, "mkdir", true);
    const { last } = this.#names;
    if (folder.made !== undefined) {
      const made = (folder.made as { readonly folder: MadeFolder }).folder;
      if (made.makeFolder === undefined) throw sysError("EPERM", "mkdir", path);
      if (!mayUse(folder, who, W_OK | X_OK)) throw sysError("EACCES", "mkdir", path);
      made.makeFolder(last, who);
      return;
    }
    this.#checkAdding(who, folder, "mkdir", path);
    const system = folder.system as FileSystem;
    if (!system.hasRoomForFolder()) throw sysError("ENOSPC", "mkdir", path);
    const [gid, bits] = groupAndMode(folder, true, mode & 0o1777 & ~who.umask, who);
    system.add(folder, last, new FileNode("folder", system, bits, who.uid, gid, this.#unixMs()));
  }

  makeLink(who: Caller, target: string, path: string): void {
    if (target === "") throw sysError("ENOENT", "symlink", target, path);
    const node = this.#makeEntry(who, path, "link", 0o777, "symlink", target);
    node.target = target;
  }

  makePipe(who: Caller, path: string, mode = 0o666): void {
    this.#makeEntry(who, path, "pipe", mode & 0o7777 & ~who.umask, "mkfifo").pipe = new Pipe();
  }

  makeSocket(who: Caller, path: string): Inode {
    try {
      return this.#makeEntry(who, path, "socket", 0o777 & ~who.umask, "bind");
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "EEXIST") throw error;
      throw sysError("EADDRINUSE", "bind", path);
    }
  }

  #makeEntry(
    who: Caller,
    path: string,
    kind: Kind,
    mode: number,
    syscall: string,
    target?: string,
  ): FileNode {
    const folder = this.#place(who, path, syscall, false, target);
    const { last } = this.#names;
    this.#checkAdding(who, folder, syscall, target ?? path, target === undefined ? undefined : path);
    const system = folder.system as FileSystem;
    const [gid, bits] = groupAndMode(folder, false, mode, who);
    const node = new FileNode(kind, system, bits, who.uid, gid, this.#unixMs());
    system.add(folder, last, node);
    return node;
  }

  readLink(who: Caller, path: string): string {
    const node = this.#find(who, path, "readlink", false);
    const { made } = node;
    if (node.kind !== "link") throw sysError("EINVAL", "readlink", path);
    if (made === undefined || !("link" in made)) return node.target;
    if (made.link.text !== undefined) return made.link.text(who);
    const target = made.link.target(who);
    return typeof target === "string" ? target : this.pathOf(target);
  }

  link(who: Caller, existing: string, path: string): void {
    const node = this.#names.locate(who, existing, KEEP);
    if (node === undefined) throw sysError(this.#names.problem, "link", existing, path);
    const folder = this.#place(who, path, "link", false, existing);
    const { last } = this.#names;
    if (node.system !== folder.system) throw sysError("EXDEV", "link", existing, path);
    if (node.kind === "folder") throw sysError("EPERM", "link", existing, path);
    this.#checkAdding(who, folder, "link", existing, path);
    // fs.protected_hardlinks
    const isSafe = node.kind === "file" && (node.mode & SET_IDS) === 0 && mayUse(node, who, R_OK | W_OK);
    if (who.uid !== 0 && who.uid !== node.uid && !isSafe) throw sysError("EPERM", "link", existing, path);
    (folder.system as FileSystem).add(folder, last, node);
    node.nlink++;
  }

  unlink(who: Caller, path: string): void {
    const node = this.#names.locate(who, path, ENTRY);
    const { folder, last, problem } = this.#names;
    if (node === undefined) throw sysError(problem, "unlink", path);
    if (node.kind === "folder" || folder === undefined) throw sysError("EISDIR", "unlink", path);
    this.#checkRemoving(who, folder, node, "unlink", path);
    (folder.system as FileSystem).remove(folder, last, node);
  }

  #checkRemoving(
    who: Caller,
    folder: FileNode,
    node: FileNode,
    syscall: string,
    path: string,
    to?: string,
  ): void {
    if (folder.made !== undefined) throw sysError("EPERM", syscall, path, to);
    const problem = mayRemove(folder, node, who);
    if (problem !== undefined) throw sysError(problem, syscall, path, to);
    if (folder.system.isReadOnly) throw sysError("EROFS", syscall, path, to);
  }

  removeFolder(who: Caller, path: string): void {
    const node = this.#names.locate(who, path, ENTRY);
    const { folder, last, problem } = this.#names;
    if (node === undefined) throw sysError(problem, "rmdir", path);
    if (folder === undefined) throw sysError("EBUSY", "rmdir", path);
    if (last === ".") throw sysError("EINVAL", "rmdir", path);
    if (last === "..") throw sysError("ENOTEMPTY", "rmdir", path);
    if (folder.made !== undefined) {
      const made = (folder.made as { readonly folder: MadeFolder }).folder;
      if (made.removeFolder === undefined) throw sysError("EPERM", "rmdir", path);
      if (!mayUse(folder, who, W_OK | X_OK)) throw sysError("EACCES", "rmdir", path);
      if (node.kind !== "folder") throw sysError("ENOTDIR", "rmdir", path);
      made.removeFolder(last, who);
      return;
    }
    this.#checkRemoving(who, folder, node, "rmdir", path);
    if (node.kind !== "folder") throw sysError("ENOTDIR", "rmdir", path);
    if (folder.mounts?.has(last)) throw sysError("EBUSY", "rmdir", path);
    if (!isEmpty(node)) throw sysError("ENOTEMPTY", "rmdir", path);
    (folder.system as FileSystem).remove(folder, last, node);
  }

  rename(who: Caller, from: string, to: string): void {
    const fail = (code: string) => sysError(code, "rename", from, to);
    const names = this.#names;
    const node = names.locate(who, from, ENTRY);
    const { folder, last, problem } = names;
    if (node === undefined && folder === undefined) throw fail(problem);
    const replaced = names.locate(who, to, ENTRY);
    const { folder: toFolder, last: toLast, isSlashed } = names;
    if (replaced === undefined && toFolder === undefined) throw fail(names.problem);
    if (folder === undefined || toFolder === undefined) throw fail("EBUSY");
    if (folder.system !== toFolder.system) throw fail("EXDEV");
    if (isDots(last) || isDots(toLast)) throw fail("EBUSY");
    if (node === undefined) throw fail(problem);
    if (node.kind !== "folder" && isSlashed) throw fail("ENOTDIR");
    if (isInside(toFolder, node)) throw fail("EINVAL");
    if (replaced !== undefined && isInside(folder, replaced)) throw fail("ENOTEMPTY");
    if (replaced === undefined && names.problem === "ENOTDIR") throw fail("ENOTDIR");
    if (replaced === node) return;
    this.#checkRemoving(who, folder, node, "rename", from, to);
    if (replaced === undefined) this.#checkAdding(who, toFolder, "rename", from, to);
    else {
      this.#checkRemoving(who, toFolder, replaced, "rename", from, to);
      if (node.kind === "folder" && replaced.kind !== "folder") throw fail("ENOTDIR");
      if (node.kind !== "folder" && replaced.kind === "folder") throw fail("EISDIR");
    }
    // Its ".." changes.
    if (node.kind === "folder" && folder !== toFolder && !mayUse(node, who, W_OK)) throw fail("EACCES");
    if (folder.mounts?.has(last) || toFolder.mounts?.has(toLast)) throw fail("EBUSY");
    if (replaced?.kind === "folder" && !isEmpty(replaced)) throw fail("ENOTEMPTY");
    (folder.system as FileSystem).rename(folder, last, node, toFolder, toLast);
  }

  // Attributes ----------------------------------------------------------------------------------------------

  chmod(who: Caller, path: string, mode: number): void {
    this.#setMode(who, this.#find(who, path, "chmod"), mode, "chmod", path);
  }

  fchmod(who: Caller, descriptor: number, mode: number): void {
    this.#setMode(who, openOf(who, descriptor, "fchmod").inode, mode, "fchmod");
  }

  #setMode(who: Caller, node: FileNode, mode: number, syscall: string, path?: string): void {
    if (node.made !== undefined || (who.uid !== 0 && who.uid !== node.uid))
      throw sysError("EPERM", syscall, path);
    if (node.system.isReadOnly) throw sysError("EROFS", syscall, path);
    const mayKeep = who.uid === 0 || isInGroup(who, node.gid);
    (node.system as FileSystem).noteAttributes(node);
    node.mode = mayKeep ? mode & 0o7777 : mode & 0o5777;
  }

  chown(who: Caller, path: string, uid: number, gid: number, isLink = false): void {
    const syscall = isLink ? "lchown" : "chown";
    this.#setOwner(who, this.#find(who, path, syscall, !isLink), uid, gid, syscall, path);
  }

  fchown(who: Caller, descriptor: number, uid: number, gid: number): void {
    this.#setOwner(who, openOf(who, descriptor, "fchown").inode, uid, gid, "fchown");
  }

  #setOwner(who: Caller, node: FileNode, uid: number, gid: number, syscall: string, path?: string): void {
    const mayGive =
      who.uid === 0 ||
      (who.uid === node.uid &&
        (uid === -1 || uid === node.uid) &&
        (gid === -1 || gid === node.gid || isInGroup(who, gid)));
    if (node.made !== undefined || !mayGive) throw sysError("EPERM", syscall, path);
    if (node.system.isReadOnly) throw sysError("EROFS", syscall, path);
    (node.system as FileSystem).noteAttributes(node);
    if (uid !== -1) node.uid = uid;
    if (gid !== -1) node.gid = gid;
    if (node.kind === "file") node.mode = withoutIds(node.mode);
  }
}

const SLASH = 47;

function openOf(who: Caller, descriptor: number, syscall: string): Open {
  const open = who.files.get(descriptor);
  if (open === undefined) throw sysError("EBADF", syscall);
  return open as Open;
}

/** Gives it the lowest free descriptor. */
function place(who: Caller, open: Open): number {
  let descriptor = 0;
  while (who.files.has(descriptor)) descriptor++;
  who.files.set(descriptor, open);
  return descriptor;
}

function statOf(node: FileNode): Stat {
  const { content } = node;
  return {
    kind: node.kind,
    dev: node.dev,
    ino: node.ino,
    mode: node.mode,
    uid: ownerOf(node),
    gid: node.gid,
    nlink: node.nlink,
    size: content !== undefined ? content.size : node.kind === "link" ? node.target.length : 0,
    mtimeMs: content !== undefined ? content.mtimeMs : node.mtimeMs,
  };
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}

function isEmpty(folder: FileNode): boolean {
  return folder.names!.size === 0 && folder.mounts === undefined;
}

function isInside(folder: FileNode, ancestor: FileNode): boolean {
  if (ancestor.kind !== "folder") return false;
  for (let at = folder; ; at = at.parent!) {
    if (at === ancestor) return true;
    if (at.parent === at || at.parent === undefined) return false;
  }
}
