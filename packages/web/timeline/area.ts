/** Sums over an area of the timeline: what the jobs in it have used and are expected to use. */
import type { TimelineData, TimelineJob } from "./data.ts";
import type { Arrangement } from "./rows.ts";

/** A stretch of time × neighbouring rows. */
export interface Area {
  readonly fromMs: number;
  readonly toMs: number;
  readonly firstRow: number;
  readonly endRow: number;
}

/** What a job has in an area. */
interface AreaJob {
  /** Index in the data. */
  readonly index: number;
  readonly usedCpuMs: number;
  /** After now, by the median of the forecasts. */
  readonly expectedCpuMs: number;
}

interface AreaSums {
  /** Those that are drawn in the area, the one with the most CPU time first. */
  readonly jobs: readonly AreaJob[];
  readonly usedCpuMs: number;
  readonly expectedCpuMs: number;
  /** CPUs × time of the area; of the whole machine if some of its rows are not CPUs. */
  readonly capacityCpuMs: number;
}

export function sumsOf(data: TimelineData, { bars, kind, groups }: Arrangement, area: Area): AreaSums {
  /** CPUs of each job in the area, by index. */
  const cpusOf = new Map<number, number>();
  for (let bar = 0; bar < bars.length && bars.fromMs[bar] < area.toMs; bar++) {
    const rows = Math.min(bars.endRow[bar], area.endRow) - Math.max(bars.firstRow[bar], area.firstRow);
    if (rows <= 0 || bars.toMs[bar] <= area.fromMs) continue;
    const index = bars.job[bar];
    const job = data.jobs[index];
    const isPlaced = kind === "cpus" && job.cpus.length > 0;
    cpusOf.set(index, isPlaced ? (cpusOf.get(index) ?? 0) + rows : job.tasks);
  }
  const jobs: AreaJob[] = [...cpusOf].map(([index, cpus]) => {
    const [used, expected] = timesIn(data.jobs[index], area, data.nowMs);
    const perMs = cpus * (data.jobs[index].share ?? 1);
    return { index, usedCpuMs: used * perMs, expectedCpuMs: expected * perMs };
  });
  const total = ({ usedCpuMs, expectedCpuMs }: AreaJob) => usedCpuMs + expectedCpuMs;
  jobs.sort((a, b) => total(b) - total(a) || data.jobs[a.index].job - data.jobs[b.index].job);
  const cpus = cpusIn(groups, area) ?? data.cpus;
  return {
    jobs,
    usedCpuMs: jobs.reduce((sum, { usedCpuMs }) => sum + usedCpuMs, 0),
    expectedCpuMs: jobs.reduce((sum, { expectedCpuMs }) => sum + expectedCpuMs, 0),
    capacityCpuMs: cpus * (area.toMs - area.fromMs),
  };
}

/** Time in which the job has run, and in which it is expected to run, without the past. */
export function timesIn(
  { startMs, endMs, expectedStart, expectedEnd }: TimelineJob,
  { fromMs, toMs }: Pick<Area, "fromMs" | "toMs">,
  nowMs = Number.POSITIVE_INFINITY,
): readonly [number, number] {
  const used = startMs === undefined ? 0 : overlap(startMs, endMs ?? nowMs, fromMs, toMs);
  if (endMs !== undefined || expectedEnd === undefined) return [used, 0];
  const beginMs = Math.max(startMs ?? expectedStart?.p50Ms ?? Number.POSITIVE_INFINITY, nowMs);
  return [used, overlap(beginMs, expectedEnd.p50Ms, fromMs, toMs)];
}

function overlap(aFrom: number, aTo: number, bFrom: number, bTo: number): number {
  return Math.max(0, Math.min(aTo, bTo) - Math.max(aFrom, bFrom));
}

/**
 * Different CPUs in the rows: under time sharing, several rows may be the same CPU. Undefined if a row is no
 * CPU.
 */
function cpusIn(groups: Arrangement["groups"], { firstRow, endRow }: Area): number | undefined {
  const cpus = new Set<number>();
  for (const group of groups) {
    if (group.endRow <= firstRow || group.firstRow >= endRow) continue;
    if (group.firstCpu === undefined) return undefined;
    const end = Math.min(group.endRow, endRow);
    for (let row = Math.max(group.firstRow, firstRow); row < end; row++)
      cpus.add(group.firstCpu + row - group.firstRow);
  }
  return cpus.size;
}
