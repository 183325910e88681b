/** `node:fs` of a simulated process, as far as Tutti uses it. */
import type { Caller, Files, Kind, Random, SysError } from "../world/contract.ts";
import { sysError } from "../world/errors.ts";
import { constants, Dirent, flagsOf, modeOf, Stats } from "./fs-types.ts";

type Path = string | URL | Uint8Array;
type Bytes = Uint8Array & { toString(encoding?: string, start?: number, end?: number): string };
type Encoded = string | null | undefined | { readonly encoding?: string | null };

interface WriteOptions {
  readonly encoding?: string | null;
  readonly mode?: number | string;
  readonly flag?: string | number;
  readonly flush?: boolean;
}

interface ReadPlace {
  readonly offset?: number;
  readonly length?: number;
  readonly position?: number | bigint | null;
}

/** What the functions need besides files. */
interface FsHost {
  /** Node's, or one like it. */
  readonly Buffer: {
    from(text: string, encoding?: string): Uint8Array;
    allocUnsafe(size: number): Uint8Array;
  };
  /** For names of temporary folders. */
  readonly random: Random;
  setInterval(call: () => void, ms: number): unknown;
  clearInterval(timer: never): void;
}

const MAX_READ = 65_536;
const WATCH_MS = 5007;
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC } = constants;

/** The functions of `node:fs` in the name of that process. */
export function createFs(files: Files, who: Caller, host: FsHost) {
  const { Buffer } = host;
  const scratch = Buffer.allocUnsafe(MAX_READ) as Bytes;
  const watched = new Map<string, Watch[]>();

  function openSync(path: Path, flags: string | number = "r", mode?: number | string): number {
    return files.open(who, textOf(path), flagsOf(flags), modeOf(mode, 0o666));
  }

  function closeSync(descriptor: number): void {
    files.close(who, descriptor);
  }

  function readSync(
    descriptor: number,
    into: Uint8Array,
    offset: number | ReadPlace | null = 0,
    length?: number,
    position?: number | bigint | null,
  ): number {
    if (typeof offset === "object" && offset !== null) {
      return readSync(descriptor, into, offset.offset, offset.length, offset.position);
    }
    const from = offset ?? 0;
    const count = length ?? into.length - from;
    if (count > into.length - from) {
      const most = into.length - from;
      throw outOfRange(`The value of "length" is out of range. It must be <= ${most}. Received ${count}`);
    }
    if (count === 0) return 0;
    const part = from === 0 && count === into.length ? into : into.subarray(from, from + count);
    return files.read(who, descriptor, part, placeOf(position));
  }

  function writeSync(
    descriptor: number,
    data: string | Uint8Array,
    offset?: number | null,
    lengthOrEncoding?: number | string | null,
    position?: number | null,
  ): number {
    if (typeof data === "string") {
      const bytes = Buffer.from(data, (lengthOrEncoding as string | undefined) ?? "utf8");
      return files.write(who, descriptor, bytes, placeOf(offset));
    }
    const from = offset ?? 0;
    const count = (lengthOrEncoding as number | undefined) ?? data.length - from;
    return files.write(who, descriptor, data.subarray(from, from + count), placeOf(position));
  }

  /** The rest of an open file, in `scratch` if it is short. */
  function readRest(descriptor: number): Bytes {
    let count = files.read(who, descriptor, scratch);
    if (count === 0) return Buffer.allocUnsafe(0) as Bytes;
    const pieces: Bytes[] = [];
    let total = 0;
    for (;;) {
      total += count;
      // A short file is complete; a long one is continued in another piece.
      if (count < MAX_READ && pieces.length === 0) {
        const next = files.read(who, descriptor, scratch.subarray(count));
        if (next === 0) return scratch.subarray(0, count) as Bytes;
        count += next;
        total += next;
      }
      pieces.push(scratch.slice(0, count) as Bytes);
      count = files.read(who, descriptor, scratch);
      if (count === 0) break;
    }
    const whole = Buffer.allocUnsafe(total) as Bytes;
    let at = 0;
    for (const piece of pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  function readFileSync(file: Path | number, options?: Encoded): Bytes | string {
    const encoding = encodingOf(options);
    const isOpen = typeof file === "number";
    const descriptor = isOpen ? file : openSync(file, flagOf(options, O_RDONLY));
    try {
      const bytes = readRest(descriptor);
      if (encoding !== undefined) return bytes.toString(encoding);
      if (bytes.buffer !== scratch.buffer) return bytes;
      const own = Buffer.allocUnsafe(bytes.length) as Bytes;
      own.set(bytes);
      return own;
    } finally {
      if (!isOpen) closeSync(descriptor);
    }
  }

  function writeFileSync(
    file: Path | number,
    data: string | Uint8Array,
    options: string | WriteOptions | null = null,
  ): void {
    const { encoding, mode, flag, flush }: WriteOptions =
      typeof options === "string" ? { encoding: options } : (options ?? {});
    const isOpen = typeof file === "number";
    const flags = flag === undefined ? O_WRONLY | O_CREAT | O_TRUNC : flagsOf(flag);
    const descriptor = isOpen ? file : files.open(who, textOf(file), flags, modeOf(mode, 0o666));
    try {
      let bytes = typeof data === "string" ? Buffer.from(data, encoding ?? "utf8") : data;
      while (bytes.length > 0) {
        const count = files.write(who, descriptor, bytes);
        if (count === bytes.length) break;
        bytes = bytes.subarray(count);
      }
      if (flush) files.sync(who, descriptor);
    } finally {
      if (!isOpen) closeSync(descriptor);
    }
  }

  function existsSync(path: Path): boolean {
    try {
      return files.statIfThere(who, textOf(path), true) !== undefined;
    } catch {
      return false;
    }
  }

  function statWith(path: Path, isFollowed: boolean, options?: { readonly throwIfNoEntry?: boolean }) {
    const text = textOf(path);
    if (options?.throwIfNoEntry === false) {
      const stat = files.statIfThere(who, text, isFollowed);
      return stat && new Stats(stat);
    }
    return new Stats(isFollowed ? files.stat(who, text) : files.lstat(who, text));
  }

  const statSync = (path: Path, options?: { readonly throwIfNoEntry?: boolean }) =>
    statWith(path, true, options);
  const lstatSync = (path: Path, options?: { readonly throwIfNoEntry?: boolean }) =>
    statWith(path, false, options);

  function mkdirSync(
    path: Path,
    options?: number | string | null | { readonly recursive?: boolean; readonly mode?: number | string },
  ): string | undefined {
    const isObject = typeof options === "object" && options !== null;
    const mode = modeOf((isObject ? options.mode : options) ?? undefined, 0o777);
    const text = textOf(path);
    if (isObject && options.recursive) return makeFolders(text, mode);
    files.makeFolder(who, text, mode);
    return undefined;
  }

  /** @returns the first folder that it made */
  function makeFolders(path: string, mode: number): string | undefined {
    let first: string | undefined;
    const missing = [path];
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      try {
        files.makeFolder(who, next, mode);
        first ??= next;
      } catch (error) {
        const { code } = error as { readonly code: string };
        const parent = parentOf(next);
        if (code === "ENOENT" && parent !== next && parent !== "") missing.push(next, parent);
        else if (code !== "EEXIST") throw sysError(code, "mkdir", path);
        else checkFolder(next, path, missing.length > 0);
      }
    }
    return first;
  }

  /** What is in the way of `path` must be a folder. */
  function checkFolder(there: string, path: string, isAbove: boolean): void {
    let kind: Kind;
    try {
      ({ kind } = files.stat(who, there));
    } catch (error) {
      throw sysError((error as { readonly code: string }).code, "mkdir", path);
    }
    if (kind !== "folder") throw sysError(isAbove ? "ENOTDIR" : "EEXIST", "mkdir", path);
  }

  function mkdtempSync(prefix: string): string {
    for (;;) {
      let path = prefix;
      for (let i = 0; i < 6; i++) path += LETTERS[host.random.below(LETTERS.length)];
      try {
        files.makeFolder(who, path, 0o700);
        return path;
      } catch (error) {
        const { code } = error as { readonly code: string };
        if (code !== "EEXIST") throw sysError(code, "mkdtemp", `${prefix}XXXXXX`);
      }
    }
  }

  function listed(path: string, encoding?: string) {
    const isBytes = encoding === "buffer";
    return files
      .readFolder(who, path)
      .map(({ name, kind }) => ({ name: isBytes ? Buffer.from(name) : name, kind }));
  }

  function readdirSync(
    path: Path,
    options?: Encoded | { readonly withFileTypes?: boolean; readonly encoding?: string | null },
  ): (string | Uint8Array | Dirent<string | Uint8Array>)[] {
    const text = textOf(path);
    const entries = listed(text, encodingOf(options));
    const isTyped = typeof options === "object" && options !== null && "withFileTypes" in options;
    return isTyped && options.withFileTypes
      ? entries.map(({ name, kind }) => new Dirent(name, text, kind))
      : entries.map(({ name }) => name);
  }

  function rmSync(
    path: Path,
    { recursive = false, force = false }: { readonly recursive?: boolean; readonly force?: boolean } = {},
  ): void {
    const text = textOf(path);
    let kind: Kind;
    try {
      ({ kind } = files.lstat(who, text));
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (force && (code === "ENOENT" || (recursive && code === "ENOTDIR"))) return;
      throw error;
    }
    if (kind !== "folder") files.unlink(who, text);
    else if (recursive) {
      try {
        removeAll(text);
      } catch (error) {
        throw rmError(error as SysError, text);
      }
    } else {
      const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${text}`);
      throw Object.assign(error, { code: "ERR_FS_EISDIR", errno: 21, syscall: "rm", path: text });
    }
  }

  function removeAll(folder: string): void {
    for (const { name, kind } of files.readFolder(who, folder)) {
      const path = `${folder}/${name}`;
      if (kind === "folder") removeAll(path);
      else files.unlink(who, path);
    }
    files.removeFolder(who, folder);
  }

  const fs = {
    constants,
    Stats,
    Dirent,
    openSync,
    closeSync,
    readSync,
    writeSync,
    readFileSync,
    writeFileSync,
    existsSync,
    statSync,
    lstatSync,
    mkdirSync,
    mkdtempSync,
    readdirSync,
    rmSync,
    fstatSync: (descriptor: number) => new Stats(files.fstat(who, descriptor)),
    accessSync: (path: Path, mode: number = constants.F_OK) => files.access(who, textOf(path), mode),
    chmodSync: (path: Path, mode: number | string) => files.chmod(who, textOf(path), modeOf(mode, 0)),
    fchmodSync: (descriptor: number, mode: number | string) => files.fchmod(who, descriptor, modeOf(mode, 0)),
    chownSync: (path: Path, uid: number, gid: number) => files.chown(who, textOf(path), uid, gid),
    lchownSync: (path: Path, uid: number, gid: number) => files.chown(who, textOf(path), uid, gid, true),
    fchownSync: (descriptor: number, uid: number, gid: number) => files.fchown(who, descriptor, uid, gid),
    fsyncSync: (descriptor: number) => files.sync(who, descriptor),
    fdatasyncSync: (descriptor: number) => files.sync(who, descriptor, "fdatasync"),
    ftruncateSync: (descriptor: number, length: number | null = 0) =>
      files.truncate(who, descriptor, length ?? 0),
    linkSync: (existing: Path, path: Path) => files.link(who, textOf(existing), textOf(path)),
    symlinkSync: (target: Path, path: Path) => files.makeLink(who, textOf(target), textOf(path)),
    readlinkSync: (path: Path) => files.readLink(who, textOf(path)),
    renameSync: (from: Path, to: Path) => files.rename(who, textOf(from), textOf(to)),
    rmdirSync: (path: Path) => files.removeFolder(who, textOf(path)),
    unlinkSync: (path: Path) => files.unlink(who, textOf(path)),
    statfsSync: (path: Path) => ({ type: files.typeOf(who, textOf(path)), bsize: 4096 }),
    read: Object.assign(
      (
        descriptor: number,
        into: Uint8Array,
        offset: number,
        length: number,
        position: number | null,
        call: (error: Error | null, bytesRead?: number, buffer?: Uint8Array) => void,
      ): void => {
        void Promise.resolve()
          .then(() => readSync(descriptor, into, offset, length, position))
          .then(
            (count) => call(null, count, into),
            (error) => call(error),
          );
      },
      {
        [PROMISIFIED]: async (
          descriptor: number,
          buffer: Uint8Array,
          ...place: [number, number, number]
        ) => ({
          bytesRead: readSync(descriptor, buffer, ...place),
          buffer,
        }),
      },
    ),
    watchFile(
      path: Path,
      options: { readonly interval?: number; readonly persistent?: boolean },
      listener: Listener,
    ): void {
      const text = textOf(path);
      let before = statOrNothing(text);
      const look = () => {
        const now = statOrNothing(text);
        if (isSame(now, before)) return;
        const was = before;
        before = now;
        listener(now, was);
      };
      const timer = host.setInterval(look, options.interval ?? WATCH_MS);
      if (options.persistent === false) (timer as { unref?(): void }).unref?.();
      watched.set(text, [...(watched.get(text) ?? []), { listener, timer }]);
    },
    unwatchFile(path: Path, listener?: Listener): void {
      const text = textOf(path);
      const isMeant = (watch: Watch) => listener === undefined || watch.listener === listener;
      const all = watched.get(text) ?? [];
      for (const watch of all.filter(isMeant)) host.clearInterval(watch.timer as never);
      watched.set(
        text,
        all.filter((watch) => !isMeant(watch)),
      );
    },
  };

  /** All zero if there is no such file. */
  function statOrNothing(path: string): Stats {
    const zeros = { dev: 0, ino: 0, mode: 0, uid: 0, gid: 0, nlink: 0, size: 0, mtimeMs: 0 };
    return new Stats(files.statIfThere(who, path, true) ?? { kind: "device", ...zeros });
  }

  class FileHandle {
    readonly fd: number;
    constructor(fd: number) {
      this.fd = fd;
    }
    async close(): Promise<void> {
      closeSync(this.fd);
    }
    async stat(): Promise<Stats> {
      return fs.fstatSync(this.fd);
    }
  }

  class Dir {
    readonly path: string;
    readonly #entries: Dirent<string | Uint8Array>[];
    constructor(path: string, encoding?: string) {
      this.path = path;
      this.#entries = listed(path, encoding).map(({ name, kind }) => new Dirent(name, path, kind));
    }
    async close(): Promise<void> {}
    async *[Symbol.asyncIterator]() {
      yield* this.#entries;
    }
  }

  const promises = {
    constants,
    access: async (path: Path, mode?: number) => fs.accessSync(path, mode),
    chmod: async (path: Path, mode: number | string) => fs.chmodSync(path, mode),
    open: async (path: Path, flags?: string | number, mode?: number | string) =>
      new FileHandle(openSync(path, flags, mode)),
    async opendir(path: Path, options?: Encoded) {
      try {
        return new Dir(textOf(path), encodingOf(options));
      } catch (error) {
        throw sysError((error as { readonly code: string }).code, "opendir", textOf(path));
      }
    },
    rename: async (from: Path, to: Path) => fs.renameSync(from, to),
    rmdir: async (path: Path) => fs.rmdirSync(path),
    stat: async (path: Path) => statSync(path),
    unlink: async (path: Path) => fs.unlinkSync(path),
    writeFile: async (path: Path, data: string | Uint8Array, options?: string | WriteOptions) =>
      writeFileSync(path, data, options),
  };

  return { fs: { ...fs, promises }, promises };
}

/** Where a function keeps its form with promises, for util.promisify. */
const PROMISIFIED = Symbol.for("nodejs.util.promisify.custom");

type Listener = (now: Stats, before: Stats) => void;

interface Watch {
  readonly listener: Listener;
  readonly timer: unknown;
}

function isSame(a: Stats, b: Stats): boolean {
  return a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.size === b.size && a.dev === b.dev;
}

const decoder = new TextDecoder();

function textOf(path: Path): string {
  if (typeof path === "string") return path;
  return path instanceof URL ? decodeURIComponent(path.pathname) : decoder.decode(path);
}

function encodingOf(options: Encoded): string | undefined {
  return (typeof options === "object" ? options?.encoding : options) ?? undefined;
}

function flagOf(options: unknown, otherwise: number): string | number {
  if (typeof options !== "object" || options === null || !("flag" in options)) return otherwise;
  return (options.flag as string | number | undefined) ?? otherwise;
}

function placeOf(position: number | bigint | null | undefined): number | undefined {
  if (position === null || position === undefined || position === -1) return undefined;
  return Number(position);
}

function parentOf(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === "/") end--;
  const cut = path.lastIndexOf("/", end - 1);
  return cut < 0 ? "" : cut === 0 ? "/" : path.slice(0, cut);
}

/** Errors of rmSync with `recursive` come from the library of C++, which words them in its own way. */
function rmError({ code, errno, message }: SysError, path: string): Error {
  const words = message.slice(code.length + 2, message.indexOf(","));
  const error = new Error(`${code}, ${words[0].toUpperCase()}${words.slice(1)}: '${path}'`);
  return Object.assign(error, { code, errno: -errno, syscall: "rm", path });
}

function outOfRange(message: string): RangeError {
  return Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" });
}
