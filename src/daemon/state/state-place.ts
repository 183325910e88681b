/** Where the state is kept, and which process has it. Only Node's own small modules, so that the command line can look fast. */
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Of a front end run by root. */
const SYSTEM_STATE = "/var/lib/tutti";

/** Where the state is kept: TUTTI_STATE, or the usual place of the user or, for root, of the machine. */
export function defaultStateFolder(env: NodeJS.ProcessEnv, uid = process.getuid?.() ?? 0): string {
  if (env.TUTTI_STATE) return resolve(env.TUTTI_STATE);
  if (uid === 0) return SYSTEM_STATE;
  return env.XDG_STATE_HOME ? join(env.XDG_STATE_HOME, "tutti") : join(homedir(), ".local/state/tutti");
}

/** The process that has the lock of a state folder, by the kernel's own list; undefined when none has, or it cannot be told. */
export function holderOfState(folder: string): number | undefined {
  try {
    const { dev, ino } = statSync(join(folder, "lock"));
    const device = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const hex = device.map((number) => number.toString(16).padStart(2, "0")).join(":");
    const file = new RegExp(`^\\d+: POSIX +ADVISORY +WRITE (\\d+) ${hex}:${ino} `, "m");
    const pid = Number(file.exec(readFileSync("/proc/locks", "utf8"))?.[1]);
    // 0 is a process that this one cannot see, outside its container.
    return pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
