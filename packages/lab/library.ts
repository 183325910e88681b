/**
 * Offers the laboratory as a library: `import { compare, readTrace, simulate } from "tutti"`
 * (docs/library.md). The code behind it is loaded with the first call, because a user's policy may also
 * import "tutti" and does not need that code.
 */
import { availableParallelism } from "node:os";
import type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
import type { PolicyDefinition } from "@tutti/kernel/core/policy.ts";
import { DEFAULT_RULES, type Rules } from "@tutti/kernel/core/rules.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { DEFAULT_METRIC_PARAMETERS } from "@tutti/kernel/metrics/registry.ts";
import { WHOLE_RUN, type WindowOptions } from "@tutti/kernel/metrics/window.ts";
import type { Experiment } from "./experiments/comparison-of.ts";
import type { OpenedJobs } from "./experiments/inputs.ts";
import type { Cell, CellResult, Kind } from "./experiments/kinds.ts";
import type { Comparison } from "./results/comparison.ts";

export type { Instance, Workload } from "@tutti/kernel/core/jobs.ts";
export type { Rules } from "@tutti/kernel/core/rules.ts";
export type { Schedule } from "@tutti/kernel/core/schedule.ts";
export { type MetricSummary, metricOf, type Summary } from "@tutti/kernel/metrics/summary.ts";
export { cellHash } from "./experiments/cell.ts";
export type { Cell, CellResult, Kind } from "./experiments/kinds.ts";
export type { ComparedPolicy, Comparison } from "./results/comparison.ts";

/**
 * A trace or a model as on the command line (`KTH-SP2`, `./log.swf.gz`, `downey:jobs=1000:load=0.7`), or jobs
 * in memory.
 */
export type Jobs = string | Workload;

/** What determines a result besides jobs and policy. The defaults are those of the command line. */
export interface Settings {
  /** Size of the machine; default: the size that the jobs name. */
  readonly processors?: number;
  /** Number of jobs taken from the start; default: all. */
  readonly limit?: number;
  /** What happens to jobs that overrun their estimate, have none, or are larger than the machine. */
  readonly rules?: Partial<Rules>;
  /** Shares of the jobs that are simulated but not counted; default: none. */
  readonly window?: Partial<WindowOptions>;
  /** Threshold of the bounded slowdown in seconds; default: 10. */
  readonly boundS?: number;
  /** Length of a slot of gang policies in seconds; default: 60. */
  readonly slotS?: number;
  /** Seconds lost at each change of slot; default: 0. */
  readonly switchS?: number;
  /** Seed of a model; default: 1. */
  readonly seed?: number;
}

export interface CompareSettings extends Settings {
  /** Runs each policy with this many seeds, counted from `seed`; only for models; default: 1. */
  readonly replications?: number;
  /** Number of threads, which never changes a result; default: one per core. */
  readonly workers?: number;
}

/** One policy on one set of jobs. */
export interface Run extends CellResult<"summary"> {
  /** The jobs on the machine, in the order of the schedule's rows. */
  readonly instance: Instance;
  readonly schedule: Schedule;
}

/**
 * Reads a trace: SWF, output of `sacct --parsable2`, or Batsim JSON, plain or gzip.
 * @param name a path, or the beginning of the name of a trace in the folder TUTTI_TRACES
 * @throws Error with a readable message if the file cannot be read or is not a trace
 */
export async function readTrace(name: string): Promise<Workload> {
  return (await import("./files/read-trace.ts")).readTrace(name);
}

/**
 * Runs one policy.
 * @param policy as on the command line, including a file, or a definition
 * @throws Error with a readable message if the input cannot be used, or if the policy breaks a rule
 */
export async function simulate(
  jobs: Jobs,
  policy: string | PolicyDefinition,
  settings: Settings = {},
): Promise<Run> {
  const [{ CellRunner }, { cellRunner, WITH_FILES }, { makeChoice }] = await Promise.all([
    import("./experiments/runner.ts"),
    import("./experiments/run-cells.ts"),
    import("@tutti/kernel/policies/parse-policy.ts"),
  ]);
  const experiment = experimentOf(jobs, settings);
  const name = typeof policy === "string" ? policy : policy.name;
  const cell = { ...experiment, policy: name, keep: ["schedule"] } as const;
  const ready = await opened(jobs, experiment, 1);
  const isNamed = typeof policy === "string";
  const runner = new CellRunner(
    isNamed ? WITH_FILES : { ...WITH_FILES, policy: () => makeChoice(policy) },
    ready,
  );
  const run = isNamed ? cellRunner({ opened: ready }, runner) : runner.run.bind(runner);
  const result = await run({ kind: "summary", ...cell });
  const instance = await runner.instance(cell);
  return { ...result, instance, schedule: result.schedule! };
}

/**
 * Runs several policies on the same jobs, on all cores.
 * @param policies as on the command line, including files
 * @throws Error with a readable message if the input cannot be used, or if a policy breaks a rule
 */
export async function compare(
  jobs: Jobs,
  policies: readonly string[],
  settings: CompareSettings = {},
): Promise<Comparison> {
  const { runExperiment } = await import("./experiments/run.ts");
  const { replications = 1, workers = availableParallelism() } = settings;
  const experiment = experimentOf(jobs, settings);
  const ready = await opened(jobs, experiment, replications);
  return runExperiment(experiment, { policies, replications, workers, opened: ready });
}

/**
 * Runs cells, the units of comparisons, findings and papers; results come in the order of the cells.
 * @throws Error of the first cell that failed
 */
export async function runCells<K extends Kind>(
  cells: readonly Cell<K>[],
  { workers = 1 }: Pick<CompareSettings, "workers"> = {},
): Promise<CellResult<K>[]> {
  return (await import("./experiments/run-cells.ts")).runCells(cells, { workers });
}

/** The name of the source if the caller passes jobs instead of a name. */
const GIVEN = "the jobs given";

function experimentOf(jobs: Jobs, settings: Settings): Experiment {
  const { limit, processors, rules, window, slotS = 60, switchS = 0, seed = 1 } = settings;
  const { boundS = DEFAULT_METRIC_PARAMETERS.boundS } = settings;
  return {
    source: { jobs: typeof jobs === "string" ? jobs : GIVEN, seed, limit },
    processors,
    rules: { ...DEFAULT_RULES, ...rules },
    window: { ...WHOLE_RUN, ...window },
    parameters: { boundS },
    slotS,
    switchS,
  };
}

async function opened(jobs: Jobs, experiment: Experiment, replications: number): Promise<OpenedJobs> {
  const { openExperiment } = await import("./experiments/run.ts");
  return openExperiment(experiment, replications, typeof jobs === "string" ? undefined : jobs);
}
