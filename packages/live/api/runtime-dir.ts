/**
 * The runtime folder of a scheduler: its socket, its signing key and one token file per user.
 *
 *   user's own front end                      front end run by root, shared by all users
 *   $XDG_RUNTIME_DIR/tutti/      0700         /run/tutti/              0755
 *     tutti.sock                 0600           tutti.sock             0666, every request needs a token
 *     key                        0600           key                    0600
 *     tokens/                    0700           tokens/                0711
 *       1000                     0400             1000                 0400, owned by user 1000
 *
 * Without XDG_RUNTIME_DIR, the user's folder is /tmp/tutti-1000. On a node of a batch system, conductors have
 * their folders there, too.
 *
 * No mode is ever too wide, not even for an instant: everything is made under a strict umask and opened up at
 * the end.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { foreignFile, readText } from "@tutti/host/files.ts";
import { makeFolders, makeParents, whyNotMade } from "@tutti/host/make-folders.ts";
import { replaceablePart } from "@tutti/host/trusted-path.ts";
import { withPrivateUmask } from "@tutti/host/umask.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { parseHomeName } from "@tutti/protocol/home-name.ts";

const SYSTEM_FOLDER = "/run/tutti";
const SOCKET_NAME = "tutti.sock";
const KEY_BYTES = 32;

export interface RuntimeDir {
  readonly folder: string;
  readonly socket: string;
  readonly key: string;
  readonly tokens: string;
}

/** User id of this process. There may be no user name for it. */
export function currentUid(): number {
  // getuid is missing on Windows only.
  return process.getuid!();
}

/** The paths that belong to a socket. */
export function runtimeDirOf(socket: string): RuntimeDir {
  const absolute = resolve(socket);
  const folder = dirname(absolute);
  return { folder, socket: absolute, key: join(folder, "key"), tokens: join(folder, "tokens") };
}

/** The socket of one user of a shared scheduler. Nobody else can connect to it, or block it. */
export function userSocket({ folder }: Pick<RuntimeDir, "folder">, uid: number): string {
  return join(folder, `${uid}.sock`);
}

/**
 * Path of the socket that a front end of this user makes: TUTTI_SOCKET, or the default of the user or, for
 * root, of the machine.
 * @param ifTaken the folder to use if another user has taken that of the user in /tmp
 */
export function defaultSocket(env: NodeJS.ProcessEnv, uid = currentUid(), ifTaken = newName): string {
  if (env.TUTTI_SOCKET) return resolve(env.TUTTI_SOCKET);
  if (uid === 0) return join(SYSTEM_FOLDER, SOCKET_NAME);
  return env.XDG_RUNTIME_DIR
    ? join(env.XDG_RUNTIME_DIR, "tutti", SOCKET_NAME)
    : join(ownTemporaryFolder(uid, ifTaken), SOCKET_NAME);
}

/** The sockets that a client tries in order: only TUTTI_SOCKET, else the user's and then the machine's. */
export function socketsToTry(env: NodeJS.ProcessEnv, uid = currentUid()): string[] {
  const own = defaultSocket(env, uid, (folder) => folder);
  return env.TUTTI_SOCKET || uid === 0 ? [own] : [own, join(SYSTEM_FOLDER, SOCKET_NAME)];
}

/**
 * The folder /tmp/tutti-UID of a user without XDG_RUNTIME_DIR; if it is not the user's, the first folder
 * /tmp/tutti-UID.* that is. Nobody can forge the owner. The Python client follows the same rule.
 */
export function ownTemporaryFolder(uid: number, ifTaken = newName, temporary = "/tmp"): string {
  const folder = join(temporary, `tutti-${uid}`);
  const ownerOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid;
  const owner = ownerOf(folder);
  if (owner === uid) return folder;
  const others = readdirSync(temporary).filter((entry) => entry.startsWith(`tutti-${uid}.`));
  const paths = others.sort().map((entry) => join(temporary, entry));
  const own = paths.find((path) => ownerOf(path) === uid);
  return own ?? (owner === undefined ? folder : ifTaken(folder));
}

function newName(folder: string): string {
  return `${folder}.${randomBytes(4).toString("hex")}`;
}

/**
 * Checks all that `makeRuntimeDir` needs, and changes nothing.
 * @throws InputError if a folder cannot be made, belongs to another user, is writable by others or holds
 *   other files
 */
export function checkRuntimeDir(places: RuntimeDir, env: NodeJS.ProcessEnv = process.env): void {
  const parent = dirname(places.folder);
  const problem = currentUid() === 0 ? replaceablePart(parent, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot put a socket of root below "${parent}": ${problem}, so other users may rename its contents, expected a path on which all folders belong to root and only root can write to them; set TUTTI_SOCKET to another path`,
    );
  }
  const hindrance = whyNotMade(places.tokens);
  if (hindrance !== undefined) {
    throw new InputError(
      `Cannot put the socket below "${parent}": ${hindrance}, expected a folder that exists or can be made; set TUTTI_SOCKET to another path`,
    );
  }
  if (existsSync(parent)) checkParent(parent);
  if (sharedFolders(env).includes(places.folder)) {
    throw new InputError(
      `Cannot use the folder "${places.folder}": other programs keep files there, expected a folder for the socket only; ${pathAdvice(places)}`,
    );
  }
  for (const folder of [places.folder, places.tokens]) {
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) continue;
    checkFolder(folder);
    checkOnlyOurs(folder, places);
  }
}

/**
 * Makes the folders, or closes existing ones to others. Call it only if no scheduler listens there: its users
 * would be locked out.
 * @throws InputError like `checkRuntimeDir`
 */
export function makeRuntimeDir(places: RuntimeDir): void {
  checkRuntimeDir(places);
  makeParents(places.folder, 0o711);
  withPrivateUmask(() => {
    for (const folder of [places.folder, places.tokens]) {
      makeFolders(folder, 0o700);
      checkFolder(folder);
      checkOnlyOurs(folder, places);
      // An earlier run for all users may have left a wider mode.
      chmodSync(folder, 0o700);
    }
  });
}

/** Lets every user reach the socket and their own token. */
export function openToAllUsers(places: RuntimeDir): void {
  chmodSync(places.tokens, 0o711);
  chmodSync(places.folder, 0o755);
}

/**
 * Whether a client may trust the contents of a folder: it belongs to the user or to root, and nobody else may
 * write to it. Otherwise another user could impersonate the scheduler.
 */
export function isTrustworthy(folder: string, uid = currentUid()): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  return (
    stats?.isDirectory() === true && (stats.uid === uid || stats.uid === 0) && (stats.mode & 0o022) === 0
  );
}

/** The key that signs tokens: the key of the last run, so that tokens survive a restart, or a new one. */
export function readOrMakeKey(places: RuntimeDir): Buffer {
  try {
    const file = openSync(places.key, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { uid, mode } = fstatSync(file);
      const key = readFileSync(file);
      if (uid === currentUid() && (mode & 0o077) === 0 && key.length === KEY_BYTES) return key;
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (!["ENOENT", "ELOOP"].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
  const key = randomBytes(KEY_BYTES);
  writeKey(places, key);
  return key;
}

/** Writes the key for the next run. */
export function writeKey(places: RuntimeDir, key: Buffer): void {
  writePrivately(places.key, key, undefined);
}

/** Writes a token that only the user can read. */
export function writeToken(places: RuntimeDir, uid: number, token: string): void {
  writePrivately(join(places.tokens, String(uid)), Buffer.from(`${token}\n`), uid);
}

/** Removes tokens, for example of users that were deleted. */
export function removeTokens(places: RuntimeDir, isVoid: (uid: number) => boolean): void {
  for (const name of readdirSync(places.tokens)) {
    if (/^\d+$/.test(name) && isVoid(Number(name))) rmSync(join(places.tokens, name), { force: true });
  }
}

/** The token of a user; undefined if there is no token file that this process may read. */
export function readToken(places: RuntimeDir, uid = currentUid()): string | undefined {
  return readText(join(places.tokens, String(uid)), "utf8")?.trim();
}

/** Writes a file that appears complete, with owner and mode. Only we may have write access to its folder. */
function writePrivately(path: string, bytes: Buffer, owner: number | undefined): void {
  const temporary = `${path}.${process.pid}.new`;
  rmSync(temporary, { force: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeSync(file, bytes);
    if (owner !== undefined) {
      fchmodSync(file, 0o400);
      if (owner !== currentUid()) fchownSync(file, owner, -1);
    }
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

function checkFolder(folder: string): void {
  const stats = lstatSync(folder);
  if (!stats.isDirectory() || stats.uid !== currentUid() || (stats.mode & 0o022) !== 0) {
    const state = !stats.isDirectory()
      ? "it is not a folder"
      : stats.uid !== currentUid()
        ? `it belongs to user ${stats.uid}`
        : "others may write to it";
    throw new InputError(
      `Cannot use the folder "${folder}": ${state}, expected a folder that belongs to you and that only you can write to; remove it or set TUTTI_SOCKET to another path`,
    );
  }
}

/** Folders in which programs may leave files at any time, even if they are empty now. */
function sharedFolders({ XDG_RUNTIME_DIR, HOME }: NodeJS.ProcessEnv): string[] {
  const given = [XDG_RUNTIME_DIR, HOME].flatMap((folder) => (folder ? [resolve(folder)] : []));
  return [...given, `/run/user/${currentUid()}`, "/run"];
}

/** Refuses folders with other files, such as a home folder: its mode and a file `key` would change. */
function checkOnlyOurs(folder: string, places: RuntimeDir): void {
  const { key, tokens, socket } = places;
  const ours = [key, tokens, socket].map((path) => basename(path));
  const foreign = foreignFile(folder, (entry) =>
    folder === tokens
      ? /^\d+(\.\d+\.new)?$/.test(entry.name)
      : (entry.isDirectory() && parseHomeName(entry.name) !== undefined) ||
        (entry.isSocket() && /^\d+\.sock(\.\d+)?$/.test(entry.name)) ||
        ours.some((name) => entry.name === name || entry.name.startsWith(`${name}.`)),
  );
  if (foreign === undefined) return;
  throw new InputError(
    `Cannot use the folder "${folder}": it contains other files, such as "${foreign}", expected a folder for the socket only; ${pathAdvice(places)}`,
  );
}

function pathAdvice({ folder }: RuntimeDir): string {
  return `set TUTTI_SOCKET to a path such as ${join(folder, "tutti", SOCKET_NAME)}`;
}

/** Anyone who can write to the parent could replace our folder, unless the sticky bit is set. */
function checkParent(parent: string): void {
  const { mode, uid } = lstatSync(parent);
  const isSticky = (mode & 0o1000) !== 0;
  if (((mode & 0o022) !== 0 && !isSticky) || (uid !== 0 && uid !== currentUid())) {
    throw new InputError(
      `Cannot put a socket below "${parent}": other users may rename its contents, expected a folder that belongs to you or to root; set TUTTI_SOCKET to another path`,
    );
  }
}
