/**
 * Finds what a scheduler has on this machine, its processes and control groups, without asking the scheduler.
 * A process belongs to the scheduler if its command line, environment or working folder names the scheduler's
 * folder, or if its command line names the scheduler's control groups.
 */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { mountsHere } from "@tutti/host/cgroups.ts";
import { allPids, hasEnded, readStat, signal } from "@tutti/host/processes.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";

export class Leftovers {
  readonly #folder: string;
  readonly #home: string;
  readonly #groupName: string;

  /**
   * @param folder folder of the whole scheduler
   * @param state its state folder
   */
  constructor(folder: string, state: string) {
    this.#folder = folder;
    this.#home = join(state, "conductor");
    this.#groupName = openContainment(this.#home, "signals")!.marks.slice(0, -1);
  }

  /** All processes: those of the scheduler and those of its jobs. */
  processes(): number[] {
    return allPids().filter((pid) => pid !== process.pid && isAlive(pid) && this.#isOurs(pid));
  }

  conductors(): number[] {
    return this.processes().filter((pid) => {
      const command = commandOf(pid);
      // A new child process has the parent's command line for some hundred µs, and may be a job's shim when
      // killed.
      const isConductor = (readStat(pid)?.threads ?? 0) > 1;
      return isConductor && command.includes(this.#home) && !command.includes("tutti-guardian");
    });
  }

  /** Processes of jobs and their shims. */
  ofJobs(): number[] {
    const jobs = join(this.#home, "..", "jobs");
    return this.processes().filter(
      (pid) =>
        read(`/proc/${pid}/environ`).includes("TUTTI_JOB_ID=") ||
        commandOf(pid).includes(jobs) ||
        folderOf(pid).startsWith(jobs),
    );
  }

  /**
   * Stopped processes and frozen groups, in words.
   * @param isPaused whether those of this job do not count
   */
  stopped(isPaused: (job: number) => boolean = () => false): string[] {
    const processes = this.processes().filter(
      (pid) => /[Tt]/.test(readStat(pid)?.state ?? "") && !isPaused(jobOf(pid)),
    );
    const groups = this.groups().filter(
      (group) =>
        (read(join(group, "cgroup.freeze")).startsWith("1") ||
          /^FR/.test(read(join(group, "freezer.state"))) ||
          /^frozen 1/m.test(read(join(group, "cgroup.events")))) &&
        !isPaused(Number.parseInt(basename(group), 10)),
    );
    return [...processes.map(describeProcess), ...groups.map((group) => `frozen group ${group}`)];
  }

  /** Control groups; those of jobs come first. */
  groups(): string[] {
    const tops = mountsHere().flatMap(({ parents }) => parents.map((one) => join(one, this.#groupName)));
    return tops.filter((top) => existsSync(top)).flatMap(groupsFrom);
  }

  /** Kills all processes and removes all groups. */
  async clear(): Promise<void> {
    for (let round = 0; round < 100; round++) {
      for (const group of this.groups()) {
        tryTo(() => writeFileSync(join(group, "cgroup.freeze"), "0", { flag: "r+" }));
        tryTo(() => writeFileSync(join(group, "freezer.state"), "THAWED", { flag: "r+" }));
      }
      const pids = this.processes();
      for (const pid of pids) signal(pid, "SIGKILL");
      for (const group of this.groups()) tryTo(() => rmdirSync(group));
      if (pids.length === 0 && this.groups().length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #isOurs(pid: number): boolean {
    const command = commandOf(pid);
    return (
      command.includes(this.#folder) ||
      command.includes(this.#groupName) ||
      folderOf(pid).startsWith(this.#folder) ||
      read(`/proc/${pid}/environ`).includes(this.#folder)
    );
  }
}

/** Pid and command line. */
export function describeProcess(pid: number): string {
  return `process ${pid} (${readStat(pid)?.state ?? "gone"}): ${commandOf(pid).slice(0, 200)}`;
}

function groupsFrom(group: string): string[] {
  const below = tryTo(() => readdirSync(group, { withFileTypes: true })) ?? [];
  const groups = below.filter((entry) => entry.isDirectory());
  return [...groups.flatMap(({ name }) => groupsFrom(join(group, name))), group];
}

function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && !hasEnded(stat);
}

export function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** Number of the job of a process. A shim names it in its command line, as the folder of its attempt. */
function jobOf(pid: number): number {
  const [, job] =
    /(?:^|\0)TUTTI_JOB_ID=(\d+)/.exec(read(`/proc/${pid}/environ`)) ??
    /\/jobs\/(\d+)\//.exec(commandOf(pid)) ??
    [];
  return Number(job);
}

function folderOf(pid: number): string {
  return tryTo(() => readlinkSync(`/proc/${pid}/cwd`)) ?? "";
}

function read(path: string): string {
  return tryTo(() => readFileSync(path, "latin1")) ?? "";
}

/** Processes and groups may vanish at any moment. */
function tryTo<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
