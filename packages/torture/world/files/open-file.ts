/** Open files: what a descriptor refers to, and reading and writing through it. */
import type { Caller, MadeFile, OpenFile } from "../contract.ts";
import { sysError } from "../errors.ts";
import type { FileNode } from "./file-node.ts";
import { O_ACCMODE, O_APPEND, O_RDONLY, O_WRONLY } from "./open-flags.ts";
import type { Pipe } from "./pipe.ts";
import { withoutIds } from "./rights.ts";

export class Open implements OpenFile {
  readonly inode: FileNode;
  readonly flags: number;
  readonly path: string;
  position = 0;
  references = 1;
  /** What a made file said when its reading began. */
  #said: string | undefined = undefined;

  constructor(inode: FileNode, flags: number, path: string) {
    this.inode = inode;
    this.flags = flags;
    this.path = path;
    inode.opens++;
    this.#countEnds(1);
  }

  get canRead(): boolean {
    return (this.flags & O_ACCMODE) !== O_WRONLY;
  }

  get canWrite(): boolean {
    return (this.flags & O_ACCMODE) !== O_RDONLY;
  }

  /** Without a descriptor from now on. */
  end(): void {
    this.inode.opens--;
    this.#countEnds(-1);
  }

  #countEnds(one: 1 | -1): void {
    this.inode.pipe?.count(this.canRead ? one : 0, this.canWrite ? one : 0);
  }

  get pipe(): Pipe {
    const { pipe } = this.inode;
    if (pipe === undefined) throw sysError("EINVAL", "poll");
    return pipe;
  }

  read(who: Caller, into: Uint8Array, position: number | undefined): number {
    const { inode } = this;
    if (!this.canRead) throw sysError("EBADF", "read");
    const { content, made, pipe } = inode;
    if (content !== undefined || made !== undefined) {
      const from = position ?? this.position;
      const count =
        content !== undefined
          ? content.readAt(into, from)
          : this.#readMade((made as { readonly file: MadeFile }).file, who, into, from);
      if (position === undefined) this.position = from + count;
      return count;
    }
    if (pipe !== undefined) {
      if (position !== undefined) throw sysError("ESPIPE", "read");
      const count = pipe.read(into);
      if (count < 0) throw sysError("EAGAIN", "read");
      return count;
    }
    if (inode.kind === "folder") throw sysError("EISDIR", "read");
    return 0;
  }

  #readMade(file: MadeFile, who: Caller, into: Uint8Array, from: number): number {
    if (from === 0 || this.#said === undefined) {
      if (file.read === undefined) throw sysError("EINVAL", "read");
      this.#said = file.read(who);
    }
    if (from === 0 && this.#said.length <= into.length) {
      const count = encodeAscii(this.#said, into);
      if (count >= 0) return count;
    }
    const part = encoder.encode(this.#said).subarray(from, from + into.length);
    into.set(part);
    return part.length;
  }

  write(who: Caller, bytes: Uint8Array, position: number | undefined): number {
    const { inode } = this;
    if (!this.canWrite) throw sysError("EBADF", "write");
    const { content, made, pipe } = inode;
    if (content !== undefined) {
      const isAppending = (this.flags & O_APPEND) !== 0;
      const from = isAppending ? content.size : (position ?? this.position);
      const count = content.writeSome(bytes, from);
      if (count > 0) dropIds(who, inode);
      if (position === undefined) this.position = from + count;
      return count;
    }
    if (made !== undefined) {
      const { file } = made as { readonly file: MadeFile };
      if (file.write === undefined) throw sysError("EINVAL", "write");
      file.write(decode(bytes), who);
      return bytes.length;
    }
    if (pipe !== undefined) {
      if (position !== undefined) throw sysError("ESPIPE", "write");
      if (pipe.readers === 0) throw sysError("EPIPE", "write");
      const count = pipe.write(bytes);
      if (count < 0) throw sysError("EAGAIN", "write");
      return count;
    }
    return bytes.length;
  }
}

/** After a change of its content. */
export function dropIds(who: Caller, node: FileNode): void {
  if (who.uid !== 0 && node.mode > 0o1777) node.mode = withoutIds(node.mode);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @returns bytes, or −1 if the text is not ASCII */
function encodeAscii(text: string, into: Uint8Array): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return -1;
    into[i] = code;
  }
  return text.length;
}

/** Texts for made files are mostly a few digits. */
function decode(bytes: Uint8Array): string {
  if (bytes.length > 32) return decoder.decode(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte > 127) return decoder.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}
