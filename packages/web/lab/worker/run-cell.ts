/** Runs cells and explains jobs in the page's worker, with jobs that the page has given it. */
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { choosePolicy } from "@tutti/kernel/policies/parse-policy.ts";
import type { CellInputs, MachineCell } from "@tutti/lab/experiments/cell.ts";
import { openJobs, prepareJobs, requireGangSize } from "@tutti/lab/experiments/inputs.ts";
import type { Cell } from "@tutti/lab/experiments/kinds.ts";
import { numbersOf, runSummary } from "@tutti/lab/experiments/summary.ts";
import { explain } from "@tutti/lab/explain/explain.ts";
import { type Boxes, dealtBoxes } from "@tutti/lab/report/page/boxes.ts";
import { curvesOf } from "@tutti/lab/report/page/curves.ts";
import { explanationLines } from "@tutti/lab/report/text/explanation-text.ts";
import type { RunAnswer } from "../messages.ts";
import { generateModel } from "../model-limit.ts";
import { computeTwice, pack } from "./packed.ts";

/** Kept from a policy of the user, whose worker has no clock. */
const clock = performance;

/** The jobs of a trace, or of one seed of a model. */
export interface KnownJobs {
  /** As the source of a cell names them. */
  readonly name: string;
  readonly seed: number;
  readonly workload: Workload;
}

/** @throws InputError for input that cannot be used, RuleViolation if the policy breaks a rule */
export async function runCell(
  known: KnownJobs | undefined,
  cell: Cell<"summary">,
  progress: NonNullable<CellInputs["progress"]>,
  choose?: Choose,
): Promise<RunAnswer> {
  const { instance, choice } = await readyIn(known, cell, choose);
  const inputs: CellInputs = {
    ready: () => Promise.resolve({ instance, choice }),
    once: (_key, make) => make(),
    progress,
  };
  const fromMs = clock.now();
  const { schedule, ...result } = await runSummary(
    { ...cell, keep: [...(cell.keep ?? []), "schedule"] },
    inputs,
  );
  const ms = clock.now() - fromMs;
  if (schedule === undefined) throw new Error("Broken invariant: the schedule was asked for");
  return {
    result: computeTwice(() => ({ ...result, ...numbersOf(cell, instance, schedule) })),
    schedule: pack(schedule),
    curves: curvesOf(instance, schedule, result.summary),
    ms,
  };
}

/** @throws InputError when there is no such job */
export async function explainJob(
  known: KnownJobs | undefined,
  cell: MachineCell,
  job: number,
  choose?: Choose,
): Promise<readonly string[]> {
  const { instance, choice } = await readyIn(known, cell, choose);
  return explanationLines(explain(instance, choice, job, cell));
}

/** Boxes of a Gantt chart. */
export async function dealCell(
  known: KnownJobs | undefined,
  cell: MachineCell,
  schedule: Schedule,
): Promise<Boxes> {
  return dealtBoxes(await instanceIn(known, cell), schedule);
}

/** Finds a policy by its text. */
type Choose = (text: string) => PolicyChoice;

/** The cell's jobs, prepared for its machine, and its policy. */
export async function readyIn(
  known: KnownJobs | undefined,
  cell: MachineCell,
  choose: Choose = choosePolicy,
) {
  const instance = await instanceIn(known, cell);
  const choice = choose(cell.policy);
  requireGangSize(instance, choice);
  return { instance, choice };
}

async function instanceIn(known: KnownJobs | undefined, cell: MachineCell) {
  const { workload: jobs } = await openJobs(cell.source, {
    open: (name, seed) =>
      known?.name === name && known.seed === seed ? known.workload : generateModel(name, seed),
  });
  return prepareJobs(jobs, cell.processors, cell.rules);
}
