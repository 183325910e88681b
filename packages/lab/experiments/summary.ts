/** Computes the result of a cell of the kind `summary`: the numbers of one simulation. */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { GangRecord, Schedule } from "@tutti/kernel/core/schedule.ts";
import { classesByRunTime } from "@tutti/kernel/metrics/classes.ts";
import { type Summary, type SummaryOptions, summarise } from "@tutti/kernel/metrics/summary.ts";
import { rulesOf } from "@tutti/kernel/simulator/rules.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { hashColumns, hashWorkload } from "@tutti/kernel/workload/hash.ts";
import type { MatrixRecord } from "../results/matrix-record.ts";
import type { CellInputs, MachineCell } from "./cell.ts";
import { MatrixRecorder } from "./matrix-recorder.ts";

export interface SummaryCell extends MachineCell, Omit<SummaryOptions, "classes"> {
  /**
   * Bounds of job classes by run time, inclusive and ascending; one more class is above the last. Default:
   * the usual classes.
   */
  readonly classBoundsS?: readonly number[];
  /** What the result has besides numbers; the matrix is for gang policies only. */
  readonly keep?: readonly ("schedule" | "matrix")[];
}

interface SummaryResult {
  readonly label: string;
  readonly title: string;
  /** The policy's own rules in words. */
  readonly rules: readonly string[];
  readonly summary: Summary;
  /** The jobs that were run. */
  readonly workload: { readonly name: string; readonly hash: string };
  readonly scheduleHash: string;
  /** Of gang policies only. */
  readonly repacking: Pick<GangRecord, "unifications" | "moves"> | undefined;
  readonly schedule: Schedule | undefined;
  readonly matrix: MatrixRecord | undefined;
}

export async function runSummary(cell: SummaryCell, inputs: CellInputs): Promise<SummaryResult> {
  const { instance, choice } = await inputs.ready(cell);
  const { keep = [], slotS, switchS } = cell;
  const isDrawn = keep.includes("matrix") && choice.definition.sharing === "time";
  const recorder = isDrawn ? new MatrixRecorder(instance) : undefined;
  const { progress } = inputs;
  const schedule = simulate(instance, choice, {
    slotS,
    switchS,
    observer: recorder,
    progress: progress && ((arrived) => progress(arrived, instance.count)),
  });
  const { gang } = schedule;
  const { own, inherited } = rulesOf(choice);
  return {
    label: choice.label,
    title: choice.definition.title,
    rules: [...own, ...inherited],
    ...numbersOf(cell, instance, schedule),
    workload: { name: instance.workload.name, hash: hashWorkload(instance.workload) },
    repacking: gang && { unifications: gang.unifications, moves: gang.moves },
    schedule: keep.includes("schedule") ? schedule : undefined,
    matrix: recorder?.record(),
  };
}

/** What a schedule alone decides. */
export function numbersOf(
  cell: SummaryCell,
  instance: Instance,
  schedule: Schedule,
): Pick<SummaryResult, "summary" | "scheduleHash"> {
  const { classBoundsS } = cell;
  const classes = classBoundsS === undefined ? undefined : { classes: classesByRunTime(classBoundsS) };
  return {
    summary: summarise(instance, schedule, { ...cell, ...classes }),
    scheduleHash: hashColumns(schedule.startS, schedule.endS),
  };
}
