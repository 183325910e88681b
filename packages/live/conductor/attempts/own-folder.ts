/**
 * Attempts on a node that shares no disk with the front end: their folders, and what they write, are on this
 * node, and the front end reads it from here. Such nodes may have user ids of their own, so users are looked
 * up by name.
 */
import { makeAttemptFolder } from "@tutti/host/attempt-folder.ts";
import { isPlainFileOf } from "@tutti/host/files.ts";
import { readPasswd } from "@tutti/host/passwd.ts";
import { closeSync, constants, fstatSync, openSync, readSync } from "@tutti/host/ports/fs.ts";
import { hostname } from "@tutti/host/ports/os.ts";
import { dirname, join } from "@tutti/host/ports/path.ts";
import { removeFolder } from "@tutti/host/remove-folder.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { OutputFile } from "@tutti/protocol/conductor.ts";
import { type AttemptFolder, ownerOf } from "./claim.ts";
import { taskFolder } from "./task.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** In one message, whose line may have 16 MiB. */
const MAX_READ_BYTES = 2 ** 20;

type Placed = Pick<LaunchSpec, "folder" | "uid" | "gid" | "user" | "ownFolder">;

/**
 * Gives a launch the ids that its user has here.
 * @throws Error if there is no such user
 */
export function withUserHere<Spec extends Placed>(spec: Spec): Spec {
  const { user } = spec;
  if (user === undefined) return spec;
  const account = readPasswd().find((entry) => entry.user === user);
  if (account !== undefined) return { ...spec, uid: account.uid, gid: account.gid };
  throw new Error(
    `there is no user "${user}" on ${hostname()}, expected the same user names on all nodes; an administrator can add the user there`,
  );
}

/**
 * Makes the attempt's folder, if this node has to. It is the only one in its job folder.
 * @returns the launch without the contents, which are on disk now
 * @throws Error if the disk refuses
 */
export function inOwnFolder<Spec extends Placed>(spec: Spec, ranks: readonly number[]): Spec {
  const { ownFolder, folder } = spec;
  if (ownFolder === undefined) return spec;
  const { hosts, script } = ownFolder;
  const [uid = process.getuid!(), gid = process.getgid!()] = [spec.uid, spec.gid];
  makeAttemptFolder({
    jobFolder: dirname(folder),
    folder,
    account: { uid, gid },
    hosts,
    script: script && { path: script.path, content: Buffer.from(script.base64, "base64") },
    outputs: [],
    tasks: ranks.map((rank) => taskFolder(spec, rank)),
  });
  return { ...spec, ownFolder: { hosts: "" } };
}

/** What a gang has written, from a byte on. What it cannot have written itself is not read. */
export function readOutput(of: AttemptFolder, file: OutputFile, from: number) {
  let descriptor: number;
  try {
    descriptor = openSync(join(of.folder, file), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return { base64: "", left: 0 };
  }
  try {
    const stats = fstatSync(descriptor);
    if (!isPlainFileOf(stats, ownerOf(of))) return { base64: "", left: 0 };
    const buffer = Buffer.alloc(Math.min(MAX_READ_BYTES, Math.max(0, stats.size - from)));
    const length = readSync(descriptor, buffer, 0, buffer.length, from);
    const left = Math.max(0, stats.size - from - length);
    return { base64: buffer.toString("base64", 0, length), left };
  } catch {
    return { base64: "", left: 0 };
  } finally {
    closeSync(descriptor);
  }
}

/** The front end has stored the end of the attempt, and has read what it wrote. */
export function removeOwnFolder({ folder }: AttemptFolder): void {
  void removeFolder(dirname(folder));
}
