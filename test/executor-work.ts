/**
 * The program that jobs of the executor's conformance suite run: it computes for some CPU time, and records
 * by itself when it began and when it ran. So the suite judges from the tasks' own records and not from
 * those of the scheduler.
 *
 *   node executor-work.ts WORK FOLDER BEGUN-US     WORK is JSON; the records of job 7 are lines of FOLDER/7
 *
 * A shell looks at the clock before Node starts: on a busy machine, that takes longer than a slot.
 */
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** What a job does. Simulated executors read the same description. */
export interface Work {
  /** CPU time that each of its processes needs, in ms. */
  readonly computeMs: number;
  /** Default: 0. */
  readonly exitCode?: number;
  /** Ends itself by this signal instead. */
  readonly signal?: "SIGKILL" | "SIGSEGV" | "SIGTERM";
  /** Writes this line to standard output, and in capital letters to standard error. */
  readonly say?: string;
  /** Does not end at SIGTERM. */
  readonly ignoresTerm?: boolean;
  /**
   * Starts this many chains of processes that only start the next one and end, half of them in sessions of
   * their own, and as many processes that sleep.
   */
  readonly bombs?: number;
}

/** One line of a job's records. */
export type WorkRecord =
  | { readonly kind: "begun"; readonly attempt: number; readonly node: string; readonly atMs: number }
  /** The process had a CPU, without an interruption of more than GAP_MS. */
  | {
      readonly kind: "ran";
      readonly attempt: number;
      readonly node: string;
      readonly fromMs: number;
      readonly toMs: number;
    };

/** Shorter interruptions come from other processes of the machine. */
const GAP_MS = 3;
const LOOK_MS = 0.2;

/** The command of a job. */
export function workCommand(work: Work, folder: string): string[] {
  const node = [process.execPath, fileURLToPath(import.meta.url), JSON.stringify(work), folder];
  return ["sh", "-c", 'exec "$0" "$@" "$(date +%s%6N)"', ...node];
}

/** The work in a command; for simulated executors. */
export function workOf(command: readonly string[]): Work {
  return JSON.parse(command.at(-2)!);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , work, folder, begunUs] = process.argv;
  run(JSON.parse(work), folder, Number(begunUs) / 1000);
}

function run(work: Work, folder: string, begunMs: number): void {
  const attempt = Number(process.env.TUTTI_ATTEMPT);
  const node = hostname();
  const write = (record: WorkRecord) =>
    appendFileSync(join(folder, String(process.env.TUTTI_JOB_ID)), `${JSON.stringify(record)}\n`);
  if (work.ignoresTerm) process.on("SIGTERM", () => {});
  write({ kind: "begun", attempt, node, atMs: begunMs });
  if (work.say !== undefined) {
    console.log(work.say);
    console.error(work.say.toUpperCase());
  }
  for (let i = 0; i < (work.bombs ?? 0); i++) {
    spawn("/bin/sh", ["-c", "hop() { hop & }; sleep 1000 & hop"], { stdio: "ignore", detached: i % 2 === 0 });
  }
  const cpuMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  const untilMs = cpuMs() + work.computeMs;
  let fromMs = unixMs();
  let lastMs = fromMs;
  while (cpuMs() < untilMs) {
    while (unixMs() < lastMs + LOOK_MS);
    const nowMs = unixMs();
    if (nowMs > lastMs + GAP_MS) {
      write({ kind: "ran", attempt, node, fromMs, toMs: lastMs });
      fromMs = nowMs;
    }
    lastMs = nowMs;
  }
  write({ kind: "ran", attempt, node, fromMs, toMs: lastMs });
  if (work.signal !== undefined) process.kill(process.pid, work.signal);
  process.exitCode = work.exitCode ?? 0;
}

/** Unix time in ms, finer than Date.now. */
function unixMs(): number {
  return performance.timeOrigin + performance.now();
}
