/**
 * Simulated conductors of many nodes in one process, behind real sockets: `node conductors.ts FOLDER FIRST
 * COUNT`. Node I listens on FOLDER/nI. Prints "listening"; at the end of its input, it prints which gangs
 * each node has in its rows, as a line of JSON.
 */
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { systemClock } from "@tutti/host/clock.ts";
import { listenOnSocket } from "@tutti/host/unix-socket.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import { FakeConductor } from "@tutti/live/daemon/executor/cluster/conductor-for-tests.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { LineReader } from "@tutti/protocol/wire.ts";

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
for (let i = Number(first); i < Number(first) + Number(count); i++) conductors.push(await nodeAt(`n${i}`));
console.log("listening");
process.stdin.resume().on("end", () => {
  const rows = conductors.map(({ node, matrix }) => [
    node,
    matrix.rows.map((gangs) => gangs.map(({ job, cpus }) => [job, cpus.length])),
  ]);
  process.stdout.write(`${JSON.stringify(rows)}\n`, () => process.exit());
});

async function nodeAt(node: string): Promise<FakeConductor> {
  const offsetMs = Math.round(random.uniform() * 1e7);
  const conductor = new FakeConductor(
    node,
    world,
    () => systemClock.nowMs() + offsetMs,
    (nodeMs) => nodeMs - offsetMs,
  );
  const server = createServer((socket) => serve(socket, conductor));
  await listenOnSocket(server, join(folder, node), { mode: 0o600 });
  return conductor;
}

function serve(socket: Socket, conductor: FakeConductor): void {
  const lines = new LineReader();
  socket.on("error", () => socket.destroy());
  socket.on("close", () => conductor.disconnect());
  conductor.connect((message) => socket.write(`${JSON.stringify(late(message))}\n`));
  socket.on("data", (chunk: Buffer) => {
    for (const line of lines.push(chunk) ?? []) conductor.receive(JSON.parse(line));
  });
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
