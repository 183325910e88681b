/**
 * Creates the front end's state folder and sets who may access it. Only one front end at a time holds the
 * lock (host/lock.ts).
 *
 *   ~/.local/state/tutti/     0700          /var/lib/tutti/    0711, for a front end run by root
 *     lock                                  lock      0600
 *     holder                                holder    0600, who has the lock: host and pid
 *     tutti.db                              tutti.db  0600
 *     numbers                               numbers   0600
 *     conductor/              0700          conductor/  0700
 *     hooks/                  0700          hooks/      0700, made for the first hook
 *     slurm/pilot.json        0600          (a front end on Slurm serves one user)
 *     jobs/12/                0700          jobs/12/  0710, owner root, the user's group; output and script
 *                                                     in it belong to the user
 *     jobs/12/1/              0700          jobs/12/1/  0700, the attempt's folder, owned by the user
 */

import { foreignFile, networkFileSystem, readText } from "@tutti/host/files.ts";
import { takeLock, type Unlock } from "@tutti/host/lock.ts";
import { makeFolder, makeParents, whyNotMade } from "@tutti/host/make-folders.ts";
import {
  chmodSync,
  existsSync,
  lstatSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "@tutti/host/ports/fs.ts";
import { hostname } from "@tutti/host/ports/os.ts";
import { dirname, join, resolve } from "@tutti/host/ports/path.ts";
import { replaceablePart } from "@tutti/host/trusted-path.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { withStoreErrors } from "../store/store-error.ts";
import { holderOfState, STARTING } from "./state-place.ts";

export type StateFolder = Readonly<ReturnType<typeof pathsIn>>;

/** The path of a Unix socket has at most 108 bytes, including `/socket.` and a pid at its end. */
const MAX_CONDUCTOR_PATH = 85;

/** Files that may exist before the database. */
const OWN_FILES = /^(conductor|holder|hooks|hosts|jobs|numbers|slurm|lock(-journal)?)$/;

/**
 * Checks all that `makeStateFolder` needs, and changes nothing.
 * @param isShared whether jobs run as other users, who must be able to enter the folders of their own jobs
 * @throws InputError if a folder cannot be made, belongs to another user, is writable by others or holds
 *   other files
 */
export function checkStateFolder(folder: string, isShared: boolean): StateFolder {
  const path = resolve(folder);
  const paths = pathsIn(path, isShared);
  if (Buffer.byteLength(paths.conductor) > MAX_CONDUCTOR_PATH) {
    throw new InputError(
      `Cannot keep the state in "${path}": the path is too long for the socket in it, expected ${MAX_CONDUCTOR_PATH - 10} bytes or fewer; set TUTTI_STATE to a shorter path`,
    );
  }
  const problem = process.getuid!() === 0 ? replaceablePart(path, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot keep the state of root in "${path}": ${problem}, so another user could replace the folder, expected a path on which all folders belong to root and only root can write to them; set TUTTI_STATE to a path such as /var/lib/tutti`,
    );
  }
  for (const part of partsOf(paths)) {
    const hindrance = whyNotMade(part);
    if (hindrance !== undefined) throw cannotMake(part, hindrance);
    if (existsSync(part)) checkPart(part, paths);
  }
  return paths;
}

/**
 * Makes the folder for the lock, private from its first instant. An existing one keeps its mode until
 * `openToJobs`.
 * @throws InputError like `checkStateFolder`
 */
export function makeStateFolder(folder: string, isShared: boolean): StateFolder {
  const paths = checkStateFolder(folder, isShared);
  makePart(paths.path, paths);
  return paths;
}

/**
 * The same for the folders in it. Only the holder of the lock makes and removes them, so no start that is
 * refused takes them from one that is not.
 */
export function makeFoldersIn(paths: StateFolder): void {
  for (const part of [paths.conductor, paths.jobs]) makePart(part, paths);
}

function makePart(part: string, paths: StateFolder): void {
  try {
    // Users must be able to walk to their jobs.
    if (part === paths.path) makeParents(part, paths.jobsMode);
    makeFolder(part, 0o700);
  } catch (error) {
    throw cannotMake(part, (error as Error).message);
  }
  checkPart(part, paths);
}

/** The first folder above the state that other users may not enter, so that their jobs cannot start. */
export function closedPart(path: string): string | undefined {
  const parent = dirname(path);
  return parent === path
    ? undefined
    : (closedPart(parent) ?? ((statSync(parent).mode & 0o001) === 0 ? parent : undefined));
}

/** What does not exist, for a start that may be refused: parts of a state, and folders; deepest first. */
export function missingParts({ path, conductor, jobs, lock, numbers, database }: StateFolder) {
  const folders: string[] = [];
  for (let part = path; part !== dirname(part); part = dirname(part)) folders.push(part);
  const files = ["", "-wal", "-shm", "-journal"].map((end) => `${database}${end}`);
  const isMissing = (part: string) => !existsSync(part);
  return {
    /** To be removed while the lock is held. */
    inside: [...files, numbers, conductor, jobs, lock].filter(isMissing),
    /** The state folder and those above it. */
    folders: folders.filter(isMissing),
  };
}

/** Removes what a refused start has made; folders only if they are empty. */
export function removeMade(parts: readonly string[]): void {
  for (const part of parts) {
    try {
      if (lstatSync(part).isDirectory()) rmdirSync(part);
      else rmSync(part);
    } catch {
      // It was not made, or something in it stays.
    }
  }
}

function partsOf({ path, conductor, jobs }: StateFolder): string[] {
  return [path, conductor, jobs];
}

function cannotMake(part: string, why: string): InputError {
  return new InputError(
    `Cannot keep the state in "${part}": ${why}, expected a folder that exists or can be made; set TUTTI_STATE to another path`,
  );
}

function checkPart(part: string, paths: StateFolder): void {
  const stats = lstatSync(part);
  if (stats.isFile()) throw cannotMake(part, "it is a file");
  const { uid, mode } = stats;
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    const state = uid === process.getuid?.() ? "others may write to it" : `it belongs to user ${uid}`;
    throw new InputError(
      `Cannot keep the state in "${part}": ${state}, expected a folder that belongs to you and that only you can write to; set TUTTI_STATE to another path`,
    );
  }
  if (part === paths.path) refuseForeign(paths);
}

function pathsIn(path: string, isShared: boolean) {
  return {
    path,
    database: join(path, "tutti.db"),
    numbers: join(path, "numbers"),
    lock: join(path, "lock"),
    holder: join(path, "holder"),
    conductor: join(path, "conductor"),
    /** Lock and results of the process that runs hooks. */
    hooks: join(path, "hooks"),
    /** What is known about pilots, and their output. */
    slurm: join(path, "slurm"),
    /** What is known about hosts that ssh reaches, and their output. */
    hosts: join(path, "hosts"),
    jobs: join(path, "jobs"),
    /** Mode of the folder of the jobs. */
    jobsMode: isShared ? 0o711 : 0o700,
  };
}

/** Sets the final modes. Call it only when no jobs of other users need the old modes. */
export function openToJobs({ path, conductor, jobs, jobsMode }: StateFolder): void {
  chmodSync(conductor, 0o700);
  for (const part of [path, jobs]) chmodSync(part, jobsMode);
}

/**
 * Refuses folders with other files: we would change the mode of, say, a home folder. A folder that has our
 * database already may also hold other files.
 */
function refuseForeign({ path, database }: StateFolder): void {
  const log = ["-wal", "-journal"].map((end) => `${database}${end}`).find((file) => existsSync(file));
  const foreign = foreignFile(path, ({ name }) => OWN_FILES.test(name));
  // Last, because another start may be making all of them now.
  if (existsSync(database)) return;
  if (log !== undefined) {
    throw new InputError(
      `Cannot use "${database}": it is missing, but its log "${log}" exists, expected both or neither; someone has removed the database. Move the log away and restore a backup (administrators' guide, Backups), or only move the log away to begin with an empty store: running jobs continue and remain visible`,
    );
  }
  if (foreign === undefined) return;
  throw new InputError(
    `Cannot keep the state in "${path}": it contains other files, such as "${foreign}", expected a folder for Tutti only; set TUTTI_STATE to a path such as ${join(path, "tutti")}`,
  );
}

/**
 * Locks the folder for this process. Returns a function that unlocks it; the kernel does so when the process
 * ends.
 * @throws InputError if another front end holds the lock, or the file system has no locks
 */
export function lockStateFolder(
  folder: StateFolder,
  own = { host: hostname(), network: networkFileSystem(folder.path) },
): Unlock {
  const { lock: file, holder } = folder;
  const unlock = withStoreErrors(file, () => {
    try {
      return takeLock(file);
    } catch (error) {
      if (own.network === undefined) throw error;
      throw new InputError(`Cannot lock "${file}": ${(error as Error).message} on ${own.network}, ${LOCKS}`);
    }
  });
  if (unlock === undefined) throw inUse(folder, own);
  try {
    writeFileSync(holder, `${own.host} ${process.pid}${STARTING}\n`, { mode: 0o600 });
  } catch {
    // The disk is full, say. A start on another host is then refused without our name.
  }
  return () => {
    try {
      rmSync(holder, { force: true });
    } catch {
      // The disk has become read-only, say. It only names who had the lock.
    }
    unlock();
  };
}

/** The front end is about to answer: clients need not be patient with it now. */
export function endStart({ holder }: StateFolder): void {
  try {
    writeFileSync(holder, `${hostname()} ${process.pid}\n`);
  } catch {
    // The disk is full, say. Clients are then patient when it is not needed.
  }
}

/** What a network file system must have. */
const LOCKS =
  "expected a file system with locks between machines, such as NFS 4 or Lustre mounted with -o flock; set TUTTI_STATE to a folder on one, or on a local disk if all jobs run on this machine";

/** The kernel lists the locks of its own machine only; for another one, the holder's own word has to do. */
function inUse({ path, holder }: StateFolder, own: { host: string; network: string | undefined }) {
  const pid = holderOfState(path);
  const [, host, otherPid] = /^(\S+) (\d+)(?: .*)?\n$/.exec(readText(holder, "utf8") ?? "") ?? [];
  const isElsewhere = pid === undefined && host !== undefined && host !== own.host;
  const who = isElsewhere ? `, process ${otherPid} on ${host}` : pid === undefined ? "" : `, process ${pid}`;
  const force = pid === undefined ? "" : `; if it does not answer, kill ${pid} (its jobs continue)`;
  const next = isElsewhere
    ? `log in to ${host}: there, \`tutti\` shows it, and \`tutti down\` ends it; if it does not answer, kill ${otherPid} there (its jobs continue)`
    : `\`tutti\` shows it, \`tutti down\` ends it${force}`;
  // Some of these report that they cannot lock as if somebody else had the lock.
  const orNone =
    pid === undefined && own.network !== undefined
      ? `. If none runs anywhere, ${own.network} has no locks here: ${LOCKS}`
      : "";
  return new InputError(
    `Cannot start a scheduler in "${path}": another one uses it${who} (database is locked); ${next}${orNone}`,
  );
}
