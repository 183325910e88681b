/**
 * The processes of running jobs, as the kernel of this machine lists them. Accounting at the end counts
 * exactly; this is a look at what lives now. Other users' processes are seen by root only.
 */
import { readText } from "@tutti/host/files.ts";
import { statSync } from "@tutti/host/ports/fs.ts";
import { allPids, hasEnded, readStat } from "@tutti/host/processes.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { uidOf } from "../text/users.ts";

export interface JobProcess {
  readonly job: number;
  readonly pid: number;
  /** Number of the step of srun, or batch. */
  readonly step: string;
  /** Its rank in a step; of a script, 0. */
  readonly rank: number;
  /** CPU time in ms, with that of ended children. */
  readonly cpuMs: number;
  /** The most memory that it ever had, what it has now, and its addresses. */
  readonly peakBytes: number;
  readonly residentBytes: number;
  readonly virtualBytes: number;
}

/** Ticks in a second, in /proc, on all machines. */
const TICKS_PER_S = 100;

/** The processes of these jobs, by their numbers. */
export function processesOf(jobs: readonly Job[]): readonly JobProcess[] {
  const byName = new Map(jobs.map((job) => [`${job.job} ${job.attempt}`, job]));
  return allPids().flatMap((pid) => {
    const env = environmentOf(pid);
    const job = byName.get(`${env.get("TUTTI_JOB_ID")} ${env.get("TUTTI_ATTEMPT")}`);
    // Another scheduler may have given the same number.
    if (job === undefined || ownerOf(pid) !== uidOf(job.user)) return [];
    const process = readProcess(pid);
    const step = env.get("SLURM_STEP_ID");
    const rank = step === undefined ? 0 : Number(env.get("SLURM_PROCID") ?? 0);
    return process === undefined ? [] : [{ job: job.job, pid, step: step ?? "batch", rank, ...process }];
  });
}

function environmentOf(pid: number): ReadonlyMap<string, string> {
  const entries = (readText(`/proc/${pid}/environ`, "latin1") ?? "").split("\0");
  return new Map(entries.map((entry) => entry.split(/=(.*)/s, 2) as [string, string]));
}

function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

function readProcess(pid: number): Omit<JobProcess, "job" | "pid" | "step" | "rank"> | undefined {
  const stat = readStat(pid);
  const line = readText(`/proc/${pid}/stat`, "latin1");
  const status = readText(`/proc/${pid}/status`, "latin1") ?? "";
  if (line === undefined || stat === undefined || hasEnded(stat)) return undefined;
  // User, system, and both of children that have ended (proc(5)).
  const ticks = line
    .slice(line.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .reduce((sum, text) => sum + Number(text), 0);
  const bytes = (name: string) =>
    1024 * Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return {
    cpuMs: (1000 * ticks) / TICKS_PER_S,
    peakBytes: bytes("VmHWM"),
    residentBytes: bytes("VmRSS"),
    virtualBytes: bytes("VmSize"),
  };
}
