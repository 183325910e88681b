/** The accounts of this machine, as /etc/passwd has them. Those that come from elsewhere, such as LDAP, are not known here. */
import { readFileSync } from "node:fs";

const PASSWD = "/etc/passwd";

export interface PasswdEntry {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  readonly shell: string;
}

/** In the order of the file; lines without a name or numbers are left out. */
export function readPasswd(text = readFileSync(PASSWD, "utf8")): PasswdEntry[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter(([user, , uid, gid]) => user !== "" && [uid, gid].every((id) => /^\d+$/.test(id ?? "")))
    .map(([user = "", , uid, gid, , , shell = ""]) => ({ user, uid: Number(uid), gid: Number(gid), shell }));
}

/** Name of a user; the number of one without an entry. */
export function userNameOf(uid: number): string {
  return readPasswd().find((entry) => entry.uid === uid)?.user ?? String(uid);
}
