/** Comma-separated values by RFC 4180, lines ended by a line feed. A value that does not exist is an empty field. */
import type { Instance } from "../core/jobs.ts";
import type { Schedule } from "../core/schedule.ts";
import type { Distribution } from "../metrics/distribution.ts";
import type { Summary } from "../metrics/summary.ts";

/** One line. Texts with a comma, a quote or a line end are quoted; NaN is an empty field. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(field).join(",")}\n`;
}

/** One line per policy, seed (where there is one), metric and class (`all` first), with a heading. */
export function summariesCsv(
  runs: readonly { readonly label: string; readonly seed?: number | undefined; readonly summary: Summary }[],
): string {
  const heading =
    "policy,seed,metric,unit,class,jobs,mean,sd,median,p90,p95,p99,max,max_job,area_weighted_mean\n";
  const lines = [heading];
  for (const { label, seed, summary } of runs) {
    for (const { name, unit, all, byClass } of summary.metrics) {
      const line = (of: Distribution, group: string) =>
        csvLine([
          label,
          seed ?? "",
          name,
          unit,
          group,
          ...[of.count, of.mean, of.sd, of.median, of.p90, of.p95, of.p99, of.max],
          of.maxJobId < 0 ? "" : of.maxJobId,
          of.areaWeightedMean,
        ]);
      lines.push(line(all, "all"), ...byClass.map((of, i) => line(of, summary.classes[i]!.name)));
    }
  }
  return lines.join("");
}

/** Jobs per piece of `jobsCsv`. */
const PIECE = 8192;

/** One line per job in submit order, with a heading; in pieces, since a trace may have millions of jobs. */
export function* jobsCsv(instance: Instance, schedule: Schedule): Generator<string> {
  yield "job,submit_s,start_s,end_s,wait_s,run_s,processors\n";
  const { count, id, submitS, runS, size } = instance;
  const { startS, endS } = schedule;
  for (let from = 0; from < count; from += PIECE) {
    let piece = "";
    for (let job = from; job < Math.min(from + PIECE, count); job++) {
      const times = [submitS[job]!, startS[job]!, endS[job]!, startS[job]! - submitS[job]!, runS[job]!];
      piece += csvLine([id[job]!, ...times, size[job]!]);
    }
    yield piece;
  }
}

function field(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
