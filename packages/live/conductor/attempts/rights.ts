/**
 * Determines the user under which an attempt runs. The conductor may be root, so it never guesses: whatever
 * the front end asks for, it refuses a launch that names no user, and a launch in another user's folder.
 * Attempts that were already launched continue unchanged.
 */
import { lstatSync } from "@tutti/host/ports/fs.ts";
import type { LaunchSpec } from "@tutti/protocol/attempts.ts";

type RightsSpec = Pick<LaunchSpec, "job" | "uid" | "gid" | "folder">;
type Rights = Required<Pick<LaunchSpec, "uid" | "gid">>;

/**
 * The account under which an attempt starts; undefined: the conductor's own, unchanged.
 * @throws Error with the reason why it must not be started
 */
export function rightsFor(spec: RightsSpec): Rights | undefined {
  const { uid, gid } = spec;
  const own = process.getuid!();
  if (own === 0 && uid === undefined) {
    throw refusal(
      spec,
      "the front end does not name a user, expected one in every launch; the front end may be of the first release",
    );
  }
  if (own !== 0 && uid !== undefined && uid !== own) {
    throw refusal(spec, `it belongs to user ${uid}, expected a job of user ${own}, who runs the conductor`);
  }
  checkFolder(spec, uid ?? own);
  if (uid === undefined || uid === own) return undefined;
  if (gid === undefined) throw refusal(spec, `the front end names no group for user ${uid}, expected one`);
  return { uid, gid };
}

function checkFolder(spec: RightsSpec, uid: number): void {
  const stats = lstatSync(spec.folder);
  if (stats.isDirectory() && stats.uid === uid) return;
  const state = stats.isDirectory() ? `belongs to user ${stats.uid}` : "is not a folder";
  throw refusal(spec, `"${spec.folder}" ${state}, expected a folder of user ${uid}`);
}

function refusal({ job }: RightsSpec, why: string): Error {
  return new Error(`Cannot start job ${job}: ${why}`);
}
