/** Finds the numbers of users. */
import { userInfo } from "node:os";
import { groupNameOf, readPasswd } from "@tutti/host/passwd.ts";

let users: ReadonlyMap<string, number> | undefined;

/** The number of a user of this machine's own list, or of the user who asks; undefined for others. */
export function uidOf(name: string): number | undefined {
  users ??= readUsers();
  return users.get(name);
}

/** The name of a user's own group in this machine's list, or its number; undefined for unknown users. */
export function groupOf(name: string): string | undefined {
  const gid = readPasswd().find(({ user }) => user === name)?.gid;
  return gid === undefined ? undefined : groupNameOf(gid);
}

function readUsers(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  try {
    for (const { user, uid } of readPasswd()) if (!found.has(user)) found.set(user, uid);
    const { username, uid } = userInfo();
    found.set(username, uid);
  } catch {
    // A user without a name, or a machine without the file: numbers are left out.
  }
  return found;
}
