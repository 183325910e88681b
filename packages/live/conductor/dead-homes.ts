/**
 * Removes the folders that the conductors of earlier pilots have left on a node. A keeper removes the folder
 * of its conductor, but not if the node has crashed, or if everything was killed at once.
 *
 *   /tmp/tutti-1000/0123456789abcdef-7-n1     user, owner's name, number of the pilot, node
 */

import { unixMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { lstatSync, readdirSync, rmSync } from "@tutti/host/ports/fs.ts";
import { basename, dirname, join } from "@tutti/host/ports/path.ts";
import { allPids } from "@tutti/host/processes.ts";
import { titleOf } from "./home.ts";

/** Name of a cluster: owner's name and number of the pilot. */
const NAME = /^([0-9a-f]{16})-\d+$/;

/**
 * Removes those of the same user, owner and node, if their conductor is dead.
 * @param home folder of this conductor
 */
export function removeDeadHomes(home: string, cluster: string): void {
  const owner = NAME.exec(cluster)?.[1];
  const node = nodeIn(home, cluster);
  if (owner === undefined || node === undefined) return;
  for (const entry of entriesOf(dirname(home))) {
    const other = entry.endsWith(`-${node}`) ? entry.slice(0, -node.length - 1) : "";
    if (other !== cluster && NAME.exec(other)?.[1] === owner) {
      removeIfDead(join(dirname(home), entry), other);
    }
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
  if (nodeIn(home, cluster) === undefined) return;
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

/** The node in the name of a conductor's folder; undefined: the folder is not one of this cluster. */
function nodeIn(home: string, cluster: string): string | undefined {
  const name = basename(home);
  return NAME.test(cluster) && name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : undefined;
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
