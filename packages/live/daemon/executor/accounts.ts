/**
 * Chooses the account under which a job runs: always that of the user who submitted it. Every launch names
 * the account; a job whose account cannot be used is refused with a reason. The conductor checks this again
 * (conductor/shim.ts).
 */

import { type PasswdEntry, readPasswd } from "@tutti/host/passwd.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import type { JobRecord } from "../contract/record.ts";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

type Owner = Pick<JobRecord, "uid" | "user">;

/** The account of a job's owner, or why it cannot be used. */
export type Accounts = (owner: Owner) => Account | { readonly refused: string };

/** Maximum number of jobs listed in a message. */
const MAX_NAMED = 10;

/** For a scheduler of one user: runs only this user's jobs, even if the store has jobs of other users. */
export function ownAccount(own = ownIds()): Accounts {
  return ({ uid, user }) =>
    uid === own.uid
      ? own
      : {
          refused: `Cannot start as ${named({ uid, user })}: this scheduler runs only jobs of user ${own.uid}, expected a scheduler for all users`,
        };
}

/**
 * For a scheduler of all users, run by root. The account must still exist under the same name, because its id
 * may have been given to somebody else. The group is the account's current group, the same as at a login.
 */
export function allAccounts(own = ownIds(), entries: () => readonly PasswdEntry[] = readPasswd): Accounts {
  return (owner) => {
    if (owner.uid === own.uid) return own;
    const ofNumber = entries().filter(({ uid }) => uid === owner.uid);
    const account = ofNumber.find(({ user }) => user === owner.user);
    if (account !== undefined) return { uid: account.uid, gid: account.gid };
    const [other] = ofNumber;
    const why =
      other === undefined ? "this account no longer exists" : `this user id belongs to ${other.user} now`;
    return {
      refused: `Cannot start as ${named(owner)}: ${why}, expected the account that submitted the job`,
    };
  };
}

/**
 * Refuses to start a private scheduler if jobs of other users wait or run, because they would run with our
 * rights.
 * @throws InputError
 */
export function refuseJobsOfOthers(
  jobs: readonly (Owner & Pick<JobRecord, "job">)[],
  { uid, folder }: { readonly uid: number; readonly folder: string },
): void {
  if (jobs.length === 0) return;
  const named = jobs.slice(0, MAX_NAMED).map(({ job, user }) => `${job} of ${user}`);
  const rest = jobs.length > named.length ? ` and ${jobs.length - named.length} more` : "";
  const next =
    uid === 0
      ? "start it for all users, without --private, and let these jobs end or cancel them (tutti cancel)"
      : "ask the user who started the scheduler before to let them end or to cancel them";
  throw new InputError(
    `Cannot start a scheduler for user ${uid} alone in "${folder}": jobs of other users have not ended there (${named.join(", ")}${rest}), and they would run with your rights; ${next}, or use another folder with --state`,
  );
}

function ownIds(): Account {
  return { uid: process.getuid!(), gid: process.getgid!() };
}

function named({ uid, user }: Owner): string {
  return `user ${uid} (${user})`;
}
