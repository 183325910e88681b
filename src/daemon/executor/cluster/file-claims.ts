/** Claims of attempts, on the disk that this machine shares with the nodes. */
import { lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blockClaims } from "../../../conductor/attempts/claim.ts";
import type { Claims } from "./launching.ts";

/** Folder of the tasks that run each, made by the conductors before anything starts. */
const TASKS = "tasks";

export const fileClaims: Claims = {
  isClaimed: ({ folder }) => isThere(join(folder, "claim")) || isThere(join(folder, TASKS)),
  block: (spec) => (spec.tasksRun === "each" ? blockTasks(spec.folder) : blockClaims(spec)),
};

/** A file in place of the folder: no conductor can make its tasks there. */
function blockTasks(folder: string): boolean {
  const path = join(folder, TASKS);
  try {
    writeFileSync(path, "", { flag: "wx" });
  } catch {}
  return isThere(path) && lstatSync(path).isFile();
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
