/**
 * Measures the memory of the front end with many jobs: after the submits, and after a restart that reads them
 * from disk. The conductor is a fake. Each row of the table runs in its own process, and memory is measured
 * after a garbage collection.
 *
 *   npm run bench:memory              up to 200,000 jobs
 *   npm run bench:memory -- --quick   small, as a check
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Caller } from "@tutti/live/daemon/contract/service.ts";
import {
  answerOf,
  type Bench,
  makeBench,
  request,
} from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { Store } from "@tutti/live/daemon/store/store.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { printTable } from "./measure.ts";

const quick = process.argv.includes("--quick");
const perBatch = quick ? 100 : 10_000;
/** A user may have five batches of jobs. */
const batchesOfUser = 5;
const COMMAND_LENGTH = 1000;

interface Scenario {
  readonly name: string;
  /** Of live jobs. */
  readonly batches: number;
  readonly endedBatches: number;
  readonly jobs: (batch: number) => readonly SubmitJob[];
}

const longWord = (text: string): string => text.padEnd(COMMAND_LENGTH, "x");
const env = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`VARIABLE_${i}`, `value ${i}`]));
const arrayCommands = Array.from({ length: 40 }, (_, i) => ["solve", longWord(`array ${i}`)]);

const array: Scenario["jobs"] = (batch) => [
  request({ command: arrayCommands[batch], env, array: `0-${perBatch - 1}`, held: true }),
];
const single: Scenario["jobs"] = (batch) =>
  Array.from({ length: perBatch }, (_, i) =>
    request({ command: ["solve", longWord(`${batch} ${i}`)], env, held: true }),
  );

const SCENARIOS: readonly Scenario[] = [
  { name: "nothing", batches: 0, endedBatches: 0, jobs: array },
  { name: "5 arrays wait", batches: 5, endedBatches: 0, jobs: array },
  { name: "20 arrays wait", batches: 20, endedBatches: 0, jobs: array },
  { name: "5 batches of single jobs wait", batches: 5, endedBatches: 0, jobs: single },
  { name: "20 batches of single jobs wait", batches: 20, endedBatches: 0, jobs: single },
  { name: "10 batches have ended, 5 wait", batches: 5, endedBatches: 10, jobs: single },
];

/**
 * Bytes after a garbage collection: according to Node, in the heap and outside of it, and of the whole
 * process.
 */
function measure(): { heapMB: number; residentMB: number } {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMB: (heapUsed + external) / 1e6, residentMB: rss / 1e6 };
}

async function fill({ clock, frontEnd }: Bench, { batches, endedBatches, jobs }: Scenario): Promise<void> {
  for (let batch = 0; batch < batches + endedBatches; batch++) {
    const user = Math.floor(batch / batchesOfUser);
    const caller: Caller = { uid: 1000 + user, user: `user${user}`, isAdministrator: false };
    const answer = await answerOf(clock, frontEnd.submit(caller, jobs(batch)));
    if ("refused" in answer) throw new Error(answer.message);
    if (batch >= endedBatches) continue;
    const cancels = answer.jobs.map((one) => frontEnd.cancel(caller, one.job));
    clock.settle();
    await Promise.all(cancels);
  }
}

/** Runs in its own process. */
async function run(scenario: Scenario): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-memory-"));
  try {
    const path = join(folder, "tutti.db");
    const bench = makeBench({ path, connected: false });
    await fill(bench, scenario);
    const filled = measure();
    bench.frontEnd.stop();
    bench.store.close();
    console.log(JSON.stringify({ filled, restarted: again(path) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Memory of a front end that reads all jobs from disk, in yet another process. */
function again(path: string): unknown {
  return JSON.parse(node("--restart", path));
}

function node(...parameters: string[]): string {
  const script = fileURLToPath(import.meta.url);
  const options = { encoding: "utf8" } as const;
  return execFileSync(
    process.execPath,
    ["--expose-gc", script, ...parameters, ...(quick ? ["--quick"] : [])],
    options,
  );
}

const [mode, value = ""] = process.argv.slice(2);
if (mode === "--scenario") await run(SCENARIOS[Number(value)]);
else if (mode === "--restart") {
  const bench = makeBench({ store: new Store(value), connected: false });
  console.log(JSON.stringify(measure()));
  bench.frontEnd.stop();
} else {
  const rows = SCENARIOS.map(({ name }, i) => {
    const { filled, restarted } = JSON.parse(node("--scenario", String(i)));
    const cells = [filled.heapMB, filled.residentMB, restarted.heapMB, restarted.residentMB] as number[];
    return [name, ...cells.map((megabytes) => `${megabytes.toFixed(0)} MB`)];
  });
  console.log(`Batches of ${perBatch} jobs with commands of ${COMMAND_LENGTH} characters.`);
  printTable(["jobs", "held", "resident", "held after a restart", "resident then"], rows);
}
