/**
 * `npm run bench`: all benches in small sizes, in about five minutes, and a table of their figures next to
 * those recorded before (figures.json) and to what is wanted on a quiet machine. The other machine's
 * figures say little about this one: to compare two revisions, run both here, in turn.
 *
 *   npm run bench
 *   npm run bench -- --only start --only engine
 *   npm run bench -- --record            for a release: its figures become those to compare with
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Figure, printTable } from "./measure.ts";

/** What figures.json has. */
interface Recorded {
  readonly date: string;
  readonly revision: string;
  readonly machine: string;
  readonly load: string;
  readonly figures: readonly Figure[];
}

const ENGINE = ["SDSC-SP2", "HPC2N"].flatMap((source) => ["--source", source]);
const POLICIES = ["easy", "conservative", "wlv", "brmms"].flatMap((policy) => ["--policy", policy]);
const TURNS = ["live.ts", "--only", "costs", "--work-s", "2", "--repetitions", "2"];
const PARTS: Readonly<Record<string, readonly string[]>> = {
  start: ["start.ts", "--starts", "5"],
  submit: ["submit.ts"],
  question: ["question.ts", "--runs", "2"],
  engine: ["engine.ts", ...ENGINE, ...POLICIES, "--runs", "2"],
  turns: TURNS,
  "short turns": [...TURNS, "--slot-ms", "20"],
  nodes: ["front-end-nodes.ts", "--nodes", "64", "--seconds", "5", "--windows", "1"],
  hostile: ["hostile.ts", "--seconds", "10", "--runs", "1"],
};
const { values } = parseArgs({
  options: { only: { type: "string", multiple: true }, record: { type: "boolean", default: false } },
});
const wanted = values.only ?? Object.keys(PARTS);
const unknown = wanted.find((name) => !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  console.error(`Cannot find the bench "${unknown}": expected ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
if (values.record && values.only !== undefined) {
  console.error("Cannot record the figures of some benches only: expected --record without --only");
  process.exit(2);
}
const recordFile = fileURLToPath(new URL("./figures.json", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
const file = join(folder, "figures");
const loads = [loadNow()];
let isInterrupted = false;
let bench: ChildProcess | undefined;
// Also if only this process got the signal, the bench that runs ends what it has started.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => {
    isInterrupted = true;
    bench?.kill(name);
  });
process.stdout.on("error", () => {
  isInterrupted = true;
});
const failed: string[] = [];
for (const name of wanted) {
  if (isInterrupted) break;
  console.log(`\n${name}`);
  if (!(await ran(PARTS[name]))) failed.push(name);
  loads.push(loadNow());
}
const text = existsSync(file) ? readFileSync(file, "utf8") : "";
rmSync(folder, { recursive: true });
if (isInterrupted) process.exit(130);
const figures = text
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Figure);
const now = {
  date: new Date().toISOString().slice(0, 10),
  revision: revision(),
  machine: `${availableParallelism()} CPUs, ${cpus()[0]?.model}, Node ${process.versions.node}`,
  load: loads.join(", "),
  figures,
};
printFigures(now, existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : undefined);
if (failed.length > 0) {
  console.error(`Not measured: ${failed.join(", ")}`);
  process.exitCode = 1;
} else if (values.record) writeFileSync(recordFile, `${JSON.stringify(now, undefined, 2)}\n`);

async function ran([program = "", ...words]: readonly string[]): Promise<boolean> {
  const env = { ...process.env, TUTTI_BENCH_FIGURES: file };
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = spawn(process.execPath, [path, ...words], { env, stdio: "inherit" });
  bench = child;
  return await new Promise((resolve) => child.once("exit", (code) => resolve(code === 0)));
}

function printFigures(present: Recorded, last?: Recorded): void {
  const before = new Map(last?.figures.map((one) => [one.name, one.value]));
  const number = (value: number | undefined) =>
    value === undefined ? "" : Number(value.toPrecision(3)).toString();
  console.log(`\nNow: ${present.machine}, load ${present.load}`);
  if (last !== undefined)
    console.log(`Last release: ${last.revision}, ${last.date}, ${last.machine}, load ${last.load}`);
  console.log();
  printTable(
    ["figure", "now", "wanted", "recorded", "ratio"],
    present.figures.map(({ name, value, unit, goal }) => {
      const old = before.get(name);
      const wanted = goal === undefined ? "" : `${unit === "/s" ? "≥" : "≤"} ${goal}`;
      return [
        name,
        `${number(value)} ${unit}`,
        wanted,
        number(old),
        old === undefined ? "" : (value / old).toFixed(2),
      ];
    }),
  );
}

function loadNow(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function revision(): string {
  return spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" }).stdout.trim();
}
