/**
 * Lets gangs of busy tasks take turns on a cluster, with Tutti or with Slurm's own gang scheduling, and
 * judges the turns by the tasks' own records.
 */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestCluster } from "./cluster.ts";
import {
  commonTime,
  coveredMs,
  type NodeTurns,
  quantile,
  readRecords,
  sharesOf,
  skewsOf,
  type TaskRecord,
  turnsByNode,
  wholeRounds,
  workPerCpuS,
} from "./judge/records.ts";
import type { SlurmScheduler } from "./scheduler.ts";

const GANGS = ["a", "b", "c"];
const START_MS = 60_000;

export interface TurningPlan {
  readonly cluster: TestCluster;
  /** The program `busy`. */
  readonly busy: string;
  /** Tasks of each gang: all CPUs of the cluster. */
  readonly tasks: number;
  readonly slotMs: number;
  /** How long each gang runs, in s. */
  readonly lastsS: number;
}

export interface Turning {
  /** Parts of the CPU time of whole rounds. */
  readonly shares: ReadonlyMap<string, number>;
  readonly nodes: readonly NodeTurns[];
  /** Time from the first to the last node that continued a gang, in ms; median and 99 %. */
  readonly skewP50Ms: number;
  readonly skewP99Ms: number;
  /** How often a gang was continued on all its nodes, and on some only. */
  readonly whole: number;
  readonly partial: number;
  /** Whether the tasks could note promptly when they were continued. */
  readonly isPrompt: boolean;
  /** Time in which none of the gangs ran on any node, as a part of the common time. */
  readonly idle: number;
  readonly workPerCpuS: number;
  /** Common time of all gangs, in s. */
  readonly lastsS: number;
}

/** Judges the records of gangs. */
export function judge(records: readonly TaskRecord[], slotMs: number): Turning {
  const common = commonTime(records);
  // A node that continues its part later than that has missed the gang's slot.
  const { skewsMs, partial } = skewsOf(records, slotMs);
  const lastsMs = common.toMs - common.fromMs;
  return {
    shares: sharesOf(records, wholeRounds(records, common, slotMs / 2)),
    nodes: turnsByNode(records, slotMs / 2),
    skewP50Ms: quantile(skewsMs, 0.5),
    skewP99Ms: quantile(skewsMs, 0.99),
    whole: skewsMs.length,
    partial,
    isPrompt: records.every((record) => record.isPrompt),
    idle: 1 - coveredMs(records, common) / lastsMs,
    workPerCpuS: workPerCpuS(records),
    lastsS: lastsMs / 1000,
  };
}

/** Three gangs in rows of their own. */
export async function turnWithTutti(
  plan: TurningPlan,
  scheduler: SlurmScheduler,
  gangs: readonly string[] = GANGS,
): Promise<readonly TaskRecord[]> {
  const folders = gangs.map((gang) => scheduler.makeFolder(`${gang}-${Date.now()}`));
  const jobs: number[] = [];
  for (const [i, gang] of gangs.entries()) {
    const words = ["-n", plan.tasks, "--tasks-run", "each", "--name", gang, "--hold", "--"];
    jobs.push(await scheduler.submit(...words, plan.busy, folders[i], plan.lastsS));
  }
  await scheduler.tutti("release", jobs.join());
  for (const job of jobs) await scheduler.done(job);
  return recordsIn(plan, gangs, folders);
}

/**
 * The same with Slurm: each gang is a batch job, submitted when the tasks of the one before run. An srun of
 * the login node would not do: while its job is suspended, it tries to start its step ever more rarely.
 */
export async function turnWithSlurm(plan: TurningPlan): Promise<readonly TaskRecord[]> {
  const { cluster, busy, tasks, lastsS } = plan;
  const folders = GANGS.map((gang) => join(cluster.home, `${gang}-${Date.now()}`));
  for (const [i, folder] of folders.entries()) {
    mkdirSync(folder);
    const options = ["-N", cluster.nodes.length, "-n", tasks, "-o", "/dev/null"];
    await cluster.slurm("sbatch", ...options, "--wrap", `srun ${busy} ${folder} ${lastsS}`);
    await within(START_MS, `the tasks of gang ${GANGS[i]} run`, () => readdirSync(folder).length === tasks);
  }
  // Each runs at least a third of the time.
  const endMs = 3 * lastsS * 1000 + START_MS;
  const haveEnded = () =>
    folders.every((folder) => !readdirSync(folder).some((name) => name.endsWith(".new")));
  await within(endMs, "all tasks have ended", haveEnded);
  return recordsIn(plan, GANGS, folders);
}

async function within(ms: number, what: string, holds: () => boolean): Promise<void> {
  const untilMs = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > untilMs) throw new Error(`Waited ${ms} ms in vain until ${what}`);
    await sleep(20);
  }
}

function recordsIn(
  { cluster, tasks }: TurningPlan,
  gangs: readonly string[],
  folders: readonly string[],
): readonly TaskRecord[] {
  return gangs.flatMap((gang, i) => {
    const records = readRecords(gang, folders[i], (node) => cluster.clockAheadMs(node));
    if (records.length !== tasks)
      throw new Error(`Gang ${gang} has ${records.length} records of ${tasks} tasks`);
    return records;
  });
}
