/**
 * Computes the numbers of one finished schedule. `summarise` lists the parts of a summary. Every part states
 * over which jobs and which time span it was computed. Jobs without a value are counted instead of being
 * dropped silently.
 */
import { InputError } from "../core/errors.ts";
import type { Instance } from "../core/jobs.ts";
import { START_RULE_NAMES } from "../core/policy.ts";
import { asGiven, type Schedule } from "../core/schedule.ts";
import type { ClassScheme, JobClass } from "./classes.ts";
import { NARROW_WIDE_SHORT_LONG } from "./classes.ts";
import { CompensatedSum } from "./compensated-sum.ts";
import type { CountedJobs, Distribution, QuantileChoice } from "./distribution.ts";
import { areaSumsOf, distributionsOf } from "./distribution.ts";
import type { Metric, MetricParameters } from "./registry.ts";
import { DEFAULT_METRIC_PARAMETERS, describeMetric, METRICS } from "./registry.ts";
import { stretchesOf } from "./stretches.ts";
import type { MeasuredWindow, WindowOptions } from "./window.ts";
import { lastEndS, measuredWindow, WHOLE_RUN } from "./window.ts";

export interface SummaryOptions {
  readonly window?: WindowOptions;
  readonly parameters?: MetricParameters;
  /** Names of the metrics to compute; default: all. */
  readonly metrics?: readonly string[];
  readonly classes?: ClassScheme;
  /** Median and percentiles, the most expensive numbers; default `all`: over all jobs, not for each class. */
  readonly quantiles?: QuantileChoice;
}

export interface Summary {
  readonly window: MeasuredWindow;
  readonly parameters: MetricParameters;
  readonly metrics: readonly MetricSummary[];
  readonly classScheme: string;
  /** Counted jobs by class, in the order of every metric's `byClass`. */
  readonly classes: readonly (JobClass & { readonly jobs: number })[];
  readonly jobs: JobCounts;
  readonly machine: MachineSummary;
  /** Start rules that occurred, over all jobs, counted or not. */
  readonly starts: readonly { readonly rule: number; readonly name: string; readonly count: number }[];
  /** Time sharing only. */
  readonly gang: GangSummary | undefined;
}

export interface MetricSummary {
  readonly name: string;
  readonly title: string;
  readonly unit: "s" | "1";
  readonly definition: string;
  readonly all: Distribution;
  readonly byClass: readonly Distribution[];
}

/** Over all jobs of the instance. */
interface JobCounts {
  readonly total: number;
  readonly started: number;
  readonly ended: number;
  readonly neverStarted: number;
  /** Started, but still running when the simulation stopped. */
  readonly neverEnded: number;
  /** Ended at their estimate, before their run time, under the rule overrun=kill. */
  readonly killed: number;
}

interface MachineSummary {
  readonly processors: number;
  /** From the first submit to the last end of all jobs. */
  readonly makespanS: number;
  /**
   * Busy processor-seconds over processors × span. Space sharing: over the window, for all jobs that run in
   * it. Time sharing: over the makespan, run time × size of the jobs that ended (slots are not recorded
   * individually).
   */
  readonly utilisation: number;
  readonly utilisationFromS: number;
  readonly utilisationToS: number;
  /**
   * Run time × size of the counted jobs over processors × the time between their first and last submit; NaN
   * if that time is 0.
   */
  readonly offeredLoad: number;
}

interface GangSummary {
  readonly slotS: number;
  readonly switchS: number;
  /** n_a of zhou2000: rows of the matrix, averaged over the time of the whole run. */
  readonly meanRows: number;
  /** n_l of zhou2000. */
  readonly maxRows: number;
  /** r_a of zhou2000: processor-slots in which a job ran over processors × slots of the whole run. */
  readonly activeRatio: number;
  /** How often gangs were moved to other processors. */
  readonly migrations: number;
  /** Total seconds of service that the moved gangs lost; utilisation does not count them. */
  readonly migrationS: number;
}

/**
 * All numbers of one run. Linear in the jobs; 17 bytes of scratch space per job, 25 with quantiles by class.
 * @throws InputError for a window or a parameter out of range, or an unknown metric
 */
export function summarise(requested: Instance, schedule: Schedule, options: SummaryOptions = {}): Summary {
  const instance = asGiven(requested, schedule);
  const window = measuredWindow(instance, schedule, options.window ?? WHOLE_RUN);
  const parameters = options.parameters ?? DEFAULT_METRIC_PARAMETERS;
  if (!(parameters.boundS > 0 && parameters.boundS < Number.POSITIVE_INFINITY)) {
    throw new InputError(
      `Cannot use ${parameters.boundS} as the bound of the bounded slowdown: expected seconds above 0`,
    );
  }
  const scheme = options.classes ?? NARROW_WIDE_SHORT_LONG;
  const jobs = countedJobs(instance, window, scheme);
  const sizes = classSizes(jobs);
  const metrics = chosenMetrics(options.metrics).map((metric) => {
    metric.fill(jobs.values, instance, schedule, window.firstJob, parameters);
    const [all, ...byClass] = distributionsOf(jobs, options.quantiles ?? "all");
    const { name, title, unit } = metric;
    return { name, title, unit, definition: describeMetric(metric, parameters), all: all!, byClass };
  });
  return {
    window,
    parameters,
    metrics,
    classScheme: scheme.title,
    classes: scheme.classes.map(({ name, label }, i) => ({ name, label, jobs: sizes[i] })),
    jobs: countJobs(requested, schedule),
    machine: summariseMachine(instance, schedule, window),
    starts: schedule.startsByRule
      .map((count, rule) => ({ rule, name: START_RULE_NAMES[rule] ?? `rule ${rule}`, count }))
      .filter(({ count }) => count > 0),
    gang: summariseGang(instance, schedule),
  };
}

/** The metric with this name. @throws Error if the summary was made without it */
export function metricOf(summary: Summary, name: string): MetricSummary {
  const metric = summary.metrics.find((candidate) => candidate.name === name);
  if (metric === undefined) throw new Error(`Broken invariant: the summary has no metric "${name}"`);
  return metric;
}

function chosenMetrics(names: readonly string[] | undefined): readonly Metric[] {
  if (names === undefined) return METRICS;
  return names.map((name) => {
    const metric = METRICS.find((candidate) => candidate.name === name);
    if (metric === undefined) {
      throw new InputError(
        `Cannot measure "${name}": there is no such metric, expected one of ${METRICS.map((candidate) => candidate.name).join(", ")}`,
      );
    }
    return metric;
  });
}

function countedJobs({ size, runS, id }: Instance, window: MeasuredWindow, scheme: ClassScheme): CountedJobs {
  const { firstJob, countedJobs } = window;
  const areas = new Float64Array(countedJobs);
  const classOf = new Uint8Array(countedJobs);
  for (let i = 0; i < countedJobs; i++) areas[i] = size[firstJob + i] * runS[firstJob + i];
  for (let i = 0; i < countedJobs; i++) classOf[i] = scheme.classOf(size[firstJob + i], runS[firstJob + i]);
  const classCount = scheme.classes.length;
  const areaSums = areaSumsOf({ areas, classOf, classCount }, areas);
  return { firstJob, id, areas, areaSums, classOf, classCount, values: new Float64Array(countedJobs) };
}

function classSizes({ classOf, classCount }: CountedJobs): Uint32Array {
  const sizes = new Uint32Array(classCount);
  for (let i = 0; i < classOf.length; i++) sizes[classOf[i]]++;
  return sizes;
}

function countJobs(instance: Instance, schedule: Schedule): JobCounts {
  const { count, runS, workload, workloadRow } = instance;
  const { startS, endS } = schedule;
  const kills = instance.rules.overrun === "kill";
  let started = 0;
  let ended = 0;
  let killed = 0;
  for (let job = 0; job < count; job++) {
    if (!Number.isNaN(startS[job])) started++;
    if (Number.isNaN(endS[job])) continue;
    ended++;
    if (kills && workload.jobs.runS[workloadRow === undefined ? job : workloadRow[job]] > runS[job]) killed++;
  }
  return {
    total: count,
    started,
    ended,
    neverStarted: count - started,
    neverEnded: started - ended,
    killed,
  };
}

function summariseMachine(instance: Instance, schedule: Schedule, window: MeasuredWindow): MachineSummary {
  const { count, processors, submitS } = instance;
  const firstS = count === 0 ? 0 : submitS[0];
  const endS = lastEndS(instance, schedule);
  const gang = schedule.gang !== undefined;
  const fromS = gang ? firstS : window.fromS;
  const toS = gang ? endS : window.toS;
  const busy = gang ? workDone(instance, schedule) : busyBetween(instance, schedule, fromS, toS);
  return {
    processors,
    makespanS: endS - firstS,
    utilisation: toS > fromS ? busy / (processors * (toS - fromS)) : Number.NaN,
    utilisationFromS: fromS,
    utilisationToS: toS,
    offeredLoad: offeredLoad(instance, window),
  };
}

function busyBetween(instance: Instance, schedule: Schedule, fromS: number, toS: number): number {
  const { startS, endS, size } = stretchesOf(instance, schedule);
  const busy = new CompensatedSum();
  for (let row = 0; row < size.length; row++) {
    if (Number.isNaN(startS[row])) continue;
    const start = Math.max(startS[row], fromS);
    const end = Number.isNaN(endS[row]) ? toS : Math.min(endS[row], toS); // never ended: still runs
    if (end > start) busy.add(size[row] * (end - start));
  }
  return busy.value;
}

function workDone(instance: Instance, schedule: Schedule): number {
  const work = new CompensatedSum();
  for (let job = 0; job < instance.count; job++) {
    if (!Number.isNaN(schedule.endS[job])) work.add(instance.size[job] * instance.runS[job]);
  }
  return work.value;
}

function offeredLoad(instance: Instance, window: MeasuredWindow): number {
  const { size, runS, submitS, processors } = instance;
  const { firstJob, endJob } = window;
  const spanS = endJob > firstJob ? submitS[endJob - 1] - submitS[firstJob] : 0;
  if (!(spanS > 0)) return Number.NaN;
  const work = new CompensatedSum();
  for (let job = firstJob; job < endJob; job++) work.add(size[job] * runS[job]);
  return work.value / (processors * spanS);
}

function summariseGang(instance: Instance, schedule: Schedule): GangSummary | undefined {
  const gang = schedule.gang;
  if (gang === undefined) return undefined;
  const { rowsAtS, rows, slots } = gang;
  const endS = lastEndS(instance, schedule);
  const rowSeconds = new CompensatedSum();
  for (let i = 0; i < rows.length; i++) {
    const untilS = Math.min(i + 1 < rows.length ? rowsAtS[i + 1] : endS, endS);
    if (untilS > rowsAtS[i]) rowSeconds.add(rows[i] * (untilS - rowsAtS[i]));
  }
  const spanS = rows.length === 0 ? 0 : endS - rowsAtS[0];
  return {
    slotS: gang.slotS,
    switchS: gang.switchS,
    meanRows: spanS > 0 ? rowSeconds.value / spanS : Number.NaN,
    maxRows: gang.maxRows,
    activeRatio: slots > 0 ? gang.activeProcessorSlots / (slots * instance.processors) : Number.NaN,
    migrations: gang.migrations,
    migrationS: gang.migrationS,
  };
}
