/**
 * Lists the users of a shared scheduler: root and the people in /etc/passwd. Service accounts are excluded,
 * that is, accounts without a login shell, and accounts whose id is outside the range for people (UID_MIN to
 * UID_MAX of /etc/login.defs).
 */
import { basename } from "node:path";
import { readText } from "@tutti/host/files.ts";
import { type PasswdEntry, readPasswd } from "@tutti/host/passwd.ts";

export type LocalUser = Pick<PasswdEntry, "uid" | "user">;

const LOGIN_DEFS = "/etc/login.defs";
const USUAL_RANGE = { UID_MIN: 1000, UID_MAX: 60_000 };
const NOBODY = 65_534;
/** By name, because systems keep them in different folders. */
const NO_SHELLS: ReadonlySet<string> = new Set(["nologin", "false"]);

/** Each user id once. If it has several names, the first one counts, as in the system's own look-ups. */
export function people(
  entries: readonly PasswdEntry[] = readPasswd(),
  loginDefs: string = readText(LOGIN_DEFS, "utf8") ?? "",
): LocalUser[] {
  const minUid = limitIn(loginDefs, "UID_MIN");
  const maxUid = limitIn(loginDefs, "UID_MAX");
  const isPerson = ({ uid, shell }: PasswdEntry) =>
    uid >= minUid && uid <= maxUid && uid !== NOBODY && !NO_SHELLS.has(basename(shell));
  const names = new Map<number, string>();
  for (const entry of entries) {
    if ((entry.uid === 0 || isPerson(entry)) && !names.has(entry.uid)) names.set(entry.uid, entry.user);
  }
  return [...names].map(([uid, user]) => ({ uid, user }));
}

function limitIn(loginDefs: string, name: keyof typeof USUAL_RANGE): number {
  const [, value] = new RegExp(`^\\s*${name}\\s+(\\d+)\\s*$`, "m").exec(loginDefs) ?? [];
  return value === undefined ? USUAL_RANGE[name] : Number(value);
}
