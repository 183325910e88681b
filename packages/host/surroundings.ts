/**
 * Keeps the conductor from inheriting anything from the shell in which the scheduler was started. The
 * conductor may be root and starts processes of all users, so it must not pass on variables or open files.
 */

import { readText } from "./files.ts";
import { closeSync, readdirSync } from "./ports/fs.ts";

/**
 * Folders that only root can write to. Programs are looked up only in these, regardless of a shell's PATH.
 */
export const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The whole environment of the conductor and of its own helper programs. */
export const OWN_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, TZ: "UTC" };

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes all inherited files except the three standard ones. Node opens its own files with close-on-exec; a
 * file without this flag was inherited and would be passed on to every job. Call this before any process is
 * started, in a process without Node's variables: for NODE_EXTRA_CA_CERTS, a thread opens a file without it.
 */
export function closeInherited(): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (descriptor > 2 && isPassedOn(descriptor)) closeSync(descriptor);
  }
}

function isPassedOn(descriptor: number): boolean {
  const text = readText(`/proc/self/fdinfo/${descriptor}`, "latin1");
  // This descriptor was used to read the folder and is closed by now.
  if (text === undefined) return false;
  const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(text)?.[1] ?? "", 8);
  return (flags & CLOSE_ON_EXEC) === 0;
}
