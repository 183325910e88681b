/**
 * Measures the speed of the simulation itself, on traces and on a generated workload: CPU time and jobs per
 * second for each policy, the whole `simulate()` of the library, and the whole process. It also prints a hash
 * of all start times, so a change that is faster but wrong is noticed. Rivals in the same run: EASY as a bare
 * loop in C++ (plain-easy.cpp), if there is a compiler.
 *
 *   npm run bench:engine                 all traces that are there, 1,000,000 generated jobs, and phases
 *   npm run bench:engine -- --quick      small, as in the tests
 *   npm run bench:engine -- --source SDSC-SP2 --policy easy --policy wlv --runs 3
 */
import "@tutti/lab/experiments/compiler-flag.ts";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { DEFAULT_RULES } from "@tutti/kernel/core/rules.ts";
import { chooseAmong, choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns } from "@tutti/kernel/workload/hash.ts";
import { prepare } from "@tutti/kernel/workload/prepare.ts";
import { traceFile } from "@tutti/kernel/workload/traces-for-tests.ts";
import { openSource } from "@tutti/lab/experiments/source.ts";
import { simulate as wholeSimulate } from "@tutti/lab/library.ts";
import { parseWing } from "@tutti/papers/wings/wings.ts";
import { figure, printTable, show, summarise, type Timing, time, whenInterrupted } from "./measure.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    source: { type: "string", multiple: true },
    policy: { type: "string", multiple: true },
    runs: { type: "string" },
  },
});
const { quick } = values;
const runs = Number(values.runs ?? (quick ? 1 : 5));
const generated = quick ? "downey:jobs=2000" : "downey:jobs=1000000:processors=1000:load=0.9";
const sources = values.source ?? [...(quick ? [] : ["KTH-SP2", "SDSC-SP2", "HPC2N"]), generated];
const policies = values.policy ?? ["fcfs", "first-fit", "easy", "easy:order=shortest", "conservative"];
const PHASES = [
  ...["phases-exclusive", "phases-lock:groups=64", "phases-pool", "phases-pool:most=0:split=yes"],
  ...["phases-grades", "phases-rows:extra=no", "phases-rows", "phases-rows:gang=brmms"],
];
/** How many times EASY's CPU time a policy may take. */
const GOALS: Readonly<Record<string, number>> = { conservative: 2, wlv: 2, brmms: 4 };
const GOAL_OF_CALL = 4;
const GOAL_OF_PROCESS_MS = 500;

// What runs at that moment goes on until its end, and removes its own files.
whenInterrupted(() => {});
const rows: string[][] = [];
for (const source of sources) {
  const file = source.includes(":") ? source : traceFile(source);
  if (file === undefined) {
    console.log(`skipped: trace ${source}; set TUTTI_TRACES to the folder of the traces`);
    continue;
  }
  const workload = await openSource(file, 1);
  const instance = prepare(workload, workload.processors ?? 128, DEFAULT_RULES);
  const add = (name: string, timing: Timing, hash = "") =>
    rows.push([
      source.slice(0, 40),
      name,
      String(instance.count),
      show(timing),
      paceOf(instance, timing),
      hash,
    ]);
  const taken = new Map<string, number>();
  for (const name of policies) {
    let hash = "";
    const timing = await time(runs, () => {
      const schedule = simulate(instance, choosePolicy(name), { slotS: 60, switchS: 0 });
      hash = hashColumns(schedule.startS);
    });
    taken.set(name, timing.medianMs);
    add(name, timing, hash);
  }
  const easyMs = taken.get("easy");
  if (easyMs === undefined) continue;
  figure(`${source}: easy, CPU`, easyMs, "ms");
  for (const [name, ms] of taken)
    if (name !== "easy") figure(`${source}: ${name}, of easy's CPU`, ms / easyMs, "times", GOALS[name]);
  const call = await time(runs, () => wholeSimulate(workload, "easy"));
  add("easy, simulate() as a whole", call);
  const rival = runInCpp(instance);
  await setImmediate();
  if (rival !== undefined) {
    add("easy, a bare loop in C++", rival.timing, hashColumns(rival.startS));
    figure(
      `${source}: simulate(), of a bare loop in C++`,
      call.medianMs / rival.timing.minMs,
      "times",
      GOAL_OF_CALL,
    );
  }
  if (source === file) continue;
  const whole = timeProcess(file);
  add("tutti simulate, wall", whole);
  figure(
    `${source}: tutti simulate, wall`,
    whole.medianMs,
    "ms",
    instance.count > 200_000 ? GOAL_OF_PROCESS_MS : undefined,
  );
}
printTable(["workload", "policy", "jobs", "CPU, median (min … max)", "jobs/s", "hash of starts"], rows);
if (values.source === undefined) await measurePhases();

/** Turns by consent: twice as many gangs should take twice the time under every policy. */
async function measurePhases(): Promise<void> {
  const table: string[][] = [];
  const counts = quick ? [10, 20] : [250, 500, 1000];
  for (const policy of PHASES) {
    const timings: Timing[] = [];
    let hash = "";
    for (const gangs of counts) {
      const source = `phases:units=1024:sizes=2,4,8,16,64:rounds=100:interarrival=60:gangs=${gangs}`;
      const { wing, parameters } = parseWing(source)!;
      const choice = chooseAmong(wing.policies, policy);
      const once = () => {
        hash = wing.simulate(parameters, choice, 1, false).scheduleHash;
      };
      timings.push(await time(runs, once));
    }
    const [before, last] = timings.slice(-2);
    const growth = last.medianMs / before.medianMs;
    table.push([policy, ...timings.map(({ medianMs }) => seconds(medianMs)), `${growth.toFixed(2)} ×`, hash]);
    figure(`${counts.at(-1)} gangs with 100 turns: ${policy}, CPU`, last.medianMs, "ms");
  }
  console.log();
  printTable(["gangs with 100 turns", ...counts.map(String), "the last two", "hash of turns"], table);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function paceOf({ count }: Instance, { medianMs }: Timing): string {
  return Math.round((count / medianMs) * 1000).toLocaleString("en");
}

/** Undefined if there is no compiler. */
function runInCpp(
  instance: Instance,
): { readonly timing: Timing; readonly startS: Float64Array } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
  try {
    const program = join(folder, "plain-easy");
    const source = fileURLToPath(new URL("./plain-easy.cpp", import.meta.url));
    if (spawnSync("c++", ["-std=c++17", "-O2", "-o", program, source], { stdio: "inherit" }).status !== 0)
      return undefined;
    const { count, processors, submitS, runS, estimateS, size } = instance;
    const columns = [[count, processors], submitS, runS, estimateS, size];
    const input = Buffer.concat(columns.map((column) => Buffer.from(Float64Array.from(column).buffer)));
    const { stdout } = spawnSync(program, { input, maxBuffer: 8 * (count + 2) });
    const [ms, ...startS] = new Float64Array(new Uint8Array(stdout).buffer);
    return { timing: summarise([ms]), startS: Float64Array.from(startS) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function timeProcess(file: string): Timing {
  const program = fileURLToPath(new URL("../bin/tutti.js", import.meta.url));
  const once = () => {
    const fromMs = performance.now();
    const { status, signal, stderr } = spawnSync(process.execPath, [
      program,
      "simulate",
      file,
      "--policy",
      "easy",
    ]);
    if (signal !== null) process.exit(130);
    if (status !== 0) throw new Error(`tutti simulate ended with ${status}: ${stderr}`);
    return performance.now() - fromMs;
  };
  once();
  return summarise(Array.from({ length: runs }, once));
}
