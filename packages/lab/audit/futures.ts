/**
 * Tests whether a policy uses what it must not know. The decisions of a run are recorded. Then the policy
 * runs again with another future, and each decision is compared with the recorded one. There are two ways:
 *
 *   run      ──────────────────────────────────────▶
 *   masked   ─ same? ─ same? ─ same? ─ same? ─ …  the jobs are the same; the job table shows a false
 *                                                 future at every instant, and reveals it event by event
 *   probe    ─────────── same? ─── T              the jobs that arrive after T, their users, their number and
 *                                                 other events, or the run times of jobs that have not ended
 *                                                 by T, really are different
 *
 * A masked run notices a policy that reads the future from the table, at any instant. A probe notices every
 * other way to see the future, such as the machine's own clock, but only at its instant T; so there are many
 * probes. Neither notices a policy that brings a copy of the future along. The rules about promises apply to
 * such a policy, too.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import type { PolicyChoice } from "@tutti/kernel/core/policy.ts";
import { Random } from "@tutti/kernel/core/random.ts";
import type { Observer, Schedule } from "@tutti/kernel/core/schedule.ts";
import { simulate } from "@tutti/kernel/simulator/simulate.ts";
import { bothObservers } from "../observers.ts";
import { type AuditCounts, type AuditOptions, type AuditRule, StopRun, type Violation } from "./checker.ts";
import { type Mask, maskArrivals, maskRunTimes } from "./masks.ts";
import {
  Comparison,
  changeArrivals,
  changeRunTimes,
  type DecisionLog,
  setColumns,
  withColumnsOf,
  withFewerJobs,
  withoutLaterEvents,
} from "./probes.ts";

/** False futures of each kind that are shown during a whole run. */
const MASKS = 2;
/**
 * Probes are made at MIN_PROBES instants, and at up to MAX_PROBES as long as all of them together stay within
 * PROBED_INSTANTS instants: of a log of 5,000 jobs, about 100.
 */
const MIN_PROBES = 3;
const MAX_PROBES = 200;
const PROBED_INSTANTS = 1_000_000;

const KINDS = ["sees-run-times", "sees-arrivals"] as const;

interface FirstRun {
  /** The instance with its own columns. */
  readonly own: Instance;
  readonly log: DecisionLog;
  readonly schedule: Schedule;
  readonly counts: AuditCounts;
}

/** Repeats the run unchanged and with other futures; returns the first difference that breaks a rule. */
export function compareRuns(
  instance: Instance,
  choice: PolicyChoice,
  first: FirstRun,
  options: AuditOptions,
): Violation | undefined {
  const { difference } = follow(choice, first, Number.POSITIVE_INFINITY, options);
  if (difference !== undefined) {
    const { job, timeS, first: was, second } = difference;
    const text = `The policy decides differently in a second run with the same jobs: in the first run ${was}; in the second run ${second}`;
    return violationOf("not-deterministic", instance, job, timeS, text);
  }
  return compareMasked(instance, choice, first, options) ?? probe(instance, choice, first, options);
}

function compareMasked(
  instance: Instance,
  choice: PolicyChoice,
  first: FirstRun,
  options: AuditOptions,
): Violation | undefined {
  const { own, counts } = first;
  for (let i = 0; i < MASKS * KINDS.length; i++) {
    const rule = KINDS[i % KINDS.length];
    const random = new Random(i, `mask ${rule}`);
    const mask: Mask = rule === "sees-run-times" ? maskRunTimes(own, random) : maskArrivals(own, random);
    counts.maskedRuns++;
    const revealing = mask.revealing(instance);
    const { difference } = withColumnsOf(mask.columns, instance, () =>
      follow(choice, first, Number.POSITIVE_INFINITY, options, revealing),
    );
    if (difference === undefined) continue;
    const { job, timeS, first: was, second } = difference;
    const what =
      rule === "sees-run-times"
        ? "run times of jobs that have not ended"
        : "values of jobs that have not arrived";
    const text = `While the job table shows other ${what}, the policy decides differently: in the first run ${was}; now ${second}`;
    return violationOf(rule, instance, job, timeS, text);
  }
  return undefined;
}

function probe(
  instance: Instance,
  choice: PolicyChoice,
  first: FirstRun,
  options: AuditOptions,
): Violation | undefined {
  const { own, log, counts } = first;
  const { probedInstants = PROBED_INSTANTS } = options;
  const instants = log.instants.length;
  const affordable = Math.min(MAX_PROBES, Math.floor(probedInstants / Math.max(instants, 1)));
  const probes = Math.min(instants, Math.max(MIN_PROBES, affordable));
  for (let i = 0; i < probes; i++) {
    counts.probedInstants++;
    const atS =
      log.instants.values[probes === instants ? i : Math.floor(((i + 1) / (probes + 1)) * instants)];
    for (const rule of KINDS) {
      const random = new Random(counts.probes, rule);
      if (rule === "sees-run-times") changeRunTimes(own, first.schedule, atS, random);
      else changeArrivals(own, atS, random);
      counts.probes++;
      // Every second time, the number of jobs is another, too.
      const known = rule === "sees-arrivals" ? withoutLaterEvents(own, atS) : own;
      const other = rule === "sees-arrivals" && i % 2 > 0 ? withFewerJobs(known, atS, random) : known;
      const { difference } = withColumnsOf(own, instance, () =>
        follow(choice, first, atS, options, undefined, other),
      );
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

/**
 * Follows the log of the first run up to an instant.
 * @param before receives every event before the comparison does
 * @param run what is simulated; default: the jobs of the first run
 */
function follow(
  choice: PolicyChoice,
  first: FirstRun,
  untilS: number,
  { slotS, switchS }: AuditOptions,
  before?: Observer,
  run: Instance = first.own,
): Comparison {
  const comparison = new Comparison(first.log, untilS, first.own);
  const following = comparison.observer();
  let failure: string | undefined;
  try {
    const observer = before === undefined ? following : bothObservers(before, following);
    simulate(run, choice, { slotS, switchS, observer });
  } catch (error) {
    // The first run did not fail: if its decisions are missing now, that is the difference.
    if (!(error instanceof StopRun)) failure = error instanceof Error ? error.message : String(error);
  }
  comparison.finish(failure);
  first.counts.comparisons += comparison.compared;
  return comparison;
}

export function violationOf(
  rule: AuditRule,
  instance: Instance,
  job: number | undefined,
  timeS: number,
  message: string,
): Violation {
  return { rule, job: job === undefined ? undefined : instance.id[job], timeS, message };
}
