/**
 * Simulated conductors of many nodes in one process, behind the real server and the real relays: `node
 * conductors.ts FOLDER FIRST COUNT`. The nodes have addresses of this machine as names. Each listens on
 * FOLDER/NAME/socket, and on its port for others of the pilot. Prints "listening"; at the end of its input,
 * it prints which gangs each node has in its rows, as a line of JSON.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "@tutti/host/clock.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { PeerDoor } from "@tutti/live/conductor/peers.ts";
import { ConductorServer } from "@tutti/live/conductor/server.ts";
import { FakeConductor } from "@tutti/live/daemon/executor/cluster/conductor-for-tests.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { BENCH_KEY, nodeName } from "./names.ts";

const [folder = "", first = "1", count = "1"] = process.argv.slice(2);
const random = new Random(Number(first), "lateness");
const claims = new Map<string, string>();
/** Gangs that never end by themselves. */
const world = {
  clock: systemClock,
  scriptOf: () => ({ computeMs: Number.POSITIVE_INFINITY }),
  claims,
  record: () => {},
  say: () => {},
  spread: () => {},
};
const conductors: FakeConductor[] = [];
for (let i = Number(first); i < Number(first) + Number(count); i++)
  conductors.push(await conductorOf(nodeName(i)));
console.log("listening");
process.stdin.resume().on("end", () => {
  const rows = conductors.map(({ node, matrix }) => [
    node,
    matrix.rows.map((gangs) => gangs.map(({ job, cpus }) => [job, cpus.length])),
  ]);
  process.stdout.write(`${JSON.stringify(rows)}\n`, () => process.exit());
});

async function conductorOf(node: string): Promise<FakeConductor> {
  const offsetMs = Math.round(random.uniform() * 1e7);
  const conductor = new FakeConductor(
    node,
    world,
    () => systemClock.nowMs() + offsetMs,
    (nodeMs) => nodeMs - offsetMs,
  );
  const home = join(folder, node);
  mkdirSync(home);
  const server = new ConductorServer(home, (message) => conductor.receive(message), BENCH_KEY);
  conductor.connect((message) => server.send(late(message)));
  await server.listen();
  new PeerDoor(BENCH_KEY, node, (socket) => server.accept(socket));
  return conductor;
}

/** As a real conductor, which is never quite punctual. */
function late(message: FromConductor): FromConductor {
  if (message.type !== "slots") return message;
  const { statistics } = message;
  const lateOfSlots = statistics.lateOfSlots?.map(
    ([slot]) => [slot, Math.round(1000 * random.uniform()) / 1000] as const,
  );
  return { ...message, statistics: { ...statistics, ...(lateOfSlots && { lateOfSlots }) } };
}
