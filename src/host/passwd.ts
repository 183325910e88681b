/** Reads the accounts in /etc/passwd. Accounts from other sources, such as LDAP, are not known. */
import { readFileSync } from "node:fs";

const PASSWD = "/etc/passwd";

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
