/**
 * Removes the folders that the conductors of earlier pilots have left on a node. A keeper removes the folder
 * of its conductor, but not if the node has crashed, or if everything was killed at once.
 */

import { unixMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { lstatSync, readdirSync, rmSync } from "@tutti/host/ports/fs.ts";
import { basename, dirname, join } from "@tutti/host/ports/path.ts";
import { allPids } from "@tutti/host/processes.ts";
import { parseHomeName } from "@tutti/protocol/home-name.ts";
import { titleOf } from "./home.ts";

/**
 * Removes those of the same user, owner and node, if their conductor is dead.
 * @param home folder of this conductor
 */
export function removeDeadHomes(home: string, cluster: string): void {
  const own = parseHomeName(basename(home));
  if (own?.cluster !== cluster) return;
  for (const entry of entriesOf(dirname(home))) {
    const other = parseHomeName(entry);
    if (other?.owner !== own.owner || other.node !== own.node || other.cluster === cluster) continue;
    removeIfDead(join(dirname(home), entry), other.cluster);
  }
}

/** Nothing depends on the removal, so it fails silently. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Removes the folder of a conductor if neither it nor its keeper is alive on this node. */
export function removeIfDead(home: string, cluster: string): void {
  if (parseHomeName(basename(home))?.cluster !== cluster) return;
  try {
    const stats = lstatSync(home);
    if (stats.isDirectory() && stats.uid === process.getuid!() && !isInUse(home, cluster)) {
      rmSync(home, { recursive: true, force: true });
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") console.error(new Date(unixMs()).toISOString(), message);
  }
}

function isInUse(home: string, cluster: string): boolean {
  return allPids().some((pid) => {
    const line = readText(`/proc/${pid}/cmdline`, "latin1") ?? "";
    const words = line.split("\0");
    return (
      (words.includes("tutti-keeper") && words.includes(cluster)) ||
      line.replace(/\0+$/, "") === Buffer.from(titleOf(home)).toString("latin1")
    );
  });
}
