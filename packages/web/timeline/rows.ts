/**
 * Arranges the jobs of a timeline in rows: CPUs as placed, jobs, or queues. A bar is a job in neighbouring
 * rows.
 */
import { visibleLine } from "@tutti/words/visible.ts";
import { extentOf, jobTitle, type TimelineData, type TimelineJob } from "./data.ts";

export type RowKind = "cpus" | "jobs" | "queues";

/** Neighbouring rows with a title. */
interface Group {
  readonly title: string;
  readonly firstRow: number;
  readonly endRow: number;
  /** The index of the CPU in its first row; left out if its rows are not CPUs. */
  readonly firstCpu?: number;
}

export interface Arrangement {
  readonly kind: RowKind;
  readonly rows: number;
  readonly groups: readonly Group[];
  /** By bar, in the order of the beginnings. */
  readonly bars: Bars;
}

/** As columns: there may be hundreds of thousands. */
export interface Bars {
  readonly length: number;
  /** Index of the job in the data. */
  readonly job: Int32Array;
  readonly firstRow: Int32Array;
  /** The first row after the bar. */
  readonly endRow: Int32Array;
  readonly fromMs: Float64Array;
  readonly toMs: Float64Array;
}

interface Bar {
  readonly job: number;
  readonly firstRow: number;
  readonly endRow: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** A job that is drawn. */
interface Drawn {
  readonly index: number;
  readonly job: TimelineJob;
  readonly fromMs: number;
  readonly toMs: number;
}

export function arrange(data: TimelineData, kind: RowKind): Arrangement {
  const drawn: Drawn[] = [];
  data.jobs.forEach((job, index) => {
    const extent = extentOf(job, data.nowMs);
    if (extent !== undefined) drawn.push({ index, job, ...extent });
  });
  drawn.sort((a, b) => a.fromMs - b.fromMs || a.job.job - b.job.job);
  return { kind, ...ARRANGERS[kind](data, drawn) };
}

type Arranger = (data: TimelineData, drawn: readonly Drawn[]) => Omit<Arrangement, "kind">;

const ARRANGERS: Readonly<Record<RowKind, Arranger>> = { cpus: byCpu, jobs: byJob, queues: byQueue };

/**
 * Jobs that share their CPUs in time are in different copies of the machine, as they are in different rows of
 * the matrix. Jobs that wait have no CPUs yet; they are below.
 */
function byCpu({ cpus }: TimelineData, drawn: readonly Drawn[]): Omit<Arrangement, "kind"> {
  const placed = drawn.filter(({ job }) => job.cpus.length > 0);
  const copyOf = copiesOf(cpus, placed);
  const copies = placed.reduce((most, { index }) => Math.max(most, copyOf.get(index)! + 1), 1);
  const bars: Bar[] = placed.flatMap(({ index, job, fromMs, toMs }) =>
    job.cpus.map(({ first, end }) => {
      const top = copyOf.get(index)! * cpus;
      return { job: index, firstRow: top + first, endRow: top + end, fromMs, toMs };
    }),
  );
  const groups: Group[] = Array.from({ length: copies }, (_, i) => ({
    title: copies === 1 ? "CPUs" : `row ${i + 1}`,
    firstRow: i * cpus,
    endRow: (i + 1) * cpus,
    firstCpu: 0,
  }));
  const waiting = drawn.filter(({ job }) => job.cpus.length === 0);
  const top = copies * cpus;
  const lanes = laneBars(waiting, top);
  if (lanes.length > 0) groups.push({ title: "waiting", firstRow: top, endRow: endOf(lanes, top) });
  return { rows: endOf(lanes, top), groups, bars: columns([...bars, ...lanes]) };
}

/**
 * The copy of the machine for each job: its row of the matrix if it has one, otherwise the first in which its
 * CPUs are free. From the last end to the first, because the jobs that have rows run now.
 */
function copiesOf(cpus: number, placed: readonly Drawn[]): ReadonlyMap<number, number> {
  const copyOf = new Map<number, number>();
  /** By copy and CPU: the earliest start so far. */
  const takenFrom: Float64Array[] = [];
  const isFree = (copy: number, { job, toMs }: Drawn): boolean =>
    job.cpus.every(({ first, end }) => {
      for (let cpu = first; cpu < end; cpu++) if (takenFrom[copy][cpu] < toMs) return false;
      return true;
    });
  const latestFirst = [...placed].sort(
    (a, b) =>
      Number(b.job.row !== undefined) - Number(a.job.row !== undefined) ||
      b.toMs - a.toMs ||
      b.fromMs - a.fromMs ||
      a.job.job - b.job.job,
  );
  for (const drawn of latestFirst) {
    const { job, index, fromMs } = drawn;
    for (let copy = job.row ?? 0; ; copy++) {
      while (takenFrom.length <= copy) takenFrom.push(new Float64Array(cpus).fill(Number.POSITIVE_INFINITY));
      if (!isFree(copy, drawn)) continue;
      for (const { first, end } of job.cpus)
        for (let cpu = first; cpu < end; cpu++) takenFrom[copy][cpu] = Math.min(takenFrom[copy][cpu], fromMs);
      copyOf.set(index, copy);
      break;
    }
  }
  return copyOf;
}

/** A row for each job, in the order of their beginnings; jobs without a forecast are last. */
function byJob({ jobs }: TimelineData, drawn: readonly Drawn[]): Omit<Arrangement, "kind"> {
  const bars = drawn.map(({ index, fromMs, toMs }, row) => ({
    job: index,
    firstRow: row,
    endRow: row + 1,
    fromMs,
    toMs,
  }));
  const isDrawn = new Set(drawn.map(({ index }) => index));
  const others = jobs.map((_, index) => index).filter((index) => !isDrawn.has(index));
  const groups = [...drawn.map(({ index }) => index), ...others].map((index, row) => ({
    title: jobTitle(jobs[index]),
    firstRow: row,
    endRow: row + 1,
  }));
  return { rows: groups.length, groups, bars: columns(bars) };
}

/** A group for each queue, with as few rows as its jobs need. */
function byQueue(_: TimelineData, drawn: readonly Drawn[]): Omit<Arrangement, "kind"> {
  const names = [...new Set(drawn.map(({ job }) => job.queue ?? ""))].sort();
  const groups: Group[] = [];
  const bars: Bar[] = [];
  let top = 0;
  for (const name of names) {
    const own = laneBars(
      drawn.filter(({ job }) => (job.queue ?? "") === name),
      top,
    );
    const end = endOf(own, top);
    groups.push({ title: name === "" ? "others" : visibleLine(name), firstRow: top, endRow: end });
    bars.push(...own);
    top = end;
  }
  return { rows: top, groups, bars: columns(bars) };
}

/** Each job in the first row in which nothing else is drawn at its time. */
function laneBars(drawn: readonly Drawn[], top: number): Bar[] {
  const freeFrom: number[] = [];
  return drawn.map(({ index, fromMs, toMs }) => {
    let lane = freeFrom.findIndex((free) => free <= fromMs);
    if (lane < 0) lane = freeFrom.push(0) - 1;
    freeFrom[lane] = toMs;
    return { job: index, firstRow: top + lane, endRow: top + lane + 1, fromMs, toMs };
  });
}

function endOf(bars: readonly Bar[], top: number): number {
  return bars.reduce((most, { endRow }) => Math.max(most, endRow), top);
}

function columns(bars: readonly Bar[]): Bars {
  const sorted = [...bars].sort((a, b) => a.fromMs - b.fromMs || a.firstRow - b.firstRow);
  return {
    length: sorted.length,
    job: Int32Array.from(sorted, ({ job }) => job),
    firstRow: Int32Array.from(sorted, ({ firstRow }) => firstRow),
    endRow: Int32Array.from(sorted, ({ endRow }) => endRow),
    fromMs: Float64Array.from(sorted, ({ fromMs }) => fromMs),
    toMs: Float64Array.from(sorted, ({ toMs }) => toMs),
  };
}
