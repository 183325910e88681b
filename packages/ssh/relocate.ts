/**
 * Changes launches for a host: its folders, its user, and the files that the front end has on its own disk.
 *
 *   here       STATE/jobs/12/1/hosts               STATE/jobs/12/script/job.sh        out.txt
 *   there      ROOT/jobs/12.1-IDENTITY/1/hosts     ROOT/jobs/12.1-IDENTITY/script/…   ROOT/jobs/…/1/out
 */
import { HOSTS, SCRIPTS } from "@tutti/host/attempt-folder.ts";
import { readText } from "@tutti/host/files.ts";
import { readFileSync } from "@tutti/host/ports/fs.ts";
import { basename, dirname, join } from "@tutti/host/ports/path.ts";
import type { LaunchSpec, OwnFolder } from "@tutti/protocol/attempts.ts";
import type { MemberSpec } from "@tutti/protocol/conductor.ts";

/** Where a launch goes. */
export interface Destination {
  readonly root: string;
  /**
   * The user's ids there if all jobs run as the one who is logged in; undefined: users have the same names.
   */
  readonly login: { readonly uid: number; readonly gid: number } | undefined;
  /** Name of a user of this machine. */
  readonly userOf: (uid: number) => string;
}

type Placed = Pick<LaunchSpec, "job" | "attempt" | "identity" | "folder" | "uid" | "gid">;

/** A part of a gang; its folder is made there with the files that the gang has here. */
export function memberFor(spec: MemberSpec, to: Destination): MemberSpec {
  return {
    ...spec,
    ...userFor(spec, to),
    folder: folderFor(spec, to),
    ownFolder: { hosts: hostsOf(spec) },
  };
}

/** @throws Error if the job's script cannot be read */
export function launchFor(spec: LaunchSpec, to: Destination): LaunchSpec {
  const folder = folderFor(spec, to);
  const script = scriptOf(spec, to);
  const here = scriptWord(spec);
  // Also under the names that mpirun knows.
  const [hostFile, there] = [join(spec.folder, HOSTS), join(folder, HOSTS)];
  return {
    ...spec,
    ...userFor(spec, to),
    folder,
    command: spec.command.map((word) => (word === here && script !== undefined ? script.path : word)),
    env: Object.fromEntries(
      Object.entries(spec.env).map(([name, value]) => [name, value === hostFile ? there : value]),
    ),
    stdout: outputFor(spec.stdout, folder, "out"),
    stderr: outputFor(spec.stderr, folder, spec.stderr === spec.stdout ? "out" : "err"),
    ownFolder: { hosts: hostsOf(spec), ...(script && { script }) },
  };
}

function hostsOf({ folder }: Placed): string {
  return readText(join(folder, HOSTS), "utf8") ?? "";
}

/** The script of a job, with its path there. */
function scriptOf(spec: LaunchSpec, to: Destination): OwnFolder["script"] {
  const here = scriptWord(spec);
  if (here === undefined) return undefined;
  const path = join(dirname(folderFor(spec, to)), SCRIPTS, basename(here));
  return { path, base64: readFileSync(here, "base64") };
}

/** Whether an output is a file that must be fetched, and not a device. */
export function isFetched(path: string): boolean {
  return !path.startsWith("/dev/");
}

function outputFor(path: string, folder: string, name: string): string {
  return isFetched(path) ? join(folder, name) : path;
}

function folderFor({ job, attempt, identity = "" }: Placed, { root }: Destination): string {
  return join(root, "jobs", `${job}.${attempt}-${identity}`, String(attempt));
}

/** Its path here, as a word of the command. */
function scriptWord({ command, folder }: Pick<LaunchSpec, "command" | "folder">): string | undefined {
  return command.find((word) => dirname(word) === join(dirname(folder), SCRIPTS));
}

function userFor({ uid }: Placed, { login, userOf }: Destination) {
  if (login !== undefined) return { uid: login.uid, gid: login.gid };
  return uid === undefined ? {} : { user: userOf(uid) };
}
