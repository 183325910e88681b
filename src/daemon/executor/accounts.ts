/**
 * As whom jobs run: as the user who submitted them or not at all. Every launch names the account, and what cannot be launched so is refused
 * with a reason. The conductor asks the same once more (conductor/shim.ts).
 */
import { InputError } from "../../core/errors.ts";
import { type PasswdEntry, readPasswd } from "../../host/passwd.ts";
import type { JobRecord } from "../contract/record.ts";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

type Owner = Pick<JobRecord, "uid" | "user">;

/** The account of a job's owner, or why there is none to run it as. */
export type Accounts = (owner: Owner) => Account | { readonly refused: string };

/** Jobs are named in a message up to this many. */
const MAX_NAMED = 10;

/** For a scheduler of one user: nobody else's jobs, whatever the store holds. */
export function ownAccount(own = ownIds()): Accounts {
  return ({ uid, user }) =>
    uid === own.uid
      ? own
      : {
          refused: `Cannot start as ${named({ uid, user })}: this scheduler runs jobs of user ${own.uid} only, expected one for all users`,
        };
}

/**
 * For a scheduler of all users, run by root. The account must be there still and have the same name: a number may have been given to somebody
 * else since. The group is the account's present one, as at a login.
 */
export function allAccounts(own = ownIds(), entries: () => readonly PasswdEntry[] = readPasswd): Accounts {
  return (owner) => {
    if (owner.uid === own.uid) return own;
    const ofNumber = entries().filter(({ uid }) => uid === owner.uid);
    const account = ofNumber.find(({ user }) => user === owner.user);
    if (account !== undefined) return { uid: account.uid, gid: account.gid };
    const [other] = ofNumber;
    const why =
      other === undefined ? "there is no such account any more" : `that number belongs to ${other.user} now`;
    return { refused: `Cannot start as ${named(owner)}: ${why}, expected the one that submitted the job` };
  };
}

/**
 * Refuses to start where jobs of other users wait or run and ours are the only rights that there are to run them with.
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
      ? "start it for all users, without --private, and let them end or cancel them (tutti cancel)"
      : "have the user who started it before end or cancel them";
  throw new InputError(
    `Cannot start a scheduler for user ${uid} alone in "${folder}": jobs of other users have not ended there (${named.join(", ")}${rest}), expected none, since they would run with your rights; ${next}, or name another folder with --state`,
  );
}

function ownIds(): Account {
  return { uid: process.getuid!(), gid: process.getgid!() };
}

function named({ uid, user }: Owner): string {
  return `user ${uid} (${user})`;
}
