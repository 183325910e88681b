/**
 * Audits a policy, which may be a user's own. The checker observes one run and keeps its own books
 * (checker.ts, space.ts, gangs.ts). Then the run is repeated, once unchanged and often with other futures
 * (futures.ts).
 */
import { assert, RuleViolation } from "@tutti/kernel/core/errors.ts";
import { formatCount } from "@tutti/kernel/core/format.ts";
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { Guarantees, PolicyChoice } from "@tutti/kernel/core/policy.ts";
import type { Schedule } from "@tutti/kernel/core/schedule.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { bothObservers } from "../observers.ts";
import { knowsOrder } from "../queue-keys.ts";
import {
  AUDIT_RULES,
  type AuditCounts,
  type AuditOptions,
  type AuditRule,
  type Checker,
  noCounts,
  type Violation,
} from "./checker.ts";
import { compareRuns, violationOf } from "./futures.ts";
import { GangChecker } from "./gangs.ts";
import { changedJob, copyColumns, DecisionLog } from "./probes.ts";
import { SpaceChecker } from "./space.ts";

/** Either the counts of everything that was checked, or the first violation. */
export type AuditResult =
  | {
      readonly ok: true;
      readonly checked: AuditCounts;
      /** What could not be checked or is not promised, one sentence each. */
      readonly notChecked: readonly string[];
      /** Claims that hold only because nothing tested them, one sentence each. */
      readonly warnings: readonly string[];
      readonly schedule: Schedule;
    }
  | { readonly ok: false; readonly violation: Violation; readonly checked: AuditCounts };

/**
 * Runs the policy under the checker. This takes as long as about ten simulations of a long trace (more of a
 * short one), and memory for all decisions of one run. The probes change the instance's columns and then
 * restore them.
 * @throws what the policy itself throws, except refused decisions
 */
export function audit(instance: Instance, choice: PolicyChoice, options: AuditOptions): AuditResult {
  const counts = noCounts();
  const log = new DecisionLog();
  const checker = makeChecker(instance, choice, counts, options);
  // The policy gets its own columns: this shows what it writes, and it keeps columns that share one array
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
  return {
    ok: true,
    checked: counts,
    notChecked: notChecked(choice, instance, counts),
    warnings: warnings(choice, counts),
    schedule,
  };
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
  const { starts, ends, instants, matrixChanges, slots, queueChecks, promises } = checked;
  const { promiseChecks, shadowChecks } = checked;
  const matrix =
    matrixChanges > 0
      ? `, ${formatCount(matrixChanges)} changes of the matrix, ${formatCount(slots)} slots`
      : "";
  const claims = [
    queueChecks > 0 ? `${formatCount(queueChecks)} queues searched for a job that should have started` : "",
    promises > 0 ? `${formatCount(promises)} promises` : "",
    promiseChecks > 0 ? `tested ${formatCount(promiseChecks)} times` : "",
    shadowChecks > 0 ? `${formatCount(shadowChecks)} shadow times computed` : "",
  ].filter((part) => part !== "");
  return [
    `audit of ${label}: no rule is broken`,
    `  ${formatCount(starts)} starts, ${formatCount(ends)} ends, ${formatCount(instants)} decisions${matrix}`,
    ...(claims.length > 0 ? [`  ${claims.join(", ")}`] : []),
    `  ${formatCount(checked.comparisons)} decisions compared: with a second run, with ${formatCount(checked.maskedRuns)} runs during which the job table shows another future at every instant, and with ${formatCount(checked.probes)} runs whose future was changed after ${formatCount(checked.probedInstants)} of ${formatCount(instants)} instants`,
    ...result.warnings.map((sentence) => `  warning: ${sentence}`),
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
    const observer = bothObservers(checker, log.observer());
    const schedule = simulate(instance, choice, { ...options, observer });
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

/** A policy can avoid every test of its claims. A claim that was never tested shows nothing. */
function warnings(choice: PolicyChoice, checked: AuditCounts): string[] {
  const { keepsPromises, reservesHead, maxRows } = choice.definition.guarantees(choice.parameters);
  const { promises, emptyPromises, shadowChecks, waits } = checked;
  const isWaiting = waits > 0 || maxRows !== undefined;
  const sentences: string[] = [];
  if (keepsPromises && promises === 0 && isWaiting)
    sentences.push("the policy claims to keep its promises, but it made none: the claim was not tested");
  if (emptyPromises > 0)
    sentences.push(
      `${formatCount(emptyPromises)} of ${formatCount(promises)} promises are for a time by which all known jobs could have run one after the other, so keeping them shows nothing`,
    );
  if (reservesHead && shadowChecks === 0 && waits > 0)
    sentences.push("the policy claims to reserve for the first job of the queue, but that was never tested");
  return sentences;
}

function notChecked(
  choice: PolicyChoice,
  { interruptions, workload }: Instance,
  { promises }: AuditCounts,
): string[] {
  const guarantees: Guarantees = choice.definition.guarantees(choice.parameters);
  const sentences: string[] = [];
  if (workload.limits !== undefined)
    sentences.push(
      "the order of the queue and promises: limits decide which of the waiting jobs the policy knows",
    );
  else if (interruptions?.freezes?.length)
    sentences.push("promises: nobody knows in advance how long a pause lasts");
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
  else {
    const { order, queueOrder = order } = choice.parameters;
    if (!knowsOrder({ order: queueOrder }))
      sentences.push(`queue order "${queueOrder}" is unknown to the checker`);
  }
  if (!guarantees.keepsPromises)
    sentences.push("promises may be broken: the policy does not claim to keep them");
  if (promises > 0 && !guarantees.reservesHead)
    sentences.push(
      "promises may be for any time: the policy does not claim to reserve for the first job of the queue",
    );
  return sentences;
}
