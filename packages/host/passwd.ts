/**
 * Reads the accounts in /etc/passwd and the groups in /etc/group. Those from other sources, such as LDAP, are
 * not known.
 */
import { readFileSync, statSync } from "./ports/fs.ts";

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

/** Name of a group; the id if the group has no entry. */
export function groupNameOf(gid: number): string {
  return readGroups(readFileSync(GROUP, "utf8")).find((entry) => entry.gid === gid)?.group ?? String(gid);
}

type Owner = { readonly uid: number; readonly user: string };

/** The groups of an account: those that list it, and its own; empty if the account does not exist. */
export function groupsOf(
  owner: Owner,
  groupText = readFileSync(GROUP, "utf8"),
  accounts = readPasswd(),
): string[] {
  return groupIndex(groupText, accounts)(owner);
}

/** Answers each question without a look at all accounts and groups, of which there may be thousands. */
function groupIndex(groupText: string, accounts: readonly PasswdEntry[]): (owner: Owner) => string[] {
  const groups = readGroups(groupText);
  const gids = new Map<string, number>();
  for (const { uid, user, gid } of accounts) {
    const key = `${uid} ${user}`;
    if (!gids.has(key)) gids.set(key, gid);
  }
  const ofMember = new Map<string | number, number[]>();
  for (const [i, { gid, members }] of groups.entries())
    for (const key of [gid, ...members]) ofMember.set(key, [...(ofMember.get(key) ?? []), i]);
  return ({ uid, user }) => {
    const gid = gids.get(`${uid} ${user}`);
    if (gid === undefined) return [];
    const places = new Set([...(ofMember.get(gid) ?? []), ...(ofMember.get(user) ?? [])]);
    return [...places].sort((a, b) => a - b).map((i) => groups[i].group);
  };
}

/** The same for many questions: the files are read when they have changed. Unreadable files: no groups. */
export function groupLookup(): (owner: Owner) => readonly string[] {
  let version = "";
  let ofOwner: (owner: Owner) => readonly string[] = () => [];
  return (owner) => {
    try {
      const now = [PASSWD, GROUP].map((file) => statSync(file).mtimeMs).join(" ");
      if (now !== version) ofOwner = groupIndex(readFileSync(GROUP, "utf8"), readPasswd());
      version = now;
      return ofOwner(owner);
    } catch {
      return [];
    }
  };
}
