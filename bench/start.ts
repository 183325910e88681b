/**
 * Measures what a start of a command costs: CPU time and wall time of the verbs that ask a scheduler and of
 * Slurm's names, next to an empty program of Node. The scheduler is a real one with a few held jobs. In a
 * checkout that is not built, the sources are started, which takes several times as long.
 *
 *   npm run bench:start                      20 starts of each
 *   npm run bench:start -- --starts 2        small, as a check
 *   npm run bench:start -- --package DIR     of an installed package, such as an unpacked `npm pack`
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { figure, printTable, summarise, whenInterrupted } from "./measure.ts";
import { ownPlace, reached } from "./own-scheduler.ts";

const { values } = parseArgs({
  options: { starts: { type: "string", default: "20" }, package: { type: "string" } },
});
const starts = Number(values.starts);
/** Of each of Tutti's commands, wall and CPU. */
const GOAL_MS = 80;
const GOAL_MB = 60;
const root = resolve(values.package ?? fileURLToPath(new URL("..", import.meta.url)));
const program = join(root, "bin/tutti.js");
const { folder, env } = ownPlace();
const names = join(folder, "names");
const times = join(folder, "times");
const tutti = (...words: readonly string[]) => [process.execPath, program, ...words];
const slurm = (name: string, ...words: readonly string[]) => [join(names, name), ...words];
const run = ([file = "", ...words]: readonly string[]) => spawnSync(file, words, { env, encoding: "utf8" });

/** One start: CPU time of the process in ms, as bash measures it, and wall time. */
function start(command: readonly string[]): { readonly cpuMs: number; readonly wallMs: number } {
  const script = `TIMEFORMAT='%3R %3U %3S'; { time "$@" >/dev/null 2>&1 </dev/null; } 2>"${times}"`;
  run(["bash", "-c", script, "bash", ...command]);
  const [realS, userS, systemS] = readFileSync(times, "utf8").trim().split(" ").map(Number);
  return { cpuMs: (userS + systemS) * 1000, wallMs: realS * 1000 };
}

/** Peak of the process' memory in MB. */
function memoryOf([, ...words]: readonly string[]): number {
  const script = 'process.on("exit", () => console.error("KB", process.resourceUsage().maxRSS))';
  const hook = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return Number(/^KB (\d+)$/m.exec(run([process.execPath, hook, ...words]).stderr)?.[1]) / 1000;
}

async function startScheduler(): Promise<void> {
  spawn(process.execPath, [program, "serve", "--private", "--no-http"], {
    env,
    stdio: "ignore",
    // An interrupt must reach only this process, which then ends the scheduler with all that it has started.
    detached: true,
  });
  await reached(env);
}

whenInterrupted(cleanUp);
try {
  await startScheduler();
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "");
  for (let i = 0; i < 3; i++) run(tutti("submit", "--hold", "--", "true"));
  run(tutti("submit", "--", "true"));
  run(tutti("wait", "4"));
  run(tutti("slurm-names", names));
  const commands: Readonly<Record<string, readonly string[]>> = {
    "node alone": [process.execPath, empty],
    "tutti status": tutti("status"),
    "tutti submit": tutti("submit", "--hold", "-n", "2", "--", "true"),
    "tutti jobs": tutti("jobs", "1-3"),
    "tutti show": tutti("show", "1"),
    "tutti why": tutti("why", "1"),
    "tutti wait": tutti("wait", "4"),
    "tutti cancel": tutti("cancel", "999999"),
    "tutti jobs --ended": tutti("jobs", "--ended"),
    sbatch: slurm("sbatch", "--hold", "--wrap", "true"),
    squeue: slurm("squeue"),
    scancel: slurm("scancel", "999999"),
    sinfo: slurm("sinfo"),
    sacct: slurm("sacct"),
    scontrol: slurm("scontrol", "show", "job", "1"),
  };
  const load = () => loadavg()[0].toFixed(1);
  console.log(`${starts} starts each; ${availableParallelism()} CPUs, load ${load()} at the beginning`);
  const rows: string[][] = [];
  for (const [name, command] of Object.entries(commands)) {
    const taken: ReturnType<typeof start>[] = [];
    for (let i = 0; i < starts; i++) {
      taken.push(start(command));
      // An interrupt is noticed here only, because nothing else is awaited.
      await sleep(0);
    }
    const cpu = summarise(taken.map(({ cpuMs }) => cpuMs));
    const wall = summarise(taken.map(({ wallMs }) => wallMs));
    const goal = name === "node alone" ? undefined : GOAL_MS;
    figure(`${name}: CPU`, cpu.medianMs, "ms", goal);
    figure(`${name}: wall`, wall.medianMs, "ms", goal);
    rows.push([name, ...[cpu.medianMs, cpu.minMs, wall.medianMs].map((ms) => `${ms.toFixed(0)} ms`)]);
  }
  printTable(["start", "CPU, median", "least", "wall, median"], rows);
  const memoryMB = memoryOf(tutti("status"));
  figure("tutti status: memory", memoryMB, "MB", GOAL_MB);
  console.log(`memory of tutti status: ${memoryMB.toFixed(0)} MB; load ${load()} at the end`);
} finally {
  cleanUp();
}

function cleanUp(): void {
  run(tutti("down", "--kill"));
  rmSync(folder, { recursive: true, force: true });
}
