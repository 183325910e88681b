/** Reads, checks and syncs files and folders. */
import {
  closeSync,
  constants,
  type Dirent,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  type Stats,
  statfsSync,
  writeSync,
} from "./ports/fs.ts";
import { access, stat } from "./ports/fs-promises.ts";

/** The text of a file; undefined if it cannot be read. */
export function readText(path: string, encoding: "utf8" | "latin1"): string | undefined {
  try {
    return readFileSync(path, encoding);
  } catch {
    return undefined;
  }
}

/**
 * Whether it is a regular file of this user with only one name; we trust and serve no other files. A folder
 * that a user can write to may contain other users' files: they can be moved there, or hard-linked if the
 * kernel allows it. Check an open file, not a path, which may name another file a moment later.
 */
export function isPlainFileOf(stats: Stats, uid: number): boolean {
  return stats.isFile() && stats.uid === uid && stats.nlink === 1;
}

/**
 * The first entry, by name, of a folder that does not belong to Tutti; undefined if there is none. Tutti
 * changes the mode of its folders and replaces files in them, so they must not contain anything else.
 */
export function foreignFile(folder: string, isOwn: (entry: Dirent) => boolean): string | undefined {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !isOwn(entry))
    .map(({ name }) => name)
    .sort()[0];
}

/**
 * File systems that other machines may use at the same time, by the number of statfs(2); FUSE does not say
 * what is behind it.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x19830326, "BeeGFS"],
  [0x00c36400, "Ceph"],
  [0xaad7aaea, "PanFS"],
  [0x20030528, "OrangeFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
  [0x01021997, "9P"],
  [0x65735546, "FUSE"],
]);

/**
 * The name of the network file system of a file or folder; undefined: it is on a local disk, or there is no
 * such path.
 * @param typeOf number of the file system of a path
 */
export function networkFileSystem(
  path: string,
  typeOf = (place: string): number => statfsSync(place).type,
): string | undefined {
  try {
    return NETWORK_FILE_SYSTEMS.get(typeOf(path) >>> 0);
  } catch {
    return undefined;
  }
}

/** Returns when the content of a file, or the names in a folder, would survive a power failure. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const REWRITTEN_BYTES = 2 ** 20;

/**
 * Writes a file again, byte for byte, and syncs it; does nothing if there is none. After a failed sync, Linux
 * shows what it could not write but does not write it again, so a later sync that succeeds means nothing.
 */
export function rewriteFile(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  try {
    const buffer = Buffer.alloc(REWRITTEN_BYTES);
    for (let at = 0; ; ) {
      const length = readSync(descriptor, buffer, 0, buffer.length, at);
      if (length === 0) break;
      at += writeSync(descriptor, buffer, 0, length, at);
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Why this process cannot work in a folder, to follow its name; undefined if it can. Does not block: the
 * folder may be on a file system of the network.
 */
export async function whyNoFolder(path: string): Promise<string | undefined> {
  try {
    // With a slash at the end, one question has both answers: it is a folder, and it may be entered.
    await access(`${path}/`, constants.X_OK);
    return undefined;
  } catch {
    return whyNotEntered(path);
  }
}

async function whyNotEntered(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return "is not a folder";
    await access(path, constants.X_OK);
    return undefined;
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    const known: Readonly<Record<string, string>> = {
      ENOENT: "does not exist",
      ENOTDIR: "does not exist",
      EACCES: "may not be entered",
    };
    return known[code] ?? `cannot be used (${message})`;
  }
}
