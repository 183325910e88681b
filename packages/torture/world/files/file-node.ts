/** An inode. All kinds are objects of one class, so the calls on them stay fast. */
import type { Inode, Kind, Made } from "../contract.ts";
import type { Content } from "./content.ts";
import type { Pipe } from "./pipe.ts";

/** What an inode knows of its file system. */
export interface System {
  readonly dev: number;
  /** Number of its type, as statfs says. */
  readonly type: number;
  readonly isReadOnly: boolean;
  nextIno(): number;
}

export class FileNode implements Inode {
  readonly kind: Kind;
  readonly dev: number;
  readonly ino: number;
  readonly system: System;
  mode: number;
  uid: number;
  gid: number;
  nlink = 1;
  mtimeMs: number;
  /** Open files. A file without a name lasts until they are closed. */
  opens = 0;
  /** Of a folder: names, except those of a made folder, and what is mounted there. */
  names: Map<string, FileNode> | undefined = undefined;
  mounts: Map<string, FileNode> | undefined = undefined;
  /** Of a folder: where it is. The top of a file system is where it is mounted; "/" is its own parent. */
  parent: FileNode | undefined = undefined;
  name = "";
  isGone = false;
  /** Of a link. */
  target = "";
  content: Content | undefined = undefined;
  pipe: Pipe | undefined = undefined;
  made: Made | undefined = undefined;

  constructor(kind: Kind, system: System, mode: number, uid: number, gid: number, mtimeMs: number) {
    this.kind = kind;
    this.system = system;
    this.dev = system.dev;
    this.ino = system.nextIno();
    this.mode = mode;
    this.uid = uid;
    this.gid = gid;
    this.mtimeMs = mtimeMs;
    if (kind === "folder") {
      this.names = new Map();
      this.nlink = 2;
    }
  }
}
