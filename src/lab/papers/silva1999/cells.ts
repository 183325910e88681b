/**
 * What is simulated for Silva and Scherson 1999: the same programs under conventional and Concurrent Gang scheduling, and
 * settings that the paper fixes or leaves out, varied one at a time. The paper prints no parameter of its programs, no
 * slot length and no scale of time; OPEN has our choices, made so that idle times and completions have roughly the printed size.
 */
import type { TaskPrograms } from "../../../models/tasks/contract.ts";
import { grades, idle } from "../../../models/tasks/local-task-scheduler.ts";
import type { TasksResult } from "../../../models/tasks/run.ts";
import { simulateTasks } from "../../../models/tasks/simulate.ts";
import { type JobKind, makeTaskPrograms, type ProgramsOptions } from "../../../models/tasks/task-programs.ts";
import { gang } from "../../../policies/gangs/gang.ts";
import { SCHEDULERS, type SchedulerName, timesS, WORKLOADS, type WorkloadName } from "./published.ts";

const PROCESSORS = 32;
const COMPUTE = { meanMs: 9000, spread: 0.5 };
const IO = { meanMs: 20_000, spread: 0.5 };
const LATENCY = { meanMs: 1500, spread: 0.5 };

/** The parameters that the paper leaves open. */
export const OPEN = {
  slotMs: 30_000,
  interarrivalFactor: 0.6,
  serviceFactor: 8,
  times: {
    "I/O": { compute: { meanMs: 10_000, spread: 0.5 }, io: IO, latency: LATENCY },
    communication: { compute: { meanMs: 6000, spread: 0.3 }, io: IO, latency: LATENCY },
    synchronisation: { compute: { meanMs: 9000, spread: 0.7 }, io: IO, latency: LATENCY },
    mixed: { compute: COMPUTE, io: IO, latency: LATENCY },
  },
} as const satisfies Pick<ProgramsOptions, "interarrivalFactor" | "serviceFactor" | "times"> & {
  slotMs: number;
};

/** What a run may have otherwise than the paper. */
interface Settings {
  readonly slotMs: number;
  readonly switchMs: number;
  readonly alpha: number;
  readonly ownReturns: boolean;
}
const PAPER: Settings = { slotMs: OPEN.slotMs, switchMs: 0, alpha: 2, ownReturns: true };

/** One scheduler's row values, one entry per time of the workload's tables. */
export interface Series {
  readonly jobs: readonly number[];
  readonly idlePercent: readonly number[];
  /** Shares of processor time at the last row, in %: own task in I/O, waiting for a message, at a barrier; no own task. */
  readonly idleBy: readonly [io: number, message: number, barrier: number, empty: number];
  readonly meanRows: number;
}

/** A study varies one setting on one workload. */
export const STUDIES = {
  alpha: { workload: "mixed", title: "α", unit: "", values: [0, 0.5, 1, 2, 4, 16] },
  slot: { workload: "mixed", title: "Slot length", unit: "s", values: [5, 10, 30, 60, 120, 300] },
  switch: { workload: "mixed", title: "Switch cost", unit: "% of a slot", values: [0, 1, 3, 10, 20] },
  blocking: {
    workload: "I/O",
    title: "Share of a task's time in I/O",
    unit: "%",
    values: [0, 20, 40, 60, 80],
  },
  returns: {
    workload: "mixed",
    title: "Own task returns within its slot",
    unit: "0 no, 1 yes",
    values: [0, 1],
  },
} as const;
export type StudyName = keyof typeof STUDIES;

export type Cell =
  | { readonly kind: "tables"; readonly workload: WorkloadName; readonly seed: number }
  | { readonly kind: "study"; readonly study: StudyName; readonly seed: number };

/** Series by value (tables have one value) and scheduler. */
export type Numbers = readonly Readonly<Record<SchedulerName, Series>>[];

const REPLICATIONS = 10;
const STUDY_REPLICATIONS = 4;

/** Seeds of the replications; the studies use the first ones. */
export function cells(seed: number): Cell[] {
  const list: Cell[] = [];
  for (const study of Object.keys(STUDIES) as StudyName[]) {
    for (let r = 0; r < STUDY_REPLICATIONS; r++) list.push({ kind: "study", study, seed: seed + r });
  }
  for (const workload of WORKLOADS) {
    for (let r = 0; r < REPLICATIONS; r++) list.push({ kind: "tables", workload, seed: seed + r });
  }
  return list;
}

export function runCell(cell: Cell): Numbers {
  if (cell.kind === "tables") {
    const programs = makePrograms(cell.workload, cell.seed, OPEN.times);
    return [pair(programs, cell.workload, PAPER)];
  }
  const { workload, values } = STUDIES[cell.study];
  if (cell.study === "blocking") {
    return values.map((percent) =>
      pair(makePrograms(workload, cell.seed, blockingFor(percent)), workload, PAPER),
    );
  }
  const programs = makePrograms(workload, cell.seed, OPEN.times);
  return values.map((value) => pair(programs, workload, settingsFor(cell.study, value)));
}

function settingsFor(study: StudyName, value: number): Settings {
  switch (study) {
    case "alpha":
      return { ...PAPER, alpha: value };
    case "slot":
      return { ...PAPER, slotMs: 1000 * value };
    case "switch":
      return { ...PAPER, switchMs: Math.round((OPEN.slotMs * value) / 100) };
    case "returns":
      return { ...PAPER, ownReturns: value === 1 };
    case "blocking":
      return PAPER;
  }
}

/** The same round length as in the tables, with that share of it in I/O; at 0 % an I/O statement takes 1 ms. */
function blockingFor(percent: number): ProgramsOptions["times"] {
  const roundMs = OPEN.times["I/O"].compute.meanMs + OPEN.times["I/O"].io.meanMs;
  const ioMs = (roundMs * percent) / 100;
  const compute = { meanMs: roundMs - ioMs, spread: 0.5 };
  return { ...OPEN.times, "I/O": { compute, io: { meanMs: ioMs, spread: 0.5 }, latency: LATENCY } };
}

function makePrograms(workload: WorkloadName, seed: number, times: ProgramsOptions["times"]): TaskPrograms {
  const rows = timesS(workload);
  const kinds: readonly JobKind[] = workload === "mixed" ? WORKLOADS : [workload];
  return makeTaskPrograms(workload, {
    seed,
    untilMs: 1000 * rows[rows.length - 1],
    maxSize: PROCESSORS,
    interarrivalFactor: OPEN.interarrivalFactor,
    serviceFactor: OPEN.serviceFactor,
    kinds: kinds.map((kind) => ({ kind, weight: 1 })),
    times,
  });
}

function pair(
  programs: TaskPrograms,
  workload: WorkloadName,
  { slotMs, switchMs, alpha, ownReturns }: Settings,
): Record<SchedulerName, Series> {
  const [gangSeries, concurrent] = SCHEDULERS.map((scheduler) =>
    series(
      simulateTasks(programs, {
        processors: PROCESSORS,
        slotMs,
        switchMs,
        ownReturns,
        gang: { definition: gang, parameters: { fit: "first" } },
        local: {
          definition: scheduler === "gang" ? idle : grades,
          parameters: scheduler === "gang" ? {} : { alpha, slots: 5 },
        },
        recordAtMs: timesS(workload).map((timeS) => 1000 * timeS),
      }),
    ),
  );
  return { gang: gangSeries, concurrent };
}

function series({ totals, meanRows }: TasksResult): Series {
  const last = totals[totals.length - 1];
  const percent = (partMs: number, timeMs: number) => (100 * partMs) / (PROCESSORS * timeMs);
  return {
    jobs: totals.map((at) => at.jobsCompleted),
    idlePercent: totals.map((at) => percent(at.ioMs + at.messageMs + at.barrierMs + at.emptyMs, at.timeMs)),
    idleBy: [
      percent(last.ioMs, last.timeMs),
      percent(last.messageMs, last.timeMs),
      percent(last.barrierMs, last.timeMs),
      percent(last.emptyMs, last.timeMs),
    ],
    meanRows,
  };
}
