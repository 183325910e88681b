/** Who may do what with an inode, as Linux decides. */
import type { Caller } from "../contract.ts";
import type { FileNode } from "./file-node.ts";
import { W_OK, X_OK } from "./open-flags.ts";

const STICKY = 0o1000;
const SET_UID = 0o4000;
const SET_GID = 0o2000;

/** @param bits R_OK, W_OK, X_OK together */
export function mayUse(node: FileNode, who: Caller, bits: number): boolean {
  const { mode } = node;
  if (who.uid === 0) return (bits & X_OK) === 0 || node.kind === "folder" || (mode & 0o111) !== 0;
  const shift = who.uid === ownerOf(node) ? 6 : isInGroup(who, node.gid) ? 3 : 0;
  return ((mode >> shift) & bits) === bits;
}

/** Owner of an inode; of a made one it may change with its process. */
export function ownerOf({ made, uid }: FileNode): number {
  if (made === undefined) return uid;
  return "file" in made ? (made.file.uid ?? 0) : "folder" in made ? (made.folder.uid ?? 0) : 0;
}

export function isInGroup(who: Caller, gid: number): boolean {
  return who.gid === gid || who.groups.includes(gid);
}

/** Whether it may remove or rename that entry: not another user's in a sticky folder. */
export function mayRemove(folder: FileNode, node: FileNode, who: Caller): "EACCES" | "EPERM" | undefined {
  if (who.uid === 0) return undefined;
  if (!mayUse(folder, who, W_OK | X_OK)) return "EACCES";
  const isOwn = who.uid === node.uid || who.uid === folder.uid;
  return (folder.mode & STICKY) !== 0 && !isOwn ? "EPERM" : undefined;
}

/** Mode of a file after another owner, or a write of someone who is not root. */
export function withoutIds(mode: number): number {
  return (mode & 0o010) === 0 ? mode & ~SET_UID : mode & ~(SET_UID | SET_GID);
}

/** Group and mode of a new inode in a folder: set-group-id passes on to folders. */
export function groupAndMode(
  folder: FileNode,
  isFolder: boolean,
  mode: number,
  who: Caller,
): readonly [gid: number, mode: number] {
  if ((folder.mode & SET_GID) === 0) return [who.gid, mode];
  return [folder.gid, isFolder ? mode | SET_GID : mode];
}

/**
 * Whether a link in a folder like /tmp may be followed (fs.protected_symlinks): its owner must be who follows
 * it, or who owns the folder.
 */
export function mayFollow(folder: FileNode, link: FileNode, who: Caller): boolean {
  return !isShared(folder) || link.uid === who.uid || link.uid === folder.uid;
}

/** Whether O_CREAT may open that file, which is there (fs.protected_regular, fs.protected_fifos). */
export function mayReopen(folder: FileNode, node: FileNode, who: Caller): boolean {
  return !isShared(folder) || node.uid === who.uid || node.uid === folder.uid;
}

/** Sticky and open to everyone. */
function isShared({ mode }: FileNode): boolean {
  return (mode & STICKY) !== 0 && (mode & 0o002) !== 0;
}
