/**
 * Runs two gangs of real processes on two CPUs and measures what time slicing costs, what it gains if tasks
 * wait for each other, and how well mode concurrent uses the time of blocked tasks.
 *
 *   node bench/live.ts [--work-s 4] [--repetitions 3] [--slot-ms 100] [--only costs]
 *
 * Goals: slicing costs at most 2 % of makespan; shares are 50 ± 1 %; spinning gangs are at least 1.3 times
 * faster than under plain Linux. Not a goal: a gain for gangs that block. For these, plain Linux is just as
 * good, as the table shows.
 *
 * Nothing keeps other work off the machine, so it should be quiet. (Gangs of maximum weight would keep other
 * work off. But they would also stop kernel threads that hold what the conductor needs. Then the conductor
 * would skip slots now and then, and shares would be 44 to 55 %.) Cases that are compared with each other run
 * alternately.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { ConductorClient } from "@tutti/live/conductor/client.ts";
import { type Containment, openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import { takePriority } from "@tutti/live/conductor/priority.ts";
import { cpuMsOf } from "@tutti/live/conductor/usage.ts";
import type { LaunchSpec, SlotStatistics } from "@tutti/protocol/attempts.ts";
import type { ConductorMatrix, FromConductor } from "@tutti/protocol/conductor.ts";
import { cpuTicks, TICKS_PER_S } from "./hostile-watch.ts";
import { figure } from "./measure.ts";

type Kind = "compute" | "spin" | "block" | "io";

interface GangResult {
  readonly beginMs: number;
  readonly endMs: number;
  readonly units: readonly number[];
}

interface Run {
  readonly makespanMs: number;
  readonly results: readonly GangResult[];
  /** CPU time of each gang while both ran, in ms. */
  readonly cpuMs: readonly number[];
  readonly wallMs: number;
  readonly slots?: SlotStatistics;
}

const { values: options } = parseArgs({
  options: {
    "work-s": { type: "string", default: "4" },
    repetitions: { type: "string", default: "3" },
    "slot-ms": { type: "string", default: "100" },
    /** costs: what taking turns costs, and nothing of what it gains. */
    only: { type: "string" },
  },
});
const workS = Number(options["work-s"]);
const repetitions = Number(options.repetitions);
const slotMs = Number(options["slot-ms"]);
/** A measurement that is later than this after the end of a round does not count. */
const MAX_LATE_MS = 2;
const GANGS = 100;
const CONDUCTOR_MS = 10_000;
const gangFile = fileURLToPath(new URL("./live-gang.js", import.meta.url));

const root = mkdtempSync(join(tmpdir(), "tutti-bench-"));
const home = join(root, "home");
mkdirSync(home, { mode: 0o700 });
const containment = openContainment(home) as Containment;
/** Control groups without a conductor, for the cases to compare with. */
const plainHome = join(root, "plain");
const plain = openContainment(plainHome) as Containment;
let jobs = 0;
let sequence = 0;
const children: ChildProcess[] = [];
const heard: FromConductor[] = [];

/** After an interrupt or a closed pipe, ends in the same way as usual, so that nothing is left running. */
const interrupted = new Promise<never>((_, reject) => {
  process.stdout.once("error", reject);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => reject(new Error(`Interrupted by ${name}`)));
  }
});
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

if (availableParallelism() < 2) {
  throw new Error("Cannot measure gangs of two on one CPU, expected two or more");
}
const client = new ConductorClient({ home, name: "bench" });
try {
  client.on("message", (message) => heard.push(message));
  await until(() => client.connected);
  // Otherwise this process would measure their shares up to 90 ms late.
  if (takePriority() === "none")
    console.log("This process cannot run at a higher priority than the gangs, so shares are less exact");
  await Promise.race([measure(), interrupted]);
} finally {
  for (const child of children) child.kill("SIGKILL");
  client.send({ type: "shutdown", killJobs: true });
  await until(() => !client.connected).catch(() => {});
  client.close();
  containment.groups.close();
  plain.groups.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
// An interrupted measurement may still wait for something; that must not keep the process alive.
process.exit();

async function measure(): Promise<void> {
  const state = heard.find((message) => message.type === "state");
  console.log(
    `Two gangs of two on CPUs 0 and 1, slots of ${slotMs} ms, stopped by ${state?.freezer}; ${repetitions} repetitions, median (least to most)`,
  );
  console.log(
    `Load of the machine before: ${loadavg()[0]?.toFixed(1)} processes on ${availableParallelism()} CPUs\n`,
  );
  const perUnitMs = (await runPlain("compute", "2000", 1)).makespanMs / 2000;
  const units = String(Math.round((workS * 1000) / perUnitMs));
  const kinds = options.only === "costs" ? (["compute"] as const) : (["compute", "spin", "block"] as const);
  for (const kind of kinds) await compareMakespan(kind, units);
  if (options.only !== "costs") await compareModes();
  await measureConductor(state?.pid ?? 0);
  console.log(`\nLoad of the machine after: ${loadavg()[0]?.toFixed(1)}`);
}

async function compareMakespan(kind: Kind, units: string): Promise<void> {
  const names = {
    compute: "Computing, no communication",
    spin: "Spinning at a barrier every 0.15 ms",
    block: "Sleeping at a barrier every 0.15 ms",
    io: "",
  };
  const alone: number[] = [];
  const linux: number[] = [];
  const tutti: number[] = [];
  const share: number[] = [];
  let slots: SlotStatistics | undefined;
  for (let i = 0; i < repetitions; i++) {
    const one = await runPlain(kind, units, 1);
    alone.push(one.makespanMs + (await runPlain(kind, units, 1)).makespanMs);
    const sliced = await runTutti([kind, kind], units, "gang");
    tutti.push(sliced.makespanMs);
    slots = sliced.slots ?? slots;
    const [first = 0, second = 0] = sliced.cpuMs;
    if (first + second > 0) share.push(first / (first + second));
    linux.push((await runPlain(kind, units, 2)).makespanMs);
  }
  const base = median(alone);
  if (kind === "compute") {
    const goal = slotMs < 100 ? 3 : 1;
    figure(`turns of ${slotMs} ms, makespan`, 100 * (median(tutti) / base - 1), "%", goal);
  }
  console.log(names[kind]);
  console.log(`  one after the other  ${seconds(alone)}`);
  console.log(`  Tutti                ${seconds(tutti)}  ${percent(median(tutti) / base - 1)} makespan`);
  console.log(
    `  plain Linux          ${seconds(linux)}  ${percent(median(linux) / base - 1)} makespan; Tutti is ${(median(linux) / median(tutti)).toFixed(2)} times as fast`,
  );
  if (kind === "compute") {
    console.log(
      `  share of the first   ${spreadOf(
        share.map((value) => value * 100),
        2,
      )} %`,
    );
    if (slots !== undefined) {
      console.log(
        `  clock                late by ${slots.lateP50Ms.toFixed(2)} ms, p99 ${slots.lateP99Ms.toFixed(2)}; calls of a switch ${slots.switchP50Us.toFixed(0)} µs, p99 ${slots.switchP99Us.toFixed(0)}`,
      );
    }
  }
  console.log();
}

/**
 * Tables 9 and 10 of Silva and Scherson (1999) on real processes: idle processors and finished work in a
 * fixed time.
 */
async function compareModes(): Promise<void> {
  console.log(`A gang that is blocked most of the time and one that computes, ${2 * workS} s`);
  for (const mode of ["gang", "concurrent"] as const) {
    const idle: number[] = [];
    const blocked: number[] = [];
    const computing: number[] = [];
    for (let i = 0; i < repetitions; i++) {
      const run = await runTutti(["io", "compute"], `${2 * workS}s`, mode);
      const used = run.cpuMs.reduce((sum, value) => sum + value, 0);
      idle.push(100 * (1 - used / (2 * run.wallMs)));
      blocked.push(total(run.results[0]));
      computing.push(total(run.results[1]));
    }
    console.log(
      `  ${mode.padEnd(11)} idle ${spreadOf(idle, 1)} %; units done: blocked gang ${spreadOf(blocked, 0)}, computing gang ${spreadOf(computing, 0)}`,
    );
  }
}

/** CPU time that the conductor itself takes for many gangs that take turns, two in a row. */
async function measureConductor(pid: number): Promise<void> {
  const gangs = Array.from({ length: GANGS }, () => ++jobs);
  const rows = Array.from({ length: GANGS / 2 }, (_, row) =>
    [0, 1].map((cpu) => ({ job: gangs[2 * row + cpu], attempt: 1, cpus: [cpu] })),
  );
  client.send({ type: "matrix", matrix: { sequence: ++sequence, slotMs, mode: "gang", rows } });
  heard.length = 0;
  for (const job of gangs) {
    const folder = join(root, `gang-${job}`);
    mkdirSync(folder);
    client.send({ type: "launch", spec: specOf(job, folder, ["sleep", "600"]) });
  }
  await until(() => heard.filter(({ type }) => type === "launched").length === GANGS);
  const from = cpuTicks([pid]);
  const fromMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, CONDUCTOR_MS));
  const percentOfCpu = ((1000 / TICKS_PER_S) * 100 * (cpuTicks([pid]) - from)) / (performance.now() - fromMs);
  figure(`conductor with ${GANGS} gangs, turns of ${slotMs} ms: of a CPU`, percentOfCpu, "%", 0.3);
  console.log(
    `The conductor takes ${percentOfCpu.toFixed(2)} % of a CPU for the turns of ${GANGS} sleeping gangs`,
  );
}

/** Runs a number of gangs at once, without a conductor. */
async function runPlain(kind: Kind, amount: string, gangs: number): Promise<Run> {
  const stage = mkdtempSync(join(root, "run-"));
  const names = Array.from({ length: gangs }, (_, i) => `${++jobs}.${i}`);
  const started = names.map((name, i) => {
    const folder = join(stage, String(i));
    mkdirSync(folder);
    plain.groups.make(name);
    plain.groups.write("cpuset", name, "cpuset.cpus", "0,1");
    // The gang waits until it is in its group, so that all its threads are.
    const script = 'read -r go; exec taskset -c 0,1 "$@"';
    const child = spawn("sh", ["-c", script, "sh", process.execPath, gangFile, kind, amount, folder], {
      stdio: ["pipe", "inherit", "inherit"],
    });
    children.push(child);
    void plain.groups.join(name, child.pid ?? 0).then(() => child.stdin.end("go\n"));
    return { child, folder };
  });
  const ends = started.map(({ child }) => new Promise((resolve) => child.once("exit", resolve)));
  await until(() => started.every(({ folder }) => existsSync(join(folder, "ready"))));
  for (const { folder } of started) pinThreads(folder);
  writeFileSync(join(stage, "go"), "");
  await Promise.all(ends);
  const results = started.map(({ folder }) => JSON.parse(readFileSync(join(folder, "result"), "utf8")));
  for (const name of names) plain.groups.remove(name);
  return { makespanMs: makespan(results), results, cpuMs: [], wallMs: 0 };
}

/** Runs both gangs, each in its own row. */
async function runTutti(kinds: readonly Kind[], amount: string, mode: ConductorMatrix["mode"]): Promise<Run> {
  const stage = mkdtempSync(join(root, "run-"));
  const gangs = kinds.map((kind, i) => {
    const folder = join(stage, String(i));
    mkdirSync(folder);
    return { kind, folder, job: ++jobs };
  });
  heard.length = 0;
  const turn = (running: readonly number[]) => {
    const rows = running.map((job) => [{ job, attempt: 1, cpus: [0, 1] }]);
    client.send({ type: "matrix", matrix: { sequence: ++sequence, slotMs, mode, rows } });
  };
  turn(gangs.map(({ job }) => job));
  for (const { kind, folder, job } of gangs) {
    const command = [process.execPath, gangFile, kind, amount, folder];
    client.send({ type: "launch", spec: specOf(job, folder, command) });
  }
  await until(() => gangs.every(({ folder }) => existsSync(join(folder, "ready"))));
  for (const { folder } of gangs) pinThreads(folder);
  writeFileSync(join(stage, "go"), "");
  const names = gangs.map(({ job }) => `${job}.1`);
  // After that both have seen it and are computing.
  await new Promise((resolve) => setTimeout(resolve, 4 * slotMs));
  const before = names.map((name) => cpuMsOf(containment.groups, name) ?? Number.NaN);
  const beginMs = performance.now();
  let cpuMs = before.map(() => 0);
  let wallMs = 0;
  const ended = () => gangs.map(({ folder }) => existsSync(join(folder, "result")));
  // Only whole rounds count, only while both work, and only if this process could measure in time.
  for (let round = 1; !ended().includes(true); round++) {
    const roundEndMs = beginMs + round * 2 * slotMs;
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, roundEndMs - performance.now())));
    const lateMs = performance.now() - roundEndMs;
    const now = names.map((name) => cpuMsOf(containment.groups, name) ?? Number.NaN);
    if (ended().includes(true)) break;
    if (lateMs > MAX_LATE_MS) continue;
    cpuMs = now.map((value, i) => value - (before[i] ?? 0));
    wallMs = performance.now() - beginMs;
  }
  // Remove the row of a gang that has ended, as the front end does.
  const left = new Set(gangs.map(({ job }) => job));
  const notice = (message: FromConductor) => {
    if (message.type === "ended" && left.delete(message.end.job)) turn([...left]);
  };
  client.on("message", notice);
  heard.forEach(notice);
  await until(() => left.size === 0);
  client.off("message", notice);
  const slots = heard.findLast((message) => message.type === "slots")?.statistics;
  const results = gangs.map(({ folder }) => JSON.parse(readFileSync(join(folder, "result"), "utf8")));
  for (const { job } of gangs) client.send({ type: "forget", attempt: { job, attempt: 1 } });
  return { makespanMs: makespan(results), results, cpuMs, wallMs, ...(slots === undefined ? {} : { slots }) };
}

function specOf(job: number, folder: string, command: readonly string[]): LaunchSpec {
  return {
    job,
    attempt: 1,
    folder,
    command,
    cwd: folder,
    env: { PATH: process.env.PATH ?? "" },
    stdout: join(folder, "out"),
    stderr: join(folder, "err"),
    uid: process.getuid!(),
    gid: process.getgid!(),
    graceMs: 100,
  };
}

/**
 * Pins each computing thread to its own CPU, as mpirun binds ranks. These are the threads with the most CPU
 * time so far.
 */
function pinThreads(folder: string): void {
  const pid = readFileSync(join(folder, "ready"), "utf8");
  const threads = readdirSync(`/proc/${pid}/task`)
    .map((id) => ({
      id,
      ns: Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "latin1").split(" ")[0]),
    }))
    .sort((a, b) => b.ns - a.ns);
  threads.slice(0, 2).forEach(({ id }, cpu) => {
    execFileSync("taskset", ["-pc", String(cpu), id], { stdio: "ignore" });
  });
}

async function until(condition: () => boolean, maxMs = 120_000): Promise<void> {
  const end = performance.now() + maxMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error("A gang did not end");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function makespan(results: readonly GangResult[]): number {
  return Math.max(...results.map(({ endMs }) => endMs)) - Math.min(...results.map(({ beginMs }) => beginMs));
}

function total(result: GangResult | undefined): number {
  return result?.units.reduce((sum, value) => sum + value, 0) ?? 0;
}

function median(values: readonly number[]): number {
  const ascending = [...values].sort((a, b) => a - b);
  return ((ascending[(ascending.length - 1) >> 1] ?? 0) + (ascending[ascending.length >> 1] ?? 0)) / 2;
}

function spreadOf(values: readonly number[], digits: number): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;
}

function seconds(values: readonly number[]): string {
  return `${spreadOf(
    values.map((value) => value / 1000),
    3,
  )} s`;
}

function percent(value: number): string {
  return `${value < 0 ? "" : "+"}${(100 * value).toFixed(1)} %`;
}
