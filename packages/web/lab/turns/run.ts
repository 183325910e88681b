/** What the page and its worker say to each other about the numbers of the form. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { parseParameters } from "@tutti/kernel/core/parameters.ts";
import type { ParameterValues } from "@tutti/kernel/core/policy.ts";
import type { Interval } from "@tutti/kernel/metrics/statistics.ts";
import type { PhasesNumbers } from "@tutti/papers/wings/phases/metrics.ts";
import { MODEL_PARAMETERS } from "@tutti/papers/wings/phases/model.ts";
import type { RecordedTurnBox } from "@tutti/papers/wings/phases/recorder.ts";

/** Of all gangs together: what a page computes in a second or two. */
const MOST_TURNS = 20_000;

/** The policies that are compared, by what they are in a few words. The first one is what counts as 1. */
export function policiesFor(node: number): readonly (readonly [policy: string, words: string])[] {
  return [
    ["phases-exclusive", "exclusive use"],
    [`phases-lock:groups=${node}`, `a lock for each group of ${node}`],
    ["phases-pool:most=0", "one pool, in order"],
    ["phases-pool", "one pool, first fit"],
    ["phases-rows:extra=no", "rows in turn"],
    ["phases-rows", "rows, extra turns"],
    ["phases-rows:gang=brmms", "rows of buddies, extra turns"],
  ];
}

export interface TurnsRow {
  readonly policy: string;
  readonly words: string;
  /** Rounds per hour ÷ those of exclusive use, over seeds. */
  readonly ratio: Interval;
  /** Means over seeds. */
  readonly numbers: Pick<PhasesNumbers, "turnsPerHour" | "duty" | "p95WaitS" | "worstSlowdown" | "fairness">;
}

/** @throws InputError if parameters contradict each other, or are too many for a page */
export function turnsParameters(label: string): ParameterValues {
  const [, ...settings] = label.split(":");
  const values = parseParameters('"phases"', MODEL_PARAMETERS, settings);
  const turns = Number(values.gangs) * Number(values.rounds);
  if (turns > MOST_TURNS)
    throw new InputError(
      `Cannot run ${turns} turns in a page: expected at most ${MOST_TURNS}, gangs times rounds; \`tutti compare ${label}\` runs more`,
    );
  return values;
}

export interface TurnsFilm {
  readonly units: number;
  readonly unitsPerNode: number;
  readonly boxes: readonly RecordedTurnBox[];
  readonly endMs: number;
  /** Of the policy: its rules in words, and its source. */
  readonly rules: readonly string[];
  readonly source: string;
}

/** What the page asks its worker: all policies and a film of one of them, or only the film. */
export interface TurnsQuestion {
  readonly label: string;
  readonly film: string;
  readonly withRows: boolean;
}

export type TurnsAnswer =
  | { readonly row: TurnsRow }
  | { readonly film: TurnsFilm }
  | { readonly problem: string };
