/**
 * Starts the conductor's process: `node conductor.js HOME [KIND] [--cluster NAME]`. HOME is a folder for
 * socket, state and log. KIND is a kind of freezer; by default, the conductor uses the best kind that
 * works.
 *
 * The conductors of a cluster have the same NAME, one on each node. They need the kind "signals", because
 * processes that a gang starts on another node can be found only by their mark. Such a conductor kills its
 * gangs and ends when it gets TERM, and when the process that started it (the keeper) has ended, because the
 * cluster then takes the node away. The keeper gives its pid as `--parent`, because it may end before the
 * conductor can ask for it. With a key in HOME, and the node's name as `--node`, they also pass on messages
 * to each other (peers.ts).
 *
 * With `--gpus`, it reads GPUs by these programs, full paths with colons between them. The conductors of a
 * cluster look for them on their own PATH.
 *
 * With `--independent`, nobody takes the node away: the gangs go on when the conductor or its keeper ends, as
 * on this machine. The exit status is 0 only if the conductor and all that it knows are no longer needed.
 */

import { monotonicMs, unixMs } from "@tutti/host/clock.ts";
import { findGpuPrograms } from "@tutti/host/gpu-programs.ts";
import { parseArgs } from "@tutti/host/ports/util.ts";
import { sleep } from "@tutti/host/sleep.ts";
import { closeInherited } from "@tutti/host/surroundings.ts";
import type { FreezerKind } from "@tutti/protocol/attempts.ts";
import { Conductor } from "./conductor.ts";
import { removeDeadHomes } from "./dead-homes.ts";
import { FREEZER_KINDS, openContainment } from "./freezers/open-containment.ts";
import { HomeLock, olderConductor, titleOf } from "./home.ts";
import { PeerDoor, pilotKeyIn } from "./peers.ts";
import { takePriority } from "./priority.ts";
import { ConductorServer } from "./server.ts";

/**
 * After this time without jobs and without a front end, the conductor ends; the next front end starts
 * another.
 */
const LONELY_MS = 60_000;
/** How often a cluster's conductor looks whether its parent is still there. */
const PARENT_MS = 250;
/**
 * How often a conductor looks whether its folder is still there, and while another conductor has the lock.
 * That one sees this one and ends; then the folder must be taken before a third one starts.
 */
const LOOK_MS = 1000;
const LOCKED_LOOK_MS = 50;
/** A conductor that ends is gone within this time. */
const ENDING_MS = 1000;
/** Exit status when another conductor has the folder. */
const ALREADY_RUNNING = 3;
/** Exit status of an independent conductor whose keeper starts another one. */
const ENDED_BY_SIGNAL = 4;
/** Becomes part of the gangs' marks. */
const CLUSTER_NAME = /^[A-Za-z0-9._-]{1,64}$/;

closeInherited();
// Ignore the caller's umask: jobs may read their control groups, and our own files have explicit modes.
process.umask(0o022);

const { home, kind, cluster, parent, independent, node, gpuPrograms } = readArguments();
/** Ends its gangs with the keeper. */
const isLent = cluster !== undefined && !independent;
// Do not prevent any folder from being removed or unmounted.
process.chdir("/");

const lock = new HomeLock(home);
try {
  if (!lock.take()) process.exit(ALREADY_RUNNING);
} catch (error) {
  console.error(new Date(unixMs()).toISOString(), (error as Error).message);
  process.exit(1);
}
let older = olderConductor(home);
// One that is just ending has given its lock back already.
const patienceMs = monotonicMs() + ENDING_MS;
while (older !== undefined && monotonicMs() < patienceMs) {
  await sleep(20);
  older = olderConductor(home);
}
if (older !== undefined) {
  console.error(
    `Cannot manage the jobs of "${home}": conductor ${older} still manages them, although it has not the lock of this folder: the folder was removed or replaced, and that conductor takes it over; expected no other conductor`,
  );
  process.exit(ALREADY_RUNNING);
}
process.title = titleOf(home);
const containment = openContainment(home, kind, cluster);
if (containment === undefined) {
  console.error(
    `Cannot stop gangs by ${kind}: it does not work here, expected a kind that tutti doctor lists`,
  );
  process.exit(1);
}
takePriority();

const key = node === undefined ? undefined : pilotKeyIn(home);
const server: ConductorServer = new ConductorServer(
  home,
  (message) => guarded(() => conductor.receive(message)),
  key,
);
const conductor = new Conductor(
  home,
  containment,
  (message) => server.send(message),
  gpuPrograms,
  isLent ? parent : undefined,
);

// If the disk with the log is full and a second write fails at the same moment, Node reports an uncaught
// error.
process.stderr.on("error", () => {});
process.on("uncaughtException", (error) => giveUp(1, error));
process.on("unhandledRejection", (error) => giveUp(1, error));
for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, end);
process.on("SIGHUP", () => {});
conductor.onShutdown(() => giveUp(0));

await conductor.start();
await server.listen();
if (key !== undefined && node !== undefined) new PeerDoor(key, node, (socket) => server.accept(socket));
if (cluster !== undefined && isLent) removeDeadHomes(home, cluster);

let lonelySinceMs = monotonicMs();
let homeProblem = "";
void (async function keep(): Promise<void> {
  const isOurs = await keepHome();
  setTimeout(keep, isOurs ? LOOK_MS : LOCKED_LOOK_MS);
})();
setInterval(() => {
  const isNeeded = isLent || !(independent ? conductor.isUnused : conductor.isIdle);
  if (isNeeded || server.isConnected) lonelySinceMs = monotonicMs();
  else if (monotonicMs() - lonelySinceMs > LONELY_MS) giveUp(0);
}, LOOK_MS);
if (isLent) setInterval(() => guarded(() => conductor.followKeeper()), PARENT_MS);

function readArguments() {
  const { positionals, values } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    strict: false,
    options: {
      cluster: { type: "string" },
      parent: { type: "string" },
      independent: { type: "boolean" },
      node: { type: "string" },
      gpus: { type: "string" },
    },
  });
  const [home, kind] = positionals as [string?, FreezerKind?];
  const { cluster, node } = values;
  const parent = Number(values.parent ?? process.ppid);
  const isKind = kind === undefined || FREEZER_KINDS.includes(kind);
  const isName = cluster === undefined || (typeof cluster === "string" && CLUSTER_NAME.test(cluster));
  const isNode = node === undefined || (typeof node === "string" && cluster !== undefined);
  if (home === undefined || !isKind || !isName || !isNode || (cluster !== undefined && kind !== "signals")) {
    console.error(
      `Usage: conductor HOME [${FREEZER_KINDS.join(" | ")}], or conductor HOME signals --cluster NAME [--independent] [--node NAME]`,
    );
    process.exit(2);
  }
  const gpuPrograms = typeof values.gpus === "string" ? values.gpus.split(":") : [];
  return {
    ...{ home, kind, cluster, parent, independent: values.independent === true, node },
    gpuPrograms: cluster === undefined ? gpuPrograms : findGpuPrograms(),
  };
}

/** Jobs of this machine go on. Those of a cluster cannot: it ends its processes on the node in a moment. */
function end(): void {
  if (isLent) guarded(() => conductor.evict());
  else giveUp(independent ? ENDED_BY_SIGNAL : 0);
}

/**
 * Recreates folder, lock and socket if somebody has removed them, so that front ends find this conductor.
 * @returns false while another conductor has the lock
 */
async function keepHome(): Promise<boolean> {
  try {
    if (!lock.isInPlace) {
      // If a newer conductor has the lock now, it sees this conductor and ends.
      if (!lock.take()) return false;
      conductor.rewriteHome();
    }
    if (!server.isInPlace) await server.listen();
    homeProblem = "";
  } catch (error) {
    const { message } = error as Error;
    if (message !== homeProblem) console.error(new Date(unixMs()).toISOString(), message);
    homeProblem = message;
  }
  return true;
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
  if (error !== undefined) console.error(new Date(unixMs()).toISOString(), error);
  conductor.close();
  server.close();
  // The last answers and the message to the guardian are on their way.
  setTimeout(() => process.exit(status), 50);
}
