/**
 * Writes comma-separated values as in RFC 4180, except that each line ends with a line feed only. A missing
 * value is an empty field.
 */
import type { Instance } from "@tutti/kernel/core/jobs.ts";
import { asGiven, type Schedule } from "@tutti/kernel/core/schedule.ts";
import type { Distribution } from "@tutti/kernel/metrics/distribution.ts";
import type { Comparison } from "../../results/comparison.ts";

/** One line. A text with a comma, a quote or a newline is quoted. NaN is an empty field. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field).join(",")}\n`;
}

/**
 * The settings of rules, such as `overrun=raise`, without their descriptions. A rule without a setting stays
 * as it is.
 */
export function ruleSettings(rules: readonly string[]): string {
  return rules.map((rule) => /^((?:[\w-]+=\S+ ?)+):\s/.exec(rule)?.[1] ?? rule).join(" ");
}

const SUMMARY_COLUMNS =
  "policy,seed,metric,unit,class,jobs,mean,sd,median,p90,p95,p99,max,max_job,area_weighted_mean," +
  "workload,processors,workload_hash,schedule_hash,rules,version,revision";

/**
 * A heading, and one line per policy, seed (if there is one), metric and class (`all` first). Each line says
 * what it was made from: the hashes of its own seed, and the settings of the rules, including the window.
 */
export function summariesCsv(comparison: Comparison): string {
  const { instance, rules, made } = comparison;
  const lines = [`${SUMMARY_COLUMNS}\n`];
  for (const { label, summary, hashes } of runsOf(comparison)) {
    const provenance = [
      hashes.name,
      instance.processors,
      hashes.workload,
      hashes.schedule,
      ruleSettings(rules),
      made.version,
      made.revision,
    ];
    for (const { name, unit, all, byClass } of summary.metrics) {
      const line = (of: Distribution, group: string) =>
        csvLine([
          label,
          hashes.seed ?? "",
          name,
          unit,
          group,
          ...[of.count, of.mean, of.sd, of.median, of.p90, of.p95, of.p99, of.max],
          of.maxJobId < 0 ? "" : of.maxJobId,
          of.areaWeightedMean,
          ...provenance,
        ]);
      lines.push(line(all, "all"), ...byClass.map((of, i) => line(of, summary.classes[i].name)));
    }
  }
  return lines.join("");
}

/** All runs, policy by policy. With replications, a policy has several. */
function runsOf({ instance, policies, seed, workloadHash }: Comparison) {
  return policies.flatMap(({ label, summary, scheduleHash, replications = [summary], replicationHashes }) =>
    replications.map((replication, r) => ({
      label,
      summary: replication,
      hashes: replicationHashes?.[r] ?? {
        seed,
        name: instance.workload.name,
        workload: workloadHash,
        schedule: scheduleHash,
      },
    })),
  );
}

/** Jobs per piece of `jobsCsv`. */
const PIECE = 8192;

/**
 * A heading, and one line per job in submit order. The text comes in pieces, because a trace may have
 * millions of jobs.
 */
export function* jobsCsv(asked: Instance, schedule: Schedule): Generator<string> {
  yield "job,submit_s,start_s,end_s,wait_s,run_s,processors\n";
  const { count, id, submitS, runS, size } = asGiven(asked, schedule);
  const { startS, endS } = schedule;
  for (let from = 0; from < count; from += PIECE) {
    let piece = "";
    for (let job = from; job < Math.min(from + PIECE, count); job++) {
      const times = [submitS[job], startS[job], endS[job], startS[job] - submitS[job], runS[job]];
      piece += csvLine([id[job], ...times, size[job]]);
    }
    yield piece;
  }
}

function field(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
