/**
 * Makes the folder of an attempt, before its shim may be started: by the front end on its own disk, or by the
 * conductor of a node that shares no disk with the front end.
 *
 *   12/             0700; made by root for a user: 0710, owner root, the user's group
 *     script/job.sh   the job's script, readable only by the user
 *     tasks/0/      0700, owned by the user, where the attempt has the job's folder for itself
 *     1/            0700, the attempt's folder, owned by the user
 *       hosts         host file for mpirun
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from "./ports/fs.ts";
import { dirname, join } from "./ports/path.ts";

/** Host file of a gang, in the attempt's folder. */
export const HOSTS = "hosts";
/** Folder of the job's script, in the job's folder. */
export const SCRIPTS = "script";

interface AttemptFolderPlan {
  readonly jobFolder: string;
  readonly folder: string;
  readonly account: { readonly uid: number; readonly gid: number };
  /** Content of the host file. */
  readonly hosts: string;
  /** Written again for every attempt, because the job may have changed its copy. */
  readonly script: { readonly path: string; readonly content: Uint8Array } | undefined;
  /** Output files in the job's folder, which the user could not make there. */
  readonly outputs: readonly string[];
  /** Folders of tasks, in one folder of the job's folder. */
  readonly tasks: readonly string[];
}

/** @throws Error if the disk refuses */
export function makeAttemptFolder(plan: AttemptFolderPlan): void {
  const { jobFolder, folder, account, script } = plan;
  if (account.uid !== process.getuid!()) {
    makeFor(plan);
    return;
  }
  const hosts = join(folder, HOSTS);
  // An earlier attempt may have changed the modes of existing folders.
  for (const own of [jobFolder, folder]) makeFolder(own, 0o700);
  for (const task of plan.tasks) for (const own of [dirname(task), task]) makeFolder(own, 0o700);
  if (script !== undefined) writeScript(script, undefined);
  rmSync(hosts, { force: true });
  writeFileSync(hosts, plan.hosts, { mode: 0o600 });
}

/**
 * Called as root for a user. The job's folder still belongs to root, so the user can neither choose names
 * in it nor put links where root writes next. Only the user's group may enter it, so that others cannot see
 * the sizes of its files. The attempt's folder is given to the user last.
 */
function makeFor(plan: AttemptFolderPlan): void {
  const { jobFolder, folder, account, script, outputs, tasks } = plan;
  const { uid, gid } = account;
  makeFolder(jobFolder, 0o710);
  chownSync(jobFolder, process.getuid!(), gid);
  if (script !== undefined) writeScript(script, account);
  for (const path of outputs) makeFileFor(path, uid, gid);
  for (const task of tasks) {
    makeFolder(dirname(task), 0o711);
    makeFolder(task, 0o700);
    lchownSync(task, uid, gid);
  }
  makeFolder(folder, 0o700);
  // The folder already belongs to the user: it was prepared before a crash, and the attempt is launched
  // again.
  if (lstatSync(folder).uid !== process.getuid?.()) return;
  const hosts = join(folder, HOSTS);
  writeFileSync(hosts, plan.hosts, { mode: 0o600 });
  chownSync(hosts, uid, gid);
  chownSync(folder, uid, gid);
}

/**
 * Writes the script into our folder, readable only by the user. Processes that have an older copy open keep
 * that copy.
 */
function writeScript(
  { path, content }: NonNullable<AttemptFolderPlan["script"]>,
  account: AttemptFolderPlan["account"] | undefined,
): void {
  makeFolder(dirname(path), account === undefined ? 0o700 : 0o711);
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o500);
  try {
    writeFileSync(file, content);
    if (account !== undefined) fchownSync(file, account.uid, account.gid);
  } finally {
    closeSync(file);
  }
}

/** Creates a folder inside one of our folders; keeps an existing one. */
function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || !lstatSync(path).isDirectory()) throw error;
  }
  // The umask may have reduced the mode. A folder that belongs to a user already keeps its mode.
  if (lstatSync(path).uid === process.getuid?.()) chmodSync(path, mode);
}

/**
 * Creates an empty file that belongs to a user; keeps an existing one. Nobody else can make files in its
 * folder: our file was made just now, or by a front end that was killed before it gave the file away.
 */
function makeFileFor(path: string, uid: number, gid: number): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (lstatSync(path).uid === process.getuid?.()) lchownSync(path, uid, gid);
}
