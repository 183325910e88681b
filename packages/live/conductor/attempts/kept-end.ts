/**
 * The end of an attempt as the file `end` in its folder. A conductor that has forgotten the attempt is asked
 * for it again by a front end whose store is an older backup. What the shim has written tells how the job
 * ended, but not that Tutti ended it, nor how long it had run.
 */
import { closeSync, constants, openSync, writeFileSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import type { AttemptEnd } from "@tutti/protocol/attempts.ts";
import type { AttemptFolder } from "./claim.ts";
import { readPlain } from "./shim.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** More than an end takes, whose longest text has a path or two. */
const MAX_BYTES = 32_768;

/** The folder belongs to the job's user, who can prevent this. */
export function keepEnd({ folder }: AttemptFolder, end: AttemptEnd): void {
  try {
    const descriptor = openSync(join(folder, "end"), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      writeFileSync(descriptor, JSON.stringify(end));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The folder is gone, or the disk is full: the front end hears of it all the same.
  }
}

/**
 * Only from a file of the conductor's user with the identity of the attempt, which a job of another user can
 * neither make nor take from another attempt. Undefined: there is none.
 */
export function keptEnd(of: AttemptFolder): AttemptEnd | undefined {
  const text = readPlain(of, "end", process.getuid!(), MAX_BYTES);
  if (text === undefined || of.identity === undefined) return undefined;
  try {
    const end: AttemptEnd = JSON.parse(text);
    return end.identity === of.identity ? end : undefined;
  } catch {
    return undefined;
  }
}
