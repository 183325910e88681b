/**
 * The checker that any policy can run under, including a user's own. A run is observed by the checker's own
 * books (see checker.ts, space.ts, gangs.ts), then repeated, then probed with other futures (see probes.ts).
 */
import { assert, RuleViolation } from "../../core/errors.ts";
import type { Instance } from "../../core/jobs.ts";
import type { Guarantees, PolicyChoice } from "../../core/policy.ts";
import { Random } from "../../core/random.ts";
import type { Observer, Schedule } from "../../core/schedule.ts";
import { formatCount } from "../../report/text/format.ts";
import { simulate } from "../../simulator/simulate.ts";
import { bothObservers } from "../observers.ts";
import { knowsOrder } from "../queue-keys.ts";
import {
  AUDIT_RULES,
  type AuditCounts,
  type AuditRule,
  type Checker,
  noCounts,
  StopRun,
  type Violation,
} from "./checker.ts";
import { GangChecker } from "./gangs.ts";
import {
  Comparison,
  changeArrivals,
  changedJob,
  changeRunTimes,
  copyColumns,
  DecisionLog,
  setColumns,
  withColumnsOf,
} from "./probes.ts";
import { SpaceChecker } from "./space.ts";

interface AuditOptions {
  /** Useful length of a slot in seconds; time sharing only. */
  readonly slotS: number;
  /** Seconds lost at each slot boundary while there is more than one row; time sharing only. */
  readonly switchS: number;
}

/** Either the counts of everything that was checked, or the first violation. */
export type AuditResult =
  | {
      readonly ok: true;
      readonly checked: AuditCounts;
      /** What could not be checked or is not promised, one sentence each. */
      readonly notChecked: readonly string[];
      readonly schedule: Schedule;
    }
  | { readonly ok: false; readonly violation: Violation; readonly checked: AuditCounts };

/**
 * The future is changed at least at MIN_PROBES instants, and at more as long as all runs together stay within
 * PROBED_INSTANTS instants.
 */
const MIN_PROBES = 3;
const PROBED_INSTANTS = 3_000;

/**
 * Runs the policy under the checker. Costs about five simulations of a long trace, and memory for all
 * decisions of one. The instance's columns change during the probes and are restored.
 * @throws what the policy itself throws, except refused decisions
 */
export function audit(instance: Instance, choice: PolicyChoice, options: AuditOptions): AuditResult {
  const counts = noCounts();
  const log = new DecisionLog();
  const checker = makeChecker(instance, choice, counts, options);
  // The policy gets its own columns, so that its writes are found, and so that columns sharing one array are
  // separate.
  const own = { ...instance, ...copyColumns(instance) };
  const schedule = checkedRun(own, choice, checker, log, options);
  if (checker.violation !== undefined) return { ok: false, violation: checker.violation, checked: counts };
  assert(schedule !== undefined, "a run without violation has a schedule");
  const changed = changedJob(own, instance);
  if (changed !== undefined) {
    const text = `The policy changed the size, times or estimate of job ${instance.id[changed]} in the job table`;
    return { ok: false, violation: violationOf("jobs-changed", instance, changed, 0, text), checked: counts };
  }
  const violation = compareRuns(instance, choice, { own, log, schedule, counts }, options);
  if (violation !== undefined) return { ok: false, violation, checked: counts };
  return { ok: true, checked: counts, notChecked: notChecked(choice, instance), schedule };
}

/** The result as lines of text. */
export function auditLines(label: string, result: AuditResult): string[] {
  const { checked } = result;
  if (!result.ok) {
    const { rule, job, timeS, message } = result.violation;
    const meaning = rule in AUDIT_RULES ? AUDIT_RULES[rule as AuditRule] : "the machine refuses the decision";
    const who = job === undefined ? "" : `job ${job}, `;
    return [
      `audit of ${label}: rule "${rule}" is broken (${who}${timeS} s)`,
      `  the rule: ${meaning}`,
      `  ${message}`,
    ];
  }
  const { starts, ends, instants, matrixChanges, slots, queueChecks, promises, promiseChecks } = checked;
  const matrix =
    matrixChanges > 0
      ? `, ${formatCount(matrixChanges)} changes of the matrix, ${formatCount(slots)} slots`
      : "";
  const claims = [
    queueChecks > 0 ? `${formatCount(queueChecks)} queues searched for a job that should have started` : "",
    promises > 0 ? `${formatCount(promises)} promises` : "",
    promiseChecks > 0 ? `tested ${formatCount(promiseChecks)} times` : "",
  ].filter((part) => part !== "");
  return [
    `audit of ${label}: no rule is broken`,
    `  ${formatCount(starts)} starts, ${formatCount(ends)} ends, ${formatCount(instants)} decisions${matrix}`,
    ...(claims.length > 0 ? [`  ${claims.join(", ")}`] : []),
    `  ${formatCount(checked.comparisons)} decisions compared with those of a second run and of ${formatCount(checked.probes)} runs whose future was changed after ${formatCount(checked.probedInstants)} of ${formatCount(instants)} instants`,
    ...result.notChecked.map((sentence) => `  not checked: ${sentence}`),
  ];
}

function makeChecker(
  instance: Instance,
  choice: PolicyChoice,
  counts: AuditCounts,
  options: AuditOptions,
): Checker {
  const guarantees = choice.definition.guarantees(choice.parameters);
  return choice.definition.sharing === "space"
    ? new SpaceChecker(instance, counts, guarantees, choice.parameters)
    : new GangChecker(instance, counts, guarantees, options, choice.parameters);
}

/** The first run. If a violation ends it early, `checker.violation` has it. */
function checkedRun(
  instance: Instance,
  choice: PolicyChoice,
  checker: Checker,
  log: DecisionLog,
  options: AuditOptions,
): Schedule | undefined {
  try {
    const schedule = run(instance, choice, bothObservers(checker, log.observer()), options);
    if (checker.violation === undefined) checker.finish(schedule);
    return schedule;
  } catch (error) {
    if (error instanceof RuleViolation) {
      const { rule, job, timeS, message } = error;
      checker.violation ??= { rule, job: instance.id[job], timeS, message };
    } else if (checker.violation === undefined) throw error;
    return undefined;
  }
}

function run(instance: Instance, choice: PolicyChoice, observer: Observer, options: AuditOptions): Schedule {
  return simulate(instance, choice, { slotS: options.slotS, switchS: options.switchS, observer });
}

interface FirstRun {
  /** The instance with its own columns. */
  readonly own: Instance;
  readonly log: DecisionLog;
  readonly schedule: Schedule;
  readonly counts: AuditCounts;
}

/** Repeats the run unchanged and with other futures; returns the first difference that breaks a rule. */
function compareRuns(
  instance: Instance,
  choice: PolicyChoice,
  first: FirstRun,
  options: AuditOptions,
): Violation | undefined {
  const { own, log, counts } = first;
  const again = follow(choice, first, Number.POSITIVE_INFINITY, options);
  if (again.difference !== undefined) {
    const { job, timeS, first: was, second } = again.difference;
    const text = `The policy decides differently in a second run with the same jobs: in the first run ${was}; in the second run ${second}`;
    return violationOf("not-deterministic", instance, job, timeS, text);
  }
  const instants = log.instants.length;
  const probes = Math.min(
    instants,
    Math.max(MIN_PROBES, Math.floor(PROBED_INSTANTS / Math.max(instants, 1))),
  );
  for (let i = 0; i < probes; i++) {
    counts.probedInstants++;
    const atS =
      log.instants.values[probes === instants ? i : Math.floor(((i + 1) / (probes + 1)) * instants)];
    for (const rule of ["sees-run-times", "sees-arrivals"] as const) {
      const random = new Random(counts.probes, rule);
      if (rule === "sees-run-times") changeRunTimes(own, first.schedule, atS, random);
      else changeArrivals(own, atS, random);
      counts.probes++;
      const { difference } = withColumnsOf(own, instance, () => follow(choice, first, atS, options));
      setColumns(own, instance);
      if (difference === undefined) continue;
      const { job, timeS, first: was, second } = difference;
      const what =
        rule === "sees-run-times" ? `run times that end after ${atS} s` : `jobs that arrive after ${atS} s`;
      const text = `With other ${what}, the policy decides differently before that: in the first run ${was}; now ${second}`;
      return violationOf(rule, instance, job, timeS, text);
    }
  }
  return undefined;
}

/** Follows the log of the first run up to an instant. */
function follow(choice: PolicyChoice, first: FirstRun, untilS: number, options: AuditOptions): Comparison {
  const comparison = new Comparison(first.log, untilS, first.own);
  let failure: string | undefined;
  try {
    run(first.own, choice, comparison.observer(), options);
  } catch (error) {
    // The first run did not fail: if its decisions are missing now, that is the difference.
    if (!(error instanceof StopRun)) failure = error instanceof Error ? error.message : String(error);
  }
  comparison.finish(failure);
  first.counts.comparisons += comparison.compared;
  return comparison;
}

function violationOf(
  rule: AuditRule,
  instance: Instance,
  job: number | undefined,
  timeS: number,
  message: string,
): Violation {
  return { rule, job: job === undefined ? undefined : instance.id[job], timeS, message };
}

function notChecked(choice: PolicyChoice, { interruptions }: Instance): string[] {
  const guarantees: Guarantees = choice.definition.guarantees(choice.parameters);
  const sentences: string[] = [];
  if (choice.definition.sharing === "time") {
    if (!guarantees.workConserving && !guarantees.headNeverFits)
      sentences.push("jobs may wait outside the matrix: the policy does not claim to prevent that");
    if (guarantees.maxRows !== undefined)
      sentences.push(
        "jobs may wait while all rows are in use: the checker does not search the rows for room",
      );
    if (!guarantees.keepsPromises)
      sentences.push("promises may be broken: the policy does not claim to keep them");
    return sentences;
  }
  if (!guarantees.avoidsOutages && interruptions?.outages.length)
    sentences.push("jobs may run into known outages: the policy does not claim to avoid them");
  if (!guarantees.workConserving)
    sentences.push("jobs that fit may wait: the policy does not claim to conserve work");
  if (!guarantees.headNeverFits)
    sentences.push(
      "the first job of the queue may wait although it fits: the policy does not claim to start it",
    );
  else if (!knowsOrder(choice.parameters))
    sentences.push(`queue order "${choice.parameters.order}" is unknown to the checker`);
  if (!guarantees.keepsPromises)
    sentences.push("promises may be broken: the policy does not claim to keep them");
  return sentences;
}
