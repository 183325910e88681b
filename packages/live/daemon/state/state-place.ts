/**
 * Finds the state folder and the process that uses it. Imports only small modules, so commands start fast.
 */
import { readFileSync, statSync } from "@tutti/host/ports/fs.ts";
import { homedir } from "@tutti/host/ports/os.ts";
import { join, resolve } from "@tutti/host/ports/path.ts";

/** State folder of a front end that root runs. */
const SYSTEM_STATE = "/var/lib/tutti";

/** The state folder: TUTTI_STATE, or the default of the user or, for root, of the machine. */
export function defaultStateFolder(env: NodeJS.ProcessEnv, uid = process.getuid?.() ?? 0): string {
  if (env.TUTTI_STATE) return resolve(env.TUTTI_STATE);
  if (uid === 0) return SYSTEM_STATE;
  return env.XDG_STATE_HOME ? join(env.XDG_STATE_HOME, "tutti") : join(homedir(), ".local/state/tutti");
}

/** The end of the line in the file `holder` of a front end that does not answer yet. */
export const STARTING = " starting";

/** Whether the process that holds a state folder does not answer yet: it may be asking hosts. */
export function isStarting(folder: string): boolean {
  try {
    return readFileSync(join(folder, "holder"), "utf8").endsWith(`${STARTING}\n`);
  } catch {
    return false;
  }
}

/**
 * The process that holds the lock of a state folder, from the kernel's list; undefined: no process, or
 * unknown.
 */
export function holderOfState(folder: string): number | undefined {
  try {
    const { dev, ino } = statSync(join(folder, "lock"));
    const device = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const hex = device.map((number) => number.toString(16).padStart(2, "0")).join(":");
    const file = new RegExp(`^\\d+: POSIX +ADVISORY +WRITE (\\d+) ${hex}:${ino} `, "m");
    const pid = Number(file.exec(readFileSync("/proc/locks", "utf8"))?.[1]);
    // 0 is a process outside our container.
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
