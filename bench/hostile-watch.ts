/**
 * Takes measurements during the attack of bench/hostile.ts: memory of the front end, CPU time of gangs, CPUs
 * of the attacker's processes.
 */
import { readFileSync } from "node:fs";
import { allPids } from "@tutti/host/processes.ts";
import type { Scheduler } from "../attack/scheduler.ts";

/** Samples the front end's memory and the CPUs on which the attacker's job runs. */
export class Watch {
  #mostBytes = 0;
  #looks = 0;
  #outside = 0;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param own pids of the attacker's job
   * @param cpus the job's CPUs
   */
  constructor(scheduler: Scheduler, own: readonly number[], cpus: readonly number[]) {
    this.#timer = setInterval(() => {
      const kB = /VmRSS:\s*(\d+)/.exec(read(`/proc/${scheduler.frontEndPid}/status`))?.[1];
      this.#mostBytes = Math.max(this.#mostBytes, Number(kB ?? 0) * 1024);
      for (const pid of own) {
        const processor = fieldsOf(pid)[36];
        if (processor === undefined) continue;
        this.#looks++;
        if (!cpus.includes(Number(processor))) this.#outside++;
      }
    }, 50);
  }

  stop() {
    clearInterval(this.#timer);
    return { mostBytes: this.#mostBytes, looks: this.#looks, outside: this.#outside };
  }
}

export function pidsOfJob(job: number, uid: number): number[] {
  return allPids().filter((pid) => {
    const isTheirs = read(`/proc/${pid}/status`).includes(`\nUid:\t${uid}\t`);
    return isTheirs && read(`/proc/${pid}/environ`).split("\0").includes(`TUTTI_JOB_ID=${job}`);
  });
}

export const TICKS_PER_S = 100;

/** Sum of utime and stime of processes. */
export function cpuTicks(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + Number(fieldsOf(pid)[11] ?? 0) + Number(fieldsOf(pid)[12] ?? 0), 0);
}

/** Fields of /proc/PID/stat from the third on. */
function fieldsOf(pid: number): string[] {
  return read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
