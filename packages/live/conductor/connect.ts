/**
 * Joins standard input and output to the socket of the conductor of a folder: `node connect.js HOME`. It
 * runs on the conductor's node, started by srun or the like, so a front end on another machine reaches the
 * conductor without a listening port. Ends as soon as either side ends; the conductor does not.
 *
 * With the name of the cluster, `node connect.js HOME CLUSTER`, it also speaks for a node without a
 * conductor: after a crash that nobody has noticed, nothing starts one there. Then it kills what is left of
 * the cluster's gangs, removes the conductor's folder, and says that the node is vacant.
 */

import { monotonicMs } from "@tutti/host/clock.ts";
import { readText } from "@tutti/host/files.ts";
import { existsSync, lstatSync, readdirSync } from "@tutti/host/ports/fs.ts";
import { createConnection, type Socket } from "@tutti/host/ports/net.ts";
import { basename, dirname, join } from "@tutti/host/ports/path.ts";
import { allPids, signal } from "@tutti/host/processes.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { isAtGateOf } from "./attempts/shim.ts";
import { removeIfDead } from "./dead-homes.ts";
import { MARK_VARIABLE } from "./freezers/signals.ts";
import { CONNECTED, SOCKET_NAME } from "./server.ts";

/**
 * The conductor may be just starting, or starting again. Front ends give a node up after 23 s, so they have
 * done so when this time is over.
 */
const PATIENCE_MS = 25_000;
/** Killed processes end within this time; more may come from those that were just starting others. */
const KILL_MS = 5000;
const RETRY_MS = 50;
/** Says when it is connected: what is sent before that waits, so it would measure no round trip. */
const SAY = "--say";
const NOT_THERE = ["ENOENT", "ECONNREFUSED"];

const words = process.argv.slice(2);
const [usualHome, cluster = "", patienceMs = PATIENCE_MS] = words.filter((word) => word !== SAY);
if (usualHome === undefined) {
  console.error("Usage: connect HOME [CLUSTER [PATIENCE_MS]] [--say]");
  process.exit(2);
}
process.chdir("/");
// The front end is gone when its end of a stream is closed.
process.stdout.on("error", () => process.exit(0));
process.stderr.on("error", () => {});
// When the cluster takes the node away, the conductor still has to say how its attempts end.
process.on("SIGTERM", () => {});
connect(monotonicMs() + Number(patienceMs));

function connect(untilMs: number): void {
  const again = () => setTimeout(() => connect(untilMs), RETRY_MS);
  const home = ownHome();
  const foreign = whyForeign(dirname(home)) ?? whyForeign(home);
  if (foreign !== undefined) {
    // The keeper may be about to make another folder.
    if (monotonicMs() < untilMs) return void again();
    console.error(foreign);
    process.exitCode = 1;
    return;
  }
  const path = join(home, SOCKET_NAME);
  const socket = createConnection(path);
  socket.once("connect", () => joinStreams(socket));
  socket.once("error", (error: NodeJS.ErrnoException) => {
    if (NOT_THERE.includes(error.code ?? "") && monotonicMs() < untilMs) return void again();
    console.error(`Cannot connect to the conductor: ${error.message}; expected one that listens on ${path}`);
    process.exitCode = 1;
    if (NOT_THERE.includes(error.code ?? "") && cluster !== "") clear(home, monotonicMs() + KILL_MS);
  });
}

/**
 * HOME, or the same name in /tmp/tutti-UID.*, where the keeper puts it if another user has taken
 * /tmp/tutti-UID (slurm/batch-script.ts).
 */
function ownHome(): string {
  const base = dirname(usualHome);
  if (whyForeign(base) === undefined) return usualHome;
  const others = readdirSync(dirname(base)).filter((entry) => entry.startsWith(`${basename(base)}.`));
  return (
    others
      .map((entry) => join(dirname(base), entry, basename(usualHome)))
      .find((home) => existsSync(home) && whyForeign(dirname(home)) === undefined) ?? usualHome
  );
}

/** Anybody can make a folder in /tmp, and listen there in place of a conductor. */
function whyForeign(folder: string): string | undefined {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  const uid = process.getuid!();
  if (stats === undefined || (stats.isDirectory() && stats.uid === uid)) return undefined;
  const found = stats.isDirectory() ? `it belongs to user ${stats.uid}` : "it is not a folder";
  return `Cannot use ${folder}: ${found}, expected a folder of user ${uid}; its owner or an administrator must remove it`;
}

/** Kills the processes of the cluster's gangs until none is left. */
function clear(home: string, untilMs: number): void {
  const left = allPids().filter(isOfGang);
  for (const pid of left) signal(pid, "SIGKILL");
  const message: FromConductor = { type: "vacant" };
  if (left.length === 0) {
    removeIfDead(home, cluster);
    process.stdout.write(`${JSON.stringify(message)}\n`);
  } else if (monotonicMs() < untilMs) setTimeout(() => clear(home, untilMs), RETRY_MS);
}

/** Also one that waits at its gate, where nothing tracks the processes of a step by control group. */
function isOfGang(pid: number): boolean {
  const marks = `tutti-${cluster}/`;
  const environment = `\0${readText(`/proc/${pid}/environ`, "latin1") ?? ""}`;
  return environment.includes(`\0${MARK_VARIABLE}=${marks}`) || isAtGateOf(pid, marks);
}

function joinStreams(socket: Socket): void {
  socket.removeAllListeners("error");
  socket.on("error", () => {});
  process.stdin.on("error", () => socket.destroy());
  if (words.includes(SAY)) process.stdout.write(`${CONNECTED}\n`);
  process.stdin.pipe(socket);
  socket.pipe(process.stdout, { end: false });
  // What was received is written first.
  socket.once("close", () => process.stdout.write("", () => process.exit(0)));
  process.stdin.once("end", () => socket.destroySoon());
}
