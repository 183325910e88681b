/**
 * Lists what is simulated for Silva and Scherson 1999: the same programs under conventional gang scheduling
 * and under Concurrent Gang. A study varies one setting that the paper fixes or leaves out. The paper prints
 * no parameters of its programs, no slot length and no time scale; OPEN has our choices, made so that idle
 * times and completions have roughly the printed size.
 */

import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import data from "../../../docs/papers/silva1999.cells.json" with { type: "json" };
import type { PlacedCell } from "../paper.ts";
import type { Results } from "../results.ts";
import type { JobKind, ProgramsOptions } from "../wings/tasks/task-programs.ts";
import { SCHEDULERS, type SchedulerName, timesS, WORKLOADS, type WorkloadName } from "./published.ts";
import type { Series } from "./run.ts";

const PROCESSORS = 32;

/** The parameters that the paper leaves open. */
export const OPEN = data.open;

const { times } = OPEN;
const seconds = (ms: number) => `${ms / 1000} s`;
/** What the notes (docs/papers/silva1999.texts.json) say of them. */
export const NOTE_VALUES = {
  interarrivalFactor: String(OPEN.interarrivalFactor),
  serviceFactor: String(OPEN.serviceFactor),
  slot: seconds(OPEN.slotMs),
  ioCompute: seconds(times["I/O"].compute.meanMs),
  io: seconds(times["I/O"].io.meanMs),
  communicationCompute: seconds(times.communication.compute.meanMs),
  latency: seconds(times.communication.latency.meanMs),
  synchronisationCompute: seconds(times.synchronisation.compute.meanMs),
  mixedCompute: seconds(times.mixed.compute.meanMs),
};

/** A study varies one setting on one workload. */
export const STUDIES = data.studies as Readonly<Record<keyof typeof data.studies, Study>>;
interface Study {
  readonly workload: WorkloadName;
  readonly title: string;
  readonly unit: string;
  readonly values: readonly number[];
}
export type StudyName = keyof typeof STUDIES;

/** A workload of the tables, or a value of a study, under a scheduler. */
export interface Place {
  readonly of: WorkloadName | StudyName;
  /** The value of the varied setting, in a study. */
  readonly value?: number | undefined;
  readonly scheduler: SchedulerName;
}
export type SilvaResults = Results<Place, Series>;

const REPLICATIONS = 10;
const STUDY_REPLICATIONS = 4;

/** Both schedulers run the same programs; the studies use the first seeds of the tables. */
export function cells(firstSeed: number): PlacedCell<Place, "tasks">[] {
  const pair = (of: Place["of"], value: number | undefined, cell: Cell<"tasks">) =>
    SCHEDULERS.map((scheduler) => ({
      place: { of, value, scheduler },
      cell: scheduler === "gang" ? { ...cell, alpha: undefined } : cell,
    }));
  const seeds = (count: number) => Array.from({ length: count }, (_, i) => firstSeed + i);
  return [
    ...(Object.keys(STUDIES) as StudyName[]).flatMap((study) =>
      seeds(STUDY_REPLICATIONS).flatMap((seed) =>
        STUDIES[study].values.flatMap((value) => pair(study, value, cellOf(study, value, seed))),
      ),
    ),
    ...WORKLOADS.flatMap((workload) =>
      seeds(REPLICATIONS).flatMap((seed) => pair(workload, undefined, paperCell(workload, seed))),
    ),
  ];
}

export function paperCell(workload: WorkloadName, seed: number): Cell<"tasks"> {
  const kinds: readonly JobKind[] = workload === "mixed" ? WORKLOADS : [workload];
  return {
    kind: "tasks",
    workload,
    processors: PROCESSORS,
    programs: {
      seed,
      untilMs: 1000 * timesS(workload).at(-1)!,
      maxSize: PROCESSORS,
      interarrivalFactor: OPEN.interarrivalFactor,
      serviceFactor: OPEN.serviceFactor,
      kinds: kinds.map((kind) => ({ kind, weight: 1 })),
      times: OPEN.times,
    },
    slotMs: OPEN.slotMs,
    switchMs: 0,
    ownReturns: true,
    alpha: 2,
    recordAtS: timesS(workload),
  };
}

/** The paper's cell with one setting changed. */
function cellOf(study: StudyName, value: number, seed: number): Cell<"tasks"> {
  const cell = paperCell(STUDIES[study].workload, seed);
  switch (study) {
    case "alpha":
      return { ...cell, alpha: value };
    case "slot":
      return { ...cell, slotMs: 1000 * value };
    case "switch":
      return { ...cell, switchMs: Math.round((OPEN.slotMs * value) / 100) };
    case "returns":
      return { ...cell, ownReturns: value === 1 };
    case "blocking":
      return { ...cell, programs: { ...cell.programs, times: blockingFor(value) } };
  }
}

/**
 * Rounds are as long as in the tables, and this percentage of each is I/O; at 0 % an I/O statement takes 1
 * ms.
 */
function blockingFor(percent: number): ProgramsOptions["times"] {
  const roundMs = OPEN.times["I/O"].compute.meanMs + OPEN.times["I/O"].io.meanMs;
  const ioMs = (roundMs * percent) / 100;
  const compute = { meanMs: roundMs - ioMs, spread: 0.5 };
  return {
    ...OPEN.times,
    "I/O": { compute, io: { meanMs: ioMs, spread: 0.5 }, latency: times.mixed.latency },
  };
}
