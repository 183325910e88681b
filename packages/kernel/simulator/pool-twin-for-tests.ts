/**
 * Simulates the pool and three policies naively, as a twin for tests. It advances second by second, sums
 * processors and resources again each time, and keeps only which job has been running since when. It shares
 * no code with the machine, its structures or the policies.
 */
import type { Instance } from "../core/jobs.ts";

export interface TwinJob {
  readonly row: number;
  /** Processors, then what it needs of each resource. */
  readonly needs: readonly number[];
  readonly submitS: number;
  leftS: number;
  leftEstimateS: number;
  startS: number;
  sinceS: number;
  endS: number;
  state: "out" | "waiting" | "running" | "ended";
}

export interface Twin {
  readonly instance: Instance;
  readonly jobs: readonly TwinJob[];
  readonly nowS: number;
  fits(job: TwinJob): boolean;
  start(job: TwinJob): void;
}

/** One second's decision. */
export type Decide = (waiting: readonly TwinJob[], twin: Twin) => void;

/** Later than the last end in any test. */
const HORIZON_S = 2500;

/** The capacity at a second: processors that are available, then resources. */
function capacityAt({ processors, resources = [], interruptions }: Instance, nowS: number): number[] {
  const outages = interruptions?.outages ?? [];
  const away = outages.filter(({ fromS, untilS }) => fromS <= nowS && nowS < untilS);
  return [
    away.reduce((left, outage) => left - outage.processors, processors),
    ...resources.map(({ amount }) => amount),
  ];
}

function freeOf(capacity: readonly number[], jobs: readonly TwinJob[]): number[] {
  const running = jobs.filter(({ state }) => state === "running");
  return capacity.map((amount, k) => running.reduce((left, { needs }) => left - needs[k], amount));
}

export function runTwin(instance: Instance, decide: Decide): { startS: number[]; endS: number[] } {
  const { demand = [] } = instance;
  const jobs = Array.from(
    { length: instance.count },
    (_, row): TwinJob => ({
      row,
      needs: [instance.size[row], ...demand.map((column) => column[row])],
      submitS: instance.submitS[row],
      leftS: instance.runS[row],
      leftEstimateS: instance.estimateS[row],
      startS: Number.NaN,
      sinceS: Number.NaN,
      endS: Number.NaN,
      state: "out",
    }),
  );
  for (let nowS = 0; jobs.some(({ state }) => state !== "ended"); nowS++) {
    const capacity = capacityAt(instance, nowS);
    // Jobs of length 0 end in the second in which they start, and that second is decided again.
    for (let isFirst = true, ended = true; ended; isFirst = false) {
      ended = false;
      for (const job of jobs) {
        if (job.state !== "running" || job.sinceS + job.leftS > nowS) continue;
        job.state = "ended";
        job.endS = nowS;
        ended = true;
      }
      if (!isFirst && !ended) break;
      stopLatest(capacity, jobs, nowS);
      for (const job of jobs) if (job.state === "out" && job.submitS === nowS) job.state = "waiting";
      const fits = (job: TwinJob) => freeOf(capacity, jobs).every((left, k) => job.needs[k] <= left);
      const start = (job: TwinJob) => {
        job.state = "running";
        job.sinceS = nowS;
        if (Number.isNaN(job.startS)) job.startS = nowS;
        if (job.leftS === 0) ended = true;
      };
      const waiting = jobs.filter(({ state }) => state === "waiting");
      decide(waiting, { instance, jobs, nowS, fits, start });
    }
  }
  return { startS: jobs.map((job) => job.startS), endS: jobs.map((job) => job.endS) };
}

function stopLatest(capacity: readonly number[], jobs: readonly TwinJob[], nowS: number): void {
  const running = jobs.filter(({ state }) => state === "running");
  running.sort((a, b) => b.startS - a.startS || b.row - a.row);
  for (const job of running) {
    if (freeOf(capacity, jobs)[0] >= 0) return;
    job.state = "waiting";
    job.leftS -= nowS - job.sinceS;
    job.leftEstimateS -= nowS - job.sinceS;
  }
}

export const twinFcfs: Decide = (waiting, { fits, start }) => {
  for (const job of waiting) {
    if (!fits(job)) return;
    start(job);
  }
};

export const twinFirstFit: Decide = (waiting, { fits, start }) => {
  for (const job of waiting) if (fits(job)) start(job);
};

/** Jobs that can run for their estimates start in order; the first of the others holds a reservation. */
export const twinEasy: Decide = (waiting, twin) => {
  if (waiting.length === 0) return;
  const plan = planOf(twin);
  let hasHead = false;
  for (const job of waiting) {
    const startS = earliest(plan, job, twin.nowS);
    const canStart = startS === twin.nowS && twin.fits(job);
    if (!canStart && hasHead) continue;
    if (canStart) twin.start(job);
    else hasHead = true;
    const heldS = canStart ? job.leftEstimateS : Math.max(1, job.leftEstimateS);
    for (let second = startS; second < startS + heldS && second < plan.length; second++)
      plan[second] = plan[second].map((left, k) => left - job.needs[k]);
  }
};

/** What will be free in each future second, according to estimates and known outages. */
function planOf({ instance, jobs, nowS }: Twin): number[][] {
  const { processors, resources = [], interruptions } = instance;
  const everything = [processors, ...resources.map(({ amount }) => amount)];
  const plan = Array.from({ length: HORIZON_S }, () => [...everything]);
  for (const outage of interruptions?.outages ?? []) {
    const { announcedS, fromS, untilS } = outage;
    if ((announcedS ?? fromS) > nowS || untilS <= nowS) continue;
    const endS = announcedS === undefined ? plan.length : untilS;
    for (let second = Math.max(fromS, nowS); second < endS; second++) plan[second][0] -= outage.processors;
  }
  for (const { state, needs, sinceS, leftEstimateS } of jobs) {
    if (state !== "running") continue;
    for (let second = nowS; second < sinceS + leftEstimateS; second++)
      plan[second] = plan[second].map((left, k) => left - needs[k]);
  }
  return plan;
}

function earliest(plan: readonly number[][], { needs, leftEstimateS }: TwinJob, nowS: number): number {
  const isFree = (second: number) => plan[second].every((left, k) => left >= needs[k]);
  for (let startS = nowS; startS < HORIZON_S; startS++) {
    let second = startS;
    while (second < startS + Math.max(1, leftEstimateS) && isFree(second)) second++;
    if (second === startS + Math.max(1, leftEstimateS)) return startS;
    startS = second;
  }
  return Number.POSITIVE_INFINITY;
}
