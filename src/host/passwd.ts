/**
 * Reads the accounts in /etc/passwd and the groups in /etc/group. Those from other sources, such as LDAP, are
 * not known.
 */
import { readFileSync, statSync } from "node:fs";

const PASSWD = "/etc/passwd";
const GROUP = "/etc/group";

export interface PasswdEntry {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
  readonly shell: string;
}

/** Entries in the order of the file; lines without a name or ids are skipped. */
export function readPasswd(text = readFileSync(PASSWD, "utf8")): PasswdEntry[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([user, , uid, gid]) => user !== "" && [uid, gid].every((id) => /^\d+$/.test(id ?? "")))
    .map(([user = "", , uid, gid, , home = "", shell = ""]) => ({
      ...{ user, home, shell },
      uid: Number(uid),
      gid: Number(gid),
    }));
}

/** Name of a user; the id if the user has no entry. */
export function userNameOf(uid: number): string {
  return readPasswd().find((entry) => entry.uid === uid)?.user ?? String(uid);
}

interface GroupEntry {
  readonly group: string;
  readonly gid: number;
  readonly members: readonly string[];
}

/** Entries in the order of the file; lines without a name or an id are skipped. */
function readGroups(text: string): GroupEntry[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([group, , gid]) => group !== "" && /^\d+$/.test(gid ?? ""))
    .map(([group = "", , gid, members = ""]) => ({
      group,
      gid: Number(gid),
      members: members.split(",").filter((member) => member !== ""),
    }));
}

type Owner = { readonly uid: number; readonly user: string };

/** The groups of an account: those that list it, and its own; empty if the account does not exist. */
export function groupsOf(
  { uid, user }: Owner,
  groupText = readFileSync(GROUP, "utf8"),
  accounts = readPasswd(),
): string[] {
  const account = accounts.find((entry) => entry.uid === uid && entry.user === user);
  if (account === undefined) return [];
  return readGroups(groupText)
    .filter(({ gid, members }) => gid === account.gid || members.includes(user))
    .map(({ group }) => group);
}

/** The same for many questions: the files are read when they have changed. Unreadable files: no groups. */
export function groupLookup(): (owner: Owner) => readonly string[] {
  let version = "";
  const known = new Map<string, readonly string[]>();
  return (owner) => {
    try {
      const now = [PASSWD, GROUP].map((file) => statSync(file).mtimeMs).join(" ");
      if (now !== version) known.clear();
      version = now;
      const key = `${owner.uid} ${owner.user}`;
      let groups = known.get(key);
      if (groups === undefined) {
        groups = groupsOf(owner);
        known.set(key, groups);
      }
      return groups;
    } catch {
      return [];
    }
  };
}
