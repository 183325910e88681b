/** Runs the policies of a wing (wings/wing.ts) on the wing's own jobs, once for each policy and seed. */
import { existsSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { whyUnreadable } from "@tutti/host/unreadable.ts";
import { type Provenance, provenance } from "@tutti/host/version.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { NONE, rulesInForce } from "@tutti/kernel/core/policy.ts";
import { confidenceInterval, type Interval, pairedDifference } from "@tutti/kernel/metrics/statistics.ts";
import { chooseAmong } from "@tutti/kernel/policies/parse-policy.ts";
import type { WorkerOptions } from "@tutti/lab/experiments/workers.ts";
import { runCells } from "./run-cells.ts";
import type { Measure, WingFiles, WingRun } from "./wings/wing.ts";
import { parseWing, type WingChoice } from "./wings/wings.ts";

const GZIP_MAGIC = 0x1f8b;

interface WingExperiment {
  readonly source: string;
  readonly policies: readonly string[];
  /** First seed; replication r has seed + r. */
  readonly seed: number;
  readonly replications: number;
  readonly isAudited: boolean;
}

/** The values of a measure over all seeds. */
interface MeasureStatistics extends Omit<Measure, "value"> {
  /** One per seed. */
  readonly values: readonly number[];
  /**
   * 95 % intervals of the mean, and of the difference from the first policy, seed by seed; undefined for one
   * seed.
   */
  readonly mean: Interval | undefined;
  readonly difference: Interval | undefined;
}

export interface WingPolicyResult {
  readonly label: string;
  readonly title: string;
  readonly rules: readonly string[];
  readonly runs: readonly WingRun[];
  readonly measures: readonly MeasureStatistics[];
}

export interface WingComparison {
  readonly made: Provenance;
  readonly label: string;
  readonly rules: readonly string[];
  /** One per run of every policy. */
  readonly seeds: readonly number[];
  readonly policies: readonly WingPolicyResult[];
}

/** Like `parseWing`, but also undefined if the text names a file. */
export function chooseWing(text: string): WingChoice | undefined {
  return existsSync(text) ? undefined : parseWing(text);
}

/**
 * What the parameters of the kind `file` name, plain or gzip.
 * @throws InputError for a file that cannot be read
 */
export function filesOf({ wing, parameters }: WingChoice): WingFiles {
  const paths = wing.parameters
    .filter(({ name, kind }) => kind === "file" && parameters[name] !== NONE)
    .map(({ name }) => String(parameters[name]));
  return Object.fromEntries(paths.map((path) => [path, textOf(path)]));
}

/** @throws InputError for a file that cannot be read */
export function textOf(path: string): string {
  try {
    const bytes = readFileSync(path === "-" ? 0 : path);
    const isPacked = bytes.length >= 2 && bytes.readUInt16BE() === GZIP_MAGIC;
    return (isPacked ? gunzipSync(bytes) : bytes).toString("utf8");
  } catch (error) {
    throw new InputError(`Cannot read ${path}: ${whyUnreadable(error)}`);
  }
}

/** @throws InputError for input that cannot be used, RuleViolation if a policy breaks a rule */
export async function runOnWing(
  chosen: WingChoice,
  { source, policies, seed, replications, isAudited }: WingExperiment,
  options: WorkerOptions,
): Promise<WingComparison> {
  const { wing, label } = chosen;
  const files = filesOf(chosen);
  const seeds = Array.from({ length: replications }, (_, r) => seed + r);
  const cells = policies.flatMap((policy) =>
    seeds.map((cellSeed) => ({ kind: "wing" as const, source, policy, seed: cellSeed, isAudited, files })),
  );
  const runs = await runCells(cells, options);
  const firstRuns = runs.slice(0, replications);
  return {
    made: provenance(),
    label,
    rules: wing.rules,
    seeds,
    policies: policies.map((policy, p) => {
      const choice = chooseAmong(wing.policies, policy);
      const own = runs.slice(p * replications, (p + 1) * replications);
      return {
        label: choice.label,
        title: choice.definition.title,
        rules: rulesInForce(choice.definition.rules, choice.parameters).own,
        runs: own,
        measures: statistics(own, p === 0 ? undefined : firstRuns),
      };
    }),
  };
}

function statistics(runs: readonly WingRun[], first: readonly WingRun[] | undefined): MeasureStatistics[] {
  return runs[0].measures.map(({ value: _, ...measure }, i) => {
    const valuesOf = (wingRuns: readonly WingRun[]) => wingRuns.map(({ measures }) => measures[i].value);
    const values = valuesOf(runs);
    const isReplicated = runs.length > 1;
    return {
      ...measure,
      values,
      mean: isReplicated ? confidenceInterval(values) : undefined,
      difference: isReplicated && first !== undefined ? pairedDifference(values, valuesOf(first)) : undefined,
    };
  });
}
