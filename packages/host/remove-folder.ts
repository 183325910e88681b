/**
 * Removes the folder of a job with all its contents, including files of other users. The front end may be
 * root and the job's user hostile, so no path is walked: each folder is opened without following links, and
 * its entries are removed relative to it, as unlinkat does (through /proc/self/fd, because Node has no
 * unlinkat). Before a subfolder is emptied, it is moved up into the job's folder, which only we can write to.
 * So deep nesting costs nothing, and nobody can replace a folder while it is being emptied.
 */
import { randomUUID } from "./ports/crypto.ts";
import { constants } from "./ports/fs.ts";
import { chmod, type FileHandle, open, opendir, rename, rmdir, unlink } from "./ports/fs-promises.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * All file operations run outside the event loop's thread, one entry at a time.
 * @param path in a folder that only we can write to
 * @returns whether the folder is gone; if not, the caller may try again
 */
export async function removeFolder(path: string): Promise<boolean> {
  let top: FileHandle;
  try {
    top = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || ((code === "ELOOP" || code === "ENOTDIR") && (await done(unlink(path))));
  }
  try {
    const folders: Buffer[] = [];
    await empty(top, async (name) => {
      folders.push(name);
    });
    for (let name = folders.pop(); name !== undefined; name = folders.pop()) {
      const at = inside(top, name);
      await makeWritable(at);
      const folder = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        await empty(folder, async (deeper) => {
          const moved = Buffer.from(`.${randomUUID()}`);
          await makeWritable(inside(folder, deeper));
          await rename(inside(folder, deeper), inside(top, moved));
          folders.push(moved);
        });
      } finally {
        await folder.close();
      }
      await rmdir(at);
    }
  } catch {
    return false;
  } finally {
    await top.close();
  }
  return done(rmdir(path));
}

/** Unlinks all entries except folders, which are passed to `onFolder`. */
async function empty(folder: FileHandle, onFolder: (name: Buffer) => Promise<void>): Promise<void> {
  // Names need not be text.
  const options = { encoding: "buffer" as BufferEncoding };
  for await (const { name } of await opendir(`/proc/self/fd/${folder.fd}`, options)) {
    const entry = name as unknown as Buffer;
    try {
      await unlink(inside(folder, entry));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EISDIR") throw error;
      await onFolder(entry);
    }
  }
}

function inside(folder: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${folder.fd}/`), name]);
}

/** Jobs may remove rights from their folders. Root needs none, and must not follow a possible link. */
async function makeWritable(path: Buffer): Promise<void> {
  if (process.getuid?.() !== 0) await done(chmod(path, 0o700));
}

function done(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
