/**
 * Decides which jobs are counted. A simulation starts and ends with an empty machine, which flatters the
 * first and the last jobs. A share of these jobs, in submit order, can be left out of the numbers; they are
 * still simulated. By default nothing is left out, and the counts are part of every result.
 *
 *   submit order   |-- warm-up --|------------ counted ------------|-- cool-down --|
 *   row            0         firstJob                           endJob           count
 */
import { InputError } from "../core/errors.ts";
import type { Instance } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";

export interface WindowOptions {
  /** Share of the jobs, first in submit order, that do not count: from 0 to below 1. */
  readonly warmupShare: number;
  /** Share of the jobs, last in submit order, that do not count. The two shares sum to less than 1. */
  readonly cooldownShare: number;
}

/** Every job counts. */
export const WHOLE_RUN: WindowOptions = { warmupShare: 0, cooldownShare: 0 };

export interface MeasuredWindow extends WindowOptions {
  readonly warmupJobs: number;
  readonly countedJobs: number;
  readonly cooldownJobs: number;
  /** Rows firstJob … endJob − 1 are counted. */
  readonly firstJob: number;
  readonly endJob: number;
  /** Submit time of the first counted job. */
  readonly fromS: number;
  /** Submit time of the first job of the cool-down; without a cool-down, the last end of all jobs. */
  readonly toS: number;
}

/**
 * The window of a run.
 * @throws InputError if a share is out of range or no job would be counted
 */
export function measuredWindow(
  instance: Instance,
  schedule: Schedule,
  options: WindowOptions = WHOLE_RUN,
): MeasuredWindow {
  const { warmupShare, cooldownShare } = options;
  checkShare("warmup", warmupShare);
  checkShare("cooldown", cooldownShare);
  if (warmupShare + cooldownShare >= 1) {
    throw new InputError(
      `Cannot use warmup ${warmupShare} and cooldown ${cooldownShare}: together they exclude every job, expected a sum below 1`,
    );
  }
  const count = instance.count;
  const warmupJobs = Math.floor(warmupShare * count);
  const cooldownJobs = Math.floor(cooldownShare * count);
  const endJob = count - cooldownJobs;
  return {
    warmupShare,
    cooldownShare,
    warmupJobs,
    cooldownJobs,
    countedJobs: endJob - warmupJobs,
    firstJob: warmupJobs,
    endJob,
    fromS: count === 0 ? 0 : instance.submitS[warmupJobs],
    toS: cooldownJobs > 0 ? instance.submitS[endJob] : lastEndS(instance, schedule),
  };
}

/** The window in words, as printed with every result. */
export function describeWindow(window: MeasuredWindow): string {
  const { warmupShare, cooldownShare, warmupJobs, countedJobs, cooldownJobs } = window;
  return (
    `warmup=${warmupShare} cooldown=${cooldownShare}: ${countedJobs} jobs counted, the first ${warmupJobs} and ` +
    `the last ${cooldownJobs} in submit order are simulated but not counted`
  );
}

/** Last end of any job; the first submit time if no job ended, 0 if there are no jobs. */
export function lastEndS(instance: Instance, schedule: Schedule): number {
  let last = instance.count === 0 ? 0 : instance.submitS[0];
  const endS = schedule.endS;
  for (let job = 0; job < instance.count; job++) if (endS[job] > last) last = endS[job];
  return last;
}

function checkShare(name: string, share: number): void {
  if (!(share >= 0 && share < 1)) {
    throw new InputError(`Cannot use ${name} ${share}: expected a share of the jobs, 0 or more and below 1`);
  }
}
