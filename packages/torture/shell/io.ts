/** What the shell and its commands do with descriptors, and how they wait. */
import type { Sys, SysError, Wait } from "../world/contract.ts";
import { O_ACCMODE, O_NONBLOCK, O_RDONLY, O_WRONLY } from "../world/files/open-flags.ts";

/** After a system call: here a process may be stopped or killed. */
export const STEP: Wait = { for: "step" };
/** How often someone looks again who waits for what no signal announces: room in a pipe, or a reader. */
const LOOK_AGAIN: Wait = { for: "time", us: 1000 };
/** Its content is used before anything else can read. */
const scratch = new Uint8Array(65536);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encode(text: string): Uint8Array {
  return encoder.encode(text);
}

export function decode(bytes: Uint8Array): string {
  if (bytes.length > 64) return decoder.decode(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte >= 0x80) return decoder.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}

/** The error's name, such as ENOENT, if it is one of a system call. Rethrows all others. */
export function codeOf(error: unknown): string {
  const { code } = error as Partial<SysError>;
  if (typeof code !== "string") throw error;
  return code;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EBADF: "Bad file descriptor",
  EEXIST: "File exists",
  EINVAL: "Invalid argument",
  EIO: "Input/output error",
  EISDIR: "Is a directory",
  ELOOP: "Too many levels of symbolic links",
  ENOENT: "No such file or directory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  ENOTEMPTY: "Directory not empty",
  EPERM: "Operation not permitted",
  EPIPE: "Broken pipe",
  EROFS: "Read-only file system",
  ESRCH: "No such process",
};

/** What people read for an error of a system call. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return REASONS[code] ?? code;
}

/** Writes all of it. @throws SysError */
export function write(sys: Sys, descriptor: number, text: string): Generator<Wait, void> {
  return writeBytes(sys, descriptor, encode(text));
}

/** @throws SysError */
export function* writeBytes(sys: Sys, descriptor: number, all: Uint8Array): Generator<Wait, void> {
  let bytes = all;
  while (bytes.length > 0) {
    let written = 0;
    try {
      written = sys.files.write(sys.self, descriptor, bytes);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EAGAIN") {
        yield LOOK_AGAIN;
        continue;
      }
      if (code !== "EPIPE") throw error;
      sys.kill(sys.self.pid, "SIGPIPE");
      yield STEP;
      throw error;
    }
    yield STEP;
    bytes = bytes.subarray(written);
  }
}

/** Complains where complaints go, if anywhere. */
export function* complain(sys: Sys, text: string): Generator<Wait, void> {
  try {
    yield* write(sys, 2, `${text}\n`);
  } catch (error) {
    codeOf(error);
  }
}

/** Reads once; waits if there is nothing yet. @returns bytes read, 0 at the end. @throws SysError */
export function* read(sys: Sys, descriptor: number, into: Uint8Array): Generator<Wait, number> {
  for (;;) {
    try {
      return sys.files.read(sys.self, descriptor, into);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw error;
    }
    yield { for: "readable", descriptor };
  }
}

/** Reads up to the end. @throws SysError */
export function* readAll(sys: Sys, descriptor: number): Generator<Wait, string> {
  let all = new Uint8Array(0);
  for (;;) {
    const bytes = yield* read(sys, descriptor, scratch);
    if (bytes === 0) return decode(all);
    const longer = new Uint8Array(all.length + bytes);
    longer.set(all);
    longer.set(scratch.subarray(0, bytes), all.length);
    all = longer;
  }
}

/** The whole file. @throws SysError */
export function* readFile(sys: Sys, path: string): Generator<Wait, string> {
  const descriptor = yield* open(sys, path, O_RDONLY);
  const text = yield* readAll(sys, descriptor);
  sys.files.close(sys.self, descriptor);
  return text;
}

/** Opens a file; waits for the other end of a pipe that has none. @throws SysError */
export function* open(sys: Sys, path: string, flags: number, mode = 0o666): Generator<Wait, number> {
  const { files, self } = sys;
  const access = flags & O_ACCMODE;
  for (;;) {
    try {
      // So it fails if nobody reads the pipe.
      const descriptor = files.open(self, path, access === O_WRONLY ? flags | O_NONBLOCK : flags, mode);
      if (access === O_RDONLY && self.files.get(descriptor)?.inode.kind === "pipe") {
        while (!isWritten(sys, path, descriptor)) yield LOOK_AGAIN;
      }
      return descriptor;
    } catch (error) {
      if (codeOf(error) !== "ENXIO") throw error;
    }
    yield LOOK_AGAIN;
  }
}

/** Whether a pipe has bytes or another process that writes. */
function isWritten(sys: Sys, path: string, descriptor: number): boolean {
  const { files, self } = sys;
  const wouldReturn = () => {
    let isNow = false;
    files.whenReadable(self, descriptor, () => {
      isNow = true;
    })();
    return isNow;
  };
  if (!wouldReturn()) return true;
  // Without bytes, it returns only because nobody writes.
  const writer = files.open(self, path, O_WRONLY | O_NONBLOCK);
  const hasBytes = wouldReturn();
  files.close(self, writer);
  return hasBytes;
}
