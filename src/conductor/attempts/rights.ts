/**
 * As whom an attempt runs. The conductor may be root, so it takes nobody's silence for leave: a launch that does not say as whom is refused,
 * and so is one in a folder of somebody else, whatever a front end asks for. What was launched already goes on as it is.
 */
import { lstatSync } from "node:fs";
import type { LaunchSpec } from "../../protocol/attempts.ts";

type Rights = Required<Pick<LaunchSpec, "uid" | "gid">>;

/**
 * The account that an attempt is started as; undefined: ours as it is.
 * @throws Error with the reason for which it must not be started
 */
export function rightsFor(spec: LaunchSpec): Rights | undefined {
  const { uid, gid } = spec;
  const own = process.getuid!();
  if (own === 0 && uid === undefined) {
    throw refusal(
      spec,
      "the front end does not say as whom, expected a user in every launch; it may be of the first release",
    );
  }
  if (own !== 0 && uid !== undefined && uid !== own) {
    throw refusal(spec, `it is of user ${uid}, expected one of user ${own}, as whom the conductor runs`);
  }
  checkFolder(spec, uid ?? own);
  if (uid === undefined || uid === own) return undefined;
  if (gid === undefined) throw refusal(spec, `the front end names no group for user ${uid}, expected one`);
  return { uid, gid };
}

function checkFolder(spec: LaunchSpec, uid: number): void {
  const stats = lstatSync(spec.folder);
  if (stats.isDirectory() && stats.uid === uid) return;
  const state = stats.isDirectory() ? `belongs to user ${stats.uid}` : "is no folder";
  throw refusal(spec, `"${spec.folder}" ${state}, expected a folder of user ${uid}`);
}

function refusal({ job }: LaunchSpec, why: string): Error {
  return new Error(`Cannot start job ${job}: ${why}`);
}
