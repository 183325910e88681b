/**
 * Runs the policies of phases on the numbers of the form: the script of a worker, which the page loads when
 * somebody asks for it.
 */
import { messageOf } from "@tutti/kernel/core/errors.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import { confidenceInterval } from "@tutti/kernel/metrics/statistics.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import { type PhasesNumbers, summarisePhases } from "@tutti/papers/wings/phases/metrics.ts";
import { modelInstance } from "@tutti/papers/wings/phases/model.ts";
import { PHASES_POLICIES } from "@tutti/papers/wings/phases/policies/registry.ts";
import { PhasesRecorder } from "@tutti/papers/wings/phases/recorder.ts";
import { simulatePhases } from "@tutti/papers/wings/phases/simulate.ts";
import {
  policiesFor,
  type TurnsAnswer,
  type TurnsFilm,
  type TurnsQuestion,
  type TurnsRow,
  turnsParameters,
} from "./run.ts";

const SEEDS = 5;

addEventListener("message", ({ data }: MessageEvent<TurnsQuestion>) => {
  try {
    const parameters = turnsParameters(data.label);
    if (data.withRows) for (const row of runTurns(parameters)) answer({ row });
    answer({ film: filmOf(parameters, data.film) });
  } catch (error) {
    answer({ problem: messageOf(error) });
  }
});

function answer(one: TurnsAnswer): void {
  postMessage(one);
}

/** Each policy once it is done. */
function* runTurns(parameters: ParameterValues): Generator<TurnsRow> {
  const instances = Array.from({ length: SEEDS }, (_, i) => modelInstance(parameters, i + 1));
  let exclusive: number[] = [];
  for (const [policy, words] of policiesFor(Number(parameters.node))) {
    const { definition, parameters: own } = chooseAmong(PHASES_POLICIES, policy);
    const runs = instances.map((one) => summarisePhases(one, simulatePhases(one, definition, own)));
    const perHour = runs.map(({ turnsPerHour }) => turnsPerHour);
    if (exclusive.length === 0) exclusive = perHour;
    const mean = (of: (numbers: PhasesNumbers) => number) =>
      runs.reduce((sum, one) => sum + of(one), 0) / runs.length;
    yield {
      ...{ policy, words, ratio: confidenceInterval(perHour.map((rate, i) => rate / exclusive[i])) },
      numbers: {
        turnsPerHour: mean((one) => one.turnsPerHour),
        duty: mean((one) => one.duty),
        p95WaitS: mean((one) => one.p95WaitS),
        worstSlowdown: mean((one) => one.worstSlowdown),
        fairness: mean((one) => one.fairness),
      },
    };
  }
}

/** One run of the policy, with who had which units when. */
function filmOf(parameters: ParameterValues, policy: string): TurnsFilm {
  const instance = modelInstance(parameters, 1);
  const { definition, parameters: own } = chooseAmong(PHASES_POLICIES, policy);
  const recorder = new PhasesRecorder(instance);
  const { stopMs } = simulatePhases(instance, definition, own, recorder);
  const [{ units, unitsPerNode }] = instance.pools;
  return {
    ...{ units, unitsPerNode },
    boxes: recorder.boxes,
    endMs: stopMs,
    rules: definition.rules.map((rule) => (typeof rule === "string" ? rule : rule.text)),
    source: definition.source,
  };
}
