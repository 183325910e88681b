/**
 * Measures turns on a shared unit (`gpu = { units = 1, shared = true }`) with a program that behaves as a GPU
 * does: how long each gang's turns are, how much of the device each gets, and how long kernels run on after
 * the processes that launched them were stopped. Where there is an NVIDIA GPU, bench/gpu/cuda.py measures the
 * last on the device itself, and what a snapshot costs.
 *
 *   npm run bench:gpu               two gangs of two tasks, slots of 1 s, kernels of 5 and 50 ms
 *   npm run bench:gpu -- --quick    one of them, as a check
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatPercent } from "@tutti/kernel/core/format.ts";
import { signatureOf, type Traced } from "./gpu/device.ts";
import { figure, printTable, show, summarise, whenInterrupted } from "./measure.ts";
import { ownPlace, reached } from "./own-scheduler.ts";

const quick = process.argv.includes("--quick");
const SLOT_MS = 1000;
const DEVICE_BYTES = 80e9;
const JOB_BYTES = 10e9;
const CASES = [
  { kernelMs: 5, depth: 2 },
  { kernelMs: 5, depth: 20 },
  { kernelMs: 50, depth: 2 },
].slice(0, quick ? 1 : 3);
/** Of device time, for each gang. */
const TOTAL_MS = quick ? 6000 : 16_000;
const TWO_TASKS = '"$@" & one=$!; "$@" & wait $! && wait $one';
/** A turn of a gang is a stretch of its kernels that begins after this much of others. */
const APART_MS = SLOT_MS / 2;

const { folder, env } = ownPlace();
const fileHere = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const bin = fileHere("../bin/tutti.js");
const tutti = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`tutti ${words[0]} ended with ${status}: ${stderr}`);
  return stdout.trim();
};

async function startDevice(key: string, trace: string): Promise<ChildProcess> {
  const words = [fileHere("gpu/device.ts"), join(folder, "device.sock"), trace, String(DEVICE_BYTES)];
  const started = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"], detached: true });
  started.stdin!.write(`${key}\n`);
  await once(started.stdout!, "data");
  return started;
}

/** @throws Error if a line was changed or added by anybody but the device, or left out before another */
function readTrace(key: string, path: string): Traced[] {
  let before = "";
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((text, i) => {
      const at = text.lastIndexOf(" ");
      const line = text.slice(0, at);
      before = signatureOf(key, before, line);
      if (text.slice(at + 1) !== before)
        throw new Error(`line ${i + 1} of the device's trace is not the device's`);
      return JSON.parse(line) as Traced;
    });
}

interface Turns {
  /** From the first launch of a gang in a turn to its last one. */
  readonly lengthsMs: readonly number[];
  /** From the first launch of a gang in a turn to the end of the last kernel of the gang that was stopped. */
  readonly runOnMs: readonly number[];
  /** Of the device's time while both gangs had work. */
  readonly shares: readonly number[];
}

function turnsOf(traced: readonly Traced[]): Turns {
  const kernels = traced
    .filter(({ what }) => what === "kernel")
    .map(({ who, atMs, launchedMs, ms }) => ({ gang: who[0], endMs: atMs, fromMs: launchedMs!, ms: ms! }))
    .sort((a, b) => a.fromMs - b.fromMs);
  const gangs = [...new Set(kernels.map(({ gang }) => gang))];
  const untilMs = Math.min(...gangs.map((gang) => kernels.findLast((one) => one.gang === gang)!.fromMs));
  const both = kernels.filter(({ fromMs }) => fromMs <= untilMs);
  const turns: { gang: string; fromMs: number; toMs: number; endMs: number }[] = [];
  for (const { gang, fromMs, endMs } of both) {
    const own = turns.findLast((turn) => turn.gang === gang);
    if (own === undefined || fromMs - own.toMs > APART_MS) turns.push({ gang, fromMs, toMs: fromMs, endMs });
    else {
      own.toMs = fromMs;
      own.endMs = Math.max(own.endMs, endMs);
    }
  }
  const between = turns.slice(1).map(({ fromMs }, i) => Math.max(0, turns[i].endMs - fromMs));
  const spanMs = untilMs - both[0].fromMs;
  return {
    // The first begins with its programs, and the last ends with its work.
    lengthsMs: turns.slice(1, -1).map(({ fromMs, toMs }) => toMs - fromMs),
    runOnMs: between,
    shares: gangs.map(
      (gang) => both.reduce((sum, one) => sum + (one.gang === gang ? one.ms : 0), 0) / spanMs,
    ),
  };
}

async function measureCase({ kernelMs, depth }: (typeof CASES)[number]): Promise<Turns> {
  const key = randomBytes(32).toString("hex");
  const trace = join(folder, `trace-${kernelMs}-${depth}`);
  device = await startDevice(key, trace);
  // More than half of the CPUs: the gangs are never in one row.
  const need = ["-n", String(availableParallelism()), "--use", "gpu:1"];
  const numbers = ["a", "b"].map((name) => {
    const task = [process.execPath, fileHere("gpu/job.ts"), join(folder, "device.sock"), name];
    const words = [JOB_BYTES, kernelMs, depth, TOTAL_MS / 2].map(String);
    return tutti("submit", ...need, "--", "sh", "-c", TWO_TASKS, "sh", ...task, ...words);
  });
  // Not at once as the others: an interrupt is noticed only between calls.
  for (const text of numbers) {
    const number = /\d+/.exec(text)![0];
    const wait = spawn(process.execPath, [bin, "wait", number], { env, stdio: "ignore" });
    const [code] = await once(wait, "exit");
    if (code !== 0) throw new Error(`A gang has failed: ${tutti("output", number)}`);
  }
  device.kill();
  await once(device, "exit");
  rmSync(join(folder, "device.sock"));
  return turnsOf(readTrace(key, trace));
}

async function serve(): Promise<ChildProcess> {
  writeFileSync(join(folder, "tutti.toml"), "[resources]\ngpu = { units = 1, shared = true }\n");
  const words = ["serve", "--private", "--no-http", "--slot", `${SLOT_MS}ms`];
  const daemon = spawn(process.execPath, [bin, ...words, "--config", join(folder, "tutti.toml")], {
    env,
    stdio: "ignore",
    // An interrupt must reach only this process, which then ends the scheduler with all that it has started.
    detached: true,
  });
  await reached(env);
  return daemon;
}

let device: ChildProcess | undefined;
function cleanUp(): void {
  spawnSync(process.execPath, [bin, "down", "--kill"], { env });
  device?.kill();
  rmSync(folder, { recursive: true, force: true });
}

whenInterrupted(cleanUp);
try {
  if (availableParallelism() < 2) throw new Error("Cannot run gangs of two tasks: this machine has one CPU");
  const daemon = await serve();
  const rows: string[][] = [];
  for (const one of CASES) {
    const { lengthsMs, runOnMs, shares } = await measureCase(one);
    const longestMs = Math.max(...runOnMs);
    rows.push([
      `${one.kernelMs} ms, ${one.depth} queued by each task`,
      String(lengthsMs.length),
      show(summarise([...lengthsMs])),
      show(summarise([...runOnMs])),
      shares.map((share) => formatPercent(share)).join(", "),
    ]);
    figure(`shared unit: run on, ${one.depth} kernels of ${one.kernelMs} ms queued`, longestMs, "ms");
  }
  printTable(
    ["kernels", "turns", "length, median (min … max)", "run on after a stop", "device's time"],
    rows,
  );
  tutti("down", "--kill");
  if (daemon.exitCode === null) await once(daemon, "exit");
  if (spawnSync("nvidia-smi", ["-L"]).status === 0)
    spawnSync("python3", [fileHere("gpu/cuda.py")], { stdio: "inherit" });
  else console.log("No NVIDIA GPU here: nothing was measured on a device itself.");
} finally {
  cleanUp();
}
