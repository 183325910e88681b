/**
 * Reads the file modes of paths in a thread, as fast as it can, to catch a mode that is too wide for an
 * instant.
 */
import { lstatSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

const { paths, stop } = workerData as { paths: readonly string[]; stop: Int32Array };
const seen = paths.map(() => new Set<string>());
let looks = 0;
parentPort?.postMessage("looking");
while (Atomics.load(stop, 0) === 0) {
  looks++;
  for (const [i, path] of paths.entries()) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) seen[i].add((stats.mode & 0o7777).toString(8));
  }
}
parentPort?.postMessage({ looks, modes: seen.map((modes) => [...modes].sort()) });
