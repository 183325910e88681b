/**
 * Prints what a front end on another machine must know about this one before jobs can run here, as one line
 * of JSON. `node facts.js FOLDER`, run by the user who would run the conductor.
 */
import { unixMs } from "@tutti/host/clock.ts";
import { allowedCpus, memoryBytes } from "@tutti/host/machine.ts";
import { userNameOf } from "@tutti/host/passwd.ts";
import { statSync } from "@tutti/host/ports/fs.ts";
import { bootId, readSmall } from "@tutti/host/processes.ts";
import { placesOf } from "@tutti/host/topology.ts";

const [folder = "/"] = process.argv.slice(2);
const uid = process.getuid!();
const { dev, ino } = statSync(folder);
const facts = {
  uid,
  gid: process.getgid!(),
  user: userNameOf(uid),
  kernel: (readSmall("/proc/sys/kernel/osrelease") ?? "").trim(),
  node: process.version,
  places: placesOf(allowedCpus()),
  memoryBytes: memoryBytes(),
  unixMs: unixMs(),
  /** The same for two names of one machine. */
  machine: `${bootId()} ${dev}:${ino}`,
};
process.stdout.write(`${JSON.stringify(facts)}\n`);
