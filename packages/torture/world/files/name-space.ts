/** Follows paths through the file systems of a machine, as the kernel does. */
import type { Caller, Made, MadeFolder } from "../contract.ts";
import { FileNode, type System } from "./file-node.ts";
import { X_OK } from "./open-flags.ts";
import { mayFollow, mayUse } from "./rights.ts";

const MAX_LINKS = 40;
const MAX_PATH = 4095;
const MAX_NAME = 255;
/** Made inodes by name and folder. */
const MAX_CACHED = 4096;

/** Calls that make, remove or rename a name never follow a link at the end of a path. */
export const ENTRY = 0;
/** Calls such as lstat follow it only if a slash comes after it. */
export const KEEP = 1;
export const FOLLOW = 2;
type Ending = typeof ENTRY | typeof KEEP | typeof FOLLOW;

/** A tree of made files as a file system. */
interface MadeSystem extends System {
  readonly unixMs: () => number;
}

export class NameSpace {
  readonly root: FileNode;
  /** Results of the last `locate`, in fields, so that a look-up makes no object. */
  folder: FileNode | undefined;
  /** The last part of the path; "", "." and ".." are no names. */
  last = "";
  /** Whether a slash follows it. */
  isSlashed = false;
  /**
   * Code of the error if nothing was found. With a `folder`: only the last part is missing (ENOENT), or only
   * the slash after it is wrong (ENOTDIR).
   */
  problem = "";
  /** The inode of each made thing. */
  readonly #made = new WeakMap<Made, FileNode>();

  constructor(root: FileNode) {
    this.root = root;
    root.parent = root;
  }

  /** @param ending what happens to a link at the end of the path */
  locate(who: Caller, path: string, ending: Ending): FileNode | undefined {
    let current = path.charCodeAt(0) === SLASH ? this.root : (who.cwd as FileNode);
    let links = 0;
    let at = 0;
    this.folder = undefined;
    this.isSlashed = false;
    this.last = "";
    if (path === "") return this.#none("ENOENT");
    if (path.length > MAX_PATH) return this.#none("ENAMETOOLONG");
    for (;;) {
      while (path.charCodeAt(at) === SLASH) at++;
      if (at >= path.length) {
        // The path was "/", or a link to it.
        this.last = "";
        return current;
      }
      if (current.kind !== "folder") return this.#none("ENOTDIR");
      if (who.uid !== 0 && !mayUse(current, who, X_OK)) return this.#none("EACCES");
      let end = path.indexOf("/", at);
      if (end < 0) end = path.length;
      const name = path.slice(at, end);
      at = end;
      while (path.charCodeAt(at) === SLASH) at++;
      const isLast = at >= path.length;
      const next = name === "." ? current : name === ".." ? current.parent! : this.child(current, name, who);
      if (next === undefined) {
        if (name.length > MAX_NAME / 3 && byteLength(name) > MAX_NAME) return this.#none("ENAMETOOLONG");
        if (isLast) {
          this.folder = current;
          this.last = name;
          this.isSlashed = at > end;
        }
        this.problem = "ENOENT";
        return undefined;
      }
      if (next.kind === "link" && (!isLast || ending === FOLLOW || (ending === KEEP && at > end))) {
        if (++links > MAX_LINKS) return this.#none("ELOOP");
        if (!mayFollow(current, next, who)) return this.#none("EACCES");
        const { made } = next;
        const target = made !== undefined && "link" in made ? made.link.target(who) : next.target;
        if (typeof target !== "string") {
          current = target as FileNode;
          this.folder = undefined;
          if (isLast) return at > end && current.kind !== "folder" ? this.#none("ENOTDIR") : current;
          continue;
        }
        path = target + path.slice(end);
        at = 0;
        if (path.charCodeAt(0) === SLASH) current = this.root;
        continue;
      }
      if (isLast) {
        this.folder = current;
        this.last = name;
        this.isSlashed = at > end;
        if (!this.isSlashed || next.kind === "folder") return next;
        this.problem = "ENOTDIR";
        return undefined;
      }
      current = next;
    }
  }

  #none(problem: string): undefined {
    this.folder = undefined;
    this.problem = problem;
    return undefined;
  }

  child(folder: FileNode, name: string, who: Caller): FileNode | undefined {
    const mounted = folder.mounts?.get(name);
    if (mounted !== undefined) return mounted;
    const { made } = folder;
    if (made === undefined) return folder.names!.get(name);
    const found = (made as { readonly folder: MadeFolder }).folder.find(name, who);
    return found === undefined ? this.#forget(folder, name) : this.#nodeOf(found, folder, name);
  }

  #forget(folder: FileNode, name: string): undefined {
    const node = folder.names!.get(name);
    if (node === undefined) return;
    node.isGone = true;
    folder.names!.delete(name);
  }

  #nodeOf(made: Made, folder: FileNode, name: string): FileNode {
    const cached = folder.names!.get(name);
    if (cached?.made === made) return cached;
    const node = this.#made.get(made) ?? this.#makeNode(made, folder.system as MadeSystem);
    if (node.kind === "folder" && cached !== undefined) cached.isGone = true;
    node.parent = folder;
    node.name = name;
    // Processes come and go; who is asked for again is found by what it is made of.
    if (folder.names!.size > MAX_CACHED) folder.names!.clear();
    folder.names!.set(name, node);
    return node;
  }

  #makeNode(made: Made, system: MadeSystem): FileNode {
    const kind = "file" in made ? "file" : "folder" in made ? "folder" : "link";
    const mode = "file" in made ? made.file.mode : "folder" in made ? (made.folder.mode ?? 0o555) : 0o777;
    const node = new FileNode(kind, system, mode, 0, 0, system.unixMs());
    node.made = made;
    this.#made.set(made, node);
    return node;
  }

  /** Puts a folder where that path leads from now on. Its parent must be there. */
  mount(who: Caller, path: string, top: FileNode): void {
    const cut = path.lastIndexOf("/");
    const parent = this.locate(who, path.slice(0, cut) || "/", FOLLOW);
    if (parent?.kind !== "folder") throw new Error(`Cannot mount "${path}": its parent is not there`);
    parent.mounts ??= new Map();
    parent.mounts.set(path.slice(cut + 1), top);
    top.parent = parent;
    top.name = path.slice(cut + 1);
  }

  mountMade(who: Caller, path: string, tree: MadeFolder, system: MadeSystem): void {
    this.mount(who, path, this.#makeNode({ folder: tree }, system));
  }
}

const SLASH = 47;
const encoder = new TextEncoder();

function byteLength(name: string): number {
  return encoder.encode(name).length;
}
