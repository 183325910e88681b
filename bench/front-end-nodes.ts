/**
 * Measures what the nodes of a cluster cost the front end: CPU time by getrusage, and memory, of a process
 * with a front end and its executor alone. The nodes are simulated conductors in other processes, behind
 * real sockets, and pass messages on to each other as real ones do. Gangs are as wide as the cluster, so each
 * is on every node, and nodes have 64 CPUs.
 *
 *   npm run bench:nodes                                     64, 256 and 1,000 nodes, 3 gangs
 *   npm run bench:nodes -- --nodes 1000 --gangs 30 --seconds 20 --windows 3
 *   npm run bench:nodes -- --direct 1000                    a connection to each node
 *
 * Goals: at most linear in the number of nodes, 20 ms of CPU time a second and 2 MB a node at 1,000.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { LineReader } from "@tutti/protocol/wire.ts";
import { figure, printTable, summarise, whenInterrupted } from "./measure.ts";
import type { FrontEndNumbers } from "./nodes/front-end.ts";

/** A process has at most this many nodes. */
const NODES_PER_PROCESS = 250;
const GOAL_MS_PER_S = 20;
const GOAL_MB = 2;

const { values } = parseArgs({
  options: {
    nodes: { type: "string", multiple: true, default: ["64", "256", "1000"] },
    gangs: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
    windows: { type: "string", default: "3" },
    direct: { type: "string", default: "16" },
  },
});
const children = new Set<ChildProcess>();
const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
const cleanUp = () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
};
whenInterrupted(cleanUp);
try {
  const loads = [loadavg()[0]];
  const rows: string[][] = [];
  for (const text of values.nodes) {
    const nodes = Number(text);
    const [numbers, hash] = await measured(nodes);
    rows.push(rowOf(nodes, numbers, hash));
    loads.push(loadavg()[0]);
  }
  printTable(["nodes", "start ms", "idle ms/s", "turning ms/s", "lines/s", "launch ms", "MB", "rows"], rows);
  console.log(`load ${loads.map((load) => load?.toFixed(1)).join(", ")}`);
} finally {
  cleanUp();
}

function rowOf(nodes: number, numbers: FrontEndNumbers, hash: string): string[] {
  const { startMs, idleMsPerS, turningMsPerS, launchMs, memoryMB, linesPerS } = numbers;
  const turning = summarise([...turningMsPerS]);
  figure(
    `front end, ${nodes} nodes: CPU in a second`,
    turning.medianMs,
    "ms",
    (GOAL_MS_PER_S * nodes) / 1000,
  );
  figure(`front end, ${nodes} nodes: memory`, memoryMB, "MB", Math.max(200, GOAL_MB * nodes));
  const spread = (all: readonly number[]) => {
    const { medianMs, minMs, maxMs } = summarise([...all]);
    return `${medianMs.toFixed(1)} (${minMs.toFixed(1)} … ${maxMs.toFixed(1)})`;
  };
  return [
    String(nodes),
    startMs.toFixed(0),
    spread(idleMsPerS),
    spread(turningMsPerS),
    linesPerS.toFixed(0),
    launchMs.toFixed(0),
    memoryMB.toFixed(0),
    hash,
  ];
}

/** @returns the numbers, and a hash of the gangs that all nodes have in their rows at the end */
async function measured(nodes: number): Promise<[FrontEndNumbers, string]> {
  const place = mkdtempSync(join(folder, `${nodes}-`));
  const groups: ChildProcess[] = [];
  for (let first = 1; first <= nodes; first += NODES_PER_PROCESS) {
    const count = Math.min(NODES_PER_PROCESS, nodes - first + 1);
    groups.push(started("conductors", place, first, count));
  }
  for (const group of groups) await nextLine(group);
  const { gangs, seconds, windows, direct } = values;
  const front = started("front-end", place, nodes, gangs, seconds, windows, direct);
  const numbers = JSON.parse(await nextLine(front)) as FrontEndNumbers;
  const hash = createHash("sha256");
  for (const group of groups) {
    group.stdin?.end();
    hash.update(await nextLine(group));
  }
  return [numbers, hash.digest("hex").slice(0, 8)];
}

function started(program: string, ...words: readonly (string | number)[]): ChildProcess {
  const path = fileURLToPath(new URL(`nodes/${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path, ...words.map(String)], { stdio: ["pipe", "pipe", "inherit"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

async function nextLine(child: ChildProcess): Promise<string> {
  const reader = new LineReader();
  for (;;) {
    const ended = once(child, "exit").then(() => {
      throw new Error("Cannot measure: a program of the bench has ended early");
    });
    const [chunk] = (await Promise.race([once(child.stdout!, "data"), ended])) as [Buffer];
    const [line] = reader.push(chunk) ?? [];
    if (line !== undefined) return line;
  }
}
