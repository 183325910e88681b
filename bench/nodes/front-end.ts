/**
 * A front end over many nodes in a process of its own: `node front-end.ts FOLDER NODES GANGS SECONDS WINDOWS
 * DIRECT`. Prints one line of JSON, a `FrontEndNumbers`.
 */
import { mkdirSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@tutti/host/clock.ts";
import { SOCKET_NAME } from "@tutti/live/conductor/server.ts";
import { DEFAULT_CONFIG } from "@tutti/live/daemon/config/config.ts";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import type { Cluster, LinkListener } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { ClusterExecutor } from "@tutti/live/daemon/executor/cluster/cluster-executor.ts";
import { type DirectLink, LinkTree } from "@tutti/live/daemon/executor/cluster/link-tree.ts";
import { Launcher } from "@tutti/live/daemon/executor/launcher.ts";
import { FrontEnd } from "@tutti/live/daemon/front-end/front-end.ts";
import { Store } from "@tutti/live/daemon/store/store.ts";
import { isRefusal } from "@tutti/protocol/refusal.ts";
import { LineReader } from "@tutti/protocol/wire.ts";
import { nodeName } from "./names.ts";

export interface FrontEndNumbers {
  /** From the first connection until all nodes take part. */
  readonly startMs: number;
  /** CPU time of the process per second, one value for each window. */
  readonly idleMsPerS: readonly number[];
  readonly turningMsPerS: readonly number[];
  /** From the submission of the gangs until all run. */
  readonly launchMs: number;
  readonly memoryMB: number;
  /** Lines per second in both directions, while gangs take turns. */
  readonly linesPerS: number;
}

const CPUS = 64;
/** Until caches are warm and the first measurements of clocks are over. */
const SETTLE_MS = 6000;
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;
const ME: Caller = { uid: process.getuid!(), user: "me", isAdministrator: true };

const [folder = "", ...numbers] = process.argv.slice(2);
const [nodes = 1, gangs = 1, seconds = 1, windows = 1, mostDirect = 1] = numbers.map(Number);
const names = Array.from({ length: nodes }, (_, i) => nodeName(i + 1));
const cpus = Array.from({ length: CPUS }, (_, i) => i);
let lines = 0;

/** A connection to the socket of a node, without a way to connect again. */
function connect(node: string, listener: LinkListener, onRelayed: (line: string) => void): DirectLink {
  const socket = createConnection(join(folder, node, SOCKET_NAME));
  const reader = new LineReader();
  let lastHeardMs = Number.NEGATIVE_INFINITY;
  socket.once("connect", () => listener.opened());
  socket.on("error", (error) => listener.closed(error.message));
  socket.on("data", (chunk: Buffer) => {
    lastHeardMs = systemClock.nowMs();
    for (const line of reader.push(chunk) ?? []) {
      lines++;
      if (line.startsWith("@")) onRelayed(line);
      else listener.message(JSON.parse(line));
    }
  });
  return {
    get lastHeardMs() {
      return lastHeardMs;
    },
    sendLines: (several) => {
      lines += several.length;
      socket.write(`${several.join("\n")}\n`);
    },
    close: () => socket.destroy(),
  };
}

const tree = new LinkTree({ clock: systemClock, connect, canRelay: () => true, mostDirect });
const cluster: Cluster = {
  allocations: [],
  again: () => {},
  mostProcessors: nodes * CPUS,
  mostLimitMs: Number.POSITIVE_INFINITY,
  start: (listener) =>
    systemClock.soon(() =>
      listener.allocated({
        name: "1",
        nodes: names.map((node) => ({ node, cpus })),
        memoryBytes: 2 ** 40,
      }),
    ),
  link: (node, listener) => tree.link(node, listener),
  step: () => [],
  variables: () => ({}),
  setLostJobs: () => {},
  setBusy: () => {},
  setDemand: () => {},
  release: async () => {},
  close: () => {},
};

const fromMs = performance.now();
const executor = new ClusterExecutor({
  cluster,
  clock: systemClock,
  frontEnd: "bench",
  owner: "0123456789abcdef",
  claims: { isClaimed: () => false, block: () => true },
});
let isConnected = false;
executor.listen(
  ({ type }) => {
    isConnected ||= type === "connected";
  },
  () => {},
);
await until(() => isConnected && executor.capacity.nodes.nodes.length === nodes);
const startMs = performance.now() - fromMs;
mkdirSync(join(folder, "jobs"));
const store = new Store(join(folder, "store.sqlite"), 0);
const frontEnd = new FrontEnd({
  store,
  executor,
  clock: systemClock,
  config: { ...DEFAULT_CONFIG, maxRows: Math.max(DEFAULT_CONFIG.maxRows, gangs) },
  bootId: "boot",
  launcher: new Launcher({
    jobsFolder: join(folder, "jobs"),
    graceMs: 1000,
    accounts: () => ({ uid: process.getuid!(), gid: process.getgid!() }),
  }),
});
const idleMsPerS = await costs();
const launchedMs = performance.now();
const job = { command: ["work"], cwd: "/", env: { PATH: "/usr/bin:/bin" }, tasks: nodes * CPUS };
const answer = await frontEnd.submit(ME, Array(gangs).fill(job));
if (isRefusal(answer)) throw new Error(answer.message);
const jobs = answer.jobs.map((one) => one.job);
await until(() =>
  jobs.every((number) => {
    const one = frontEnd.job(ME, number);
    return !isRefusal(one) && one.state === "running";
  }),
);
const launchMs = performance.now() - launchedMs;
const turningMsPerS = await costs();
const linesBefore = lines;
await sleep(1000 * seconds);
const result: FrontEndNumbers = {
  startMs,
  idleMsPerS,
  turningMsPerS,
  launchMs,
  memoryMB: process.memoryUsage.rss() / 1e6,
  linesPerS: (lines - linesBefore) / seconds,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());

/** By getrusage, for all threads of the process. */
async function costs(): Promise<number[]> {
  await sleep(SETTLE_MS);
  const values: number[] = [];
  for (let i = 0; i < windows; i++) {
    const before = process.cpuUsage();
    const beforeMs = performance.now();
    await sleep(1000 * seconds);
    const { user, system } = process.cpuUsage(before);
    values.push((user + system) / (performance.now() - beforeMs));
  }
  return values;
}

async function until(isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > untilMs) throw new Error("Not within a minute");
    await sleep(LOOK_MS);
  }
}
