/**
 * What the conductor takes over from the person who starts the scheduler: nothing. It may be root and starts processes of all users, so
 * neither the variables nor the open files of a shell go through it.
 */
import { closeSync, readdirSync } from "node:fs";
import { readText } from "./files.ts";

/** Folders in which only root writes: programs are looked for here, wherever else the PATH of a shell leads. */
export const SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** The whole environment of the conductor and of what it starts for itself. */
export const OWN_ENVIRONMENT: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, TZ: "UTC" };

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes what was open when this program was started, but the three standard files. Node opens its own files so that no other program gets
 * them; what lacks that mark came from outside, and would go on to every job. To be called before anything is started.
 */
export function closeInherited(): void {
  for (const name of readdirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (descriptor > 2 && isPassedOn(descriptor)) closeSync(descriptor);
  }
}

function isPassedOn(descriptor: number): boolean {
  const text = readText(`/proc/self/fdinfo/${descriptor}`, "latin1");
  // The one by which the folder was read.
  if (text === undefined) return false;
  const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(text)?.[1] ?? "", 8);
  return (flags & CLOSE_ON_EXEC) === 0;
}
