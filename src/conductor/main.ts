/**
 * Starts the conductor's process: `node conductor.js HOME [KIND]`. HOME is a folder for socket, state and
 * log. KIND is a kind of freezer; by default, the conductor uses the best kind that works.
 */

import { closeInherited } from "../host/surroundings.ts";
import type { FreezerKind } from "../protocol/attempts.ts";
import { Conductor } from "./conductor.ts";
import { FREEZER_KINDS, openContainment } from "./freezers/open-containment.ts";
import { HomeLock, olderConductor, titleOf } from "./home.ts";
import { takePriority } from "./priority.ts";
import { ConductorServer } from "./server.ts";

/**
 * After this time without jobs and without a front end, the conductor ends; the next front end starts
 * another.
 */
const LONELY_MS = 60_000;
/** Exit status when another conductor has the folder. */
const ALREADY_RUNNING = 3;

closeInherited();
// Ignore the caller's umask: jobs may read their control groups, and our own files have explicit modes.
process.umask(0o022);

const [home, kind] = process.argv.slice(2);
if (home === undefined || (kind !== undefined && !FREEZER_KINDS.includes(kind as FreezerKind))) {
  console.error(`Usage: conductor HOME [${FREEZER_KINDS.join(" | ")}]`);
  process.exit(2);
}
// Do not prevent any folder from being removed or unmounted.
process.chdir("/");

const lock = new HomeLock(home);
if (!lock.take()) process.exit(ALREADY_RUNNING);
const older = olderConductor(home);
if (older !== undefined) {
  console.error(
    `Cannot manage the jobs of "${home}": conductor ${older}, whose folder was removed, still manages them and will create the folder again; expected no other conductor`,
  );
  process.exit(ALREADY_RUNNING);
}
process.title = titleOf(home);
const containment = openContainment(home, kind as FreezerKind | undefined);
if (containment === undefined) {
  console.error(
    `Cannot stop gangs by ${kind}: it does not work here, expected a kind that tutti doctor lists`,
  );
  process.exit(1);
}
takePriority();

const server: ConductorServer = new ConductorServer(home, (message) =>
  guarded(() => conductor.receive(message)),
);
const conductor = new Conductor(home, containment, (message) => server.send(message));

// If the disk with the log is full and a second write fails at the same moment, Node reports an uncaught
// error.
process.stderr.on("error", () => {});
process.on("uncaughtException", (error) => giveUp(1, error));
process.on("unhandledRejection", (error) => giveUp(1, error));
for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => giveUp(0));
process.on("SIGHUP", () => {});
conductor.onShutdown(() => giveUp(0));

await conductor.start();
await server.listen();

let lonelySinceMs = performance.now();
let homeProblem = "";
setInterval(() => {
  void keepHome();
  if (conductor.isBusy || server.isConnected) lonelySinceMs = performance.now();
  else if (performance.now() - lonelySinceMs > LONELY_MS) giveUp(0);
}, 1000);

/** Recreates folder, lock and socket if somebody has removed them, so that front ends find this conductor. */
async function keepHome(): Promise<void> {
  try {
    if (!lock.isInPlace) {
      // If a newer conductor has the lock now, it sees this conductor and ends.
      if (!lock.take()) return;
      conductor.rewriteHome();
    }
    if (!server.isInPlace) await server.listen();
    homeProblem = "";
  } catch (error) {
    const { message } = error as Error;
    if (message !== homeProblem) console.error(new Date().toISOString(), message);
    homeProblem = message;
  }
}

function guarded(act: () => void): void {
  try {
    act();
  } catch (error) {
    giveUp(1, error);
  }
}

/** Continues all gangs, then ends. */
function giveUp(status: number, error?: unknown): void {
  if (error !== undefined) console.error(new Date().toISOString(), error);
  conductor.close();
  server.close();
  // The last answers and the message to the guardian are on their way.
  setTimeout(() => process.exit(status), 50);
}
