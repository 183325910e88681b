/**
 * Measures what one client's long lists cost the scheduler and other clients. One client requests `history`,
 * `export` and `jobs` over very many jobs, and cancels thousands of jobs. Meanwhile another client sends GET
 * /v1/status every 20 ms.
 *
 *   npm run bench:listing              100,000 ended and 50,000 held jobs
 *   npm run bench:listing -- --quick   small, as a check
 *
 * Goals: the other client waits less than 200 ms; the front end stays below 400 MB meanwhile and below 250 MB
 * a minute later; 10,000 held jobs are cancelled in about a second. The fastest possible list is not a goal,
 * because lists come in pieces so that other clients are served in between.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Client } from "@tutti/live/api/client/client.ts";
import { fillStore } from "@tutti/live/daemon/store/fill-for-tests.ts";
import { printTable } from "./measure.ts";
import { ownPlace, reached } from "./own-scheduler.ts";

export interface ListingSizes {
  readonly ended: number;
  readonly held: number;
  /** Held jobs that are cancelled. */
  readonly cancelled: number;
  /** Rest of the front end before its memory is measured again. */
  readonly restS: number;
}

export interface Phase {
  readonly name: string;
  readonly tookMs: number;
  /** Time to the first output, including Node's start. */
  readonly firstMs: number;
  readonly lines: number;
  /** Maximum memory of the command, in MB. */
  readonly commandMB: number;
  /** Requests of the other client. */
  readonly longestWaitMs: number;
  readonly medianWaitMs: number;
  /** Maximum memory of the front end meanwhile, and its CPU time. */
  readonly frontEndMB: number;
  readonly frontEndCpuMs: number;
}

export interface ListingNumbers {
  readonly phases: readonly Phase[];
  /** Memory of the front end before, and after the rest. */
  readonly beforeMB: number;
  readonly afterRestMB: number;
}

const PROBE_MS = 20;
const TICKS_PER_S = 100;
const bin = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));

export async function measureListing({
  ended,
  held,
  cancelled,
  restS,
}: ListingSizes): Promise<ListingNumbers> {
  const { folder, env } = ownPlace();
  let frontEnd: ChildProcess | undefined;
  try {
    mkdirSync(env.TUTTI_STATE, { mode: 0o700 });
    const { uid, username } = userInfo();
    fillStore(join(env.TUTTI_STATE, "tutti.db"), { ended, held, uid, user: username });
    frontEnd = spawn(process.execPath, [bin, "serve", "--private", "--no-http"], { env, stdio: "ignore" });
    const client = await reached(env);
    const pid = frontEnd.pid ?? 0;
    const beforeMB = memoryMB(pid, "VmRSS");
    const phases: Phase[] = [];
    const measure = async (...words: string[]) => {
      phases.push(await measured(client, pid, words, env));
    };
    await measure("status");
    await measure("jobs", "--ended", "--last", String(ended));
    await measure("jobs", "--ended", "--json", "--last", String(ended));
    await measure("export");
    await measure("export", "--format", "csv");
    await measure("jobs", "--json");
    await measure("jobs", "name:sim-7*");
    await measure("wait", `1-${ended}`);
    await measure("cancel", `${ended + 1}-${ended + cancelled}`);
    await sleep(restS * 1000);
    return { phases, beforeMB, afterRestMB: memoryMB(pid, "VmRSS") };
  } finally {
    const down = spawn(process.execPath, [bin, "down", "--kill"], { env, stdio: "ignore" });
    await new Promise((resolve) => down.once("exit", resolve));
    frontEnd?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Runs a verb while another client keeps asking for the status. */
async function measured(
  client: Client,
  pid: number,
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Phase> {
  const waits: number[] = [];
  let frontEndMB = 0;
  let commandMB = 0;
  let firstMs = Number.NaN;
  let lines = 0;
  const cpuMs = cpuTimeMs(pid);
  const fromMs = performance.now();
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ["ignore", "pipe", "ignore"] });
  let isOver = false;
  child.stdout.on("data", (piece: Buffer) => {
    if (Number.isNaN(firstMs)) firstMs = performance.now() - fromMs;
    for (const byte of piece) if (byte === 10) lines++;
  });
  const ended = new Promise<number>((resolve) => {
    child.on("close", () => {
      isOver = true;
      resolve(performance.now() - fromMs);
    });
  });
  while (!isOver) {
    const askedMs = performance.now();
    await client.ask("/v1/status");
    waits.push(performance.now() - askedMs);
    frontEndMB = Math.max(frontEndMB, memoryMB(pid, "VmRSS"));
    commandMB = Math.max(commandMB, memoryMB(child.pid ?? 0, "VmHWM"));
    await sleep(PROBE_MS);
  }
  const tookMs = await ended;
  waits.sort((a, b) => a - b);
  return {
    name: words.join(" "),
    ...{ tookMs, firstMs, lines, commandMB, frontEndMB },
    longestWaitMs: waits.at(-1) ?? 0,
    medianWaitMs: waits[waits.length >> 1] ?? 0,
    frontEndCpuMs: cpuTimeMs(pid) - cpuMs,
  };
}

/** 0 if the process has ended. */
function memoryMB(pid: number, name: "VmRSS" | "VmHWM"): number {
  try {
    const kB = new RegExp(`${name}:\\s*(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kB ?? 0) / 1000;
  } catch {
    return 0;
  }
}

/** CPU time of a process so far. */
function cpuTimeMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_S;
}

if (import.meta.main) {
  const quick = process.argv.includes("--quick");
  const { phases, beforeMB, afterRestMB } = await measureListing(
    quick
      ? { ended: 1500, held: 300, cancelled: 200, restS: 0 }
      : { ended: 100_000, held: 50_000, cancelled: 10_000, restS: 60 },
  );
  const ms = (value: number) => (Number.isNaN(value) ? "–" : value.toFixed(0));
  printTable(
    [
      "verb",
      "ms",
      "first ms",
      "lines",
      "command MB",
      "others' longest ms",
      "median ms",
      "front end MB",
      "its CPU ms",
    ],
    phases.map((phase) => [
      phase.name,
      ms(phase.tookMs),
      ms(phase.firstMs),
      String(phase.lines),
      ms(phase.commandMB),
      ms(phase.longestWaitMs),
      phase.medianWaitMs.toFixed(1),
      ms(phase.frontEndMB),
      ms(phase.frontEndCpuMs),
    ]),
  );
  console.log(`memory of the front end: ${ms(beforeMB)} MB before, ${ms(afterRestMB)} MB after the rest`);
}
