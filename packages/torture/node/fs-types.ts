/** What node:fs returns about files: Stats, Dirent, and constants. */
import type { Kind, Stat } from "../world/contract.ts";
import * as flags from "../world/files/open-flags.ts";

const TYPE_BITS: Readonly<Record<Kind, number>> = {
  file: 0o100000,
  folder: 0o040000,
  link: 0o120000,
  pipe: 0o010000,
  socket: 0o140000,
  device: 0o020000,
};

const BLOCK = 512;
const PAGE = 4096;

class Typed {
  readonly #kind: Kind;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  isFile(): boolean {
    return this.#kind === "file";
  }
  isDirectory(): boolean {
    return this.#kind === "folder";
  }
  isSymbolicLink(): boolean {
    return this.#kind === "link";
  }
  isFIFO(): boolean {
    return this.#kind === "pipe";
  }
  isSocket(): boolean {
    return this.#kind === "socket";
  }
  isCharacterDevice(): boolean {
    return this.#kind === "device";
  }
  isBlockDevice(): boolean {
    return false;
  }
}

export class Stats extends Typed {
  readonly dev: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly rdev = 0;
  readonly blksize = PAGE;
  readonly ino: number;
  readonly size: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;

  constructor(stat: Stat) {
    super(stat.kind);
    this.dev = stat.dev;
    this.mode = stat.mode | TYPE_BITS[stat.kind];
    this.nlink = stat.nlink;
    this.uid = stat.uid;
    this.gid = stat.gid;
    this.ino = stat.ino;
    this.size = stat.size;
    this.atimeMs = stat.mtimeMs;
    this.mtimeMs = stat.mtimeMs;
    this.ctimeMs = stat.mtimeMs;
    this.birthtimeMs = stat.mtimeMs;
  }

  get blocks(): number {
    return Math.ceil(this.size / PAGE) * (PAGE / BLOCK);
  }
  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
}

export class Dirent<Name = string> extends Typed {
  readonly name: Name;
  readonly parentPath: string;

  constructor(name: Name, parentPath: string, kind: Kind) {
    super(kind);
    this.name = name;
    this.parentPath = parentPath;
  }
}

export const constants = {
  ...flags,
  F_OK: 0,
  S_IFMT: 0o170000,
  S_IFREG: TYPE_BITS.file,
  S_IFDIR: TYPE_BITS.folder,
  S_IFLNK: TYPE_BITS.link,
  S_IFIFO: TYPE_BITS.pipe,
  S_IFSOCK: TYPE_BITS.socket,
  S_IFCHR: TYPE_BITS.device,
} as const;

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = flags;
const WRITE_NEW = O_WRONLY | O_CREAT;
const UPDATE_NEW = O_RDWR | O_CREAT;

const FLAGS: Readonly<Record<string, number>> = {
  r: O_RDONLY,
  "r+": O_RDWR,
  w: WRITE_NEW | O_TRUNC,
  wx: WRITE_NEW | O_TRUNC | O_EXCL,
  "w+": UPDATE_NEW | O_TRUNC,
  "wx+": UPDATE_NEW | O_TRUNC | O_EXCL,
  a: WRITE_NEW | O_APPEND,
  ax: WRITE_NEW | O_APPEND | O_EXCL,
  "a+": UPDATE_NEW | O_APPEND,
  "ax+": UPDATE_NEW | O_APPEND | O_EXCL,
};

/** Flags of open as a number. */
export function flagsOf(given: string | number): number {
  if (typeof given === "number") return given;
  const known = FLAGS[given];
  if (known === undefined) {
    const error = new TypeError(`The argument 'flags' is invalid. Received '${given}'`);
    throw Object.assign(error, { code: "ERR_INVALID_ARG_VALUE" });
  }
  return known;
}

/** Permission bits, which may be written as an octal number in a text. */
export function modeOf(given: string | number | undefined, otherwise: number): number {
  return given === undefined ? otherwise : typeof given === "number" ? given : Number.parseInt(given, 8);
}
