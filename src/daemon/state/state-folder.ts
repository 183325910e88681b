/**
 * The front end's folder and who may use it. One front end at a time has its lock (host/lock.ts).
 *
 *   ~/.local/state/tutti/     0700          /var/lib/tutti/    0711, for a front end run by root
 *     lock                                  lock      0600
 *     tutti.db                              tutti.db  0600
 *     numbers                               numbers   0600
 *     conductor/              0700          conductor/  0700
 *     jobs/12/                0700          jobs/12/  0710 for the user's group, ours, with output and copied script, which are the user's
 *     jobs/12/1/              0700          jobs/12/1/  0700, the attempt's, owned by the user
 */
import { chmodSync, existsSync, lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { InputError } from "../../core/errors.ts";
import { foreignFile } from "../../host/files.ts";
import { takeLock, type Unlock } from "../../host/lock.ts";
import { makeFolders } from "../../host/make-folders.ts";
import { exchangeablePart } from "../../host/trusted-path.ts";
import { inWords } from "../store/store-error.ts";
import { holderOfState } from "./state-place.ts";

type StateFolder = Readonly<ReturnType<typeof placesIn>>;

/** A Unix socket's path has 108 bytes, and `/socket.` with a pid has to fit behind. */
const MAX_CONDUCTOR_PATH = 85;

/** What may be there before the database is. */
const OWN_FILES = /^(conductor|jobs|numbers|lock(-journal)?)$/;

/**
 * Makes the folders, private from their first instant; those that are there keep their modes until `openToJobs`.
 * @param isShared whether jobs run as other users, who must reach their own job's folder
 * @throws InputError when the folder cannot be made, belongs to someone else, others may write to it or it holds other files
 */
export function makeStateFolder(folder: string, isShared: boolean): StateFolder {
  const path = resolve(folder);
  const places = placesIn(path, isShared);
  const { conductor, jobs } = places;
  if (Buffer.byteLength(conductor) > MAX_CONDUCTOR_PATH) {
    throw new InputError(
      `Cannot keep the state in "${path}": the path is too long for the socket in it, expected ${MAX_CONDUCTOR_PATH - 10} bytes or fewer; set TUTTI_STATE to a shorter one`,
    );
  }
  const problem = process.getuid!() === 0 ? exchangeablePart(path, 0) : undefined;
  if (problem !== undefined) {
    throw new InputError(
      `Cannot keep the state of root in "${path}": ${problem}, so that another user could put another folder there, expected folders of root alone all the way; set TUTTI_STATE to one such as /var/lib/tutti`,
    );
  }
  for (const one of [path, conductor, jobs]) {
    try {
      makeFolders(one, 0o700);
    } catch (error) {
      throw new InputError(
        `Cannot keep the state in "${one}": ${(error as Error).message}, expected a folder that can be made; name another with TUTTI_STATE`,
      );
    }
    const { uid, mode } = lstatSync(one);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
      const state = uid === process.getuid?.() ? "others may write to it" : `it belongs to user ${uid}`;
      throw new InputError(`Cannot keep the state in "${one}": ${state}, expected a folder of our own`);
    }
    if (one === path) refuseForeign(places);
  }
  return places;
}

function placesIn(path: string, isShared: boolean) {
  return {
    path,
    database: join(path, "tutti.db"),
    numbers: join(path, "numbers"),
    lock: join(path, "lock"),
    conductor: join(path, "conductor"),
    jobs: join(path, "jobs"),
    /** Mode of the folder of the jobs. */
    jobsMode: isShared ? 0o711 : 0o700,
  };
}

/** Sets the modes, once it is certain that nobody else's jobs need others. */
export function openToJobs({ path, conductor, jobs, jobsMode }: StateFolder): void {
  chmodSync(conductor, 0o700);
  for (const one of [path, jobs]) chmodSync(one, jobsMode);
}

/** A home folder, say, would change its mode. Once there is our database, other files may have been put beside it. */
function refuseForeign({ path, database }: StateFolder): void {
  if (existsSync(database)) return;
  const log = `${database}-wal`;
  if (existsSync(log)) {
    throw new InputError(
      `Cannot use "${database}": it is not there, but its log "${log}" is, expected both or none; someone has removed it. Move the log away and put a backup in place (administrators' guide, Backups), or move it away alone to begin with an empty store: jobs that run are kept and shown`,
    );
  }
  const foreign = foreignFile(path, ({ name }) => OWN_FILES.test(name));
  if (foreign === undefined) return;
  throw new InputError(
    `Cannot keep the state in "${path}": it holds other files, such as "${foreign}", expected a folder for Tutti alone; set TUTTI_STATE to one such as ${join(path, "tutti")}`,
  );
}

/**
 * Takes the folder for this process. Returns how to give it back; the kernel does so when the process ends.
 * @throws InputError when another front end has it
 */
export function lockStateFolder({ path, lock: file }: StateFolder): Unlock {
  const unlock = inWords(file, () => takeLock(file));
  if (unlock !== undefined) return unlock;
  const pid = holderOfState(path);
  const who = pid === undefined ? "" : `, process ${pid}`;
  const force = pid === undefined ? "" : `; if that cannot reach it, kill ${pid} (its jobs go on)`;
  throw new InputError(
    `Cannot start a scheduler in "${path}": another one uses it${who} (database is locked), expected none; \`tutti\` shows it, \`tutti down\` ends it${force}`,
  );
}
